#!/usr/bin/env bash
# inspect.sh - lode inspect and lode tokenize.
. "$(dirname "$0")/lib.sh"
run 0 "$LODE" inspect -m "$MARKOV"
has llama
has "markov test"
has "F32"
# A container without an architecture is shown, and not run.
python3 - "$WORK/bare.gguf" <<'P'
import struct, sys
open(sys.argv[1], "wb").write(b"GGUF" + struct.pack("<IQQ", 3, 0, 0) + b"\0" * 8)
P
run 0 "$LODE" inspect -m "$WORK/bare.gguf"
has "architecture"
run 1 "$LODE" run -m "$WORK/bare.gguf" -p x
one_line
run 0 "$LODE" tokenize -m "$MARKOV" --ids -p 'Alice'
ids=$(tr -d '\n[] ' < "$WORK/out")
case $ids in *[!0-9,]*) fault "ids are not numbers: $ids" ;; esac
run 0 "$LODE" tokenize -m "$MARKOV" -p 'Alice'
has Al
printf 'Alice' > "$WORK/in"
run 0 "$LODE" tokenize -m "$MARKOV" --ids
[ "$ids" = "$(tr -d '\n[] ' < "$WORK/out")" ] || fault "text of standard input gives other ids than -p"
run 0 "$LODE" tokenize -m "$MARKOV" --ids -f "$WORK/in"
[ "$ids" = "$(tr -d '\n[] ' < "$WORK/out")" ] || fault "text of a file gives other ids than -p"
# Control tokens in text are text unless asked for.
rm "$WORK/in"
run 0 "$LODE" tokenize -m "$MARKOV" --ids -p '</s>'
case ,$(tr -d '\n[] ' < "$WORK/out"), in *,2,*) fault "</s> became a control token" ;; esac
run 0 "$LODE" tokenize -m "$MARKOV" --ids --special -p '</s>'
case ,$(tr -d '\n[] ' < "$WORK/out"), in *,2,*) ;; *) fault "--special does not recognise </s>" ;; esac
finish
