#!/usr/bin/env python3
"""vocab.py BUILD - unpacks the vocabularies beside this file into BUILD and compares our ids with the expected ones."""
import glob, lzma, os, shutil, subprocess, sys

here, out = os.path.dirname(os.path.abspath(__file__)), os.path.join(sys.argv[1], "vocab")
os.makedirs(out, exist_ok=True)
files = []
for packed in sorted(glob.glob(here + "/*.gguf.xz")):
    name = os.path.basename(packed)[:-3]
    files.append(os.path.join(out, name))
    if not os.path.exists(files[-1]):
        with lzma.open(packed) as source, open(files[-1] + ".part", "wb") as target:
            shutil.copyfileobj(source, target)
        os.rename(files[-1] + ".part", files[-1])
    for suffix in (".inp", ".out"):
        shutil.copy(os.path.join(here, name + suffix), out)
sys.exit(subprocess.call([os.path.join(sys.argv[1], "tests", "vocab")] + files) if files else 1)
