/* unpack.h - the quantised types as integers: what a type contributes to the matrix kernels of the x86 sets.
 *
 * A tile is 4 * VQ weight rows (16 on AVX-512, 8 on AVX2), read where they lie in the file. A step takes 32 values of
 * each row into eight vectors of unsigned bytes: q[z] holds values 0..15 of the rows 4 * lane + z, q[4 + z] values
 * 16..31. Scales stand in natural row order, one row a lane. Per type there is
 *   T_head     reads the scales of a whole block of the format,
 *   T_quants   unpacks step b of group g (b is a constant where it is called) and picks its scales,
 *   T_form     what the numbers mean, T_offset what was added to make them unsigned, T_max the largest of them,
 *   T_bytes, T_groups, T_steps: bytes of a block, groups in it, steps in a group.
 * Layouts are those of quant/TYPE.h; offsets here are bytes from the start of the block. */
#ifndef LODE_CPU_KERN_UNPACK_H
#define LODE_CPU_KERN_UNPACK_H
#include "cpu/kern/simd.h"

#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/nvfp4.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/tq2_0.h"

/* y += ... per step, with dot = sum q * x over the step, dot0 and dot1 over its halves, sum = sum x:
 * FORM_S   s * (dot - offset * sum)
 * FORM_SM  s * dot + m * sum
 * FORM_H   s * (dot0 - offset * sum0) + s1 * (dot1 - offset * sum1)
 * FORM_HM  the same with offset 0, + m * (mi0 * sum0 + mi1 * sum1), mi being integers */
enum { FORM_S, FORM_SM, FORM_H, FORM_HM };

typedef struct {
    const uint8_t *p[4]; /* rows 0..3 of the tile */
    size_t s4;           /* bytes to the fourth next row */
} tile;

typedef struct {
    vi q[8];
    vf s, s1, m;
    vi mi; /* two 16-bit minima a row */
} step;

typedef struct {
    vf s[16], m[8];
    vi mi[8];
    vi raw[4]; /* the first 16 bytes of each row's block as quads, where quants need them */
} head;

KERN_INLINE tile tile_at(const uint8_t *w, size_t stride) {
    return (tile){ { w, w + stride, w + 2 * stride, w + 3 * stride }, 4 * stride };
}

KERN_INLINE void quads(vi out[4], const tile *t, size_t at) {
    for (int z = 0; z < 4; z++) out[z] = vi_quad(t->p[z] + at, t->s4);
}

/* Word i of every row's quad, rows in natural order. */
KERN_INLINE void transpose4(vi out[4], const vi a[4]) {
    const vi t0 = vi_unlo32(a[0], a[1]), t1 = vi_unhi32(a[0], a[1]);
    const vi t2 = vi_unlo32(a[2], a[3]), t3 = vi_unhi32(a[2], a[3]);
    out[0] = vi_unlo64(t0, t2);
    out[1] = vi_unhi64(t0, t2);
    out[2] = vi_unlo64(t1, t3);
    out[3] = vi_unhi64(t1, t3);
}

KERN_INLINE vi first_words(const vi a[4]) { return vi_unlo64(vi_unlo32(a[0], a[1]), vi_unlo32(a[2], a[3])); }

/* Sums of the four words of every row's quad, rows in natural order. */
KERN_INLINE vi sum4(const vi a[4]) {
    const vi t0 = vi_add(vi_unlo32(a[0], a[1]), vi_unhi32(a[0], a[1]));
    const vi t1 = vi_add(vi_unlo32(a[2], a[3]), vi_unhi32(a[2], a[3]));
    return vi_add(vi_unlo64(t0, t1), vi_unhi64(t0, t1));
}

/* ---- Blocks of 32 with one scale (and minimum) ------------------------------------------------------------------ */

