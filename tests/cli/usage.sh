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
ln -s loop.gguf "$WORK/loop.gguf"
run 1 "$LODE" run -m "$WORK/loop.gguf" -p x
tells "leads to no file"
one_line
cp "$MARKOV" "$WORK/Case-Q4_K_M.gguf"
run 1 "$LODE" run -m "$WORK/case-q4_k_m" -p x
tells "did you mean $WORK/Case-Q4_K_M.gguf?"
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
# What would be ignored without a word is refused: one of two options that exclude each other, a switch's value, an
# empty name.
refused() { # TEXT ARGUMENTS...
  run 2 "$LODE" "${@:2}" < /dev/null
  tells "$1"
  one_line
}
refused "-p and -f" run -m "$MARKOV" -p x -f x
refused "-p and -f" tokenize -m "$MARKOV" -f x -p x
refused "--raw and -sys" run -m "$MARKOV" -sys x -p x --raw
refused "--print and --trace" run -m "$MARKOV" --print plan --trace "$WORK/t"
refused "-m and $MARKOV" inspect "$MARKOV" -m "$MARKOV"
refused "drop =1" run -m "$MARKOV" -p x --raw=1
refused "drop =0" tokenize -m "$MARKOV" -p x --ids=0
refused "expected FILE" run -m "$MARKOV" -f ''
refused "expected NAME" run -m "$MARKOV" -p x -dev ''
refused "expected FILE" convert "$WORK" --outfile ''
refused "which folder" convert ''
# Near misses.
refused "did you mean -p hi?" run -m "$MARKOV" -p=hi
refused "--temp?" run -m "$MARKOV" -p x --temperature 1
refused "--predict?" run -m "$MARKOV" -p x --n-predict 1
refused "lode run --help lists them" run -m "$MARKOV" --
refused "'lode --version'" --versoin
refused "'lode help'" hlep
refused "'lode run'" RUN
refused "lode chat -m $MARKOV" --model="$MARKOV"
# Numbers as people write them.
refused "from -1 to 2147483647" run -m "$MARKOV" -p x --top-k 3000000000
refused "from -1 to 9007199254740992" run -m "$MARKOV" -p x --seed 1e300
# More threads than processors would only wait for each other. -1 is llama.cpp's default.
for c in "run --raw -n 1 -p x" "chat -n 1" "compare" "bench -p 2 -n 1 -r 1"; do
  run 0 "$LODE" $c -m "$MARKOV" -t 1024 < /dev/null
  tells "-t 1024: this process may use"
done
run 0 "$LODE" run --raw -n 1 -p x -t -1 -m "$MARKOV"
lines err -eq 0
if command -v taskset > /dev/null; then
  run 0 taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$LODE" bench -m "$MARKOV" -t 2 -p 2 -n 0 -r 1 -o csv
  tells "may use 1 processor,"
  one_line
  run 0 taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$LODE" bench -m "$MARKOV" -t 1 -p 2 -n 0 -r 1
  lines err -eq 0
fi
# From another folder, the model beside the program's own is named.
mkdir -p "$WORK/tree/build" "$WORK/tree/models" && cp "$LODE" "$WORK/tree/build/lode"
: > "$WORK/tree/models/SmolLM2-135M-Instruct.Q4_1.gguf"
run 2 "$WORK/tree/build/lode" run -p hello
tells "there is one: -m $WORK/tree/build/../models/SmolLM2-135M-Instruct.Q4_1.gguf"
run 0 "$LODE" devices
has "CPU"
finish
