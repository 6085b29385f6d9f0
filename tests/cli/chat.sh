#!/usr/bin/env bash
# chat.sh - lode chat: in pipes, and as a person sees it in a terminal (a pseudo-terminal).
. "$(dirname "$0")/lib.sh"
printf 'hello' > "$WORK/in"
run 0 "$LODE" chat --temp 0 -n 4 -m "$MARKOV"
for blank in '' '\n' ' \t\r\n\n '; do # the built-in question is asked in its place
  printf "$blank" > "$WORK/in"
  run 0 "$LODE" chat --temp 0 -n 1 -m "$MARKOV" && tells 'Why is the sky blue'
done
# Very long lines are refused for what they are.
head -c 1000000 /dev/zero | tr '\0' a > "$WORK/in"
run 1 "$LODE" chat --temp 0 -m "$MARKOV" && one_line && tells 'use a larger one (-c) or a shorter prompt'
: > "$WORK/in"
run 0 "$LODE" chat --temp 0 -m "$MARKOV" -n 4
# Bytes of a message that are not UTF-8 reach the model as they are.
printf 'caf\376' > "$WORK/in"
run 0 "$LODE" chat --temp 0 -n 4 -m "$MARKOV" && has stray
run 0 "$LODE" run --temp 0 -n 4 -m "$MARKOV" && out stray
# A full context keeps the beginning of the talk: the system prompt, what --keep says, or the first 4 tokens; of the
# others it forgets the older half. BOS is a token, and so is each z: (128 - 21) / 2, (128 - 4) / 2, (128 - 30) / 2.
printf '[[loop]]' > "$WORK/in"
forgets() { grep -qF "is full: $1 older ones are forgotten" "$WORK/err" || fault "want $1 tokens forgotten"; }
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" -sys zzzzzzzzzzzzzzzzzzzz && forgets 53
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" && forgets 62
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" --keep 30 && forgets 49
# At most half of the context is kept.
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" --keep 0 && forgets 64
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" --keep 64 && forgets 32
run 0 "$LODE" chat --temp 0 -n 130 -c 128 -m "$MARKOV" --keep 100 && forgets 32
rm "$WORK/in"
checks=$((checks + 1))
python3 "$root/tests/cases/gen_markov.py" "$WORK/talk.gguf" --talk > /dev/null
python3 "$here/pty_chat.py" "$LODE" "$WORK/talk.gguf" > "$WORK/out" 2> "$WORK/err" || fault "in a terminal"
finish
