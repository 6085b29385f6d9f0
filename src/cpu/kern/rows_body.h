/* rows_body.h - the row functions of kern.h in simd.h's words: included by kern_SET.c. A row is walked in vectors, the
 * last one partly filled with zeros, so a row's result is a function of the row alone. */
#ifndef LODE_CPU_KERN_ROWS_BODY_H
#define LODE_CPU_KERN_ROWS_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/vmath.h"
#include "lode/quant.h"

#include <math.h>

/* y = expr(a) or expr(a, b) for each vector. */
#define ROW1(name, expr)                                    \
    static void name(const float *x, float *y, int64_t n) { \
        for (int64_t i = 0; i < n; i += VW) {               \
            const vf a = vf_load_n(x + i, n - i);           \
            vf_store_n(y + i, expr, n - i);                 \
        }                                                   \
    }
#define ROW2(name, expr)                                                       \
    static void name(const float *x, const float *z, float *y, int64_t n) {    \
        for (int64_t i = 0; i < n; i += VW) {                                  \
            const vf a = vf_load_n(x + i, n - i), b = vf_load_n(z + i, n - i); \
            vf_store_n(y + i, expr, n - i);                                    \
        }                                                                      \
    }

ROW2(row_add, vf_add(a, b))
ROW2(row_sub, vf_sub(a, b))
ROW2(row_mul, vf_mul(a, b))
ROW2(row_div, vf_div(a, b))
ROW2(row_swiglu, vf_mul(v_silu(a), b))
ROW2(row_geglu, vf_mul(v_gelu(a), b))
ROW1(row_silu, v_silu(a))
ROW1(row_gelu, v_gelu(a))
ROW1(row_relu, vf_max(vf_zero(), a))
ROW1(row_sigmoid, v_sigmoid(a))
ROW1(row_tanh, v_tanh(a))
ROW1(row_exp, v_exp(a))

