#!/usr/bin/env bash
# bad.sh - hostile and broken input: one clear line, exit code 1, no signal.
. "$(dirname "$0")/lib.sh"
head -c 1M /dev/urandom > "$WORK/random.gguf"
: > "$WORK/empty.gguf"
head -c 100000 "$MARKOV" > "$WORK/cut.gguf"
for f in random empty cut; do
  for c in "run --raw -p x" "chat" "inspect" "tokenize -p x" "bench -p 8 -n 8 -r 1"; do
    run 1 "$LODE" $c -m "$WORK/$f.gguf"
    one_line
    tells "$f.gguf"
  done
done
# Random bytes as a prompt are text.
cp "$WORK/random.gguf" "$WORK/in"
run 1 "$LODE" run --raw -m "$MARKOV" -n 4
one_line
head -c 100 "$WORK/random.gguf" > "$WORK/in"
run 0 "$LODE" run --raw --temp 0 -m "$MARKOV" -n 4
rm "$WORK/in"
# Logits that are not numbers.
python3 "$root/tests/cases/gen_markov.py" "$WORK/nan.gguf" --nan > /dev/null
run 1 "$LODE" run --raw -m "$WORK/nan.gguf" -p '[[dist]]'
one_line
# A context larger than memory.
run 1 "$LODE" run --raw -m "$MARKOV" -p x -c 1000000000
one_line
# Flipped bits in the header: whatever they mean, no signal.
for at in 4 8 16 24 33 60 100 200 400 800 1600 3200 6400; do
  cp "$MARKOV" "$WORK/flip.gguf"
  printf '\377' | dd of="$WORK/flip.gguf" bs=1 seek=$at conv=notrunc 2> /dev/null
  checks=$((checks + 1)) rc=0
  timeout 60 "$LODE" run --raw --temp 0 -n 2 -m "$WORK/flip.gguf" -p x < /dev/null > "$WORK/out" 2> "$WORK/err" || rc=$?
  [ "$rc" -le 1 ] || fault "byte $at flipped: exit code $rc"
done
# A model file that shrinks while it is mapped.
cp "$MARKOV" "$WORK/shrink.gguf"
checks=$((checks + 1)) rc=0
{ sleep 1; : > "$WORK/shrink.gguf"; sleep 0.2; echo '[[loop]]'; } | timeout 20 "$LODE" chat -n 50 -m "$WORK/shrink.gguf" \
  > "$WORK/out" 2> "$WORK/err" || rc=$?
[ "$rc" -le 1 ] || fault "a shrunk model: exit code $rc"
finish
