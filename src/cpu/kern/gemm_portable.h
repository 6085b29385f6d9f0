/* gemm_portable.h - quantised matrix kernels in plain C, for any machine: included by kern_portable.c.
 *
 * A weight row is unpacked once per call to signed bytes, with a scale for every 16 values and a minimum where the type
 * has one, and then meets each column. The sums are those of gemm_body.h: integers exact over a step of 32 values (over
 * its halves where the scales differ), then floats step by step. */
#ifndef LODE_CPU_KERN_GEMM_PORTABLE_H
#define LODE_CPU_KERN_GEMM_PORTABLE_H
#include "cpu/kern/kern.h"
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
#include "quant/q8a.h"
#include "quant/tq2_0.h"

enum { HAS_HALVES = 1, HAS_MIN = 2 }; /* two scales a step; minima */

/* One step of an unpacked row: x = s[half] * q + m[half]. Sixteen bits a value, because every machine has a vector
 * product of those that adds into 32. */
typedef struct {
    int16_t q[32];
    float s[2], m[2];
} plain_step;

/* The loops below have plain bodies and fixed lengths so that compilers turn them into vectors. */
static inline void low_high(int16_t *q, const uint8_t *qs, int minus) {
    for (int i = 0; i < 16; i++) q[i] = (int16_t)((qs[i] & 15) - minus);
    for (int i = 0; i < 16; i++) q[16 + i] = (int16_t)((qs[i] >> 4) - minus);
}
/* Adds 16 where bit i of the 32 at qh is set. */
static inline void fifth(int16_t *q, const uint8_t *qh) {
    static const uint8_t bit[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8_t each[32];
    for (int j = 0; j < 4; j++) memset(each + 8 * j, qh[j], 8);
    for (int j = 0; j < 32; j += 8)
        for (int i = 0; i < 8; i++) q[j + i] = (int16_t)(q[j + i] + ((each[j + i] & bit[i]) != 0 ? 16 : 0));
}
/* (from[i] >> shift) & mask, moved up by `up` bits and added. */
static inline void bits(int16_t *q, const uint8_t *from, int shift, int mask, int up) {
    for (int i = 0; i < 32; i++) q[i] = (int16_t)(q[i] + (((from[i] >> shift) & mask) << up));
}
static inline void set(int16_t *q, int v) {
    for (int i = 0; i < 32; i++) q[i] = (int16_t)v;
}
static void both(float v[2], float x) { v[0] = v[1] = x; }

/* A block of the format to its steps. */
static void q4_0_plain(plain_step *t, const void *src) {
    q4_0_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs, 8);
    both(t->s, dev_h2f(b.d));
}
static void q4_1_plain(plain_step *t, const void *src) {
    q4_1_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs, 0);
    both(t->s, dev_h2f(b.d));
    both(t->m, dev_h2f(b.m));
}
static void q5_0_plain(plain_step *t, const void *src) {
    q5_0_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs, 16);
    fifth(t->q, b.qh);
    both(t->s, dev_h2f(b.d));
}
static void q5_1_plain(plain_step *t, const void *src) {
    q5_1_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs, 0);
    fifth(t->q, b.qh);
    both(t->s, dev_h2f(b.d));
    both(t->m, dev_h2f(b.m));
}
static void q8_0_plain(plain_step *t, const void *src) {
    q8_0_block b;
    memcpy(&b, src, sizeof b);
    for (int i = 0; i < 32; i++) t->q[i] = b.qs[i];
    both(t->s, dev_h2f(b.d));
}
static void q2_k_plain(plain_step *t, const void *src) {
    q2_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) {
        t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)(b.scales[j] & 15);
        t[j / 2].m[j % 2] = -dev_h2f(b.dmin) * (float)(b.scales[j] >> 4);
    }
    for (int j = 0; j < 8; j++) {
        set(t[j].q, 0);
        bits(t[j].q, b.qs + j / 4 * 32, j % 4 * 2, 3, 0);
    }
}
static void q3_k_plain(plain_step *t, const void *src) {
    q3_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)q3_k_scale(&b, j);
    for (int j = 0; j < 8; j++) {
        set(t[j].q, -4);
        bits(t[j].q, b.qs + j / 4 * 32, j % 4 * 2, 3, 0);
        bits(t[j].q, b.hmask, j, 1, 2);
    }
}
/* Scales and minima of Q4_K and Q5_K. */
static void k_scales(plain_step *t, float d, float dmin, const uint8_t *scales) {
    for (int j = 0; j < 8; j++) {
        const k_scale s = k_scale_at(scales, j);
        both(t[j].s, d * (float)s.scale);
        both(t[j].m, -dmin * (float)s.min);
    }
}
static void q4_k_plain(plain_step *t, const void *src) {
    q4_k_block b;
    memcpy(&b, src, sizeof b);
    k_scales(t, dev_h2f(b.d), dev_h2f(b.dmin), b.scales);
    for (int j = 0; j < 8; j++) {
        set(t[j].q, 0);
        bits(t[j].q, b.qs + j / 2 * 32, j % 2 * 4, 15, 0);
    }
}
static void q5_k_plain(plain_step *t, const void *src) {
    q5_k_block b;
    memcpy(&b, src, sizeof b);
    k_scales(t, dev_h2f(b.d), dev_h2f(b.dmin), b.scales);
    for (int j = 0; j < 8; j++) {
        set(t[j].q, 0);
        bits(t[j].q, b.qs + j / 2 * 32, j % 2 * 4, 15, 0);
        bits(t[j].q, b.qh, j, 1, 4);
    }
}
static void q6_k_plain(plain_step *t, const void *src) {
    q6_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)b.scales[j];
    for (int j = 0; j < 8; j++) {
        set(t[j].q, -32);
        bits(t[j].q, b.ql + j / 4 * 64 + j % 2 * 32, j % 4 / 2 * 4, 15, 0);
        bits(t[j].q, b.qh + j / 4 * 32, j % 4 * 2, 3, 4);
    }
}

