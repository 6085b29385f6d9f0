#!/usr/bin/env python3
"""seeds.py - writes the corpora of the targets whose input has a layout of its own (the heads of *_fuzz.c say which):
tok, chat, convert, args, sample. A new kind of input is a line here. usage: tests/fuzz/seeds.py"""
import json, os, struct

here = os.path.dirname(os.path.abspath(__file__))


def put(target, name, *parts):
    os.makedirs(os.path.join(here, target), exist_ok=True)
    data = b"".join(p if isinstance(p, bytes) else p.encode() for p in parts)
    with open(os.path.join(here, target, name), "wb") as f:
        f.write(data)


# tok: switches, pre-tokenizer, tokens or merges, text.
BPE, SPECIAL, NO_SPACE, BOS, STRIP, TYPED = 1, 2, 4, 8, 16, 32
pieces = "\n".join("▁ a b ab ▁a ▁ab aa aaaa ▁▁ ▁▁▁▁ bab é 中".split(" "))
merges = "\n".join("a b,Ġ a,a a,aa aa,Ġa b,Ã ©,1 2,Ġ Ġ,ĠĠ ĠĠ,Ċ Ċ,ab ab".split(","))
mixed = "ab  aab abab bab\n\n  a\tb 12 123 1234 don't é中 \U0001F600 a\xa0b\r\n"
put("tok", "spm", bytes([0, 0]), pieces, "\0", mixed)
put("tok", "spm_runs", bytes([NO_SPACE, 0]), pieces, "\0", "a" * 90 + " " * 37 + "ab" * 10)
put("tok", "spm_broken", bytes([0, 0]), pieces, "\0", b"a\xff\xe2\x96 \xe2\x96\x81\xf0\x9f a\x00b\xc0\x80\xed\xa0\x80")
put("tok", "spm_special", bytes([SPECIAL | BOS | STRIP | TYPED, 0]), "3<|im_end|>\n4<think>\n4  \n1a\n1▁a\n2<x>\n5u\n6<0x41>",
    "\0", "<s>a <think>  a</s> \n<|im_end|>  a<unk><x>")
for row in range(0, 80, 6):
    put("tok", f"bpe_{row}", bytes([BPE, row]), merges, "\0", mixed)
put("tok", "bpe_runs", bytes([BPE, 3]), merges, "\0", "a" * 60 + " " * 30 + "1" * 20 + "\n" * 20 + "x")
put("tok", "bpe_broken", bytes([BPE, 0]), merges, "\0", b"a\xff\xfe\xe2\x82 \xf0\x9f\x98 \x00\xc3\xa9\xed\xa0\x80")
put("tok", "bpe_special", bytes([BPE | SPECIAL | BOS | TYPED, 1]), "3<|eot_id|>\n4<think>\n1a b\n1ab ab\n3<|e", "\0",
    "<|eot_id|>abab<think><|eot_i <s>")

# chat: switches, template, JSON or messages.
JSON, PROMPT = 1, 2
chatml = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m['content'] | trim + '<|im_end|>\\n' }}{% endfor %}"
          "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\n' }}{%- endif %}")
put("chat", "chatml", bytes([PROMPT]), chatml, "\0user\0 hi \0assistant\0", b"\xff\xe2\x82")
templates = {
    "numbers": "{{ 7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1e20 }} {{ 0.1 + 0.2 }} {{ 3 | float }} {{ '12' | int }}",
    "lists": "{{ x[1:] }} {{ x[::-1] }} {{ x | join(', ') }} {{ x | length }} {{ x | sort | first }} {{ x | map('upper') | list }}"
             "{{ x | select('string') | list }} {{ range(5) | list }} {{ x + [1] }} {{ 'b' in x }}",
    "dicts": "{% for k, v in d.items() %}{{ k ~ '=' ~ v }}{% if not loop.last %}, {% endif %}{{ loop.index0 }}{% endfor %}"
             "{{ d | tojson }} {{ d | tojson(indent=2) }} {{ d | dictsort }} {{ d.get('z', 1) }}",
    "macros": "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{% set ns = namespace(n=0) %}"
              "{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}{% filter upper %}a{% endfilter %}",
    "tests": "{{ x is defined }} {{ y is none }} {{ 1 is number }} {{ 's' is string }} {{ d is mapping }} {{ 3 is odd }}"
             "{{ 1 if x else 2 }} {{ not x and y or 3 }} {{ 1 < 2 <= 3 }} {{ x is not iterable }}",
    "text": "{{ t.strip().upper().split(',') }} {{ t.replace('a', 'b') }} {{ t.startswith(' a') }} {{ t[0] }} {{ t | indent(2) }}"
            "{{ '%s' | string }} {{ t | title | capitalize }} {{ t.find('b') }} {{ t * 3 }} {{ t | default('q', true) }}"
            "{{ strftime_now('%Y-%m-%d') }}",
    "control": "{# c #}{%- raw %}{{ x }}{% endraw -%}{% for a in x if a != 'b' %}{{ a }}{% else %}none{% endfor %}"
               "{% set q %}block{% endset %}{{ q }}{% if d.a == 1 %}1{% elif x %}2{% else %}3{% endif %}"
               "{% generation %}g{% endgeneration %}{% for i in range(9) %}{% if i > 2 %}{% break %}{% endif %}{% endfor %}",
    "errors": "{{ raise_exception('a\\nb') }}",
}
data = json.dumps({"x": ["c", "a", "b"], "d": {"a": 1, "b": [1.5, None, True]}, "t": " a,b\nÄ中", "y": None})
for name, text in templates.items():
    put("chat", name, bytes([JSON]), text, "\0", data)

