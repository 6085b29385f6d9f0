#!/usr/bin/env python3
# check_types.py - every tensor type of build/liblode.so against PyPI's `gguf` package and ggml's library: decoding of
# random blocks bit for bit, encoding byte for byte where the reference's bytes are kept, else no more loss.
# usage: PYTHON tests/peer/check_types.py BUILD_DIR [BLOCKS]     (make check-types; the peer: tests/peer/fetch.sh)
import ctypes
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from golden_quant import ENCODED, blocks, decodings, encoding, sizes  # noqa: E402

suffix = "dylib" if sys.platform == "darwin" else "so"
lode = ctypes.CDLL(os.path.join(sys.argv[1], "liblode." + suffix))
BLOCKS = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
LOSS = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]  # encoders of our own, whose loss is compared
bad = 0


def fail(text):
    global bad
    bad += 1
    print(text)


def pointer(a):
    return a.ctypes.data_as(ctypes.c_void_p)


def lode_row(verb, name, src, dst, n):
    f = getattr(lode, f"lode_{verb}_row")
    f.restype = ctypes.c_bool
    kind = lode.lode_type_of_name(name.encode())
    return dst if f(kind, pointer(src), pointer(dst), ctypes.c_int64(n)) else None


def check_decode(name, rng):
    elements, size = sizes()[name]
    raw = blocks(name, max(BLOCKS, 65536 if elements == 1 else 0), rng)
    n = raw.shape[0] * elements
    got = lode_row("decode", name, raw, np.zeros(n, np.float32), n)
    references = decodings(name, raw)
    if got is None or not references:
        return fail(f"{name}: {'no reference decodes it' if got is not None else 'is not decoded'}")
    for want in references:
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
        if not same.all():
            at = int(np.argmin(same))
            fail(f"{name}: block {at // elements}, value {at % elements}: {got[at]}, want {want[at]}; "
                 f"{np.count_nonzero(~same)} differ")
    print(f"{name:8} {raw.shape[0]:6} blocks decoded as {len(references)} reference{'s' * (len(references) > 1)}")


def samples(n, rng):
    """Rows of n values: every size of float at which the references do only defined arithmetic (below 2^-125 they
    divide by numbers whose inverse is infinite), and special shapes."""
    normal = rng.standard_normal((64, n))
    yield from (normal * 10.0 ** e for e in (-36, -25, -12, -6, -4, -3, -2, -1, 0, 1, 2, 3, 6, 12, 18, 25, 36))
    yield np.nextafter(np.float32(65520), np.float32(0)) * rng.uniform(0.9, 1.1, (64, n))  # where halves end
    yield rng.uniform(-1, 1, (64, n))
    yield np.zeros((1, n))
    yield np.full((1, n), -0.0)
    yield np.repeat(10.0 ** rng.uniform(-20, 18, (64, 1)) * rng.choice([-1, 1], (64, 1)), n, 1)  # constant
    yield np.abs(normal)
    yield -np.abs(normal)
    yield normal * 2.0 ** rng.integers(-20, 20, (64, n))  # of very different size
    yield rng.integers(-16, 17, (256, n)).astype(float)  # ties
    yield rng.integers(-16, 17, (64, n)) / 8
    ties = rng.integers(-253, 254, (256, n)) / 2  # between the values of IQ4_NL
    ties[:, ::32] = -127
    yield ties
    yield rng.choice([-1.0, 0.0, 1.0], (64, n)) * 10.0 ** rng.uniform(-4, 4, (64, 1))
    yield normal * (rng.uniform(0, 1, (64, n)) < 0.05)  # mostly zeros
    yield np.where(np.arange(n) % 32 == 7, 100 * normal, normal)  # outliers
    yield np.nextafter(np.float32(2.0) ** rng.integers(-20, 20, (64, 1)), np.float32(0)) * np.ones(n)  # below 2^k


def check_encode(name, rng):
    elements, size = sizes()[name]
    n = max(256, elements)
    count = 0
    for x in samples(n, rng):
        x = np.ascontiguousarray(x.astype(np.float32).reshape(-1))
        got = lode_row("encode", name, x, np.zeros(len(x) // elements * size, np.uint8), len(x))
        if got is None:
            return fail(f"{name}: has no encoder")
        want = encoding(name, x)
        same = (got.reshape(-1, size) == want.reshape(-1, size)).all(1)
        if name == "IQ4_NL":  # beside a scale of 0 the reference leaves codes to chance
            same |= (np.abs(x.reshape(-1, elements)).max(1) < 1e-15) & (got.reshape(-1, size)[:, :2] == 0).all(1)
        count += len(same)
        if not same.all():
            at = int(np.argmin(same))
            fail(f"{name}: block {at} of {len(same)} encoded as {bytes(got.reshape(-1, size)[at]).hex()}, want "
                 f"{bytes(want.reshape(-1, size)[at]).hex()}; largest {np.abs(x.reshape(-1, elements)[at]).max()}")
    print(f"{name:8} {count:6} blocks encoded to the same bytes")


def check_bits(name, rng):
    """The types of one element on every kind of float: subnormals, infinities, ties; a NaN stays one."""
    x = rng.integers(0, 1 << 32, 1 << 20, dtype=np.uint32)
    x[: 1 << 16] = np.arange(1 << 16, dtype=np.uint32) << 16 | rng.choice([0, 0x8000, 0x1000, 0x7FFF, 1], 1 << 16)
    x = x.view(np.float32)
    got = lode_row("encode", name, x, np.zeros(len(x), np.uint16), len(x))
    want = encoding(name, x).view(np.uint16)
    back = lode_row("decode", name, got, np.zeros(len(x), np.float32), len(x))
    same = np.where(np.isnan(x), np.isnan(back), got == want)
    if not same.all():
        at = int(np.argmin(same))
        fail(f"{name}: {x[at]!r} encoded as {got[at]:04x}, want {want[at]:04x}")
    print(f"{name:8} {len(x)} floats of every kind encoded to the same bits")


def check_loss(name, rng):
    elements, size = sizes()[name]
    x = rng.standard_normal(elements * 1024).astype(np.float32)
    ours = lode_row("encode", name, x, np.zeros(1024 * size, np.uint8), len(x))
    loss = [np.sqrt(((decodings(name, raw.reshape(-1, size))[0] - x) ** 2).mean()) for raw in (ours, encoding(name, x))]
    print(f"{name:8} error {loss[0]:.5f} encoded here, {loss[1]:.5f} by the reference encoder")
    if not loss[0] <= 1.01 * loss[1]:
        fail(f"{name}: loses more than the reference encoder")


for name in sizes():
    check_decode(name, np.random.default_rng(1))
for name in ENCODED + ["F64"]:
    check_encode(name, np.random.default_rng(2))
for name in ("F16", "BF16"):
    check_bits(name, np.random.default_rng(4))
for name in LOSS:
    check_loss(name, np.random.default_rng(3))
print(f"{bad} differences")
sys.exit(1 if bad else 0)
