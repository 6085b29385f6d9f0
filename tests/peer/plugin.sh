#!/bin/bash
# plugin.sh PLUGIN [OPS] - the ggml plug-in through llama.cpp's own test-backend-ops: how many cases of each op passed,
# failed, and are not supported. OPS: a comma list (default: all). DEV=LODE0 and LODE_GGML=cpu unless set. Exit 0 when
# none failed.
set -u
plugin=$(readlink -f "$1")
peer=${PEER:-$HOME/.cache/lode-peer}
dev=${DEV:-LODE0}
export GGML_BACKEND_PATH=$plugin LODE_GGML=${LODE_GGML:-cpu} LD_LIBRARY_PATH=$peer/bin
if [ ! -x "$peer/bin/test-backend-ops" ]; then
    echo "plugin.sh: no $peer/bin/test-backend-ops; tests/peer/fetch.sh builds it" >&2
    exit 1
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$peer/bin/test-backend-ops" test -b "$dev" ${2:+-o "$2"} -j 2 --output csv > "$out" 2> "$out.err"
status=$?
python3 - "$out" "$dev" "$status" <<'P'
import collections, csv, sys
rows = collections.defaultdict(lambda: [0, 0, 0])
text = open(sys.argv[1], errors="replace").read()
for r in csv.DictReader(text[text.find("backend_name") if "backend_name" in text else 0:].splitlines()):
    if r.get("backend_name", "").strip('"') != sys.argv[2]:
        continue
    why = r.get("error_message") or ""
    rows[r["op_name"]][2 if why == "not supported" or r.get("supported") in ("0", "no") else 1 if why else 0] += 1
print("%-32s %8s %8s %14s" % ("op", "passed", "failed", "not supported"))
for op in sorted(rows):
    print("%-32s %8d %8d %14d" % (op, *rows[op]))
total = [sum(v[i] for v in rows.values()) for i in range(3)]
print("%-32s %8d %8d %14d" % ("all", *total))
sys.exit(0 if total[0] and not total[1] and sys.argv[3] == "0" else 1)
P
rc=$?
[ $rc -eq 0 ] || tail -5 "$out.err" >&2
rm -f "$out.err"
exit $rc
