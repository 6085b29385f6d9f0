#!/usr/bin/env python3
"""golden_ops.py: writes tests/golden/ops.txt, small cases of ops and what they give, from their definitions: the text of
include/lode/graph.h and the papers named there, written down once more with numpy, in double.

A case is two lines: "OP CASE", as in src/ops/case.h, and the values of the result, dimension 0 first. Inputs are not
drawn but counted out, with equal values among them; fill() here and in src/cpu/op_test.c say how."""
import math, os, re
import numpy as np

np.seterr(all="ignore")
inf, sig = math.inf, lambda x: 1 / (1 + np.exp(-x))
erf = np.vectorize(math.erf)


def fill(name, source, ne, least, below):
    k = np.arange(int(np.prod(ne)))
    if below is not None: return least + (k * 7 + 3) % (below - least)
    v = ((k * 37 + source * 11 + k * k * 5) % 29 - 14) / 8
    if name.startswith("unit"): v = (abs(v) + 0.125) / 2
    if name.startswith("hide"): v = np.where((k % 3 == 0) | (k // ne[0] % 4 == 1), -inf, v)
    return v


def inputs(case):
    """Sources as arrays [i0, i1, i2, i3], and numbers by name."""
    src, num = [], {}
    for word in case.split():
        name, text = word.split("=")
        m = re.fullmatch(r"\w+\[([\d,]+)\](?:<(-?\d+)(?:\.\.(\d+))?)?(?:\+(\d+))?(?:\^(\d+))?", text)
        if not m:
            num[name] = float(text)
            continue
        ne = [int(n) for n in m[1].split(",")]
        used = ne[0]
        ne[0] += int(m[4] or 0)
        low, high = (int(m[2]), int(m[3])) if m[3] else (0, int(m[2]) if m[2] else None)
        if high is None and text.startswith("i"): high = 1
        x = fill(name, len(src), ne, low, high).reshape(ne + [1] * (4 - len(ne)), order="F")[:used]
        if m[5]:
            axes = list(range(4))
            for i, d in enumerate(m[5]): axes[int(d)] = i
            x = x.transpose(axes)
        src.append(x)
    return src, num


def like(b, a):
    """b repeated to a's sizes."""
    return np.tile(b, [n // m for n, m in zip(a.shape, b.shape)])


def by_row(f): return lambda x, **n: np.apply_along_axis(lambda r: np.atleast_1d(f(r, **n)), 0, x)


# ---- Element by element ----
gelu = lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
unary = {
    "abs": abs, "sgn": np.sign, "neg": np.negative, "step": lambda x: (x > 0) * 1.0, "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1), "relu": lambda x: np.maximum(x, 0), "sigmoid": sig, "gelu": gelu,
    "gelu_quick": lambda x: x * sig(1.702 * x), "gelu_erf": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "silu": lambda x: x * sig(x), "hardswish": lambda x: x * np.clip((x + 3) / 6, 0, 1),
    "hardsigmoid": lambda x: np.clip((x + 3) / 6, 0, 1), "exp": np.exp, "expm1": np.expm1,
    "softplus": lambda x: np.log1p(np.exp(x)), "floor": np.floor, "ceil": np.ceil,
    "round": lambda x: np.sign(x) * np.floor(abs(x) + 0.5), "trunc": np.trunc, "sqr": lambda x: x * x, "sqrt": np.sqrt,
    "ln": np.log, "sin": np.sin, "cos": np.cos,
}
ops = {name: (lambda f: lambda s, n: f(s[0]))(f) for name, f in unary.items()}
cases = [(name, "x=f32[29] ") for name in unary]
for name, f in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}.items():
    ops[name] = (lambda f: lambda s, n: f(s[0], like(s[1], s[0])))(f)
    cases += [(name, c) for c in ("a=f32[5,3] b=f32[5,3]", "a=f32[6,4,2,2] b=f32[3,1,2]", "a=f32[5,3] b=f32[3,5]^10")]
limit = lambda n: n.get("limit", 1)
gates = {
    "reglu": lambda g, v, n: np.maximum(g, 0) * v, "geglu_erf": lambda g, v, n: unary["gelu_erf"](g) * v,
    "geglu_quick": lambda g, v, n: unary["gelu_quick"](g) * v, "swiglu": lambda g, v, n: g * sig(g) * v,
    "geglu": lambda g, v, n: gelu(g) * v,
    "swiglu_oai": lambda g, v, n: np.minimum(g, limit(n)) * sig(n.get("alpha", 1.702) * np.minimum(g, limit(n)))
    * (np.clip(v, -limit(n), limit(n)) + 1),
    "swiglu_clamp": lambda g, v, n: unary["silu"](np.minimum(g, limit(n))) * np.clip(v, -limit(n), limit(n)),
}
for name, f in gates.items():
    ops[name] = (lambda f: lambda s, n: f(s[0], s[1], n))(f)
    cases += [(name, "g=f32[7,3] u=f32[7,3]" + (" limit=0.75 alpha=1.25" if "clamp" in name or "oai" in name else ""))]


def add_id(s, n):
    a, b, ids = s[0].copy(), s[1], s[2]
    for k, t in np.ndindex(*ids.shape[:2]):
        if 0 <= ids[k, t, 0, 0] < b.shape[1]: a[:, k, t, 0] += b[:, ids[k, t, 0, 0], 0, 0]
    return a


def xielu(s, n):
    x, an, ap, beta, eps = s[0], n.get("an", 1.2), n.get("ap", 0.8), n.get("beta", 0.5), n.get("eps", -1e-6)
    return np.where(x > 0, ap * x * x + beta * x, an * (np.exp(np.minimum(x, eps)) - 1 - x) + beta * x)


ops.update(
    add_id=add_id, xielu=xielu, scale=lambda s, n: s[0] * n.get("s", 1) + n.get("c", 0),
    clamp=lambda s, n: np.clip(s[0], n.get("lo", -1), n.get("hi", inf)),
    leaky_relu=lambda s, n: np.where(s[0] > 0, s[0], n.get("s", 0.1) * s[0]),
    softcap=lambda s, n: n["cap"] * np.tanh(s[0] / n["cap"]), fill=lambda s, n: np.full(s[0].shape, n.get("c", 2.5)),
    arange=lambda s, n: n["start"] + n["step"] * np.arange(math.ceil((n["stop"] - n["start"]) / n["step"])))
cases += [
    ("add_id", "a=f32[3,4,3] b=f32[3,5] ids=i32[4,3]<-1..6"), ("xielu", "x=f32[29]"), ("scale", "x=f32[29] s=3 c=0.5"),
    ("clamp", "x=f32[29] lo=-0.5 hi=1"), ("clamp", "x=f32[29]"), ("leaky_relu", "x=f32[29] s=0.25"),
    ("softcap", "x=f32[29] cap=1.5"), ("fill", "x=f32[3,2] c=1.5"), ("arange", "start=1 stop=3.1 step=0.5"),
    ("arange", "start=0 stop=4 step=2"),
]

# ---- Rows ----
ops.update(
    rms_norm=lambda s, n: by_row(lambda r: r / math.sqrt(np.mean(r * r) + n["eps"]))(s[0]),
    norm_mul=lambda s, n: by_row(lambda r: r / math.sqrt(np.mean(r * r) + n["eps"]))(s[0]) * like(s[1], s[0]),
    layer_norm=lambda s, n: by_row(lambda r: (r - r.mean()) / math.sqrt(r.var() + n["eps"]))(s[0]),
    l2_norm=lambda s, n: by_row(lambda r: r / max(math.sqrt(np.sum(r * r)), n["eps"]))(s[0]),
    sum=lambda s, n: s[0].sum(), sum_rows=lambda s, n: by_row(np.sum)(s[0]), mean=lambda s, n: by_row(np.mean)(s[0]),
    cumsum=lambda s, n: by_row(np.cumsum)(s[0]), argmax=lambda s, n: by_row(np.argmax)(s[0]),
    count_equal=lambda s, n: np.sum(s[0] == s[1]),
    argsort=lambda s, n: by_row(lambda r: np.argsort(-r if n.get("down") else r, kind="stable"))(s[0]),
    top_k=lambda s, n: by_row(lambda r: np.argsort(-r, kind="stable")[:int(n["k"])])(s[0]))


def group_norm(s, n):
    x, k, out = s[0], int(n["groups"]), s[0].copy()
    step = -(-x.shape[2] // k)
    for g, b in np.ndindex(k, x.shape[3]):
        p = x[:, :, g * step:(g + 1) * step, b]
        if p.size: out[:, :, g * step:(g + 1) * step, b] = (p - p.mean()) / math.sqrt(p.var() + n["eps"])
    return out


ops["group_norm"] = group_norm
cases += [(o, c + " eps=0.125") for o in ("rms_norm", "layer_norm", "l2_norm") for c in ("x=f32[7,3]", "x=f32[5,2,3]+2")]
cases += [
    ("l2_norm", "x=f32[3,2] eps=9"), ("norm_mul", "x=f32[7,3] w=f32[7] eps=0.125"),
    ("group_norm", "x=f32[3,2,4,2] groups=2 eps=0.125"), ("group_norm", "x=f32[3,2,5] groups=2 eps=0.125"),
    ("count_equal", "a=i32[40]<5 b=i32[40]<4"), ("argmax", "x=f32[40,3]"), ("argmax", "x=f32[3,40]^10"),
]
cases += [(o, c) for o in ("sum", "sum_rows", "mean", "cumsum") for c in ("x=f32[7,3,2]", "x=f32[7,3,2]+2^021")]
cases += [("cumsum", "x=f32[3,7,2]^10")]
cases += [("argsort", c + d) for c in ("x=f32[60,3]", "x=f32[7,2,2]+1") for d in ("", " down=1")]
cases += [("top_k", c) for c in ("x=f32[60,3] k=1", "x=f32[60,3] k=45", "x=f32[7,2,2]+1 k=7")]

# ---- Rows by index, layout ----


def get_rows(s, n):
    w, ids = s
    out = np.zeros((w.shape[0], ids.shape[0], ids.shape[1], ids.shape[2]))
    for i, j, k in np.ndindex(*ids.shape[:3]):
        if 0 <= ids[i, j, k, 0] < w.shape[1]: out[:, i, j, k] = w[:, ids[i, j, k, 0], j, k]
    return out


def set_rows(s, n):
    y, x, ids = s[0].copy(), s[1], s[2]
    for i, j, k in np.ndindex(*x.shape[1:]):
        id_ = ids[i, j % ids.shape[1], k % ids.shape[2], 0]
        if 0 <= id_ < y.shape[1]: y[:, id_, j, k] = x[:, i, j, k]
    return y


def kv_store(s, n):
    y, x, slots = s[0].copy(), s[1], s[2].ravel()
    x = x.reshape(y.shape[0], -1, order="F")
    for i, slot in enumerate(slots):
        if 0 <= slot < y.shape[1]: y[:, slot, 0, 0] = x[:, i]
    return y


def copy(s, n):
    if "n0" not in n: return s[0]
    return s[0].ravel(order="F").reshape([int(n.get("n%d" % i, 1)) for i in range(3)], order="F")


def region(s, n, add):
    a = s[0].ravel(order="F").copy()
    for i in np.ndindex(*s[1].shape):
        at = int(n.get("off", 0)) + i[0] * 4 + sum(i[d] * int(n.get("nb%d" % d, 0)) for d in (1, 2, 3))
        a[at // 4] = s[1][i] + (a[at // 4] if add else 0)
    return a


def pad(s, n):
    lo, hi = [int(n.get("l%d" % i, 0)) for i in range(4)], [int(n.get("h%d" % i, 0)) for i in range(4)]
    return np.pad(s[0], list(zip(lo, hi)), mode="wrap" if n.get("circular") else "constant")


def tri(s, n):
    c, r = np.indices(s[0].shape[:2])
    keep = [c >= r, c > r, c <= r, c < r][int(n.get("kind", 0))]
    return np.where(keep[:, :, None, None], s[0], 0)


def upscale(s, n):
    x = s[0]
    ne = [int(n.get("n%d" % i, 1)) for i in range(3)] + [1]
    mode, align, out = int(n.get("mode", 0)), n.get("align"), np.zeros(ne)
    def cubic(t, a=-0.75):
        t = abs(t)
        if t <= 1: return (a + 2) * t**3 - (a + 3) * t**2 + 1
        return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0
    def taps(i, old, new):
        """(place, weight) along one dimension"""
        z = (new - 1) / (old - 1) if align and new > 1 and old > 1 else new / old
        o = 0 if align else 0.5
        if mode == 0: return [(min(int(i / (new / old)), old - 1), 1)]
        if n.get("anti"):
            r, c = max(1, 1 / z), (i + 0.5) / z
            w = [(k, max(0, 1 - abs(k + 0.5 - c) / r)) for k in range(old)]
            total = sum(b for _, b in w)
            return [(k, b / total) for k, b in w]
        c = (i + o) / z - o
        f = math.floor(c)
        if mode == 1: return [(min(max(f + k, 0), old - 1), 1 - abs(c - f - k)) for k in (0, 1)]
        return [(min(max(f + k, 0), old - 1), cubic(c - f - k)) for k in (-1, 0, 1, 2)]
    for i, j, k in np.ndindex(*ne[:3]):
        z = min(int(k / (ne[2] / x.shape[2])), x.shape[2] - 1)
        out[i, j, k, 0] = sum(a * b * x[u, v, z, 0] for u, a in taps(i, x.shape[0], ne[0])
                              for v, b in taps(j, x.shape[1], ne[1]))
    return out


ops.update(
    get_rows=get_rows, set_rows=set_rows, kv_store=kv_store, copy=copy, set=lambda s, n: region(s, n, False),
    acc=lambda s, n: region(s, n, True), pad=pad, tri=tri, upscale=upscale,
    concat=lambda s, n: np.concatenate(s, axis=int(n.get("dim", 0))),
    repeat=lambda s, n: np.tile(s[0], [int(n.get("n%d" % i, 1)) // s[0].shape[i] for i in range(4)]),
    pad_reflect=lambda s, n: np.pad(s[0], [(int(n["l"]), int(n["r"]))] + [(0, 0)] * 3, mode="reflect"),
    roll=lambda s, n: np.roll(s[0], [int(n.get("s%d" % i, 0)) for i in range(3)], axis=(0, 1, 2)),
    diag=lambda s, n: np.eye(s[0].shape[0])[:, :, None, None] * s[0],
    diag_mask=lambda s, n: np.where((np.indices(s[0].shape)[0] > n["past"] + np.indices(s[0].shape)[1]), n["value"], s[0]))
cases += [
    ("get_rows", "w=f32[3,5,2] ids=i32[7,2]<-1..6"), ("get_rows", "w=f16[3,5] ids=i32[7]<-1..6"),
    ("get_rows", "w=i32[3,5]<20 ids=i32[7]<-1..6"), ("set_rows", "y=f32[3,9,2,2] x=f32[3,4,2,2] ids=i32[4,2]<-1..10"),
    ("set_rows", "y=f32[3,9,2,2] x=f32[3,4,2,2] ids=i64[4]<-1..10"), ("kv_store", "c=f32[6,9] x=f32[6,11] ids=i32[11]<-1..10"),
    ("kv_store", "c=f32[6,9] x=f32[3,2,4] ids=i32[4]<-1..10"), ("copy", "x=f32[3,4,2]^102"),
    ("copy", "x=f32[3,4,2]^120 n0=6 n1=4"), ("set", "x=f32[5,4,2] y=f32[2,3] nb1=20 nb2=80 nb3=160 off=84"),
    ("acc", "x=f32[5,4,2] y=f32[2,2,2] nb1=20 nb2=80 nb3=160 off=8"), ("concat", "a=f32[3,2,2] b=f32[4,2,2]"),
    ("concat", "a=f32[3,2,2] b=f32[3,5,2] dim=1"), ("concat", "a=f32[3,2] b=f32[3,2,3] dim=2"),
    ("concat", "a=f32[2,3]^10 b=f32[3,4] dim=1"),
    ("repeat", "x=f32[2,3] n0=4 n1=6 n2=2"), ("pad", "x=f32[3,2,2] l0=1 h0=2 h1=1 h2=1"),
    ("pad", "x=f32[5,3] l0=2 h0=1 l1=2 h1=3 circular=1"), ("pad_reflect", "x=f32[5,2] l=3 r=4"),
    ("roll", "x=f32[5,3,2] s0=2 s1=-1 s2=1"), ("roll", "x=f32[5,3] s0=-7 s1=4"), ("diag", "x=f32[4,1,2]"),
    ("diag_mask", "x=f32[5,4] past=1 value=-2"), ("upscale", "x=f32[3,2,2] n0=7 n1=4 n2=4"),
    ("upscale", "x=f32[5,4] n0=2 n1=3"), ("upscale", "x=f32[3,4] n0=7 n1=6 mode=1"),
    ("upscale", "x=f32[3,4] n0=7 n1=2 mode=1 align=1"), ("upscale", "x=f32[5,4] n0=8 n1=3 mode=2"),
    ("upscale", "x=f32[9,8] n0=4 n1=3 mode=1 anti=1"),
]
cases += [("tri", "x=f32[4,4,2] kind=%d" % k) for k in range(4)]

# ---- Products and attention ----


def matmul(s, n):
    w, x = s[:2]
    out = np.zeros((w.shape[1], x.shape[1], x.shape[2], x.shape[3]))
    for c, d in np.ndindex(*x.shape[2:]):
        out[:, :, c, d] = w[:, :, c // (x.shape[2] // w.shape[2]), d // (x.shape[3] // w.shape[3])].T @ x[:, :, c, d]
    return out


def matmul_id(s, n):
    w, x, ids = s
    out = np.zeros((w.shape[1], ids.shape[0], x.shape[2], 1))
    for e, t in np.ndindex(*ids.shape[:2]):
        i = ids[e, t, 0, 0]
        if 0 <= i < w.shape[2]: out[:, e, t, 0] = w[:, :, i, 0].T @ x[:, e % x.shape[1], t, 0]
    return out


def slope(bias, head, heads):
    """Press et al. 2021, for any number of heads as the authors' code has it."""
    if not bias: return 1
    low = 2 ** math.floor(math.log2(heads))
    return 2 ** (-bias / low * (head + 1)) if head < low else 2 ** (-bias / 2 / low * (2 * (head - low) + 1))


def soft(row, sink):
    top = max(row.max(), -inf if sink is None else sink)
    if top == -inf: return np.zeros(row.shape)
    e = np.exp(row - top)
    return e / (e.sum() + (0 if sink is None else math.exp(sink - top)))


def soft_max(s, n):
    x, out = s[0], s[0].copy()
    mask = s[1] if len(s) > 1 and s[1].shape[0] == x.shape[0] else None
    sinks = s[-1].ravel() if len(s) > 1 + (mask is not None) else None
    for t, h, b in np.ndindex(*x.shape[1:]):
        row = x[:, t, h, b] * n.get("scale", 1)
        if mask is not None: row = row + slope(n.get("bias"), h, x.shape[2]) * mask[:, t, h % mask.shape[2], b % mask.shape[3]]
        out[:, t, h, b] = soft(row, None if sinks is None else sinks[h])
    return out


def flash_attn(s, n, mask_at=3):
    q, k, v = s[:3]
    mask = s[3] if len(s) > 3 and s[3].shape[0] == k.shape[1] else None
    sinks = s[-1].ravel() if len(s) > 3 + (mask is not None) else None
    out = np.zeros((v.shape[0], q.shape[2], q.shape[1], q.shape[3]))
    group, cap = q.shape[2] // k.shape[2], n.get("cap", 0)
    for t, h, b in np.ndindex(*q.shape[1:]):
        row = k[:, :, h // group, b].T @ q[:, t, h, b] * n.get("scale", 0.125)
        if cap: row = cap * np.tanh(row / cap)
        if mask is not None: row = row + slope(n.get("bias"), h, q.shape[2]) * mask[:, t, h % mask.shape[2], b % mask.shape[3]]
        out[:, h, t, b] = v[:, :, h // group, b] @ soft(row, None if sinks is None else sinks[h])
    return out


def indexer(s, n):
    q, k, w, m = s
    out = np.zeros((k.shape[2], q.shape[2], 1, q.shape[3]))
    for t, b in np.ndindex(q.shape[2], q.shape[3]):
        dots = np.maximum(k[:, 0, :, b].T @ q[:, :, t, b], 0)
        out[:, t, 0, b] = dots @ w[:, t, 0, b] + m[:, t, 0, b % m.shape[3]]
    return out


def rope_table(s, n):
    rot, base, scale, ext = int(n.get("rot", 64)), n.get("base", 10000), n.get("scale", 1), n.get("ext", 0)
    multi, sections, pos = int(n.get("multi", 0)), [10, 6, 8, 2], s[0].ravel()
    tokens = len(pos) // (4 if multi else 1)
    out = np.zeros((rot, tokens))
    dims = rot // 2 if multi == 3 else rot
    for p in range(rot // 2):
        axis, index, at = 0, p, p % sum(sections)
        if multi == 2:
            axis = at % 3 if at < 3 * sections[at % 3] else 3
        elif multi:
            ends = np.cumsum(sections)
            axis = int(np.searchsorted(ends, at, side="right"))
            if multi == 3: index = at - (ends[axis] - sections[axis])
        f = base ** (-2 * index / dims) / (s[1].ravel()[p] if len(s) > 1 else 1)
        mag = 1
        if ext:  # YaRN, equations 17 to 23, with beta 32 and 1 and a context of 4096
            find = lambda turns: dims * math.log(4096 / (turns * 2 * math.pi)) / (2 * math.log(base))
            low, high = max(0, math.floor(find(32))), min(dims - 1, math.ceil(find(1)))
            keep = (1 - min(1, max(0, (p - low) / max(0.001, high - low)))) * ext
            f = f * scale * (1 - keep) + f * keep
            mag = 1 + 0.1 * math.log(1 / scale)
        else:
            f *= scale
        angle = pos[axis * tokens:(axis + 1) * tokens] * f
        out[2 * p], out[2 * p + 1] = mag * np.cos(angle), mag * np.sin(angle) * (-1 if n.get("inverse") else 1)
    return out


def rope(s, n):
    x, table, out, at = s[0], s[1], s[0].copy(), int(n.get("offset", 0))
    rot = table.shape[0]
    for p in range(rot // 2):
        a, b = (p, p + rot // 2) if n.get("order") else (2 * p, 2 * p + 1)
        c, d = table[2 * p, :, 0, 0][None, :, None], table[2 * p + 1, :, 0, 0][None, :, None]
        out[at + a], out[at + b] = x[at + a] * c - x[at + b] * d, x[at + a] * d + x[at + b] * c
    return out


ops.update(matmul=matmul, matmul_add=lambda s, n: matmul(s, n) + like(s[2], matmul(s, n)), matmul_id=matmul_id,
           soft_max=soft_max, flash_attn=flash_attn, lightning_indexer=indexer, rope_table=rope_table, rope=rope,
           out_prod=lambda s, n: np.stack([np.stack([s[0][:, :, c // (s[1].shape[2] // s[0].shape[2]), d //
                                                          (s[1].shape[3] // s[0].shape[3])] @ s[1][:, :, c, d].T
                                                     for c in range(s[1].shape[2])], 2) for d in range(s[1].shape[3])], 3))
cases += [
    ("matmul", "w=f32[5,3] x=f32[5,4]"), ("matmul", "w=f16[5,3,2] x=f32[5,2,4,2]"),
    ("matmul_add", "w=f32[5,3] x=f32[5,4] b=f32[3]"), ("matmul_add", "w=f32[5,3] x=f32[5,4] b=f32[3,4]"),
    ("matmul_id", "w=f32[5,3,3] x=f32[5,1,2] ids=i32[4,2]<-1..4"), ("matmul_id", "w=f32[5,3,3] x=f32[5,2,3] ids=i32[4,3]<3"),
    ("soft_max", "x=f32[5,3]"), ("soft_max", "x=f32[5,4,3,2] hide=f16[5,6] scale=0.5"),
    ("soft_max", "x=f32[5,2,6] m=f32[5,2,2] bias=4"), ("soft_max", "x=f32[5,2,3] m=f16[5,2] s=f32[3]"),
    ("soft_max", "x=f32[5,2,3] s=f32[3] scale=2"), ("flash_attn", "q=f32[4,3,4] k=f32[4,5,2] v=f32[3,5,2] hide=f16[5,3]"),
    ("flash_attn", "q=f32[4,2,6,2] k=f16[4,5,3,2] v=f16[4,5,3,2] m=f16[5,2,6] bias=8 cap=1.5"),
    ("flash_attn", "q=f32[4,2,3] k=f32[4,7,1] v=f32[5,7,1] s=f32[3] scale=1"),
    ("lightning_indexer", "q=f32[4,3,2,2] k=f32[4,1,5,2] w=f32[3,2,1,2] m=f16[5,2]"),
    ("rope_table", "pos=i32[4]<60 rot=8 base=100"), ("rope_table", "pos=i32[4]<60 unit=f32[4] rot=8 base=100 inverse=1"),
    ("rope_table", "pos=i32[4]<600 rot=16 base=50 ext=1 scale=0.25"), ("rope_table", "pos=i32[3]<60 rot=8 scale=0.5"),
    ("rope_table", "pos=i32[12]<60 rot=60 multi=1"), ("rope_table", "pos=i32[12]<60 rot=60 multi=2"),
    ("rope_table", "pos=i32[12]<60 rot=60 multi=3"), ("rope", "x=f32[8,2,3] t=f32[6,3]"),
    ("rope", "x=f32[8,2,3,2] t=f32[6,3] order=1"), ("rope", "x=f32[9,2,3] t=f32[4,3] order=1 offset=3"),
    ("out_prod", "a=f32[3,5] b=f32[2,5]"), ("out_prod", "a=f32[3,4,2] b=f32[2,4,4,2]"), ("out_prod", "a=f32[3,4] b=f32[4,2]^10"),
]

# ---- Convolution and pooling: [.., c, n] images, zeros outside ----


def conv(s, n, dims, columns, by_channel=False):
    """Windows of x times kernels, or the windows themselves."""
    k, x = s
    st, p, d = (int(n.get(a, b)) for a, b in (("s", 1), ("p", 0), ("d", 1)))
    if dims == 3:
        c = int(n.get("c", 1))
        k = k.reshape(*k.shape[:3], c, -1, order="F")
        x = x.reshape(*x.shape[:3], c, -1, order="F")
    elif dims == 1:
        k, x = k[:, :, :, 0], x[:, :, :, 0]
    kernel, c, batch = k.shape[:dims], x.shape[dims], x.shape[dims + 1]
    size = [(x.shape[i] + 2 * p - d * (kernel[i] - 1) - 1) // st + 1 for i in range(dims)]
    x = np.pad(x, [(p, p)] * dims + [(0, 0)] * 2)
    win = np.zeros(list(kernel) + [c] + size + [batch])
    for at in np.ndindex(*size):
        cut = tuple(slice(at[i] * st, at[i] * st + d * (kernel[i] - 1) + 1, d) for i in range(dims))
        win[(slice(None),) * (dims + 1) + at] = x[cut]
    if columns: return win
    lead = list(range(dims + 1))
    if by_channel:
        return np.stack([np.tensordot(k[..., 0, j], win[..., j, :, :, :] if dims == 2 else None, dims) for j in range(c)], 2)
    return np.tensordot(np.moveaxis(k, -1, 0), win, (list(range(1, dims + 2)), lead)).transpose(
        *range(1, dims + 1), 0, dims + 1)


def transposed(s, n, dims):
    k, x, st = s[0], s[1], int(n.get("s", 1))
    if dims == 1: k, x = k[:, None, :, :, 0], x[:, None, :, :1, 0]
    out = np.zeros([(x.shape[0] - 1) * st + k.shape[0], (x.shape[1] - 1) * st + k.shape[1], k.shape[2], x.shape[3]])
    for i, j, c, b in np.ndindex(*x.shape):
        out[i * st:i * st + k.shape[0], j * st:j * st + k.shape[1], :, b] += k[:, :, :, c] * x[i, j, c, b]
    return out


def col2im(s, n):
    oc, st, p = int(n["oc"]), int(n.get("s", 1)), int(n.get("p", 0))
    k, t = s[0].shape[0] // oc, s[0].shape[1]
    out = np.zeros(((t - 1) * st + k, oc))
    for c, i, j in np.ndindex(oc, k, t): out[j * st + i, c] += s[0][c * k + i, j, 0, 0]
    return out[p:len(out) - p]


def pool(s, n, dims):
    k, st, p, x = int(n.get("k", 2)), int(n.get("s", 1)), int(n.get("p", 0)), s[0]
    kernel = [k, k + 1][:dims]
    out = np.zeros([(x.shape[i] + 2 * p - kernel[i]) // st + 1 if i < dims else x.shape[i] for i in range(4)])
    for at in np.ndindex(*out.shape):
        cut = tuple(slice(max(at[i] * st - p, 0), max(at[i] * st - p + kernel[i], 0)) for i in range(dims))
        inside = x[cut + at[dims:]]
        mean = inside.sum() / (inside.size if dims == 1 else np.prod(kernel))
        out[at] = mean if n.get("kind") else inside.max()
    return out


def timestep(s, n):
    dim, half = int(n.get("dim", 32)), int(n.get("dim", 32)) // 2
    f = n.get("period", 10000) ** (-np.arange(half) / half)
    a = f[:, None] * s[0].ravel()[None, :]
    return np.vstack([np.cos(a), np.sin(a)] + [np.zeros((1, a.shape[1]))] * (dim % 2))


for d in (1, 2, 3): ops["im2col" + ("_%dd" % d if d != 2 else "")] = (lambda d: lambda s, n: conv(s, n, d, True))(d)
for d in (2, 3): ops["conv_%dd" % d] = (lambda d: lambda s, n: conv(s, n, d, False))(d)
for d in (1, 2): ops["conv_transpose_%dd" % d] = (lambda d: lambda s, n: transposed(s, n, d))(d)
for d in (1, 2): ops["pool_%dd" % d] = (lambda d: lambda s, n: pool(s, n, d))(d)
ops.update(conv_2d_dw=lambda s, n: conv(s, n, 2, False, True), col2im_1d=col2im, timestep_embedding=timestep)
cases += [
    ("im2col_1d", "k=f32[3,2,1] x=f32[8,2,2] s=2 p=1"), ("im2col_1d", "k=f16[3,2,4] x=f32[8,2] d=2"),
    ("im2col", "k=f32[3,2,2,3] x=f32[5,4,2,2] p=1"), ("im2col", "k=f32[2,2,2,1] x=f32[5,6,2] s=2 d=2 p=1"),
    ("im2col_3d", "k=f32[2,3,2,4] x=f32[4,5,3,4] c=2 s=2 p=1"), ("conv_2d", "k=f32[3,2,2,3] x=f32[5,4,2,2] s=2 p=1"),
    ("conv_2d", "k=f16[2,3,2,2] x=f32[6,7,2] d=2"), ("conv_2d_dw", "k=f32[3,2,1,3] x=f32[5,4,3,2] s=2 p=1"),
    ("conv_3d", "k=f32[2,3,2,4] x=f32[4,5,3,4] c=2 p=1"), ("conv_3d", "k=f32[2,2,2,6] x=f32[5,5,5,2] c=2 s=2"),
    ("conv_transpose_1d", "k=f32[3,2,4] x=f32[5,4] s=2"), ("conv_transpose_1d", "k=f16[5,3,2] x=f32[4,2]"),
    ("conv_transpose_2d", "k=f32[3,2,2,3] x=f32[4,3,3,2] s=2"), ("col2im_1d", "x=f32[6,4] oc=2 s=2 p=1"),
    ("col2im_1d", "x=f32[6,4] oc=3 s=3"), ("timestep_embedding", "t=f32[5] dim=6 period=100"),
    ("timestep_embedding", "t=f32[2] dim=7 period=10"),
]
cases += [("pool_%dd" % d, "x=f32[7,6,2] k=3 s=2 p=%d kind=%d" % (p, k)) for d in (1, 2) for p in (0, 1) for k in (0, 1)]

# ---- Recurrences ----


def ssm_conv(s, n):
    x, w = s
    t = x.shape[0] - w.shape[0] + 1
    return np.stack([(x[i:i + w.shape[0], :, :, 0] * w[:, :, 0, 0][:, :, None]).sum(0) for i in range(t)], 1)


def last(states, at, tokens, n_states):
    """Keeps the state after token `at` in slot 0 for the newest."""
    return tokens - 1 - at if tokens - 1 - at < n_states else None


def ssm_scan(s, n):
    state0, x, dt, a, b, c, ids = s
    d, h, tokens, seqs = x.shape
    k, y = int(n.get("states", 1)), np.zeros(x.shape)
    out = np.zeros((state0.shape[0], d, h, seqs, k))
    for q, head in np.ndindex(seqs, h):
        v, g = state0[:, :, head, ids.ravel()[q]].copy(), head // (h // b.shape[1])
        for t in range(tokens):
            step = math.log1p(math.exp(dt[head, t, q, 0]))
            decay = np.exp(step * a[:, head, 0, 0])
            v = v * decay[:, None] + np.outer(b[:, g, t, q], x[:, head, t, q] * step)
            y[:, head, t, q] = v.T @ c[:, g, t, q]
            if tokens - 1 - t < k: out[:, :, head, q, tokens - 1 - t] = v
    return np.concatenate([y.ravel(order="F"), out.ravel(order="F")])


def matrix_states(s, n, step):
    """state[h][i, j] lies at h S S + i S + j; step gives the new state and the result of one head and token."""
    state, k = s[-1], s[0]
    size, heads, tokens = k.shape[:3]
    seqs = state.size // (size * size * heads)
    m = state.ravel(order="F").reshape(seqs, heads, size, size).copy()
    y = np.zeros((tokens, heads, size))
    for t, h in np.ndindex(tokens, heads):
        q = t // (tokens // seqs)
        m[q, h], y[t, h] = step(m[q, h], *[x[:, h, t, 0] if x.shape[2] > 1 or tokens == 1 else x[:, h, 0, 0] for x in s[:-1]])
    return np.concatenate([y.ravel(), m.ravel()])


def wkv6(m, k, v, r, u, w):
    kv = np.outer(k, v)
    return m * w[:, None] + kv, r @ (kv * u[:, None] + m)


def wkv7(m, r, w, k, v, a, b):
    m = m * w[None, :] + np.outer(v, k) + np.outer(m @ a, b)
    return m, m @ r


def gated_delta(s, n):
    q, k, v, g, beta, state = s
    size, heads, tokens, seqs = v.shape
    keep, y = int(n.get("states", 1)), np.zeros((seqs, tokens, heads, size))
    m = state.ravel(order="F").reshape(seqs, heads, size, size).copy()  # [value, key]
    out = np.zeros((keep, seqs, heads, size, size))
    for b, h in np.ndindex(seqs, heads):
        for t in range(tokens):
            key, query = k[:, h % k.shape[1], t, b], q[:, h % q.shape[1], t, b]
            x = m[b, h] * np.exp(g[:, h, t, b])[None, :]
            x = x + np.outer(beta[0, h, t, b] * (v[:, h, t, b] - x @ key), key)
            m[b, h], y[b, t, h] = x, x @ query / math.sqrt(size)
            if tokens - 1 - t < keep: out[tokens - 1 - t, b, h] = x
    return np.concatenate([y.ravel(), out.ravel()])


def gla(m, k, v, q, g, scale):
    m = m * g[:, None] + np.outer(k, v)
    return m, scale * (q @ m)


def solve(s, n):
    a, b, out = s[0], s[1], np.zeros(s[1].shape)
    for i, j in np.ndindex(*a.shape[2:]): out[:, :, i, j] = np.linalg.solve(np.tril(a[:, :, i, j].T), b[:, :, i, j].T).T
    return out


ops.update(ssm_conv=ssm_conv, ssm_scan=ssm_scan, wkv6=lambda s, n: matrix_states(s, n, wkv6),
           wkv7=lambda s, n: matrix_states(s, n, wkv7), gated_delta_net=gated_delta, solve_tri=solve,
           gla=lambda s, n: matrix_states(s, n, lambda *a: gla(*a, n.get("scale", 1))))
inp = lambda names, shape: " ".join("%s=f32[%s]" % (x, shape) for x in names.split())
cases += [
    ("ssm_conv", "x=f32[6,3,2] w=f32[3,3]"), ("ssm_conv", "x=f32[4,2] w=f32[4,2]"),
    ("ssm_scan", "s=f32[3,2,2,3] x=f32[2,2,4,2] dt=f32[2,4,2] a=f32[1,2] b=f32[3,1,4,2] c=f32[3,1,4,2] ids=i32[2]<3"),
    ("ssm_scan", "s=f32[3,1,4,2] x=f32[1,4,3,2] dt=f32[4,3,2] a=f32[3,4] b=f32[3,2,3,2] c=f32[3,2,3,2] ids=i32[2]<2 states=2"),
    ("wkv6", inp("k v r", "3,2,4") + " u=f32[3,2] unit=f32[3,2,4] s=f32[18,2]"),
    ("wkv7", "r=f32[3,2,4] unit=f32[3,2,4] " + inp("k v a b", "3,2,4") + " s=f32[18,2]"),
    ("gla", inp("k v q", "3,2,4") + " unit=f32[3,2,4] s=f32[18,2] scale=0.5"),
    ("gated_delta_net", inp("q k", "3,2,4,2") + " v=f32[3,4,4,2] g=f32[1,4,4,2] unit=f32[1,4,4,2] s=f32[3,3,4,2]"),
    ("gated_delta_net", inp("q k v g", "3,2,4") + " unit=f32[1,2,4] s=f32[3,3,2] states=3"),
    ("solve_tri", "unit=f32[3,3,2] b=f32[2,3,2]"),
]

# ---- Streams, training ----


def hyper_post(s, n):
    x, streams, post = s[:3]
    out = streams[..., 0].copy() if len(s) == 3 else np.einsum("nst,dst->ndt", streams[..., 0], s[3][..., 0])
    return out + x[:, :, 0, 0][:, None, :] * post[:, :, 0, 0][None]


def hyper_pre(s, n):
    w = sig(s[1][..., 0]) if n.get("gated") else s[1][:, :, 0, 0][None]
    return n.get("scale", 1) * (s[0][..., 0] * w).sum(1)


def hyper_comb(s, n):
    """As DeepSeek-V4's reference code has it: [from, to] of four streams."""
    mix, scale, base = s[0][:, :, 0, 0], s[1].ravel()[2], s[2].ravel()
    eps, out = n.get("eps", 1e-6), np.zeros((4, 4, mix.shape[1]))
    for t in range(mix.shape[1]):
        m = np.stack([soft(r, None) for r in (mix[8:, t] * scale + base[8:]).reshape(4, 4)]) + eps
        m = m / (m.sum(0, keepdims=True) + eps)
        for _ in range(int(n.get("n", 20)) - 1):
            m = m / (m.sum(1, keepdims=True) + eps)
            m = m / (m.sum(0, keepdims=True) + eps)
        out[:, :, t] = m.T
    return out


def adamw(s, n):
    w, g, m, v = s[:4]
    alpha, b1, b2, eps, decay, c1, c2 = s[4].ravel()
    m, v = m * b1 + g * (1 - b1), v * b2 + g * g * (1 - b2)
    return w * (1 - alpha * decay) - alpha * (m * c1) / (np.sqrt(v * c2) + eps)


ops.update(hyper_comb=hyper_comb, hyper_post=hyper_post, hyper_pre=hyper_pre, adamw_step=adamw,
           silu_back=lambda s, n: s[0] * sig(s[1]) * (1 + s[1] * (1 - sig(s[1]))),
           sgd_step=lambda s, n: s[0] * (1 - s[2].ravel()[0] * s[2].ravel()[1]) - s[2].ravel()[0] * s[1])
cases += [
    ("hyper_comb", "x=f32[24,3] s=f32[3] b=f32[24]"), ("hyper_comb", "x=f32[24,2] s=f32[3] b=f32[24] n=2 eps=0.125"),
    ("hyper_pre", "x=f32[3,4,2] w=f32[4,2] scale=0.5"), ("hyper_pre", "x=f32[3,2,2] w=f32[3,2,2] gated=1"),
    ("hyper_post", "x=f32[3,2] s=f32[3,4,2] p=f32[4,2] c=f32[4,4,2]"), ("hyper_post", "x=f32[3,2] s=f32[3,3,2] p=f32[3,2]"),
    ("silu_back", "dy=f32[7,3] x=f32[7,3]"), ("sgd_step", "w=f32[7,3] g=f32[7,3] p=f32[2]"),
    ("adamw_step", "w=f32[13] g=f32[13] m=f32[13] unit=f32[13] unit2=f32[7]"),
]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/golden/ops.txt"), "w") as f:
    for op, case in cases:
        values = np.asarray(ops[op](*inputs(case)), dtype=float).ravel(order="F")
        print(op, case.strip(), file=f)
        print(" ".join("%.9g" % v for v in values), file=f)
