#!/usr/bin/env bash
# run.sh - lode run: exact answers of the scripted model, on standard output alone.
. "$(dirname "$0")/lib.sh"
ask() { run "$1" "$LODE" run --raw --temp 0 -m "$MARKOV" "${@:2}"; }
ask 0 -p '[[stop-near-miss]]' && out 'Alice! bye'
ask 0 -p '[[emoji]]' && out '\360\237\230\200 done'
ask 0 -p '[[emoji-cut]]' && out 'cut\342\202'
ask 0 -p '[[bad-bytes]]' && out 'bad\300\377 ok'
ask 0 -p '[[eos-first]]' && out ''
ask 0 -p '[[loop]]' -n 3 && out ' x x x'
ask 0 -p '[[loop]]' -n 0 && out ''
ask 0 -p '[[stop-span]]' --ignore-eos -n 5 && out 'O P Q R S'
ask 0 -p '[[ends]]' -n 4 && out 'E'
ask 0 -p '[[ends]]' --ignore-eos -n 4 && out 'E y y y'
# The prompt from a file and from standard input.
printf '[[stop-near-miss]]' > "$WORK/in"
ask 0 && out 'Alice! bye'
ask 0 -f "$WORK/in" && out 'Alice! bye'
rm "$WORK/in"
run 1 "$LODE" run -m "$MARKOV"
one_line
# The same seed gives the same text; several seeds give several.
texts=$(for s in 1 2 3 4 5 6 7 8; do "$LODE" run --raw -m "$MARKOV" -s $s --min-p 0 -p '[[dist]]'; echo; done 2> /dev/null | sort -u | wc -l)
[ "$texts" -gt 1 ] || fault "eight seeds gave one text"
run 0 "$LODE" run --raw -m "$MARKOV" -s 7 -p '[[dist]]'
first=$(cat "$WORK/out")
run 0 "$LODE" run --raw -m "$MARKOV" -s 7 -p '[[dist]]'
[ "$first" = "$(cat "$WORK/out")" ] || fault "one seed gave two texts"
# An answer that fills the context ends, or goes on in a shortened one, and says so.
ask 0 -p '[[loop]]' -c 64 -n 200
[ -s "$WORK/err" ] || fault "a full context is not mentioned"
ask 0 -p '[[eos-first]]' -c 128 && lines err -eq 0
ask 0 -p '[[eos-first]]' -c 1000 && tells "context 1024 of 256" # more than the model knows is told
head -c 2000 /dev/zero | tr '\0' 'a' > "$WORK/in"
ask 1 -c 64
tells 64
one_line
rm "$WORK/in"
# A reader that goes away ends the program, with one line.
checks=$((checks + 1))
timeout 20 "$LODE" run --raw --temp 0 -m "$MARKOV" -p '[[loop]]' -n -1 2> "$WORK/err" | head -c 10 > "$WORK/out"
[ "${PIPESTATUS[0]}" -ne 124 ] || fault "goes on after its reader left"
one_line
tells "standard output"
# A full disk behind standard output is told.
if [ -w /dev/full ]; then
  for c in "run --raw --temp 0 -p [[stop-near-miss]]" inspect "tokenize -p x"; do
    checks=$((checks + 1)) rc=0
    "$LODE" $c -m "$MARKOV" > /dev/full 2> "$WORK/err" < /dev/null || rc=$?
    [ "$rc" = 1 ] || fault "$c on a full disk: exit code $rc"
    one_line
    tells "No space left"
  done
fi
# A stream that is closed is no file that is opened later: nothing is written where it does not belong.
run 1 bash -c 'exec "$@" >&-' - "$LODE" run --raw --temp 0 -m "$MARKOV" -p '[[stop-near-miss]]'
one_line
tells "standard output"
run 1 bash -c 'exec "$@" <&-' - "$LODE" run --raw -m "$MARKOV"
one_line
tells "standard input"
run 0 bash -c 'exec "$@" 2>&-' - "$LODE" run --raw --temp 0 -c 64 -n 200 -m "$MARKOV" -p '[[loop]]' --trace "$WORK/trace"
python3 -m json.tool "$WORK/trace" > "$WORK/out" || fault "messages in a trace"
# White space alone is no prompt.
run 1 "$LODE" run -m "$MARKOV" -p "$(printf ' \t\r ')"
one_line
tells "empty"
# A prompt with a NUL byte in it goes on behind it, through the chat template too.
printf 'a\0[[stop-near-miss]]' > "$WORK/in"
run 0 "$LODE" run --temp 0 -m "$MARKOV" && out 'Alice! bye'
rm "$WORK/in"
# Any folder, after being moved.
cp "$LODE" "$WORK/moved" && cd / && run 0 "$WORK/moved" run --raw --temp 0 -m "$MARKOV" -p '[[stop-near-miss]]' && out 'Alice! bye'
# Each path that the machine has computes the same answer.
for isa in portable avx2 avx512 amx; do
  "$LODE" devices --isa $isa > /dev/null 2>&1 || continue
  ask 0 --isa $isa -p '[[stop-near-miss]]' && out 'Alice! bye'
done
finish
