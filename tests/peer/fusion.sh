#!/bin/bash
# fusion.sh PLUGIN - llama.cpp's own test-fusion with the ggml plug-in: per dummy model how many groups of nodes ran as
# one, and whether results stay the same with fusion switched off. ARCHS: some architectures (default: those that our
# rules are for). Exit 0 when no row fails and something was fused.
set -u
plugin=$(readlink -f "$1")
peer=${PEER:-$HOME/.cache/lode-peer}
if [ ! -x "$peer/bin/test-fusion" ]; then
    echo "fusion.sh: no $peer/bin/test-fusion; tests/peer/fetch.sh builds it" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$peer/bin
for arch in ${ARCHS:-llama gemma3 qwen2 qwen3moe olmo2 phi3 mamba bert}; do
    "$peer/bin/test-llama-archs" -a "$arch" -o "$work" > "$work/log" 2>&1 || { tail -3 "$work/log" >&2; exit 1; }
done
# libautoload.so loads the plug-in in programs that load none by themselves (autoload.c).
LD_PRELOAD=$peer/bin/libautoload.so GGML_BACKEND_PATH=$plugin LODE_GGML=cpu \
    "$peer/bin/test-fusion" --models "$work" --device LODE0 > "$work/out" 2>&1
rc=$?
grep -E ' (any|prefill|decode) |summary|nmse' "$work/out" | sed 's/^[0-9.]* I //'
[ $rc -eq 0 ] && grep -q 'summary: [1-9][0-9]* ok, 0 failed' "$work/out" || { tail -3 "$work/out" >&2; exit 1; }
