#!/usr/bin/env bash
# usage.sh - help, versions, and what was meant by what is slightly wrong.
. "$(dirname "$0")/lib.sh"
run 0 "$LODE" --version
has "lode $(sed -n 's/^project(lode VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")"
run 2 "$LODE"
tells "usage:"
lines err -le 24
run 0 "$LODE" --help
has "chat"
for c in run chat bench inspect tokenize devices compare convert; do
  run 0 "$LODE" $c --help
  has "usage: lode $c"
  lines out -le 24
  awk 'length > 80 { exit 1 }' "$WORK/out" || fault "help of $c is wide"
  run 0 "$LODE" $c --help-all
  has "--help-all"
done
run 0 "$LODE" --help-all
has "chat"
run 0 "$LODE" help run
has "usage: lode run"
run 2 "$LODE" help chta
tells "chat"
run 2 "$LODE" chta
tells "chat"
one_line
run 2 "$LODE" -m "$MARKOV"
tells "lode chat -m $MARKOV"
one_line
run 2 "$LODE" run --tmep 0 -m "$MARKOV" -p x
tells "--temp"
one_line
run 2 "$LODE" run -m "$MARKOV" -p x -n many
tells "many"
one_line
for o in --predict --temp --act; do
  run 2 "$LODE" run -m "$MARKOV" -p x $o ''
  tells "$o ''"
  one_line
done
run 2 "$LODE" run -m
one_line
run 2 "$LODE" run -p hello
tells "models/SmolLM2-135M-Instruct.Q4_1.gguf"
one_line
run 1 "$LODE" run -m "$WORK/markow.gguf" -p x
tells "markov.gguf"
one_line
for c in inspect compare "tokenize -p x"; do
  run 1 "$LODE" $c -m "$WORK/markow.gguf"
  tells "markov.gguf"
  one_line
  run 2 "$LODE" $c
  tells "models/SmolLM2-135M-Instruct.Q4_1.gguf"
  one_line
done
run 0 "$LODE" tokenize -m "$MARKOV" -p "$(printf 'a\nb\033')"
has "'\\n'"
has "'\\x1b'"
run 1 "$LODE" run -m "$WORK" -p x
tells "lode convert"
one_line
run 1 "$LODE" run -m "$MARKOV" -p x --isa mmx
tells "mmx"
one_line
run 1 "$LODE" run -m "$MARKOV" -p x -dev CUDA7
tells "CPU"
one_line
run 2 "$LODE" run -m "$MARKOV" hello
tells "-p 'hello'"
one_line
run 2 "$LODE" chat "$MARKOV"
tells "lode chat -m $MARKOV"
one_line
run 2 "$LODE" devices all
one_line
run 2 "$LODE" run -m "$MARKOV" -p x -ctv f32
tells "-ctk f32"
one_line
# From another folder, the model beside the program's own is named.
mkdir -p "$WORK/tree/build" "$WORK/tree/models" && cp "$LODE" "$WORK/tree/build/lode"
: > "$WORK/tree/models/SmolLM2-135M-Instruct.Q4_1.gguf"
run 2 "$WORK/tree/build/lode" run -p hello
tells "there is one: -m $WORK/tree/build/../models/SmolLM2-135M-Instruct.Q4_1.gguf"
run 0 "$LODE" devices
has "CPU"
finish
