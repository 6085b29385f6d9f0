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
# Random bytes as a template, alone and between the marks of expressions and statements.
python3 "$root/tests/cases/gen_markov.py" "$WORK/talk.gguf" --talk > /dev/null
for seed in 1 2 3 4 5 6 7 8 9; do
  python3 - "$WORK/talk.gguf" "$WORK/template.gguf" $seed << 'PY'
import random, sys
data, seed = open(sys.argv[1], "rb").read(), int(sys.argv[3])
key = b"tokenizer.chat_template"
at = data.index(key) + len(key) + 12
n = int.from_bytes(data[at - 8:at], "little")
random.seed(seed)
words = [b"{{", b"}}", b"{%", b"%}", b"{#", b" for ", b" in ", b" if ", b"endfor", b"set ", b"messages", b"[", b")", b"'", b"|", b"-", b"\0", b"\xff", b"\n", b"\x1b[2J"]
text = [random.randbytes(n), b"{{ " + random.randbytes(n), b"".join(random.choices(words, k=n))][seed % 3][:n]
open(sys.argv[2], "wb").write(data[:at] + text + data[at + n:])
PY
  for c in "run -n 2 -p x" "chat -n 2"; do
    checks=$((checks + 1)) rc=0
    timeout 60 "$LODE" $c --temp 0 -m "$WORK/template.gguf" < /dev/null > "$WORK/out" 2> "$WORK/err" || rc=$?
    [ $rc -le 1 ] || fault "template $seed: exit code $rc"
    [ $rc = 0 ] || tells "lode: "
    ! grep -q "$(printf '\033')" "$WORK/err" || fault "template $seed drives the terminal"
  done
done
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