#define TYPE_CONSTANTS(T, form, offset, max, groups, steps) \
    enum {                                                  \
        T##_form = form,                                    \
        T##_offset = offset,                                \
        T##_max = max,                                      \
        T##_groups = groups,                                \
        T##_steps = steps,                                  \
        T##_bytes = sizeof(T##_block)                       \
    }

TYPE_CONSTANTS(q4_0, FORM_S, 8, 15, 1, 1);
TYPE_CONSTANTS(q4_1, FORM_SM, 0, 15, 1, 1);
TYPE_CONSTANTS(q5_0, FORM_S, 16, 31, 1, 1);
TYPE_CONSTANTS(q5_1, FORM_SM, 0, 31, 1, 1);
TYPE_CONSTANTS(q8_0, FORM_S, KERN_S8_OFFSET, 255, 1, 1);

KERN_INLINE void head_s(head *h, const tile *t, size_t o) {
    quads(h->raw, t, o);
    h->s[0] = vf_from_half(first_words(h->raw));
}

KERN_INLINE void head_sm(head *h, const tile *t, size_t o) {
    quads(h->raw, t, o);
    const vi d = first_words(h->raw);
    h->s[0] = vf_from_half(d);
    h->m[0] = vf_from_half(vi_shr(d, 16));
}

/* 16 bytes a row: values 0..15 in the low halves, 16..31 in the high ones. */
KERN_INLINE void nibbles(vi q[8], const tile *t, size_t at) {
    const vi low = vi_set1_8(15);
    for (int z = 0; z < 4; z++) {
        const vi raw = vi_quad(t->p[z] + at, t->s4);
        q[z] = vi_and(raw, low);
        q[4 + z] = vi_and(vi_shr16(raw, 4), low);
    }
}

/* Adds 16 where the value's bit is set in the 32 bits that start at byte `at` of the raw head. */
KERN_INLINE void fifth_bits(vi q[8], const vi raw[4], int at) {
    const vi bit = vi_set64((int64_t)0x8040201008040201u), add = vi_set1_8(16);
    const int64_t every = 0x0101010101010101LL;
    const vi lo = vi_set128(every * at, every * (at + 1)), hi = vi_set128(every * (at + 2), every * (at + 3));
    for (int z = 0; z < 4; z++) {
        q[z] = vi_add_where8(q[z], vi_shuf8(raw[z], lo), bit, add);
        q[4 + z] = vi_add_where8(q[4 + z], vi_shuf8(raw[z], hi), bit, add);
    }
}

KERN_INLINE void q4_0_head(head *h, const tile *t, size_t o) { head_s(h, t, o); }
KERN_INLINE void q4_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(q4_0_block, qs));
    u->s = h->s[0];
}

KERN_INLINE void q4_1_head(head *h, const tile *t, size_t o) { head_sm(h, t, o); }
KERN_INLINE void q4_1_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(q4_1_block, qs));
    u->s = h->s[0];
    u->m = h->m[0];
}

KERN_INLINE void q5_0_head(head *h, const tile *t, size_t o) { head_s(h, t, o); }
KERN_INLINE void q5_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(q5_0_block, qs));
    fifth_bits(u->q, h->raw, offsetof(q5_0_block, qh));
    u->s = h->s[0];
}

KERN_INLINE void q5_1_head(head *h, const tile *t, size_t o) { head_sm(h, t, o); }
KERN_INLINE void q5_1_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(q5_1_block, qs));
    fifth_bits(u->q, h->raw, offsetof(q5_1_block, qh));
    u->s = h->s[0];
    u->m = h->m[0];
}

KERN_INLINE void q8_0_head(head *h, const tile *t, size_t o) { head_s(h, t, o); }
KERN_INLINE void q8_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    quads(u->q, t, o + offsetof(q8_0_block, qs));
    quads(u->q + 4, t, o + offsetof(q8_0_block, qs) + 16);
    if (KERN_S8_OFFSET)
        for (int i = 0; i < 8; i++) u->q[i] = vi_xor(u->q[i], vi_set1_8(0x80));
    u->s = h->s[0];
}

