#!/usr/bin/env bash
# archs.sh - the dummy models that llama.cpp's own test program writes, one per architecture, three seeds: our logits
# (--act f32) against its CPU backend's with "exact" (see reflogits.c). Prints a row per model, exit 1 when one is 1e-5
# or more apart: ten times the largest of 27 measured, 1.1e-6.
# usage: archs.sh [SEED...]     needs tests/peer/fetch.sh's peer; LODE_PEER names its folder
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../.." && pwd)
peer=${LODE_PEER:-$HOME/.cache/lode-peer}
[ -x "$peer/bin/reflogits" ] || { echo "archs.sh: no peer in $peer: run tests/peer/fetch.sh (8 minutes)" >&2; exit 1; }
export LD_LIBRARY_PATH=$peer/bin
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
ids=1,17,5,99,64,3,3,120,8,77,31,2,90,45,12,6,100,101,19,28,37,46,55,110
bad=0
for seed in "${@:-1}"; do
  mkdir -p "$work/$seed"
  "$peer/bin/test-llama-archs" -o "$work/$seed" -s "$seed" > "$work/log" 2>&1 || true
  for arch in llama mistral3 qwen2 qwen3 gemma gemma2 gemma3 phi3 smollm3; do
    model=$work/$seed/$arch-dense.gguf
    if ! head=$("$peer/bin/reflogits" "$model" $ids "$work/ref.f32" exact 2>&1); then
      echo "seed=$seed $arch: peer: $head"; bad=1; continue
    fi
    n=${head#*n_vocab=}; n=${n%% *}
    if ! ours=$("$root/build/tests/logits" "$model" --act f32 --ids $ids -o "$work/ours.f32" 2>&1); then
      echo "seed=$seed $arch: $ours"; bad=1; continue
    fi
    verdict=ok
    row=$("$peer/venv/bin/python" "$here/compare.py" "$work/ref.f32" "$work/ours.f32" "$n" 1e-5) ||
      { verdict=FAR; bad=1; }
    echo "seed=$seed $arch $row $verdict"
  done
done
exit $bad
