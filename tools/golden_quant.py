#!/usr/bin/env python3
# golden_quant.py - writes tests/golden/quant/: blocks of every tensor type with the floats that they mean, and floats
# with the blocks that they become, both computed by the `gguf` package of PyPI (the format's own reference).
# usage: python3 tools/golden_quant.py tests/golden/quant      needs: pip install gguf numpy
#   TYPE.dec  blocks, then the decoded float32 values        TYPE.enc  float32 values, then the encoded blocks
import os
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
rng = np.random.default_rng(20240607)
# where each block keeps its half-precision fields, in bytes: random bits there would mostly be NaN or huge
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


def write(name, *parts):
    with open(os.path.join(OUT, name), "wb") as f:
        for p in parts:
            f.write(np.ascontiguousarray(p).tobytes())


for name, halves in HALVES.items():
    n, size = GGML_QUANT_SIZES[T[name]]
    blocks = rng.integers(0, 256, (1024 // n, size), dtype=np.uint8)
    for at in halves:  # among the scales also zero, a subnormal and the largest
        d = (rng.standard_normal(len(blocks)) * 0.05).astype(np.float16)
        d[:3] = np.array([0.0, 3e-6, 65504.0], dtype=np.float16)
        blocks[:, at:at + 2] = d.view(np.uint8).reshape(-1, 2)
    write(name.lower() + ".dec", blocks, dequantize(blocks.reshape(-1), T[name]).astype(np.float32))

for name in ["F16", "BF16"]:
    bits = rng.integers(0, 1 << 16, 512, dtype=np.uint16)
    bits[:8] = [0, 0x8000, 1, 0x8001, 0x7C00 if name == "F16" else 0x7F80, 0x3FF, 0x400, 0x3C00]
    got = bits.view(np.float16).astype(np.float32) if name == "F16" else (bits.astype(np.uint32) << 16).view(np.float32)
    write(name.lower() + ".dec", bits, got)

for name in ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]:
    x = rng.standard_normal((16, 32)).astype(np.float32)
    x[0] = 0
    x[1] = 0.75
    x[2] *= 1e-6
    x[3] *= 300
    x[4] = np.arange(32) - 16
    x[5] = np.abs(x[5])
    x[6, 3] = -30
    x = x.reshape(-1)
    write(name.lower() + ".enc", x, quantize(x, T[name]))
