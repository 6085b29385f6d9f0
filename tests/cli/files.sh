#!/usr/bin/env bash
# files.sh - files that shrink while they are read, disks that are full, signals while something is written: one line,
# exit code 1 (130 after Ctrl-C), and nothing half-written is left.
. "$(dirname "$0")/lib.sh"
ulimit -c 0
hf() { # FOLDER TOKENS: a checkpoint of zeros, most of it a hole in its file
  python3 - "$@" << 'PY'
import json, os, struct, sys
folder, tokens = sys.argv[1], int(sys.argv[2])
os.makedirs(folder, exist_ok=True)
D, F = 64, 128
json.dump(dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=D, intermediate_size=F,
               num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, vocab_size=tokens,
               max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=True), open(folder + "/config.json", "w"))
shapes = {"model.embed_tokens": [tokens, D], "model.norm": [D]}
for name, shape in (("self_attn.q_proj", [D, D]), ("self_attn.k_proj", [D, D]), ("self_attn.v_proj", [D, D]),
                    ("self_attn.o_proj", [D, D]), ("mlp.gate_proj", [F, D]), ("mlp.up_proj", [F, D]),
                    ("mlp.down_proj", [D, F]), ("input_layernorm", [D]), ("post_attention_layernorm", [D])):
    shapes["model.layers.0." + name] = shape
head, at = {}, 0
for name, shape in shapes.items():
    size = 4
    for n in shape: size *= n
    head[name + ".weight"] = dict(dtype="F32", shape=shape, data_offsets=[at, at + size])
    at += size
text = json.dumps(head).encode()
with open(folder + "/model.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    f.truncate(8 + len(text) + at)
PY
}
nothing_left() { for f in "$WORK"/new*; do [ ! -e "$f" ] || fault "left behind: $f"; done; rm -f "$WORK"/new*; }
last_tells() { tail -n 1 "$WORK/err" | grep -qF -- "$1" || fault "the last line of stderr lacks '$1'"; }

# A file at its limit stands for a full disk: the same failed write. In blocks of 1 KiB.
hf "$WORK/hf" 4000
small() { run 1 bash -c "ulimit -f 100; exec \"\$@\"" - "$LODE" "$@"; }
small convert "$WORK/hf" --outfile "$WORK/new.gguf" && last_tells "new.gguf: writing failed" && nothing_left
small run --raw --temp 0 -m "$MARKOV" -p '[[loop]]' -n 1000 --trace "$WORK/new.json" && last_tells "new.json" && nothing_left
printf '[[loop]]' > "$WORK/in"
small chat --temp 0 -m "$MARKOV" -n 1000 --trace "$WORK/new.json" && last_tells "new.json" && nothing_left
rm "$WORK/in"
# A disk that is full, where one can be made.
mkdir "$WORK/disk"
if mount -t tmpfs -o size=200k tmpfs "$WORK/disk" 2> /dev/null; then
  run 1 "$LODE" convert "$WORK/hf" --outfile "$WORK/disk/new.gguf" && last_tells "No space left"
  run 1 "$LODE" run --raw --temp 0 -m "$MARKOV" -p '[[loop]]' -n 1000 --trace "$WORK/disk/new" && last_tells "No space left"
  [ -z "$(ls "$WORK/disk")" ] || fault "left on the full disk: $(ls "$WORK/disk")"
  umount "$WORK/disk"
fi

# What is read becomes shorter while it is mapped. A model of a long context, so that nothing is said about it.
python3 "$root/tests/cases/gen_markov.py" "$MARKOV" --talk > /dev/null
if [ -r /proc/self/maps ]; then
  held() { run "$1" python3 "$here/held.py" "${@:2}"; }
  shrinks() { # ARGUMENTS...
    cp "$MARKOV" "$WORK/shrink.gguf"
    held 1 "$WORK/shrink.gguf" "$LODE" "$@" -m "$WORK/shrink.gguf"
    one_line
    grep -qE 'became shorter|shrink.gguf: ' "$WORK/err" || fault "$1: the line does not say what happened"
  }
  shrinks run --raw --temp 0 -p '[[loop]]' -n 20000 -c 30000 --trace "$WORK/new.json" && nothing_left
  shrinks bench -r 100 -n 1024
  shrinks compare
  printf '[[loop]]' > "$WORK/in"
  shrinks chat --temp 0 -n 20000 -c 30000 && rm "$WORK/in"
  for c in inspect "tokenize -p x"; do # may be done with the file by then
    cp "$MARKOV" "$WORK/shrink.gguf"
    timeout 60 python3 "$here/held.py" "$WORK/shrink.gguf" "$LODE" $c -m "$WORK/shrink.gguf" > "$WORK/out" 2> "$WORK/err"
    [ $? -le 1 ] || fault "$c of a file that shrinks"
    lines err -le 1
  done
  hf "$WORK/big" 400000
  convert=("$LODE" convert "$WORK/big" --outtype f32 --outfile "$WORK/new.gguf")
  held 1 --shrink "$WORK/big/model.safetensors" "$WORK/new.gguf.part" "${convert[@]}"
  last_tells "became shorter" && nothing_left
  held 130 --interrupt 1 "$MARKOV" "$LODE" bench -r 100 -n 1024 -m "$MARKOV"
  printf '[[loop]]' > "$WORK/in"
  held 130 --interrupt 1 "$WORK/new.json.part" "$LODE" chat --temp 0 -n 20000 -c 30000 -m "$MARKOV" --trace "$WORK/new.json"
  tells stopped
  rm "$WORK/in" "$WORK/new.json"
  # Ctrl-C, once and again and again.
  hf "$WORK/big" 400000
  for n in 1 3 5; do
    held 130 --interrupt $n "$WORK/new.gguf.part" "${convert[@]}"
    nothing_left
    held 130 --interrupt $n "$WORK/new.json.part" "$LODE" run --raw --temp 0 -p '[[loop]]' -n 20000 -c 30000 -m "$MARKOV" \
      --trace "$WORK/new.json"
    rm -f "$WORK/new.json" # a run that is stopped has whole times
    nothing_left
  done
fi
finish
