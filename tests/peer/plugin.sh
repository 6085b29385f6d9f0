#!/bin/bash
# plugin.sh PLUGIN [OPS] - the ggml plug-in through llama.cpp's own test-backend-ops: how many cases of each op passed,
# failed, and are not supported. OPS: a comma list (default: all). DEV=LODE0 and LODE_GGML=cpu unless set. EVERY=10: only
# each tenth case of an op, and of those the ones that we support. PRELOAD: a library that the program gets, the run-time
# of a sanitizer. Exit 0 when none failed.
set -u
plugin=$(readlink -f "$1")
peer=${PEER:-$HOME/.cache/lode-peer}
dev=${DEV:-LODE0}
export GGML_BACKEND_PATH=$plugin LODE_GGML=${LODE_GGML:-cpu} LD_LIBRARY_PATH=$peer/bin
if [ ! -x "$peer/bin/test-backend-ops" ]; then
    echo "plugin.sh: no $peer/bin/test-backend-ops; tests/peer/fetch.sh builds it" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
backend_ops() {
    env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "$peer/bin/test-backend-ops" "$@" -b "$dev" --output csv
}
status=0
if [ -n "${EVERY:-}" ]; then
    backend_ops support ${2:+-o "$2"} > "$work/support" 2> "$work/err" || status=1
    # One argument of a program holds 128 KiB: lists of cases by name, 100 KB each.
    python3 - "$work" "$dev" "$EVERY" <<'P' || status=1
import collections, csv, sys
work, dev, every = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = open(work + "/support", errors="replace").read()
seen, lists, size = collections.Counter(), [[]], 0
for r in csv.DictReader(text[text.index('"backend_name"'):].splitlines()):
    if r["backend_name"] != dev or r["supported"] != "1":
        continue
    seen[r["op_name"]] += 1
    if seen[r["op_name"]] % every != 1 % every:
        continue
    case = "%s(%s)" % (r["op_name"], r["op_params"])
    size += len(case) + 1
    if size > 100000:
        lists.append([])
        size = len(case) + 1
    lists[-1].append(case)
for i, cases in enumerate(lists):
    open("%s/cases.%02d" % (work, i), "w").write(",".join(cases))
P
    for list in "$work"/cases.*; do
        backend_ops test -j 2 -o "$(cat "$list")" >> "$work/out" 2>> "$work/err" || status=$?
    done
else
    backend_ops test -j 2 ${2:+-o "$2"} > "$work/out" 2> "$work/err" || status=$?
fi
python3 - "$work/out" "$dev" "$status" <<'P'
import collections, csv, sys
rows = collections.defaultdict(lambda: [0, 0, 0])
text = open(sys.argv[1], errors="replace").read()
for r in csv.DictReader(text[max(text.find('"backend_name"'), 0):].splitlines()):
    if r.get("backend_name") != sys.argv[2]:
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
[ $rc -eq 0 ] || tail -${TAIL:-5} "$work/err" >&2
exit $rc
