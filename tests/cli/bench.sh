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
run 0 "$LODE" bench -m "$MARKOV" -p 16 -n 8 -r 1 -o csv
has "avg_ts"
lines out -eq 3
run 2 "$LODE" bench -m "$MARKOV" -o xml
one_line
run 0 "$LODE" compare -m "$MARKOV"
lines out -gt 3
for stage in graph placed fused kernels memory plan; do
  run 0 "$LODE" run --raw -m "$MARKOV" -p x --print $stage
  lines out -ge 2
done
run 0 "$LODE" run --raw -m "$MARKOV" -p '[[emoji]]' --trace "$WORK/t.json"
python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert len(d["traceEvents"] if isinstance(d, dict) else d) > 5' "$WORK/t.json" ||
  fault "the trace is not Chrome's JSON"
finish
