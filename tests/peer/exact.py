#!/usr/bin/env python3
"""exact.py MODEL.gguf IDS OUT.f32 [IDS OUT.f32]...: logits in double precision, to judge two engines that disagree.

For the architectures llama and gemma3, without linear or YaRN scaling; a file with tensors not used here is refused.
Written from the models' definitions, apart from both engines; every step is float64, and only the weights
(dequantized by the package gguf) and OUT are float32.
IDS: "1,5,9"; OUT: [n_ids, n_vocab], little-endian. Keeps the weights in memory, 8 bytes each."""
import sys
import numpy as np
import gguf


def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Model:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.fields = {k: f.contents() for k, f in reader.fields.items() if not k.startswith("tokenizer.")}
        self.tensors = {t.name: t for t in reader.tensors}
        self.weights = {}
        self.arch = self.fields["general.architecture"]
        if self.arch not in ("llama", "gemma3"):
            sys.exit(f"exact.py: {self.arch}: only llama and gemma3 are written down here")
        if self.number("rope.scaling.factor", 1.0) not in (0.0, 1.0):
            sys.exit("exact.py: rope scaling is not written down here")
        self.gemma = self.arch == "gemma3"
        self.act = gelu_tanh if self.gemma else silu
        self.eps = self.number("attention.layer_norm_rms_epsilon")
        self.n_head = self.number("attention.head_count")
        self.n_head_kv = self.number("attention.head_count_kv", self.n_head)
        self.d_head = self.number("attention.key_length", self.number("embedding_length") // self.n_head)
        self.scale = self.number("attention.scale") or self.d_head**-0.5

    def number(self, key, default=None):
        return self.fields.get(f"{self.arch}.{key}", default)

    def weight(self, name):
        if name not in self.weights:
            t = self.tensors[name]
            self.weights[name] = gguf.dequantize(t.data, t.tensor_type).astype(np.float64)
        return self.weights[name]

    def norm(self, x, name):
        return rms_norm(x, self.weight(name + ".weight"), self.eps)

    def linear(self, x, name):
        return x @ self.weight(name + ".weight").T

    def rope(self, x, local):
        """x: [tokens, heads, d_head]. gemma3 turns the halves against each other, llama neighbours."""
        base = self.number("rope.freq_base_swa" if local else "rope.freq_base", 10000.0)
        half = self.d_head // 2
        freq = base ** (-np.arange(half) / half)
        if "rope_freqs.weight" in self.tensors:
            freq = freq / self.weight("rope_freqs.weight")
        angle = np.arange(len(x))[:, None] * freq
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        pairs = (slice(0, half), slice(half, None)) if self.gemma else (slice(0, None, 2), slice(1, None, 2))
        a, b = x[..., pairs[0]], x[..., pairs[1]]
        out = np.empty_like(x)
        out[..., pairs[0]], out[..., pairs[1]] = a * c - b * s, a * s + b * c
        return out

    def attend(self, q, k, v, local):
        n = len(q)
        k, v = (np.repeat(t, self.n_head // self.n_head_kv, axis=1) for t in (k, v))
        age = np.arange(n)[:, None] - np.arange(n)
        window = self.number("attention.sliding_window", n) if local else n
        hidden = np.where((age < 0) | (age >= window), -np.inf, 0.0)
        scores = softmax(np.einsum("qhd,khd->hqk", q, k) * self.scale + hidden)
        return np.einsum("hqk,khd->qhd", scores, v).reshape(n, -1)

    def block(self, x, il):
        p, n = f"blk.{il}.", len(x)
        local = self.gemma and (il + 1) % 6 != 0
        h = self.norm(x, p + "attn_norm")
        q, k, v = (self.linear(h, p + "attn_" + c).reshape(n, -1, self.d_head) for c in "qkv")
        if self.gemma:
            q, k = self.norm(q, p + "attn_q_norm"), self.norm(k, p + "attn_k_norm")
        h = self.linear(self.attend(self.rope(q, local), self.rope(k, local), v, local), p + "attn_output")
        x = x + (self.norm(h, p + "post_attention_norm") if self.gemma else h)
        h = self.norm(x, p + "ffn_norm")
        h = self.linear(self.act(self.linear(h, p + "ffn_gate")) * self.linear(h, p + "ffn_up"), p + "ffn_down")
        return x + (self.norm(h, p + "post_ffw_norm") if self.gemma else h)

    def logits(self, ids):
        embedding = self.weight("token_embd.weight")
        x = embedding[ids] * (np.sqrt(embedding.shape[1]) if self.gemma else 1.0)
        for il in range(self.number("block_count")):
            x = self.block(x, il)
        x = self.norm(x, "output_norm")
        x = self.linear(x, "output") if "output.weight" in self.tensors else x @ embedding.T
        unused = sorted(self.tensors.keys() - self.weights.keys())
        if unused:
            sys.exit(f"exact.py: {len(unused)} tensors have no place here, among them {unused[0]}")
        return x


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) % 2:
        sys.exit("usage: exact.py MODEL.gguf IDS OUT.f32 [IDS OUT.f32]...")
    model = Model(sys.argv[1])
    for ids, out in zip(sys.argv[2::2], sys.argv[3::2]):
        model.logits([int(i) for i in ids.split(",")]).astype("<f4").tofile(out)
