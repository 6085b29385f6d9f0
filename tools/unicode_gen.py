#!/usr/bin/env python3
"""Writes src/tok/unicode_data.h: the general category of every code point as runs.

Needs the PyPI package unicodedata2 16.0.0 (python's own table is older):
    python3 -m venv /tmp/u && /tmp/u/bin/pip install unicodedata2==16.0.0 && /tmp/u/bin/python tools/unicode_gen.py
"""
import os
import unicodedata2 as unicodedata

CATEGORIES = ("Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co").split()

assert unicodedata.unidata_version == "16.0.0", unicodedata.unidata_version
runs, last = [], None
for cp in range(0x110000):
    gc = CATEGORIES.index(unicodedata.category(chr(cp)))
    if gc != last:
        runs.append(cp << 5 | gc)
        last = gc

out = os.path.join(os.path.dirname(__file__), "..", "src", "tok", "unicode_data.h")
with open(out, "w") as f:
    f.write("/* unicode_data.h - general categories of Unicode %s; written by tools/unicode_gen.py, do not edit.\n"
            " * Each number is first code point << 5 | index into the list of categories; a run ends where the next starts.\n"
            " * Included by unicode.c alone. */\n" % unicodedata.unidata_version)
    f.write('#define UNICODE_VERSION "%s"\n' % unicodedata.unidata_version)
    f.write("static const char category_names[][3] = { %s };\n" % ", ".join('"%s"' % c for c in CATEGORIES))
    f.write("/* clang-format off */\nstatic const uint32_t category_runs[] = {\n")
    for i in range(0, len(runs), 12):
        f.write(" ".join("0x%x," % r for r in runs[i:i + 12]) + "\n")
    f.write("};\n/* clang-format on */\n")
print(len(runs), "runs")