static void row_gelu_erf(const float *x, float *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

static void row_softcap(const float *x, float *y, int64_t n, float cap) {
    const vf c = vf_set1(cap), inv = vf_set1(1.0f / cap);
    for (int64_t i = 0; i < n; i += VW)
        vf_store_n(y + i, vf_mul(c, v_tanh(vf_mul(vf_load_n(x + i, n - i), inv))), n - i);
}

static void row_scale(const float *x, float *y, int64_t n, float s, float bias) {
    const vf vs = vf_set1(s), vb = vf_set1(bias);
    for (int64_t i = 0; i < n; i += VW) vf_store_n(y + i, vf_fma(vf_load_n(x + i, n - i), vs, vb), n - i);
}

static void row_mad(const float *x, float *y, int64_t n, float s) {
    const vf vs = vf_set1(s);
    for (int64_t i = 0; i < n; i += VW)
        vf_store_n(y + i, vf_fma(vf_load_n(x + i, n - i), vs, vf_load_n(y + i, n - i)), n - i);
}

/* Sum of (x - mean)^2 in four interleaved vectors. */
KERN_INLINE float sum_squares(const float *x, int64_t n, float mean) {
    const vf m = vf_set1(mean);
    vf s[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    int64_t i = 0;
    for (; i + 4 * VW <= n; i += 4 * VW) {
        for (int k = 0; k < 4; k++) {
            const vf d = vf_sub(vf_load(x + i + k * VW), m);
            s[k] = vf_fma(d, d, s[k]);
        }
    }
    for (; i + VW <= n; i += VW) {
        const vf d = vf_sub(vf_load(x + i), m);
        s[0] = vf_fma(d, d, s[0]);
    }
    float rest = 0.0f;
    for (; i < n; i++) rest += (x[i] - mean) * (x[i] - mean);
    return vf_sum(vf_add(vf_add(s[0], s[1]), vf_add(s[2], s[3]))) + rest;
}

KERN_INLINE float sum_row(const float *x, int64_t n) {
    vf s[2] = { vf_zero(), vf_zero() };
    int64_t i = 0;
    for (; i + 2 * VW <= n; i += 2 * VW) {
        s[0] = vf_add(s[0], vf_load(x + i));
        s[1] = vf_add(s[1], vf_load(x + i + VW));
    }
    for (; i < n; i += VW) s[0] = vf_add(s[0], vf_load_n(x + i, n - i));
    return vf_sum(vf_add(s[0], s[1]));
}

static void row_rms_norm(const float *x, const float *w, float *y, int64_t n, float eps) {
    const float s = 1.0f / sqrtf(sum_squares(x, n, 0.0f) / (float)n + eps);
    if (!w) {
        row_scale(x, y, n, s, 0.0f);
        return;
    }
    const vf vs = vf_set1(s);
    for (int64_t i = 0; i < n; i += VW)
        vf_store_n(y + i, vf_mul(vf_mul(vf_load_n(x + i, n - i), vs), vf_load_n(w + i, n - i)), n - i);
}

static void row_layer_norm(const float *x, const float *w, const float *b, float *y, int64_t n, float eps) {
    const float mean = sum_row(x, n) / (float)n;
    const vf s = vf_set1(1.0f / sqrtf(sum_squares(x, n, mean) / (float)n + eps)), m = vf_set1(mean);
    for (int64_t i = 0; i < n; i += VW) {
        vf v = vf_mul(vf_sub(vf_load_n(x + i, n - i), m), s);
        if (w) v = vf_mul(v, vf_load_n(w + i, n - i));
        if (b) v = vf_add(v, vf_load_n(b + i, n - i));
        vf_store_n(y + i, v, n - i);
    }
}

static void row_l2_norm(const float *x, float *y, int64_t n, float eps) {
    const float len = sqrtf(sum_squares(x, n, 0.0f));
    row_scale(x, y, n, 1.0f / (len > eps ? len : eps), 0.0f);
}

static void row_softmax(const float *x, const float *mask, float *y, int64_t n, float scale, float cap) {
    const vf s = vf_set1(cap > 0.0f ? scale / cap : scale), c = vf_set1(cap);
    float top = -INFINITY;
    vf m = vf_set1(-INFINITY);
    for (int64_t i = 0; i < n; i += VW) {
        vf v = vf_mul(vf_load_n(x + i, n - i), s);
        if (cap > 0.0f) v = vf_mul(c, v_tanh(v));
        if (mask) v = vf_add(v, vf_load_n(mask + i, n - i));
        vf_store_n(y + i, v, n - i);
        if (n - i >= VW) m = vf_max(v, m);
        for (int64_t k = i; n - i < VW && k < n; k++) top = y[k] > top ? y[k] : top;
    }
    top = fmaxf(top, vf_hmax(m));
    if (top == -INFINITY) top = 0.0f; /* everything masked: zeros over zero, NaN as the definition says */
    const vf t = vf_set1(top);
    for (int64_t i = 0; i < n; i += VW) vf_store_n(y + i, v_exp(vf_sub(vf_load_n(y + i, n - i), t)), n - i);
    row_scale(y, y, n, 1.0f / sum_row(y, n), 0.0f);
}

/* n pairs: (a, b) turned by (cos, sin). */
KERN_INLINE void turn(vf *a, vf *b, const float *cs) {
    vf c, s;
    vf_unzip(vf_load(cs), vf_load(cs + VW), &c, &s);
    const vf a0 = *a, b0 = *b;
    *a = vf_fnma(b0, s, vf_mul(a0, c));
    *b = vf_fma(a0, s, vf_mul(b0, c));
}

/* One pair, for heads whose number of pairs is no multiple of the vector. */
KERN_INLINE void turn_1(const float *a, const float *b, const float *cs, float *ya, float *yb) {
    const float a0 = *a, b0 = *b;
    *ya = a0 * cs[0] - b0 * cs[1];
    *yb = a0 * cs[1] + b0 * cs[0];
}

static void rope_head(const float *x, const float *cs, float *y, int d, int n_rot, lode_rope_kind kind) {
    const int half = n_rot / 2;
    int i = 0;
    for (; i + VW <= half; i += VW) {
        vf a, b;
        if (kind == LODE_ROPE_HALVES) {
            a = vf_load(x + i);
            b = vf_load(x + half + i);
            turn(&a, &b, cs + 2 * i);
            vf_store(y + i, a);
            vf_store(y + half + i, b);
        } else {
            vf_unzip(vf_load(x + 2 * i), vf_load(x + 2 * i + VW), &a, &b);
            turn(&a, &b, cs + 2 * i);
            vf_zip(a, b, &a, &b);
            vf_store(y + 2 * i, a);
            vf_store(y + 2 * i + VW, b);
        }
    }
    for (; i < half; i++) {
        const int ia = kind == LODE_ROPE_HALVES ? i : 2 * i, ib = kind == LODE_ROPE_HALVES ? half + i : 2 * i + 1;
        turn_1(x + ia, x + ib, cs + 2 * i, y + ia, y + ib);
    }
    if (x != y)
        for (i = n_rot; i < d; i++) y[i] = x[i];
}

static void row_rope(const float *x, size_t x_stride, const float *cs, float *y, size_t y_stride, const int32_t dims[3],
                     lode_rope_kind kind) {
    for (int h = 0; h < dims[0]; h++) {
        const float *xh = (const float *)(const void *)((const uint8_t *)x + (size_t)h * x_stride);
        rope_head(xh, cs, (float *)(void *)((uint8_t *)y + (size_t)h * y_stride), dims[1], dims[2], kind);
    }
}

static void row_f32_to_f16(const float *x, uint16_t *y, int64_t n) {
    int64_t i = 0;
    for (; i + VW <= n; i += VW) vf_store_f16(y + i, vf_load(x + i));
    for (; i < n; i++) y[i] = lode_f32_to_f16(x[i]);
}

static void row_f16_to_f32(const uint16_t *x, float *y, int64_t n) {
    int64_t i = 0;
    for (; i + VW <= n; i += VW) vf_store(y + i, vf_load_f16(x + i));
    for (; i < n; i++) y[i] = lode_f16_to_f32(x[i]);
}

static void row_f32_to_bf16(const float *x, uint16_t *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = lode_f32_to_bf16(x[i]);
}

static void row_bf16_to_f32(const uint16_t *x, float *y, int64_t n) {
    int64_t i = 0;
    for (; i + VW <= n; i += VW) vf_store(y + i, vf_load_bf16(x + i));
    for (; i < n; i++) y[i] = lode_bf16_to_f32(x[i]);
}

static int64_t row_argmax(const float *x, int64_t n) {
    vf m = vf_set1(-INFINITY);
    int64_t i = 0;
    for (; i + VW <= n; i += VW) m = vf_max(vf_load(x + i), m);
    float top = vf_hmax(m);
    for (; i < n; i++) top = x[i] > top ? x[i] : top;
    for (i = 0; i < n; i++)
        if (x[i] == top) return i;
    return 0;
}
#endif