/* ---- Codes of 4 bits for values of a table ----------------------------------------------------------------------- */

enum { FP4_OFFSET = 12, FP4_MAX = 24 };

TYPE_CONSTANTS(iq4_nl, FORM_S, KERN_S8_OFFSET, 255, 1, 1);
TYPE_CONSTANTS(iq4_xs, FORM_S, KERN_S8_OFFSET, 255, 8, 1);
TYPE_CONSTANTS(mxfp4, FORM_S, FP4_OFFSET, FP4_MAX, 1, 1);
TYPE_CONSTANTS(nvfp4, FORM_H, FP4_OFFSET, FP4_MAX, 1, 2);

KERN_INLINE void look_up(vi q[8], vi table) {
    for (int i = 0; i < 8; i++) q[i] = vi_shuf8(table, q[i]);
}

KERN_INLINE vi iq4_table(void) {
    const vi table = vi_bcast128(iq4_value);
    return KERN_S8_OFFSET ? vi_xor(table, vi_set1_8(0x80)) : table;
}

/* fp4_twice made unsigned. */
KERN_INLINE vi fp4_table(void) {
    return vi_add_where8(vi_bcast128(fp4_twice), vi_set1_8(1), vi_set1_8(1), vi_set1_8(FP4_OFFSET));
}

KERN_INLINE void iq4_nl_head(head *h, const tile *t, size_t o) { head_s(h, t, o); }
KERN_INLINE void iq4_nl_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(iq4_nl_block, qs));
    look_up(u->q, iq4_table());
    u->s = h->s[0];
}

KERN_INLINE void iq4_xs_head(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o);
    transpose4(w, raw);
    const vf d = vf_from_half(w[0]);
    for (int j = 0; j < 8; j++) {
        const vi lo = vi_and(vi_shrv(w[1], 4 * j), vi_set1(15)), hi = vi_and(vi_shrv(w[0], 16 + 2 * j), vi_set1(3));
        h->s[j] = vf_mul(d, vf_from_i(vi_sub(vi_or(lo, vi_shl(hi, 4)), vi_set1(32))));
    }
}
KERN_INLINE void iq4_xs_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)b;
    nibbles(u->q, t, o + offsetof(iq4_xs_block, qs) + 16 * (size_t)g);
    look_up(u->q, iq4_table());
    u->s = h->s[g];
}

/* 2^(e - 128) as a product of two powers that are both normal. */
KERN_INLINE void mxfp4_head(head *h, const tile *t, size_t o) {
    quads(h->raw, t, o);
    const vi e = vi_and(first_words(h->raw), vi_set1(255)), half = vi_shr(e, 1), bias = vi_set1(63);
    h->s[0] = vf_mul(vf_bits(vi_shl(vi_add(half, bias), 23)), vf_bits(vi_shl(vi_add(vi_sub(e, half), bias), 23)));
}
KERN_INLINE void mxfp4_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g, (void)b;
    nibbles(u->q, t, o + offsetof(mxfp4_block, qs));
    look_up(u->q, fp4_table());
    u->s = h->s[0];
}

/* A scale's seven bits stand in a half at 2^-7 of half its value; 0x7f is 0. */
KERN_INLINE void nvfp4_head(head *h, const tile *t, size_t o) {
    quads(h->raw, t, o);
    const vi w = first_words(h->raw);
    for (int j = 0; j < 4; j++) {
        const vi s = vi_and(vi_shrv(w, 8 * j), vi_set1(255));
        const vf half = vf_from_half(vi_shl(vi_and(s, vi_set1(127)), 7));
        const vf from_nan = vf_abs(vf_sub(vf_from_i(s), vf_set1(127.0f)));
        h->s[j] = vf_lt_sel(from_nan, vf_set1(0.5f), vf_zero(), vf_mul(half, vf_set1(128.0f)));
    }
}
KERN_INLINE void nvfp4_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)g;
    vi q[8];
    nibbles(q, t, o + offsetof(nvfp4_block, qs) + 16 * (size_t)b);
    for (int z = 0; z < 4; z++) { /* the low halves of 8 bytes, then their high ones */
        u->q[z] = vi_unlo64(q[z], q[4 + z]);
        u->q[4 + z] = vi_unhi64(q[z], q[4 + z]);
    }
    look_up(u->q, fp4_table());
    u->s = h->s[2 * b];
    u->s1 = h->s[2 * b + 1];
}

