#!/usr/bin/env python3
# golden_quant.py - writes tests/golden/quant/: blocks of every tensor type with the floats that they mean, and floats
# with the blocks that they become, computed by the `gguf` package of PyPI and by ggml's library, the format's own
# references (a type that the package decodes is decoded by the package).
# usage: PYTHON tools/golden_quant.py tests/golden/quant [TYPE ...]   needs: the peer and its Python, tests/peer/fetch.sh
#   TYPE.dec  blocks, then the decoded float32 values        TYPE.enc  float32 values, then the encoded blocks
# tests/peer/check_types.py uses the functions for the same comparison on many more blocks.
import ctypes
import os
import re
import sys

import numpy as np
from gguf import quants, GGMLQuantizationType

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PEER = os.environ.get("LODE_PEER") or os.path.expanduser("~/.cache/lode-peer")
ggml = ctypes.CDLL(os.path.join(PEER, "bin", "libggml-base.so"))

# where each block keeps its half-precision fields, in bytes: random bits there would mostly be NaN or huge
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ1_S": [0], "IQ1_M": [], "IQ2_XXS": [0], "IQ2_XS": [0],
          "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64],
          "MXFP4": [], "NVFP4": [], "Q1_0": [0], "Q2_0": [0]}
# encoders whose bytes the format's reference fixes, at least by custom
ENCODED = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4", "Q1_0",
           "Q2_0"]


def sizes():
    """Name: (elements, bytes) of the types that lode computes with, integers and its own left out."""
    with open(os.path.join(ROOT, "include", "lode", "types.def")) as f:
        rows = re.findall(r"^TYPE\((\w+), *\"\w+\", *(-?\d+), *(\d+), *(\d+)\)", f.read(), re.M)
    return {name: (int(n), int(size)) for name, file, n, size in rows if int(file) >= 0 and not re.match(r"I\d", name)}


def blocks(name, n, rng):
    """n blocks of random bits with finite scales, among them zero, a subnormal and the largest."""
    def scales():
        d = (rng.standard_normal(n) * 0.05).astype(np.float16)
        d[:3] = np.array([0.0, 3e-6, 65504.0], dtype=np.float16)
        return d
    elements, size = sizes()[name]
    out = rng.integers(0, 256, (n, size), dtype=np.uint8)
    for at in HALVES.get(name, []):
        out[:, at:at + 2] = scales().view(np.uint8).reshape(-1, 2)
    if name in ("MXFP4", "NVFP4"):  # scales at the ends of their ranges
        out[:8, 0] = [0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF]
    if name == "IQ1_M":  # the half is in the top 4 bits of four words, lowest first
        d = scales().view(np.uint16)
        for k in range(4):
            out[:, 49 + 2 * k] = (out[:, 49 + 2 * k] & 15) | ((d >> (4 * k) & 15) << 4).astype(np.uint8)
    return out


def ggml_row(symbol, src, dst, n):
    """Calls a function of ggml with (source, destination, number of elements)."""
    f = getattr(ggml, symbol)
    f.restype = None
    f(src.ctypes.data_as(ctypes.c_void_p), dst.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n))
    return dst


def ggml_name(name):
    return name.lower().replace("_k", "_K")


def decodings(name, raw):
    """The float32 values of blocks, as each reference that knows the type has them."""
    n = raw.shape[0] * sizes()[name][0]
    plain = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
    if name in plain:
        with np.errstate(all="ignore"):
            return [raw.reshape(-1).view(plain[name]).astype(np.float32)]
    found = []
    kind = getattr(GGMLQuantizationType, name, None)
    if kind in quants._type_traits:
        with np.errstate(all="ignore"):
            found.append(quants.dequantize(raw.reshape(-1), kind).astype(np.float32).reshape(-1))
    if hasattr(ggml, "dequantize_row_" + ggml_name(name)):
        found.append(ggml_row("dequantize_row_" + ggml_name(name), raw, np.zeros(n, np.float32), n))
    return found


def encoding(name, x):
    """The bytes of float32 values, as ggml's reference encoder has them."""
    if name == "F64":
        return x.astype(np.float64).view(np.uint8)
    symbol = {"F16": "ggml_fp32_to_fp16_row", "BF16": "ggml_fp32_to_bf16_row_ref"}.get(
        name, f"quantize_row_{ggml_name(name)}_ref")
    elements, size = sizes()[name]
    return ggml_row(symbol, x, np.zeros(len(x) // elements * size, np.uint8), len(x))


def rows_to_encode(rng):
    x = rng.standard_normal((16, 32)).astype(np.float32)
    x[0] = 0
    x[1] = 0.75
    x[2] *= 1e-6
    x[3] *= 300
    x[4] = np.arange(32) - 16
    x[5] = np.abs(x[5])
    x[6, 3] = -30
    x[7] = (np.arange(32) * 37 % 127 - 127) / 2  # halfway between the values of IQ4_NL
    x[7, 0] = -127
    x[8] *= 800  # scales of NVFP4 in the top binade, and above
    x[9] *= 3000
    return x.reshape(-1)


def main(out, names):
    def write(name, *parts):
        with open(os.path.join(out, name), "wb") as f:
            for p in parts:
                f.write(np.ascontiguousarray(p).tobytes())

    os.makedirs(out, exist_ok=True)
    for name in names or [t for t in sizes() if t not in ("F32", "F64")]:
        rng = np.random.default_rng([20240607] + list(name.encode()))
        raw = blocks(name, (512 if name in ("F16", "BF16") else 1024) // sizes()[name][0], rng)
        write(name.lower() + ".dec", raw, decodings(name, raw)[0])
        if name in ENCODED:
            x = rows_to_encode(rng)
            if name == "IQ4_NL":
                x = x[32:]  # what the reference writes beside a scale of 0 is chance
            write(name.lower() + ".enc", x, encoding(name, x))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
