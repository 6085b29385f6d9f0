#!/usr/bin/env python3
# gguf_corpus.py - writes the seed files of the GGUF fuzzer and of the mutation test. Made of the format's description
# alone, without our writer. usage: python3 tools/gguf_corpus.py tests/fuzz/gguf
import os
import struct
import sys

OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}


def text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def value(kind, v):
    return text(v) if kind == STR else struct.pack("<" + FORMATS[kind], v)


def key(name, kind, v):
    if isinstance(v, list):
        return text(name) + struct.pack("<IIQ", ARR, kind, len(v)) + b"".join(value(kind, x) for x in v)
    return text(name) + struct.pack("<I", kind) + value(kind, v)


def tensor(name, ne, kind, offset):
    return text(name) + struct.pack("<I", len(ne)) + struct.pack("<%dQ" % len(ne), *ne) + struct.pack("<IQ", kind, offset)


def write(name, version, keys, tensors, data=b"", align=32):
    h = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(h + b"\0" * (-len(h) % align) + data)


write("keys.gguf", 3, [key("k%d" % k, k, 1) for k in FORMATS] + [key("a%d" % k, k, [0, 1]) for k in FORMATS] +
      [key("s", STR, "text"), key("as", STR, ["", "b", "cd"])], [])
write("tensors.gguf", 2, [key("general.architecture", STR, "llama"), key("general.alignment", U32, 64)],
      [tensor("a", [4], 0, 0), tensor("b", [32, 2], 8, 64), tensor("c", [2, 1, 3, 1], 26, 192), tensor("d", [256], 16, 256)],
      bytes(range(256)) + b"\1" * 66, 64)
write("vocab.gguf", 3, [key("tokenizer.ggml.model", STR, "llama"), key("tokenizer.ggml.tokens", STR, ["<s>", "", "\u2581a", "b" * 20]),
                        key("tokenizer.ggml.scores", F32, [0.0, -1.0, -2.0, -3.5]),
                        key("tokenizer.ggml.token_type", I32, [3, 1, 1, 1]), key("tokenizer.ggml.add_bos", BOOL, 1)], [])