/* ---- One and two bits with one scale ----------------------------------------------------------------------------- */

TYPE_CONSTANTS(q1_0, FORM_S, 1, 3, 1, 4);
TYPE_CONSTANTS(q2_0, FORM_S, 1, 3, 1, 2);
TYPE_CONSTANTS(tq2_0, FORM_S, 1, 3, 2, 4);

/* The scale and, in `raw`, the 16 bytes behind it. */
KERN_INLINE void head_s_bits(head *h, const tile *t, size_t o) {
    head_s(h, t, o);
    quads(h->raw, t, o + 2);
}

KERN_INLINE void q1_0_head(head *h, const tile *t, size_t o) { head_s_bits(h, t, o); }
KERN_INLINE void q1_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)t, (void)o, (void)g;
    const vi bit = vi_set64((int64_t)0x8040201008040201u), add = vi_set1_8(2);
    const int64_t every = 0x0101010101010101LL;
    for (int i = 0; i < 8; i++) {
        const int at = 4 * b + i / 4 * 2;
        u->q[i] = vi_add_where8(vi_zero(), vi_shuf8(h->raw[i % 4], vi_set128(every * at, every * (at + 1))), bit, add);
    }
    u->s = h->s[0];
}

KERN_INLINE void q2_0_head(head *h, const tile *t, size_t o) { head_s_bits(h, t, o); }
KERN_INLINE void q2_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    (void)t, (void)o, (void)g;
    const vi low = vi_set1(0x40100401), high = vi_set1((int32_t)0x80200802u);
    const int64_t every = 0x01010101LL, next = 0x0101010100000000LL;
    for (int i = 0; i < 8; i++) {
        const int at = 8 * b + i / 4 * 4;
        const vi bytes = vi_set128(every * at + next * (at + 1), every * (at + 2) + next * (at + 3));
        const vi raw = vi_shuf8(h->raw[i % 4], bytes);
        u->q[i] = vi_add_where8(vi_add_where8(vi_zero(), raw, low, vi_set1_8(1)), raw, high, vi_set1_8(2));
    }
    u->s = h->s[0];
}

/* Two bits of each value: byte 32 * g + i, from bit 2 * b. */
KERN_INLINE void two_bits(vi q[8], const tile *t, size_t at, int b) {
    const vi two = vi_set1_8(3);
    for (int i = 0; i < 8; i++) {
        const vi raw = vi_quad(t->p[i % 4] + at + 16 * (size_t)(i / 4), t->s4);
        q[i] = vi_and(b == 0 ? raw : b == 1 ? vi_shr16(raw, 2) : b == 2 ? vi_shr16(raw, 4) : vi_shr16(raw, 6), two);
    }
}

KERN_INLINE void tq2_0_head(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o + offsetof(tq2_0_block, d) - 14);
    transpose4(w, raw);
    h->s[0] = vf_from_half(vi_shr(w[3], 16));
}
KERN_INLINE void tq2_0_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    two_bits(u->q, t, o + offsetof(tq2_0_block, qs) + 32 * (size_t)g, b);
    u->s = h->s[0];
}

/* ---- Blocks of 256 ---------------------------------------------------------------------------------------------- */

