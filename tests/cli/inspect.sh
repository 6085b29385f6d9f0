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
# Weights of every type are named and used: the zeros of a tensor are zeros in all of them.
retype() { # NUMBER: a copy of the model whose query weights have that type
  python3 - "$MARKOV" "$WORK/typed.gguf" "$1" <<'P'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"blk.0.attn_q.weight") + len("blk.0.attn_q.weight") + 4 + 16
data[at:at + 4] = struct.pack("<I", int(sys.argv[3]))
open(sys.argv[2], "wb").write(data)
P
}
while read -r id name; do
  retype "$id"
  run 0 "$LODE" inspect -m "$WORK/typed.gguf"
  has "$name"
  run 0 "$LODE" run --raw --temp 0 -m "$WORK/typed.gguf" -p '[[stop-near-miss]]'
  out 'Alice! bye'
done <<'T'
16 IQ2_XXS
17 IQ2_XS
18 IQ3_XXS
19 IQ1_S
20 IQ4_NL
21 IQ3_S
22 IQ2_S
23 IQ4_XS
29 IQ1_M
34 TQ1_0
35 TQ2_0
39 MXFP4
40 NVFP4
41 Q1_0
42 Q2_0
T
# Integers and types that are no weights are refused by name.
while read -r id name; do
  retype "$id"
  run 0 "$LODE" inspect -m "$WORK/typed.gguf"
  has "$name"
  run 1 "$LODE" run -m "$WORK/typed.gguf" -p x
  one_line
  grep -qi "attn_q.weight.*$name" "$WORK/err" || fault "the message does not name $name"
done <<'T'
9 Q8_1
15 Q8_K
24 I8
25 I16
26 I32
T
finish
