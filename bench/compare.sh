#!/usr/bin/env bash
# compare.sh [ROUNDS] [THREADS] - our speed against llama.cpp's on the two test models, interleaved, medians:
# decode (tg128), prefill (pp512), and the time of a whole `run --raw -n 1` against llama-completion -n 1.
# Needs `make`, tests/peer/fetch.sh and both models in models/ (make check-models).
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}; threads=${2:-2}
peer=${LODE_PEER:-$HOME/.cache/lode-peer}
[ -x "$peer/bin/llama-bench" ] || { echo "compare.sh: no peer in $peer: run tests/peer/fetch.sh" >&2; exit 1; }
python3 - "$rounds" "$threads" "$peer/bin" <<'P'
import json, os, statistics, subprocess, sys, time
rounds, threads, peer = int(sys.argv[1]), sys.argv[2], sys.argv[3]
env = dict(os.environ, LD_LIBRARY_PATH=peer)
def run(cmd): return subprocess.run(cmd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
def speeds(cmd):
    rows = json.loads(run(cmd))
    return {("pp" if r["n_prompt"] else "tg"): r["avg_ts"] for r in rows}, rows
def seconds(cmd):
    start = time.monotonic(); run(cmd); return time.monotonic() - start
median = statistics.median
for model in ("models/SmolLM2-135M-Instruct.Q4_1.gguf", "models/gemma-3-270m-Q4_K_M.gguf"):
    ours, theirs, bw, first = {"pp": [], "tg": []}, {"pp": [], "tg": []}, [], ([], [])
    text = ["-p", "The quick brown fox jumps over the lazy dog. The capital of France is"]
    for _ in range(rounds):
        a, rows = speeds(["build/lode", "bench", "-m", model, "-t", threads, "-r", "2", "-o", "json"])
        b, _rows = speeds([peer + "/llama-bench", "-m", model, "-t", threads, "-r", "2", "-o", "json"])
        for k in a: ours[k].append(a[k]); theirs[k].append(b[k])
        bw.append((rows[0]["read_bandwidth"], [r["of_floor"] for r in rows if r["n_gen"]][0], rows[0]["cpu_info"]))
        first[0].append(seconds(["build/lode", "run", "--raw", "-m", model, "-t", threads, "-n", "1", "--temp", "0"] + text))
        first[1].append(seconds([peer + "/llama-completion", "-m", model, "-t", threads, "-n", "1", "--temp", "0", "-no-cnv"] + text))
    print(f"{os.path.basename(model)}  ({bw[0][2]}, {threads} threads, {rounds} rounds, read bandwidth {median(b[0] for b in bw)/1e9:.1f} GB/s)")
    for k, name in (("tg", "decode tg128"), ("pp", "prefill pp512")):
        r = [x / y for x, y in zip(ours[k], theirs[k])]
        print(f"  {name:22} {median(ours[k]):8.1f} t/s   llama.cpp {median(theirs[k]):8.1f}   ratio {median(r):.2f}  [{min(r):.2f} .. {max(r):.2f}]")
    r = [x / y for x, y in zip(*first)]
    print(f"  {'start to first token':22} {median(first[0]):8.3f} s     llama.cpp {median(first[1]):8.3f}   ratio {median(r):.2f}  [{min(r):.2f} .. {max(r):.2f}]")
    print(f"  {'decode over the floor':22} {median(b[1] for b in bw):8.2f}")
P
