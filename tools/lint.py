#!/usr/bin/env python3
"""lint.py - the rules of docs/style.md that a program can check. Prints FILE:LINE: RULE: what is wrong; exit 1 if any.

usage: tools/lint.py [--no-format] [ROOT]
Rules: layers (tools/layers.txt), sizes, banned calls, C++ words, switches over lists, block structs outside their
folders, #if outside platform folders, unfinished work, private paths, clang-format 19 (skipped when absent).
tools/lint_test.py plants a fault for each rule and expects it to be found."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

MAX_FILE, MAX_FUNCTION, MAX_PARAMS = 1500, 150, 8
# Generated tables may be long; each says in its first line what made it.
GENERATED = {"src/chat/case_data.h", "src/tok/unicode_data.h", "src/quant/iq_grid.h"}
CODE = (".c", ".h", ".def", ".cu", ".k", ".metal")
CPP_NAMES = (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".mm")

BANNED = {  # call: (why, folders where it is allowed)
    "abort": ("return a lode_status", ()),
    "exit": ("return a lode_status", ("src/app",)),
    "assert": ("return a lode_status, or LODE_BUG", ()),
    "getenv": ("the environment is read in src/app/env.c", ("src/app/env.c", "src/plugin/")),
    "printf": ("the library never prints", ("src/app",)),
    "puts": ("the library never prints", ("src/app",)),
    "putchar": ("the library never prints", ("src/app",)),
    "perror": ("the library never prints", ("src/app",)),
    "gets": ("no bound", ()),
    "strcpy": ("no bound", ()),
    "strcat": ("no bound", ()),
    "sprintf": ("no bound", ()),
    "alloca": ("no bound", ()),
}
# Words that only C++ has in any use; public headers are read by C++ compilers and may not use its keywords as names.
CPP_WORDS = r"\b(namespace|nullptr|constexpr|static_cast|reinterpret_cast|dynamic_cast|std::\w+)\b"
CPP_HEADER_WORDS = CPP_WORDS[:-3] + r"|class|template|new|delete|this|virtual|private|public|operator|typename)\b"
IF_ALLOWED = ("src/base/", "src/dev/", "src/cpu/", "src/gpu/", "src/cuda/", "src/metal/", "src/backend/", "src/app/",
              "include/lode/base.h")
SWITCH_LISTS = r"\bswitch\s*\(([^()]|\([^()]*\))*(->|\.|\b)(op|type|arch|kind_of_op)\s*\)"
CASE_LISTS = r"\bcase\s+LODE_(OP|TYPE|ARCH)_[A-Z0-9_]+\s*:"
PRIVATE = r"(?<![\w.~>/-])/(home|root|work|Users)/\w"
BLOCK_STRUCT = r"\b(lode_)?(t?q[1-8]_[01k]|iq\w+|(mx|nv)fp4)_block\b|\bblock_q\w+\b"
BLOCK_ALLOWED = ("src/quant/", "src/cpu/kern/", "src/gpu/", "src/cuda/", "src/metal/", "src/dev/")
UNFINISHED = r"\b(TODO|FIXME|XXX|HACK)\b"


class Lint:
    def __init__(self, root):
        self.root = Path(root)
        self.found = []

    def say(self, path, line, rule, text):
        self.found.append(f"{path}:{line}: {rule}: {text}")

    def files(self):
        names = None
        if shutil.which("git"):
            out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, capture_output=True,
                                 text=True)
            names = out.stdout.split("\n") if out.returncode == 0 else None
        if names is None:
            names = [str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(("build", "models/", ".git/"))]
        return sorted(n for n in names if n and (self.root / n).is_file())


def strip(text):
    """Comments and the insides of strings become spaces; line numbers stay."""
    def blank(m):
        s = m.group(0)
        if s[0] == '"':
            return '"' + re.sub(r"[^\n]", " ", s[1:-1]) + '"'
        if s[0] == "'":
            return "' '"
        return re.sub(r"[^\n]", " ", s)
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)


def is_test(path):
    return path.endswith("_test.c") or path.startswith(("tests/", "bench/", "examples/")) or path == "src/base/test.h"


def layers(lint, path, code, allowed):
    parts = path.split("/")
    if parts[0] != "src" or len(parts) < 3 or is_test(path):
        return
    own = parts[1]
    if own != "base" and own not in allowed:
        return lint.say(path, 1, "layers", f"tools/layers.txt does not name the folder {own}")
    may = allowed.get(own, set())
    if "*" in may:
        return
    for i, line in enumerate(code.split("\n"), 1):
        m = re.match(r'\s*#\s*include\s+"([a-z_]+)/', line)
        if m and m.group(1) not in {own, "base", "lode", *may}:
            lint.say(path, i, "layers", f"{own} may not include {m.group(1)}/ (tools/layers.txt)")


def sizes(lint, path, text, code):
    n = text.count("\n")
    if n > MAX_FILE and path not in GENERATED:
        lint.say(path, 1, "size", f"{n} lines, at most {MAX_FILE}: split it")
    if not path.endswith((".c", ".h")):
        return
    head, start, name = 0, 0, ""  # a signature may take several lines: it is a function once a line ends with {
    for i, line in enumerate(code.split("\n"), 1):
        end = line.rstrip()
        if line.startswith("}"):
            if start and i - start > MAX_FUNCTION:
                lint.say(path, start, "size", f"function {name} has {i - start} lines, at most {MAX_FUNCTION}")
            head = start = 0
        elif not start and re.match(r"[A-Za-z_].*\(", line):
            head, name = i, (re.findall(r"(\w+)\s*\(", line) or ["?"])[0]
        if head and not start and end.endswith("{"):
            start = head
        elif not end or end.endswith(";"):
            head = 0


def params(lint, path, code):
    for m in re.finditer(r"^[A-Za-z_][\w \*]*?\b(\w+)\(([^(){};]*)\)\s*\{", code, flags=re.M):
        n = m.group(2).count(",") + 1
        if n > MAX_PARAMS and not is_test(path) and not path.startswith("src/cpu/kern/"):
            line = code.count("\n", 0, m.start()) + 1
            lint.say(path, line, "size", f"{m.group(1)} has {n} parameters, at most {MAX_PARAMS}: use a descriptor")


def words(lint, path, text, code):
    in_src = path.startswith(("src/", "include/")) and not is_test(path)
    for i, line in enumerate(code.split("\n"), 1):
        if in_src:
            for m in re.finditer(r"(?<![\w.>])(\w+)\s*\(", line):
                why, where = BANNED.get(m.group(1), (None, ()))
                if why and not path.startswith(where or ("\0",)):
                    lint.say(path, i, "banned", f"{m.group(1)}(): {why}")
            if re.search(r"\b(stdout|stderr)\b", line) and not path.startswith(("src/app/", "src/plugin/")):
                lint.say(path, i, "banned", "the library never writes to stdout or stderr")
            if re.search(SWITCH_LISTS, line) or re.search(CASE_LISTS, line):
                lint.say(path, i, "switch", "a switch over a list: put the difference into the list or a table")
            if re.match(r"\s*#\s*if", line) and not path.startswith(IF_ALLOWED) and not allowed_if(line):
                lint.say(path, i, "if", "#if belongs into base/, dev/, backends or app/: one file per platform")
            if re.search(BLOCK_STRUCT, line) and not path.startswith(BLOCK_ALLOWED):
                lint.say(path, i, "blocks", "block structs are named in src/quant and kernel files only")
            m = re.search(CPP_HEADER_WORDS if path.startswith("include/") else CPP_WORDS, line)
            if m:
                lint.say(path, i, "c++", f"{m.group(0)} is a word of C++")
    for i, line in enumerate(text.split("\n"), 1):
        if path not in ("tools/lint.py", "tools/lint_test.py", "docs/style.md", "docs/design.md"):
            if re.search(UNFINISHED, line):
                lint.say(path, i, "unfinished", "finish it, or leave it out")
            if re.search(PRIVATE, line):
                lint.say(path, i, "private", "a path of one machine")
            if re.search(r"-march=native|-mcpu=native", line) and not path.startswith("tests/peer/"):
                lint.say(path, i, "native", "binaries run on other machines: only kernel files get ISA flags")


def allowed_if(line):
    """Guards against being read twice, of C++ readers, of debug builds."""
    return bool(re.match(r"\s*#\s*ifndef\s+[A-Z]\w*\s*$|\s*#\s*ifdef\s+__cplusplus|\s*#\s*ifdef\s+LODE_DEBUG", line))


def headers(lint, path, text):
    if path.endswith((".c", ".h", ".def")) and path.startswith(("src/", "include/", "tests/", "bench/", "examples/")):
        name = path.rsplit("/", 1)[-1]
        if name not in text.split("\n", 1)[0]:
            lint.say(path, 1, "header", f"the first line says what the file is: /* {name} - ... */")
    if path.startswith("src/") and path.endswith("README.md") and text.count("\n") > 30:
        lint.say(path, 1, "size", "a folder's README has at most 30 lines")


def formatting(lint, files):
    tool = shutil.which("clang-format-19")
    if not tool:
        print("lint: clang-format-19 is not installed: formatting was not checked")
        return
    names = [f for f in files if f.endswith((".c", ".h")) and f not in GENERATED]
    if not names:
        return
    out = subprocess.run([tool, "--dry-run", "--Werror", *names], cwd=lint.root, capture_output=True, text=True)
    seen = set()
    for m in re.finditer(r"^([^:\n]+):(\d+):\d+: error", out.stderr, flags=re.M):
        if m.group(1) not in seen:
            seen.add(m.group(1))
            lint.say(m.group(1), m.group(2), "format", "run make fmt")


def read_layers(root):
    allowed = {}
    for line in (Path(root) / "tools/layers.txt").read_text().split("\n"):
        if ":" in line and not line.startswith("#"):
            name, rest = line.split(":", 1)
            allowed[name.strip()] = set(rest.split())
    return allowed


def check(root, with_format=True):
    lint = Lint(root)
    allowed = read_layers(root)
    everything = lint.files()
    for path in everything:
        if path.endswith(CPP_NAMES):
            lint.say(path, 1, "c++", "C only: the name is one of C++")
    files = [f for f in everything if f.endswith(CODE) or f.endswith((".py", ".sh", ".md", ".txt", ".cmake"))
             or f.startswith("tools/")]
    for path in files:
        if path.startswith(("tests/golden/", "tests/texts/", "tests/fuzz/")) and not path.endswith(CODE):
            continue
        text = (lint.root / path).read_text(errors="replace")
        code = strip(text) if path.endswith(CODE) else ""
        if path.endswith(CODE):
            layers(lint, path, re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S),
                   allowed)
            sizes(lint, path, text, code)
            params(lint, path, code)
        words(lint, path, text, code)
        headers(lint, path, text)
    if with_format:
        formatting(lint, files)
    return lint.found


def main():
    args = [a for a in sys.argv[1:] if a != "--no-format"]
    root = args[0] if args else Path(__file__).resolve().parent.parent
    found = check(root, "--no-format" not in sys.argv)
    print("\n".join(found) if found else "lint: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
