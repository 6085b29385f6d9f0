/* gemm_float_body.h - matrix kernels on F32 columns in simd.h's words: included by kern_SET.c.
 *
 * Weights F32, F16 and BF16 are read where they lie; quantised ones (the path of exact activations) are decoded to F32
 * a group of rows at a time. One sum for one output: lane i of one accumulator takes the elements k = i mod VW in
 * order, then the lanes are added in a fixed order. */
#ifndef LODE_CPU_KERN_GEMM_FLOAT_BODY_H
#define LODE_CPU_KERN_GEMM_FLOAT_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/simd.h"
#include "lode/quant.h"

enum { FLOAT_R = 4, FLOAT_C = VW == 16 ? 4 : 2, FLOAT_GROUP = 32 };

KERN_INLINE size_t float_bytes(lode_type type) { return type == LODE_F32 ? 4 : 2; }

KERN_INLINE vf float_load(lode_type type, const uint8_t *p) {
    return type == LODE_F32   ? vf_load((const float *)(const void *)p)
           : type == LODE_F16 ? vf_load_f16((const uint16_t *)(const void *)p)
                              : vf_load_bf16((const uint16_t *)(const void *)p);
}
/* The first n of a vector, zeros in the rest. */
KERN_INLINE vf float_load_part(lode_type type, const uint8_t *p, int n) {
    uint8_t all[VW * sizeof(float)] = { 0 };
    memcpy(all, p, (size_t)n * float_bytes(type));
    return float_load(type, all);
}

/* n_rows weight rows times n_cols columns (constants where called). */
KERN_INLINE void float_tile(lode_type type, int n_rows, int n_cols, const uint8_t *w, size_t w_stride, const uint8_t *x,
                            size_t x_stride, int64_t k, float *y, size_t y_stride) {
    vf acc[FLOAT_R][FLOAT_C];
#pragma GCC unroll 4
    for (int r = 0; r < n_rows; r++)
#pragma GCC unroll 4
        for (int c = 0; c < n_cols; c++) acc[r][c] = vf_zero();
    const int64_t whole = k / VW * VW;
    for (int64_t i = 0; i < whole; i += VW) {
        vf v[FLOAT_C];
#pragma GCC unroll 4
        for (int c = 0; c < n_cols; c++) v[c] = vf_load((const float *)(const void *)(x + (size_t)c * x_stride) + i);
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) {
            const vf a = float_load(type, w + (size_t)r * w_stride + (size_t)i * float_bytes(type));
#pragma GCC unroll 4
            for (int c = 0; c < n_cols; c++) acc[r][c] = vf_fma(a, v[c], acc[r][c]);
        }
    }
    if (whole < k) {
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) {
            const vf a =
                float_load_part(type, w + (size_t)r * w_stride + (size_t)whole * float_bytes(type), (int)(k - whole));
#pragma GCC unroll 4
            for (int c = 0; c < n_cols; c++) {
                const float *xc = (const float *)(const void *)(x + (size_t)c * x_stride);
                acc[r][c] = vf_fma(a, vf_load_part(xc + whole, (int)(k - whole)), acc[r][c]);
            }
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < n_cols; c++) {
        float *to = (float *)(void *)((uint8_t *)y + (size_t)c * y_stride);
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) to[r] = vf_sum(acc[r][c]);
    }
}

/* Rows row0 <= r < row1 of weights at w (row 0 of the matrix) and every column; y likewise. */
KERN_INLINE void float_rows(lode_type type, const lode_gemm_args *a, const uint8_t *w, size_t w_stride, float *y,
                            int64_t n_rows) {
    for (int64_t c = 0; c < a->n_cols;) {
        const int n = a->n_cols - c >= FLOAT_C ? FLOAT_C : 1;
        const uint8_t *x = (const uint8_t *)a->x + (size_t)c * a->x_stride;
        float *yc = (float *)(void *)((uint8_t *)y + (size_t)c * a->y_stride);
        int64_t r = 0;
        for (; r + FLOAT_R <= n_rows; r += FLOAT_R) {
            const uint8_t *wr = w + (size_t)r * w_stride;
            if (n == FLOAT_C)
                float_tile(type, FLOAT_R, FLOAT_C, wr, w_stride, x, a->x_stride, a->k, yc + r, a->y_stride);
            else
                float_tile(type, FLOAT_R, 1, wr, w_stride, x, a->x_stride, a->k, yc + r, a->y_stride);
        }
        for (; r < n_rows; r++) {
            const uint8_t *wr = w + (size_t)r * w_stride;
            if (n == FLOAT_C)
                float_tile(type, 1, FLOAT_C, wr, w_stride, x, a->x_stride, a->k, yc + r, a->y_stride);
            else
                float_tile(type, 1, 1, wr, w_stride, x, a->x_stride, a->k, yc + r, a->y_stride);
        }
        c += n;
    }
}

/* A group of rows stays in the cache while the columns pass. */
KERN_INLINE void float_gemm(lode_type type, const lode_gemm_args *a, int64_t row0, int64_t row1) {
    for (int64_t r = row0; r < row1; r += FLOAT_GROUP) {
        const int64_t n = row1 - r < FLOAT_GROUP ? row1 - r : FLOAT_GROUP;
        float_rows(type, a, (const uint8_t *)a->w + (size_t)r * a->w_stride, a->w_stride, a->y + r, n);
    }
}

static void f32_gemm(const lode_gemm_args *a, int64_t row0, int64_t row1) { float_gemm(LODE_F32, a, row0, row1); }
static void f16_gemm(const lode_gemm_args *a, int64_t row0, int64_t row1) { float_gemm(LODE_F16, a, row0, row1); }
static void bf16_gemm(const lode_gemm_args *a, int64_t row0, int64_t row1) { float_gemm(LODE_BF16, a, row0, row1); }

static void decoded_rows(const lode_gemm_args *a, int64_t r, int64_t n) {
    float_rows(LODE_F32, a, a->scratch, (size_t)a->k * sizeof(float), a->y + r, n);
}
KERN_INLINE void decoded_gemm(lode_type type, const lode_gemm_args *a, int64_t row0, int64_t row1) {
    float *w = a->scratch;
    for (int64_t r = row0; r < row1; r += FLOAT_GROUP) {
        const int64_t n = row1 - r < FLOAT_GROUP ? row1 - r : FLOAT_GROUP;
        for (int64_t i = 0; i < n; i++)
            lode_decode_row(type, (const uint8_t *)a->w + (size_t)(r + i) * a->w_stride, w + i * a->k, a->k);
        decoded_rows(a, r, n);
    }
}

#define DECODED(name, type) \
    static void name(const lode_gemm_args *a, int64_t row0, int64_t row1) { decoded_gemm(type, a, row0, row1); }
DECODED(q4_0_decoded, LODE_Q4_0)
DECODED(q4_1_decoded, LODE_Q4_1)
DECODED(q5_0_decoded, LODE_Q5_0)
DECODED(q5_1_decoded, LODE_Q5_1)
DECODED(q8_0_decoded, LODE_Q8_0)
DECODED(q2_k_decoded, LODE_Q2_K)
DECODED(q3_k_decoded, LODE_Q3_K)
DECODED(q4_k_decoded, LODE_Q4_K)
DECODED(q5_k_decoded, LODE_Q5_K)
DECODED(q6_k_decoded, LODE_Q6_K)

KERN_INLINE size_t decoded_scratch(int64_t k) { return (size_t)k * FLOAT_GROUP * sizeof(float); }
#endif