/* n codes of 4 bits, n / 2 bytes, to values of a table: low halves first. */
static void coded(int16_t *q, const uint8_t *qs, int n, const int8_t *table) {
    for (int i = 0; i < n / 2; i++) {
        q[i] = table[qs[i] & 15];
        q[n / 2 + i] = table[qs[i] >> 4];
    }
}
static void iq4_nl_plain(plain_step *t, const void *src) {
    iq4_nl_block b;
    memcpy(&b, src, sizeof b);
    coded(t->q, b.qs, 32, iq4_value);
    both(t->s, dev_h2f(b.d));
}
static void iq4_xs_plain(plain_step *t, const void *src) {
    iq4_xs_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 8; j++) {
        coded(t[j].q, b.qs + 16 * j, 32, iq4_value);
        both(t[j].s, dev_h2f(b.d) * (float)iq4_xs_scale(&b, j));
    }
}
static void mxfp4_plain(plain_step *t, const void *src) {
    mxfp4_block b;
    memcpy(&b, src, sizeof b);
    coded(t->q, b.qs, 32, fp4_twice);
    both(t->s, fp4_half_e8m0(b.e));
}
static void nvfp4_plain(plain_step *t, const void *src) {
    nvfp4_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 4; j++) {
        coded(t[j / 2].q + j % 2 * 16, b.qs + 8 * j, 16, fp4_twice);
        t[j / 2].s[j % 2] = fp4_half_e4m3(b.d[j]);
    }
}
static void q1_0_plain(plain_step *t, const void *src) {
    q1_0_block b;
    memcpy(&b, src, sizeof b);
    for (int i = 0; i < 128; i++) t[i / 32].q[i % 32] = (int16_t)(((b.qs[i / 8] >> (i % 8)) & 1) * 2 - 1);
    for (int j = 0; j < 4; j++) both(t[j].s, dev_h2f(b.d));
}
static void q2_0_plain(plain_step *t, const void *src) {
    q2_0_block b;
    memcpy(&b, src, sizeof b);
    for (int i = 0; i < 64; i++) t[i / 32].q[i % 32] = (int16_t)(((b.qs[i / 4] >> (i % 4 * 2)) & 3) - 1);
    for (int j = 0; j < 2; j++) both(t[j].s, dev_h2f(b.d));
}
static void tq2_0_plain(plain_step *t, const void *src) {
    tq2_0_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 8; j++) {
        set(t[j].q, -1);
        bits(t[j].q, b.qs + j / 4 * 32, j % 4 * 2, 3, 0);
        both(t[j].s, dev_h2f(b.d));
    }
}

