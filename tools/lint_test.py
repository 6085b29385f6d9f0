#!/usr/bin/env python3
"""lint_test.py - plants one fault per lint rule into an otherwise clean tree and expects exactly that rule to fire."""
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import lint  # noqa: E402

CLEAN = {
    "tools/layers.txt": "gguf:\nquant:\ngraph: quant\napp: *\n",
    "src/graph/a.c": '/* a.c - a clean file; it may say abort() and TO-DO in a comment. */\n#include "quant/q.h"\n\n'
                     'static int twice(int a) { return a * 2; }\n',
    "src/quant/q.h": "/* q.h - blocks. */\ntypedef struct q4_k_block {\n    int x;\n} q4_k_block;\n",
}
HEAD = "/* b.c - b. */\n"
FAULTS = [  # what, file, text, rule, part of the message
    ("an include upward", "src/quant/b.c", HEAD + '#include "graph/a.h"\n', "layers", "may not include graph/"),
    ("a folder that is no layer", "src/nowhere/b.c", HEAD, "layers", "does not name"),
    ("a long file", "src/graph/b.c", HEAD + "int x;\n" * 1500, "size", "1501 lines"),
    ("a long function", "src/graph/b.c", HEAD + "int f(void) {\n" + "    g();\n" * 151 + "}\n", "size", "function f"),
    ("a long function whose signature has two lines", "src/graph/b.c", HEAD + "int f(int a,\n      int b) {\n"
     + "    g();\n" * 151 + "}\n", "size", "function f"),
    ("a long function after an empty one", "src/graph/b.c", HEAD + "void e(void) {}\n\nint f(void) {\n"
     + "    g();\n" * 151 + "}\n", "size", "function f"),
    ("nine parameters", "src/graph/b.c", HEAD + "int f(int a, int b, int c, int d, int e, int g, int h, int i, int j) {\n"
     "    return a;\n}\n", "size", "9 parameters"),
    ("abort", "src/graph/b.c", HEAD + "void f(void) {\n    abort();\n}\n", "banned", "abort()"),
    ("exit", "src/graph/b.c", HEAD + "void f(void) {\n    exit(1);\n}\n", "banned", "exit()"),
    ("assert", "src/graph/b.c", HEAD + "void f(int a) {\n    assert(a);\n}\n", "banned", "assert()"),
    ("getenv", "src/app/b.c", HEAD + 'const char *f(void) { return getenv("X"); }\n', "banned", "getenv()"),
    ("printf", "src/graph/b.c", HEAD + 'void f(void) { printf("x"); }\n', "banned", "printf()"),
    ("stderr", "src/graph/b.c", HEAD + 'void f(void) { fprintf(stderr, "x"); }\n', "banned", "stdout or stderr"),
    ("a C++ word", "src/graph/b.c", HEAD + "int *f(void) { return nullptr; }\n", "c++", "nullptr"),
    ("a C++ file", "src/graph/b.cpp", HEAD, "c++", "C only"),
    ("a C++ header", "tests/b.hh", HEAD, "c++", "C only"),
    ("a C++ keyword in a public header", "include/lode/b.h", "/* b.h - b. */\nint f(int class);\n", "c++", "class"),
    ("a switch over ops", "src/graph/b.c", HEAD + "int f(T *t) {\n    switch (t->op) {\n    }\n}\n", "switch", "list"),
    ("a switch over types", "src/graph/b.c", HEAD + "int f(T *t) {\n    switch (t->type) {\n    }\n}\n", "switch", "list"),
    ("a case of a list", "src/graph/b.c", HEAD + "int f(int a) {\n    switch (a) {\n    case LODE_OP_ADD: return 1;\n"
     "    }\n}\n", "switch", "list"),
    ("a private path", "tools/b.sh", "cd /home/me\n", "private", "one machine"),
    ("a block struct elsewhere", "src/graph/b.c", HEAD + "q4_k_block b;\n", "blocks", "block structs"),
    ("a platform's #if", "src/graph/b.c", HEAD + "#ifdef __linux__\nint x;\n#endif\n", "if", "one file per platform"),
    ("unfinished work", "src/graph/b.c", HEAD + "/* TODO: more */\n", "unfinished", "finish it"),
    ("flags for this machine", "tools/b.cmake", "add_compile_options(-march=native)\n", "native", "other machines"),
    ("no header comment", "src/graph/b.c", "int x;\n", "header", "first line"),
    ("a long README", "src/graph/README.md", "x\n" * 31, "size", "30 lines"),
    ("loose formatting", "src/graph/b.c", HEAD + "int   f( void ){return 1;}\n", "format", "make fmt"),
]


def run(extra):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {**CLEAN, **extra}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        shutil.copy(Path(__file__).resolve().parent.parent / ".clang-format", root)
        return lint.check(root)


def main():
    wrong = run({})
    if wrong:
        print("a clean tree is refused:", *wrong, sep="\n")
    for what, path, text, rule, part in FAULTS:
        if rule == "format" and not shutil.which("clang-format-19"):
            continue
        found = run({path: text})
        if not any(f": {rule}: " in f and part in f for f in found):
            wrong.append(what)
            print(f"not found: {what}; lint said {found}")
    print(f"lint_test: {len(FAULTS) - len(wrong)} of {len(FAULTS)} faults found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
