/* gemm_portable.h - quantised matrix kernels in plain C, for any machine: included by kern_portable.c.
 *
 * A weight row is unpacked once per call to signed bytes, with a scale for every 16 values and a minimum where the type
 * has one, and then meets each column. The sums are those of gemm_body.h: integers exact over a step of 32 values (over
 * its halves where the scales differ), then floats step by step. */
#ifndef LODE_CPU_KERN_GEMM_PORTABLE_H
#define LODE_CPU_KERN_GEMM_PORTABLE_H
#include "cpu/kern/kern.h"
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

enum { HAS_HALVES = 1, HAS_MIN = 2 }; /* two scales a step; minima */

/* One step of an unpacked row: x = s[half] * q + m[half]. */
typedef struct {
    int8_t q[32];
    float s[2], m[2];
} plain_step;

static void low_high(int8_t *q, const uint8_t *qs) {
    for (int i = 0; i < 16; i++) {
        q[i] = (int8_t)(qs[i] & 15);
        q[16 + i] = (int8_t)(qs[i] >> 4);
    }
}
static void both(float v[2], float x) { v[0] = v[1] = x; }

/* A block of the format to its steps. */
static void q4_0_plain(plain_step *t, const void *src) {
    q4_0_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs);
    for (int i = 0; i < 32; i++) t->q[i] = (int8_t)(t->q[i] - 8);
    both(t->s, dev_h2f(b.d));
}
static void q4_1_plain(plain_step *t, const void *src) {
    q4_1_block b;
    memcpy(&b, src, sizeof b);
    low_high(t->q, b.qs);
    both(t->s, dev_h2f(b.d));
    both(t->m, dev_h2f(b.m));
}
static void q5_0_plain(plain_step *t, const void *src) {
    q5_0_block b;
    memcpy(&b, src, sizeof b);
    for (int i = 0; i < 32; i++) t->q[i] = (int8_t)q5_0_int(&b, i);
    both(t->s, dev_h2f(b.d));
}
static void q5_1_plain(plain_step *t, const void *src) {
    q5_1_block b;
    memcpy(&b, src, sizeof b);
    for (int i = 0; i < 32; i++) t->q[i] = (int8_t)q5_1_int(&b, i);
    both(t->s, dev_h2f(b.d));
    both(t->m, dev_h2f(b.m));
}
static void q8_0_plain(plain_step *t, const void *src) {
    q8_0_block b;
    memcpy(&b, src, sizeof b);
    memcpy(t->q, b.qs, 32);
    both(t->s, dev_h2f(b.d));
}
static void q2_k_plain(plain_step *t, const void *src) {
    q2_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) {
        t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)(b.scales[j] & 15);
        t[j / 2].m[j % 2] = -dev_h2f(b.dmin) * (float)(b.scales[j] >> 4);
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) t[j].q[i] = (int8_t)((b.qs[j / 4 * 32 + i] >> (j % 4 * 2)) & 3);
}
static void q3_k_plain(plain_step *t, const void *src) {
    q3_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)q3_k_scale(&b, j);
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) t[j].q[i] = (int8_t)q3_k_int(&b, 32 * j + i);
}
static void q4_k_plain(plain_step *t, const void *src) {
    q4_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 8; j++) {
        const k_scale s = k_scale_at(b.scales, j);
        both(t[j].s, dev_h2f(b.d) * (float)s.scale);
        both(t[j].m, -dev_h2f(b.dmin) * (float)s.min);
        for (int i = 0; i < 32; i++) t[j].q[i] = (int8_t)((b.qs[j / 2 * 32 + i] >> (j % 2 * 4)) & 15);
    }
}
static void q5_k_plain(plain_step *t, const void *src) {
    q5_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 8; j++) {
        const k_scale s = k_scale_at(b.scales, j);
        both(t[j].s, dev_h2f(b.d) * (float)s.scale);
        both(t[j].m, -dev_h2f(b.dmin) * (float)s.min);
        for (int i = 0; i < 32; i++) t[j].q[i] = (int8_t)q5_k_int(&b, 32 * j + i);
    }
}
static void q6_k_plain(plain_step *t, const void *src) {
    q6_k_block b;
    memcpy(&b, src, sizeof b);
    for (int j = 0; j < 16; j++) t[j / 2].s[j % 2] = dev_h2f(b.d) * (float)b.scales[j];
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 32; i++) t[j].q[i] = (int8_t)q6_k_int(&b, 32 * j + i);
}

static inline int32_t dot16(const int8_t *a, const int8_t *b) {
    int32_t s = 0;
    for (int i = 0; i < 16; i++) s += a[i] * b[i];
    return s;
}

static float plain_dot(const plain_step *t, const q8a_block *x, int64_t n, int has) {
    float acc = 0.0f;
    for (int64_t i = 0; i < n; i++, t++, x++) {
        const int32_t i0 = dot16(t->q, x->qs), i1 = dot16(t->q + 16, x->qs + 16);
        if (has & HAS_HALVES) {
            acc += t->s[0] * x->d * (float)i0;
            acc += t->s[1] * x->d * (float)i1;
            if (has & HAS_MIN) acc += x->d * (t->m[0] * (float)x->s0 + t->m[1] * (float)x->s1);
        } else {
            acc += t->s[0] * x->d * (float)(i0 + i1);
            if (has & HAS_MIN) acc += t->m[0] * x->ds;
        }
    }
    return acc;
}

typedef void (*plain_fn)(plain_step *t, const void *src);

static void plain_gemm(const lode_gemm_args *a, const int64_t rows[2], plain_fn unpack, size_t bytes, int per,
                       int has) {
    plain_step *t = a->scratch;
    for (int64_t r = rows[0]; r < rows[1]; r++) {
        const uint8_t *w = (const uint8_t *)a->w + (size_t)r * a->w_stride;
        for (int64_t i = 0; i < a->k / (32 * per); i++) unpack(t + i * per, w + (size_t)i * bytes);
        for (int64_t c = 0; c < a->n_cols; c++) {
            const void *x = (const uint8_t *)a->x + (size_t)c * a->x_stride;
            float *y = (float *)(void *)((uint8_t *)a->y + (size_t)c * a->y_stride);
            y[r] = plain_dot(t, x, a->k / 32, has);
        }
    }
}

#define PLAIN(T, per, has)                                                                       \
    static void T##_gemm(const lode_gemm_args *a, int64_t row0, int64_t row1) {                  \
        plain_gemm(a, (const int64_t[2]){ row0, row1 }, T##_plain, sizeof(T##_block), per, has); \
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
#endif