static inline int32_t dot16(const int16_t *a, const int16_t *b) {
    int32_t s = 0;
#pragma GCC unroll 1 /* else gcc unrolls before it makes vectors */
    for (int i = 0; i < 16; i++) s += (int32_t)a[i] * (int32_t)b[i];
    return s;
}
static inline int32_t dot32(const int16_t *a, const int16_t *b) {
    int32_t s = 0;
    for (int i = 0; i < 32; i++) s += (int32_t)a[i] * (int32_t)b[i];
    return s;
}

/* x16: the quants of the column in 16 bits. `has` is a constant where this is called. */
static inline float plain_dot(const plain_step *t, const q8a_block *x, const int16_t *x16, int64_t n, int has) {
    float acc = 0.0f;
    for (int64_t i = 0; i < n; i++, t++, x++, x16 += 32) {
        if (has & HAS_HALVES) {
            acc += t->s[0] * x->d * (float)dot16(t->q, x16);
            acc += t->s[1] * x->d * (float)dot16(t->q + 16, x16 + 16);
            if (has & HAS_MIN) acc += x->d * (t->m[0] * (float)x->s0 + t->m[1] * (float)x->s1);
        } else {
            acc += t->s[0] * x->d * (float)dot32(t->q, x16);
            if (has & HAS_MIN) acc += t->m[0] * x->ds;
        }
    }
    return acc;
}

typedef void (*plain_fn)(plain_step *t, const void *src);

static size_t plain_scratch(int64_t k, int64_t n_cols) {
    return (size_t)(k / 32) * sizeof(plain_step) + (size_t)(k * n_cols) * sizeof(int16_t);
}

static void widen_columns(const lode_gemm_args *a, int16_t *to) {
    for (int64_t c = 0; c < a->n_cols; c++) {
        const q8a_block *x = (const q8a_block *)(const void *)((const uint8_t *)a->x + (size_t)c * a->x_stride);
        for (int64_t i = 0; i < a->k / 32; i++, to += 32)
            for (int j = 0; j < 32; j++) to[j] = x[i].qs[j];
    }
}

static inline void plain_gemm(const lode_gemm_args *a, const int64_t rows[2], plain_fn unpack, const int per_bytes[2],
                              int has) {
    plain_step *t = a->scratch;
    int16_t *x16 = (int16_t *)(void *)(t + a->k / 32);
    widen_columns(a, x16);
    for (int64_t r = rows[0]; r < rows[1]; r++) {
        const uint8_t *w = (const uint8_t *)a->w + (size_t)r * a->w_stride;
        for (int64_t i = 0; i < a->k / (32 * per_bytes[0]); i++) unpack(t + i * per_bytes[0], w + i * per_bytes[1]);
        for (int64_t c = 0; c < a->n_cols; c++) {
            const void *x = (const uint8_t *)a->x + (size_t)c * a->x_stride;
            float *y = (float *)(void *)((uint8_t *)a->y + (size_t)c * a->y_stride);
            y[r] = plain_dot(t, x, x16 + c * a->k, a->k / 32, has);
        }
    }
}

#define PLAIN(T, per, has)                                                                                         \
    static void T##_gemm(const lode_gemm_args *a, int64_t row0, int64_t row1) {                                    \
        plain_gemm(a, (const int64_t[2]){ row0, row1 }, T##_plain, (const int[2]){ per, sizeof(T##_block) }, has); \
    }
PLAIN(q4_0, 1, 0)
PLAIN(q4_1, 1, HAS_MIN)
PLAIN(q5_0, 1, 0)
PLAIN(q5_1, 1, HAS_MIN)
PLAIN(q8_0, 1, 0)
PLAIN(q2_k, 8, HAS_HALVES | HAS_MIN)
PLAIN(q3_k, 8, HAS_HALVES)
PLAIN(q4_k, 8, HAS_MIN)
PLAIN(q5_k, 8, HAS_MIN)
PLAIN(q6_k, 8, HAS_HALVES)
PLAIN(iq4_nl, 1, 0)
PLAIN(iq4_xs, 8, 0)
PLAIN(mxfp4, 1, 0)
PLAIN(nvfp4, 2, HAS_HALVES)
PLAIN(q1_0, 4, 0)
PLAIN(q2_0, 2, 0)
PLAIN(tq2_0, 8, 0)
#endif
