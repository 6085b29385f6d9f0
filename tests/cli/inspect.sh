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
# Every kind of value, and arrays up to the six items that are shown; then what the tensors add up to.
python3 - "$WORK/kinds.gguf" <<'P'
import struct, sys
pack = struct.pack
text = lambda t: pack("<Q", len(t)) + t
kinds = [("u8", 0, "B", 255), ("i8", 1, "b", -128), ("u16", 2, "H", 65535), ("i16", 3, "h", -32768),
         ("u32", 4, "I", 4294967295), ("i32", 5, "i", -2147483648), ("f32", 6, "f", 0.5), ("bool", 7, "B", 1),
         ("u64", 10, "Q", 9007199254740993), ("i64", 11, "q", -9007199254740993), ("f64", 12, "d", -2.25)]
keys = [text(b"one." + n.encode()) + pack("<I" + f, i, v) for n, i, f, v in kinds]
keys.append(text(b"one.string") + pack("<I", 8) + text(b"a\tb"))
for n in (0, 1, 6, 7):
    keys.append(text(b"list.%d" % n) + pack("<IIQ", 9, 4, n) + b"".join(pack("<I", 10 + k) for k in range(n)))
keys.append(text(b"list.text") + pack("<IIQ", 9, 8, 2) + text(b"x") + text(b"y z"))
keys.append(text(b"list.bool") + pack("<IIQ", 9, 7, 2) + b"\0\1")
tensors = [(b"a", (32, 3), 0, 384), (b"b", (64,), 8, 68)]
head, at = b"", 0
for name, ne, kind, size in tensors:
    head += text(name) + pack("<I%dQIQ" % len(ne), len(ne), *ne, kind, at)
    at += (size + 31) // 32 * 32
data = b"GGUF" + pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys) + head
open(sys.argv[1], "wb").write(data + b"\0" * (-len(data) % 32) + b"\0" * at)
P
run 0 "$LODE" inspect -m "$WORK/kinds.gguf"
sed -n 's/^  //; 2,$p' "$WORK/out" | tr -s ' ' > "$WORK/got"
diff - "$WORK/got" > "$WORK/err" <<'T' || fault "values are not shown as they are"
one.u8 255
one.i8 -128
one.u16 65535
one.i16 -32768
one.u32 4294967295
one.i32 -2147483648
one.f32 0.5
one.bool true
one.u64 9007199254740993
one.i64 -9007199254740993
one.f64 -2.25
one.string a.b
list.0 [u32 x 0] 
list.1 [u32 x 1] 10
list.6 [u32 x 6] 10, 11, 12, 13, 14, 15
list.7 [u32 x 7] 10, 11, 12, 13, 14, 15, ...
list.text [string x 2] x, y z
list.bool [bool x 2] false, true
a F32 [32, 3]
b Q8_0 [64]
0.00 M parameters, 0.00 MiB, 22.60 bits per weight
no general.architecture: not a language model
T
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