TYPE_CONSTANTS(q4_k, FORM_SM, 0, 15, 4, 2);
TYPE_CONSTANTS(q5_k, FORM_SM, 0, 31, 4, 2);
TYPE_CONSTANTS(q2_k, FORM_HM, 0, 3, 2, 4);
TYPE_CONSTANTS(q3_k, FORM_H, 4, 7, 2, 4);
TYPE_CONSTANTS(q6_k, FORM_H, 32, 63, 2, 4);

KERN_INLINE vf byte_as_float(vi v, int i) { return vf_from_i(vi_and(vi_shrv(v, 8 * i), vi_set1(255))); }

/* d, dmin and the packed scales of k_scale.h are the first 16 bytes of both types. */
KERN_INLINE void head_q45(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o);
    transpose4(w, raw);
    const vf d = vf_from_half(w[0]), dmin = vf_sub(vf_zero(), vf_from_half(vi_shr(w[0], 16)));
    const vi six = vi_set1_8(63), four = vi_set1_8(15), top = vi_set1_8(0x30);
    const vi s[2] = { vi_and(w[1], six), vi_or(vi_and(w[3], four), vi_and(vi_shr(w[1], 2), top)) };
    const vi m[2] = { vi_and(w[2], six), vi_or(vi_and(vi_shr(w[3], 4), four), vi_and(vi_shr(w[2], 2), top)) };
    for (int j = 0; j < 8; j++) {
        h->s[j] = vf_mul(d, byte_as_float(s[j / 4], j % 4));
        h->m[j] = vf_mul(dmin, byte_as_float(m[j / 4], j % 4));
    }
}

KERN_INLINE void q4_k_head(head *h, const tile *t, size_t o) { head_q45(h, t, o); }
KERN_INLINE void q4_k_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    const size_t at = o + offsetof(q4_k_block, qs) + 32 * (size_t)g;
    const vi low = vi_set1_8(15);
    quads(u->q, t, at);
    quads(u->q + 4, t, at + 16);
    for (int i = 0; i < 8; i++) u->q[i] = vi_and(b ? vi_shr16(u->q[i], 4) : u->q[i], low);
    u->s = h->s[2 * g + b];
    u->m = h->m[2 * g + b];
}

KERN_INLINE void q5_k_head(head *h, const tile *t, size_t o) { head_q45(h, t, o); }
KERN_INLINE void q5_k_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    const size_t at = o + offsetof(q5_k_block, qs) + 32 * (size_t)g, high = o + offsetof(q5_k_block, qh);
    const vi low = vi_set1_8(15), bit = vi_set1_8(1 << (2 * g + b)), add = vi_set1_8(16);
    quads(u->q, t, at);
    quads(u->q + 4, t, at + 16);
    for (int i = 0; i < 8; i++) {
        const vi h5 = vi_quad(t->p[i % 4] + high + 16 * (size_t)(i / 4), t->s4);
        u->q[i] = vi_add_where8(vi_and(b ? vi_shr16(u->q[i], 4) : u->q[i], low), h5, bit, add);
    }
    u->s = h->s[2 * g + b];
    u->m = h->m[2 * g + b];
}

KERN_INLINE void q6_k_head(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o + offsetof(q6_k_block, d) - 14);
    transpose4(w, raw);
    const vf d = vf_from_half(vi_shr(w[3], 16));
    quads(raw, t, o + offsetof(q6_k_block, scales));
    transpose4(w, raw);
    for (int j = 0; j < 16; j++) h->s[j] = vf_mul(d, vf_from_i(vi_sar(vi_shlv(w[j / 4], 24 - 8 * (j % 4)), 24)));
}
KERN_INLINE void q6_k_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    const size_t lo = o + 64 * (size_t)g + 32 * (size_t)(b % 2), hi = o + offsetof(q6_k_block, qh) + 32 * (size_t)g;
    const vi four = vi_set1_8(15), top = vi_set1_8(0x30);
    for (int i = 0; i < 8; i++) {
        const vi l = vi_quad(t->p[i % 4] + lo + 16 * (size_t)(i / 4), t->s4);
        const vi q = vi_quad(t->p[i % 4] + hi + 16 * (size_t)(i / 4), t->s4);
        const vi q2 = b == 0 ? vi_shl16(q, 4) : b == 1 ? vi_shl16(q, 2) : b == 2 ? q : vi_shr16(q, 2);
        u->q[i] = vi_or(vi_and(b / 2 ? vi_shr16(l, 4) : l, four), vi_and(q2, top));
    }
    u->s = h->s[8 * g + 2 * b];
    u->s1 = h->s[8 * g + 2 * b + 1];
}

