#!/usr/bin/env python3
"""Writes src/chat/case_data.h: what Unicode says of letters' case beyond one letter for one letter, asked of Python's
strings, which are what templates are written for. No packages needed."""
import os
import unicodedata

ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def runs(chars):
    out = []
    for c in map(ord, chars):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def ignorable(c):
    """Skipped in the search for the letters around a capital sigma."""
    return ("A" + c + "\u03a3").lower()[-1] == "\u03c2" and ("1" + c + "\u03a3").lower()[-1] == "\u03c3"


rows = [c for c in ALL if max(len(c.upper()), len(c.lower()), len(c.title())) > 1]
more_upper = [c for c in ALL if c.isupper() and unicodedata.category(c) != "Lu"]
more_lower = [c for c in ALL if c.islower() and unicodedata.category(c) != "Ll"]
more_digits = [c for c in ALL if c.isdigit() and not c.isdecimal()]
more_ignorable = [c for c in ALL if ignorable(c) and unicodedata.category(c) not in ("Mn", "Me", "Cf", "Lm", "Sk")]


def several(text):
    return "{ %s }" % (", ".join("0x%x" % ord(c) for c in text) if len(text) > 1 else "0")


def table(f, name, chars):
    f.write("static const case_run %s[] = {\n" % name)
    for a, b in runs(chars):
        f.write("    { 0x%x, 0x%x },\n" % (a, b))
    f.write("};\n")


with open(os.path.join(os.path.dirname(__file__), "..", "src", "chat", "case_data.h"), "w") as f:
    f.write("""/* case_data.h - letters whose other case is several characters, and what is upper, lower, a digit or looked past at the
 * end of a word without having the category; Unicode %s, written by tools/case_gen.py, do not edit. Included by text.c
 * alone. */
typedef struct case_row {
    uint32_t cp;
    uint16_t to[3][3]; /* upper, lower, title; 0: one character */
} case_row;
typedef struct case_run {
    uint32_t first, last;
} case_run;
/* clang-format off */
static const case_row case_rows[] = {
""" % unicodedata.unidata_version)
    for c in rows:
        f.write("    { 0x%x, { %s, %s, %s } },\n" % (ord(c), several(c.upper()), several(c.lower()), several(c.title())))
    f.write("};\n")
    table(f, "more_upper", more_upper)
    table(f, "more_lower", more_lower)
    table(f, "more_digits", more_digits)
    table(f, "more_ignorable", more_ignorable)
    f.write("/* clang-format on */\n")
print(len(rows), "letters")
