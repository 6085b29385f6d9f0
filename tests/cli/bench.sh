#!/usr/bin/env bash
# bench.sh - lode bench: llama-bench's fields; lode compare; --print and --trace.
. "$(dirname "$0")/lib.sh"
run 0 "$LODE" bench -m "$MARKOV" -p 16 -n 8 -r 2
has "| model"
has "pp16"
has "tg8"
run 0 "$LODE" bench -m "$MARKOV" -p 16 -n 8 -r 2 -o json
python3 - "$WORK/out" <<'P' || fault "the JSON lacks llama-bench's fields"
import json, sys
rows = json.load(open(sys.argv[1]))
for r, (p, n) in zip(rows, ((16, 0), (0, 8))):
    assert r["n_prompt"] == p and r["n_gen"] == n and r["avg_ts"] > 0 and "stddev_ts" in r and r["n_threads"] > 0, r
    assert r["model_filename"].endswith("markov.gguf") and len(r["samples_ts"]) == 2, r
P
# Means and deviations are those of the samples, with n - 1.
run 0 "$LODE" bench -m "$MARKOV" -p 16 -n 8 -r 3 -o json
python3 - "$WORK/out" <<'P' || fault "a mean or deviation is not that of its samples"
import json, statistics, sys
for r in json.load(open(sys.argv[1])):
    for unit in ("ns", "ts"):
        x, avg, dev = r["samples_" + unit], r["avg_" + unit], r["stddev_" + unit]
        assert len(x) == 3
        assert abs(avg - statistics.mean(x)) <= 1 + 1e-4 * avg, r
        assert abs(dev - statistics.stdev(x)) <= 1 + 1e-3 * dev + 1e-5 * avg, r
P
run 0 "$LODE" bench -m "$MARKOV" -p 16 -n 8 -r 1 -o csv
has "avg_ts"
lines out -eq 3
# Lists are measured one by one; names with quotes stay JSON.
cp "$MARKOV" "$WORK/a \"b\".gguf"
run 0 "$LODE" bench -m "$WORK/a \"b\".gguf" -p 4,8 -n 2 -r 1 -t 1,2 -o json
python3 - "$WORK/out" <<'P' || fault "a list is not measured as asked"
import json, sys
rows = json.load(open(sys.argv[1]))
want = [(p, n, t) for t in (1, 2) for p, n in ((4, 0), (8, 0), (0, 2))]
assert [(r["n_prompt"], r["n_gen"], r["n_threads"]) for r in rows] == want, rows
assert all(r["model_filename"].endswith('a "b".gguf') for r in rows)
P
run 2 "$LODE" bench -m "$MARKOV" -p 4,many
one_line
run 2 "$LODE" bench -m "$MARKOV" -p 0 -n 0
one_line
run 2 "$LODE" bench -m "$MARKOV" -o xml
one_line
run 0 "$LODE" compare -m "$MARKOV"
lines out -gt 3
run 0 "$LODE" compare -m "$MARKOV" --against CPU
grep -q '^logits  *0  *0$' "$WORK/out" || fault "a device differs from itself"
run 1 "$LODE" compare -m "$MARKOV" --against CUDA9
tells CUDA9
one_line
for stage in graph placed fused kernels memory plan; do
  run 0 "$LODE" run --raw -m "$MARKOV" -p x --print $stage
  lines out -ge 2
done
run 1 "$LODE" run --raw -m "$MARKOV" -p x --trace "$WORK"
tells "folder"
one_line
run 0 "$LODE" run --raw -m "$MARKOV" -p '[[emoji]]' --trace "$WORK/t.json"
python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert len(d["traceEvents"] if isinstance(d, dict) else d) > 5' "$WORK/t.json" ||
  fault "the trace is not Chrome's JSON"
finish
