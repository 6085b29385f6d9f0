#!/usr/bin/env python3
"""Writes src/quant/iq_grid.h: the grids of the IQ types, packed, from PyPI's `gguf` package (pip install gguf numpy).

One number holds one point: 8 values of 2 bits, or 4 values of 3 bits, first value lowest.
"""
import os

from gguf import quants

HEAD = """/* iq_grid.h - the grids of the GGUF types IQ1_S to IQ3_S; written by tools/iq_grid_gen.py, do not edit.
 * One number is one point: 8 values of 2 bits (IQ1, IQ2) or 4 values of 3 bits (IQ3), first value lowest. */
#ifndef LODE_QUANT_IQ_GRID_H
#define LODE_QUANT_IQ_GRID_H
#include "dev/dev.h"
/* clang-format off */
"""

out = os.path.join(os.path.dirname(__file__), "..", "src", "quant", "iq_grid.h")
with open(out, "w") as f:
    f.write(HEAD)
    for name in ["IQ1_S", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"]:
        kind = getattr(quants, name)
        kind.init_grid()
        points = kind.grid.reshape(kind.grid_shape).astype(int)
        bits = 16 // points.shape[1] if points.shape[1] == 8 else 3
        index = {v: i for i, v in enumerate(kind.grid_map)}
        words = [sum(index[v] << bits * k for k, v in enumerate(p)) for p in points.tolist()]
        f.write(f"DEV_TABLE uint16_t {name.lower()}_grid[{len(words)}] = {{\n")
        for i in range(0, len(words), 16):
            f.write(",".join(f"0x{w:04x}" for w in words[i:i + 16]) + ",\n")
        f.write("};\n")
    f.write("/* clang-format on */\n#endif\n")
