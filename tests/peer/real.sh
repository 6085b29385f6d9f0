#!/usr/bin/env bash
# real.sh - a real model on the texts of tests/texts, against llama.cpp on the F32 file that its llama-quantize makes:
#   f32      our --act f32 against the peer's F32 file: error and KL divergence
#   ours     our default path against our --act f32: KL divergence
#   peer     the peer on the file itself against the peer on the F32 file: KL divergence
# usage: real.sh MODEL.gguf     needs tests/peer/fetch.sh's peer; LODE_PEER names its folder. Exit 1 when f32's KL is
# 1e-6 or more, or the mean of ours is above 1.1 times the mean of the peer's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../.." && pwd)
peer=${LODE_PEER:-$HOME/.cache/lode-peer}
[ -x "$peer/bin/reflogits" ] || { echo "real.sh: no peer in $peer: run tests/peer/fetch.sh (8 minutes)" >&2; exit 1; }
export LD_LIBRARY_PATH=$peer/bin
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
model=$1
"$peer/bin/llama-quantize" --allow-requantize "$model" "$work/f32.gguf" F32 > "$work/log" 2>&1
value() { row=${1#*$2=}; echo "${row%% *}"; }
sum_ours=0; sum_peer=0; bad=0
for text in "$root"/tests/texts/*.txt; do
  ids=$("$peer/bin/llama-tokenize" -m "$model" -f "$text" --ids --log-disable 2>/dev/null | tr -d '[] \n')
  n=$("$peer/bin/reflogits" "$work/f32.gguf" "$ids" "$work/ref.f32"); n=$(value "$n" n_vocab)
  "$peer/bin/reflogits" "$model" "$ids" "$work/peer.f32" > /dev/null
  "$root/build/tests/logits" "$model" --act f32 --ids "$ids" -o "$work/f32.f32"
  "$root/build/tests/logits" "$model" --ids "$ids" -o "$work/ours.f32"
  compare() { "$peer/venv/bin/python" "$here/compare.py" "$1" "$2" "$n"; }
  f32=$(compare "$work/ref.f32" "$work/f32.f32"); ours=$(compare "$work/f32.f32" "$work/ours.f32")
  their=$(compare "$work/ref.f32" "$work/peer.f32")
  echo "$(basename "$text" .txt): f32 $f32 | ours kld=$(value "$ours" kld) | peer kld=$(value "$their" kld)"
  awk "BEGIN { exit !($(value "$f32" kld) < 1e-6) }" || bad=1
  sum_ours=$(awk "BEGIN { print $sum_ours + $(value "$ours" kld) }")
  sum_peer=$(awk "BEGIN { print $sum_peer + $(value "$their" kld) }")
done
awk "BEGIN { printf \"mean kld: ours %.4g, peer %.4g, ratio %.2f\n\", $sum_ours/5, $sum_peer/5, $sum_ours/$sum_peer; exit !($sum_ours <= 1.1 * $sum_peer) }" || bad=1
exit $bad
