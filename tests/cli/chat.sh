#!/usr/bin/env bash
# chat.sh - lode chat: in pipes, and as a person sees it in a terminal (a pseudo-terminal).
. "$(dirname "$0")/lib.sh"
printf 'hello' > "$WORK/in"
run 0 "$LODE" chat --temp 0 -n 4 -m "$MARKOV"
: > "$WORK/in"
run 0 "$LODE" chat --temp 0 -m "$MARKOV" -n 4
# Bytes of a message that are not UTF-8 reach the model as they are.
printf 'caf\376' > "$WORK/in"
run 0 "$LODE" chat --temp 0 -n 4 -m "$MARKOV" && has stray
run 0 "$LODE" run --temp 0 -n 4 -m "$MARKOV" && out stray
rm "$WORK/in"
checks=$((checks + 1))
python3 "$root/tests/cases/gen_markov.py" "$WORK/talk.gguf" --talk > /dev/null
python3 "$here/pty_chat.py" "$LODE" "$WORK/talk.gguf" > "$WORK/out" 2> "$WORK/err" || fault "in a terminal"
finish
