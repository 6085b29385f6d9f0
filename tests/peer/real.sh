#!/usr/bin/env bash
# real.sh - a real model on the texts of tests/texts, against exact.py's logits in double precision of the F32 file that
# llama.cpp's llama-quantize makes, and against llama.cpp on that file; error and KL divergence (compare.py) of
#   f32         our --act f32 against the exact logits
#   peer-exact  the peer on the F32 file with "exact" (see reflogits.c) against the exact logits
#   peer-f32    the peer on the F32 file as it comes, for information
#   f32-peer    our --act f32 against peer-exact
#   ours, peer  our default path and the peer's on the file itself: KL divergence from the exact logits
# usage: real.sh MODEL.gguf     (llama or gemma3; 3 minutes)   needs tests/peer/fetch.sh's peer; LODE_PEER names its
# folder. Exit 1 when the error of f32 or f32-peer is 1e-3 or more or its KL 1e-6 or more, or when the mean KL of ours
# is above 1.1 times that of the peer.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); root=$(cd "$here/../.." && pwd)
peer=${LODE_PEER:-$HOME/.cache/lode-peer}
[ -x "$peer/bin/reflogits" ] || { echo "real.sh: no peer in $peer: run tests/peer/fetch.sh (8 minutes)" >&2; exit 1; }
export LD_LIBRARY_PATH=$peer/bin
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
model=$1
"$peer/bin/llama-quantize" --allow-requantize "$model" "$work/f32.gguf" F32 > "$work/log" 2>&1

# One process for all texts: reading a vocabulary of 262,144 tokens takes it longer than a text.
names=(); jobs=()
for text in "$root"/tests/texts/*.txt; do
  ids=$("$peer/bin/llama-tokenize" -m "$model" -f "$text" --no-escape --ids --log-disable 2>/dev/null | tr -d '[] \n')
  names+=("$(basename "$text" .txt)"); jobs+=("$ids" "$work/${names[-1]}.exact")
done
"$peer/venv/bin/python" "$here/exact.py" "$work/f32.gguf" "${jobs[@]}"

value() { row=${1#*$2=}; echo "${row%% *}"; }
compare() { "$peer/venv/bin/python" "$here/compare.py" "$work/$1" "$work/$2" "$n" "${@:3}"; }
say() { echo "$1 err=$(value "$2" err) kld=$(value "$2" kld)"; }
bad=0
for i in "${!names[@]}"; do
  exact=${names[i]}.exact; ids=${jobs[2 * i]}
  n=$("$peer/bin/reflogits" "$work/f32.gguf" "$ids" "$work/peer-exact" exact); n=$(value "$n" n_vocab)
  "$peer/bin/reflogits" "$work/f32.gguf" "$ids" "$work/peer-f32" > /dev/null
  "$peer/bin/reflogits" "$model" "$ids" "$work/peer" > /dev/null
  "$root/build/tests/logits" "$model" --act f32 --ids "$ids" -o "$work/f32"
  "$root/build/tests/logits" "$model" --ids "$ids" -o "$work/ours"
  f32=$(compare "$exact" f32 1e-3 1e-6) || bad=1
  both=$(compare peer-exact f32 1e-3 1e-6) || bad=1
  ours=$(value "$(compare "$exact" ours)" kld); their=$(value "$(compare "$exact" peer)" kld)
  echo "${names[i]}: $(say f32 "$f32") | $(say peer-exact "$(compare "$exact" peer-exact)") |" \
    "$(say peer-f32 "$(compare "$exact" peer-f32)") | $(say f32-peer "$both") | ours kld=$ours | peer kld=$their"
  echo "$ours $their" >> "$work/klds"
  rm "$work/$exact"
done
# NaN is no pass, and awks differ in what they make of it.
awk '/[^0-9.e+ -]/ { bad = 1 } { o += $1; p += $2 }
  END { printf "mean kld: ours %.4g, peer %.4g, ratio %.2f\n", o / NR, p / NR, o / p; exit bad || !(o <= 1.1 * p) }' \
  "$work/klds" || bad=1
exit $bad