KERN_INLINE void q2_k_head(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o + offsetof(q2_k_block, dmin) - 14);
    transpose4(w, raw);
    const vf d = vf_from_half(w[3]);
    h->m[0] = vf_sub(vf_zero(), vf_from_half(vi_shr(w[3], 16)));
    quads(raw, t, o);
    transpose4(w, raw);
    for (int j = 0; j < 4; j++) {
        const vi s = vi_and(w[j], vi_set1_8(15)), m = vi_and(vi_shr(w[j], 4), vi_set1_8(15));
        for (int i = 0; i < 4; i++) h->s[4 * j + i] = vf_mul(d, byte_as_float(s, i));
        /* minima of steps 2j and 2j + 1 as pairs of 16 bits: bytes (0, 1) and (2, 3) */
        h->mi[2 * j] = vi_or(vi_and(m, vi_set1(255)), vi_and(vi_shl(m, 8), vi_set1(0xff0000)));
        h->mi[2 * j + 1] = vi_or(vi_and(vi_shr(m, 16), vi_set1(255)), vi_and(vi_shr(m, 8), vi_set1(0xff0000)));
    }
}
KERN_INLINE void q2_k_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    two_bits(u->q, t, o + offsetof(q2_k_block, qs) + 32 * (size_t)g, b);
    u->s = h->s[8 * g + 2 * b];
    u->s1 = h->s[8 * g + 2 * b + 1];
    u->m = h->m[0];
    u->mi = h->mi[4 * g + b];
}

KERN_INLINE void q3_k_head(head *h, const tile *t, size_t o) {
    vi raw[4], w[4];
    quads(raw, t, o + offsetof(q3_k_block, d) - 14); /* two bytes before the scales */
    for (int z = 0; z < 4; z++) raw[z] = vi_bytes_down(raw[z], 2);
    transpose4(w, raw);
    const vf d = vf_from_half(w[3]);
    const vi four = vi_set1_8(15), top = vi_set1_8(0x30);
    const vi s[4] = { vi_or(vi_and(w[0], four), vi_and(vi_shl(w[2], 4), top)),
                      vi_or(vi_and(w[1], four), vi_and(vi_shl(w[2], 2), top)),
                      vi_or(vi_and(vi_shr(w[0], 4), four), vi_and(w[2], top)),
                      vi_or(vi_and(vi_shr(w[1], 4), four), vi_and(vi_shr(w[2], 2), top)) };
    for (int j = 0; j < 16; j++) h->s[j] = vf_mul(d, vf_sub(byte_as_float(s[j / 4], j % 4), vf_set1(32.0f)));
}
KERN_INLINE void q3_k_quants(step *u, const head *h, const tile *t, size_t o, int g, int b) {
    const vi bit = vi_set1_8(1 << (4 * g + b)), add = vi_set1_8(4);
    two_bits(u->q, t, o + offsetof(q3_k_block, qs) + 32 * (size_t)g, b);
    for (int i = 0; i < 8; i++) {
        const vi h3 = vi_quad(t->p[i % 4] + o + 16 * (size_t)(i / 4), t->s4);
        u->q[i] = vi_add_where8(u->q[i], h3, bit, add);
    }
    u->s = h->s[8 * g + 2 * b];
    u->s1 = h->s[8 * g + 2 * b + 1];
}
#endif