# convert: type, config.json, tokenizer.json, tokenizer_config.json, model.safetensors.
def weights(shapes):
    head, at = {}, 0
    for name, shape in shapes:
        n = 4
        for d in shape:
            n *= d
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<f", 0.5) * (at // 4)


E, FF, H, D, V = 4, 4, 2, 2, 8
layer = [("input_layernorm.weight", [E]), ("post_attention_layernorm.weight", [E]), ("self_attn.q_proj.weight", [H * D, E]),
         ("self_attn.k_proj.weight", [D, E]), ("self_attn.v_proj.weight", [D, E]), ("self_attn.o_proj.weight", [E, H * D]),
         ("mlp.gate_proj.weight", [FF, E]), ("mlp.up_proj.weight", [FF, E]), ("mlp.down_proj.weight", [E, FF])]
llama = [("model.embed_tokens.weight", [V, E]), ("model.norm.weight", [E])] + [("model.layers.0." + n, s) for n, s in layer]
gemma2 = llama + [("model.layers.0.pre_feedforward_layernorm.weight", [E]), ("model.layers.0.post_feedforward_layernorm.weight", [E])]
config = {"hidden_size": E, "intermediate_size": FF, "num_attention_heads": H, "num_key_value_heads": 1, "head_dim": D,
          "num_hidden_layers": 1, "vocab_size": V, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
          "rope_theta": 10000.0, "tie_word_embeddings": True, "hidden_act": "silu"}


def of(arch, **more):
    return json.dumps({"architectures": [arch], **config, **more}, separators=(",", ":"))


bpe = json.dumps({"added_tokens": [{"id": 6, "content": "<|end|>", "special": True}, {"id": 7, "content": "<think>", "special": False}],
                  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
                  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "c": 5},
                            "merges": ["a b", ["Ġ", "ab"]]}}, ensure_ascii=False)
spm = json.dumps({"added_tokens": [{"id": 0, "content": "<unk>", "special": True}, {"id": 1, "content": "<s>", "special": True}],
                  "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace",
                                 "pattern": {"String": " "}, "content": "▁"}]}, "decoder": {"type": "ByteFallback"},
                  "model": {"type": "BPE", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
                            "vocab": {"<unk>": 0, "<s>": 1, "<0x00>": 2, "a": 3, "b": 4, "ab": 5, "▁": 6, "▁ab": 7},
                            "merges": ["a b", "▁ ab"]}}, ensure_ascii=False)
settings = json.dumps({"bos_token": "<s>", "eos_token": {"content": "<|end|>"}, "add_bos_token": True, "chat_template": "{{ x }}"})
scaled = {"rope_type": "llama3", "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
          "original_max_position_embeddings": 16, "rope_theta": 500000.0}
for name, kind, head, tokenizer, tensors in [
        ("llama", 0, of("LlamaForCausalLM", bos_token_id=1, eos_token_id=[2, 3]), bpe, llama),
        ("llama3", 1, of("LlamaForCausalLM", rope_parameters=scaled), spm, llama),
        ("gemma2", 2, of("Gemma2ForCausalLM", hidden_activation="gelu_pytorch_tanh", layer_types=["sliding_attention"]), spm, gemma2),
        ("gemma", 1, of("GemmaForCausalLM", hidden_act="gelu"), "", llama)]:
    put("convert", name, bytes([kind]), head, "\0", tokenizer, "\0", settings, "\0", weights(tensors))

# args: command (the order of command.def), arguments.
for name, command, arguments in [
        ("run", 0, ["-m", "a.gguf", "--prompt=hi", "-n", "12", "--temp", "0.5", "--top-k=40", "--raw"]),
        ("chat", 1, ["-sys", "x", "--seed", "-1", "--samplers", "top_k;temperature", "-c", "99999999999"]),
        ("bench", 2, ["-p", "1,2", "-r", "3x", "-o", "json"]), ("inspect", 3, ["a.gguf", "b.gguf"]),
        ("help", 0, ["--help-all"]), ("meant", 0, ["--promt", "x"]), ("stray", 0, ["a.gguf"]),
        ("long", 0, ["--" + "a" * 200 + "=1"]), ("missing", 1, ["-m"]), ("convert", 7, ["dir", "--outtype", "f16"]),
        ("ends", 0, ["-n", "1000", "-c", "-2", "-t", "1001", "--top-k", "-3", "--seed", "0", "-b", "999"]),
        ("numbers", 0, ["--temp", "nan", "--top-p", "0x1p-2", "-n", " 7", "-t", "-2", "--min-p", "1e999"])]:
    put("args", name, bytes([command]), "".join(a + "\0" for a in arguments))

# sample: logits, chain, numbers.
logits = bytes((i * 37 + 11) % 256 for i in range(32))
for name, chain, numbers in [
        ("default", "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature",
         ["temperature=0.7", "dry_multiplier=0.8", "xtc_probability=0.5", "typical_p=0.9", "repeat_penalty=1.1"]),
        ("letters", "edskypmxt", ["top_n_sigma=1", "dynatemp_range=0.5", "min_keep=3", "frequency_penalty=-1"]),
        ("infill", "infill, adaptive_p", ["adaptive_target=0.3", "adaptive_decay=0.5", "seed=7"]),
        ("mirostat", "temp", ["mirostat=1", "mirostat_tau=3", "mirostat_eta=0.2"]),
        ("mirostat_v2", "", ["mirostat=2", "seed=-1"]), ("greedy", "top-k", ["temp=0", "top_k=-1", "repeat_last_n=-1"]),
        ("wrong", "Top_K;nosuch", ["nosuch=1", "top_p=2", "top_k=1.5", "seed=nan", "temperature=-1e30"])]:
    put("sample", name, logits, chain, "".join("\0" + x for x in numbers))
