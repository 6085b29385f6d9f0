#!/usr/bin/env bash
# types.sh - one model with the FFN's second matrix in each of the rarer types, written by llama-quantize: our --act f32
# against llama.cpp on the F32 file of the same weights.
# usage: types.sh MODEL.gguf [TYPE ...]     (make check-types; needs the peer, tests/peer/fetch.sh)
# The matrix's rows must be whole blocks of 256. Exit 1 when a KL divergence is 1e-6 or more.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../.." && pwd)
peer=${LODE_PEER:-$HOME/.cache/lode-peer}
export LD_LIBRARY_PATH=$peer/bin
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
model=$1; shift
[ $# -gt 0 ] || set -- iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s iq4_nl iq4_xs tq1_0 tq2_0 mxfp4 nvfp4 q1_0 q2_0
text=$root/tests/texts/prose.txt; bad=0
quiet() { "$@" > "$work/log" 2>&1 || { tail -3 "$work/log"; return 1; }; }
# the smallest types are written only with an importance matrix
quiet "$peer/bin/llama-imatrix" -m "$model" -f "$text" -c 64 --no-ppl -o "$work/imatrix.gguf"
ids=$("$peer/bin/llama-tokenize" -m "$model" -f "$text" --ids --log-disable 2>/dev/null | tr -d '[] \n')
for type in "$@"; do
  quiet "$peer/bin/llama-quantize" --allow-requantize --imatrix "$work/imatrix.gguf" --tensor-type "ffn_down=$type" \
    "$model" "$work/typed.gguf" Q8_0
  "$root/build/lode" inspect -m "$work/typed.gguf" | grep "ffn_down.weight" | grep -qi " $type " ||
    { echo "types.sh: llama-quantize wrote no $type" >&2; exit 1; }
  quiet "$peer/bin/llama-quantize" --allow-requantize "$work/typed.gguf" "$work/f32.gguf" F32
  n=$("$peer/bin/reflogits" "$work/f32.gguf" "$ids" "$work/want.f32"); n=${n#*n_vocab=}; n=${n%% *}
  "$root/build/tests/logits" "$work/typed.gguf" --act f32 --ids "$ids" -o "$work/got.f32"
  line=$("$peer/venv/bin/python" "$here/compare.py" "$work/want.f32" "$work/got.f32" "$n")
  printf '%-8s %s\n' "$type" "$line"
  kld=${line#*kld=}
  awk "BEGIN { exit !(${kld%% *} < 1e-6) }" || bad=1
done
exit $bad
