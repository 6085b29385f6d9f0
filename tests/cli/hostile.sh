#!/usr/bin/env bash
# hostile.sh BUILD - every hostile file of tests/cases through the commands that open models: refused with exit code 1
# and one line, or used; never a crash, never a hang.
set -uo pipefail
build=$(cd "$1" && pwd); bad=0; n=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 tests/cases/gen_gguf.py "$work" > /dev/null || { echo "the generator failed"; exit 1; }
for file in "$work"/*.gguf; do
  for command in "run -n 2 --temp 0 -p hi" "chat -n 2" inspect "tokenize -p hi" "bench -n 1 -p 1 -r 1"; do
    out=$(timeout 20 "$build/lode" $command -m "$file" 2>&1 < /dev/null); rc=$?; n=$((n + 1))
    if [ $rc -gt 1 ]; then echo "FAIL exit $rc: lode $command -m $(basename "$file"): ${out:0:200}"; bad=1; fi
    if [ $rc = 1 ] && [ "$(printf '%s\n' "$out" | grep -c '^lode: ')" = 0 ]; then
      echo "FAIL no message: lode $command -m $(basename "$file"): ${out:0:200}"; bad=1
    fi
  done
done
echo "$n calls"
[ $n -ge 400 ] || bad=1
exit $bad
