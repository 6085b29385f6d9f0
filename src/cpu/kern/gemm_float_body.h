/* gemm_float_body.h - matrix kernels on F32 columns in simd.h's words: included by kern_SET.c.
 *
 * Weights F32, F16 and BF16 are read where they lie; quantised ones (the path of exact activations) are decoded to F32
 * a group of rows at a time. One sum for one output: lane i of one accumulator takes the elements k = i mod VW in
 * order, then the lanes are added in a fixed order. */
#ifndef LODE_CPU_KERN_GEMM_FLOAT_BODY_H
#define LODE_CPU_KERN_GEMM_FLOAT_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/simd.h"
#include "cpu/kern/table.h"
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

/* Where a tile reads and writes. */
typedef struct {
    const uint8_t *w, *x;
    size_t w_stride, x_stride, y_stride;
    float *y;
    int64_t k;
} float_job;

KERN_INLINE const float *float_x(const float_job *j, int c) {
    return (const float *)(const void *)(j->x + (size_t)c * j->x_stride);
}

/* n_rows weight rows times n_cols columns (type and numbers are constants where this is called). */
KERN_INLINE void float_tile(lode_type type, int n_rows, int n_cols, const float_job *j) {
    vf acc[FLOAT_R][FLOAT_C];
#pragma GCC unroll 4
    for (int r = 0; r < n_rows; r++)
#pragma GCC unroll 4
        for (int c = 0; c < n_cols; c++) acc[r][c] = vf_zero();
    const int64_t whole = j->k / VW * VW;
    for (int64_t i = 0; i < whole; i += VW) {
        vf v[FLOAT_C];
#pragma GCC unroll 4
        for (int c = 0; c < n_cols; c++) v[c] = vf_load(float_x(j, c) + i);
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) {
            const vf a = float_load(type, j->w + (size_t)r * j->w_stride + (size_t)i * float_bytes(type));
#pragma GCC unroll 4
            for (int c = 0; c < n_cols; c++) acc[r][c] = vf_fma(a, v[c], acc[r][c]);
        }
    }
    const int rest = (int)(j->k - whole);
    if (rest > 0) {
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) {
            const uint8_t *w = j->w + (size_t)r * j->w_stride + (size_t)whole * float_bytes(type);
            const vf a = float_load_part(type, w, rest);
#pragma GCC unroll 4
            for (int c = 0; c < n_cols; c++)
                acc[r][c] = vf_fma(a, vf_load_part(float_x(j, c) + whole, rest), acc[r][c]);
        }
    }
#pragma GCC unroll 4
    for (int c = 0; c < n_cols; c++) {
        float *to = (float *)(void *)((uint8_t *)j->y + (size_t)c * j->y_stride);
#pragma GCC unroll 4
        for (int r = 0; r < n_rows; r++) to[r] = vf_sum(acc[r][c]);
    }
}

/* n_rows rows at w and every column; y is that of the first of these rows. */
KERN_INLINE void float_rows(lode_type type, const lode_gemm_args *a, const uint8_t *w, size_t w_stride, float *y,
                            int64_t n_rows) {
    for (int64_t c = 0; c < a->n_cols;) {
        const int n = a->n_cols - c >= FLOAT_C ? FLOAT_C : 1;
        for (int64_t r = 0; r < n_rows;) {
            const bool many = n_rows - r >= FLOAT_R;
            const float_job j = {
                .w = w + (size_t)r * w_stride,
                .x = (const uint8_t *)a->x + (size_t)c * a->x_stride,
                .w_stride = w_stride,
                .x_stride = a->x_stride,
                .y_stride = a->y_stride,
                .y = (float *)(void *)((uint8_t *)y + (size_t)c * a->y_stride) + r,
                .k = a->k,
            };
            if (many && n == FLOAT_C)
                float_tile(type, FLOAT_R, FLOAT_C, &j);
            else if (many)
                float_tile(type, FLOAT_R, 1, &j);
            else if (n == FLOAT_C)
                float_tile(type, 1, FLOAT_C, &j);
            else
                float_tile(type, 1, 1, &j);
            r += many ? FLOAT_R : 1;
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

#define DECODED(id, prefix)                                                             \
    static void prefix##_decoded(const lode_gemm_args *a, int64_t row0, int64_t row1) { \
        decoded_gemm(LODE_##id, a, row0, row1);                                         \
    }
KERN_QUANTS(DECODED)
KERN_DECODED(DECODED)

/* Scratch on F32 columns: rows of these three are read where they lie. */
KERN_INLINE bool float_in_place(lode_type t) { return t == LODE_F32 || t == LODE_F16 || t == LODE_BF16; }
KERN_INLINE size_t decoded_scratch(int64_t k) { return (size_t)k * FLOAT_GROUP * sizeof(float); }
#endif
