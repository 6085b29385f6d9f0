/* row.h - what each type's file exports, and the helpers that they share. Private to quant/.
 *
 * A decoder gets n elements, a multiple of the block; source bytes may lie at any address (a file may align its data to
 * one byte), so a block is copied out before it is read. Encoders never trap: integers are made from floats only
 * through quant_int. */
#ifndef LODE_QUANT_ROW_H
#define LODE_QUANT_ROW_H

#include "dev/dev.h"
#include "lode/quant.h"

/* One type. NULL where the type has no values in floats or no encoder. */
typedef struct quant_info {
    void (*decode)(const void *src, float *dst, int64_t n);
    void (*encode)(const float *src, void *dst, int64_t n);
} quant_info;

#define TYPE(id, name, file, elements, bytes) extern const quant_info lode_quant_##id;
#include "lode/types.def"
#undef TYPE

/* Defines decode() of rows of T, blocks of N values, and encode() by encode_block(). */
#define QUANT_DECODE(T, N)                                              \
    static void decode(const void *src, float *dst, int64_t n) {        \
        const uint8_t *p = src;                                         \
        for (int64_t i = 0; i < n; i += N, p += sizeof(T##_block)) {    \
            T##_block b;                                                \
            memcpy(&b, p, sizeof b);                                    \
            for (int k = 0; k < N; k += 8) T##_at8(&b, k, dst + i + k); \
        }                                                               \
    }
#define QUANT_ENCODE(T, N)                                           \
    static void encode(const float *src, void *dst, int64_t n) {     \
        uint8_t *p = dst;                                            \
        for (int64_t i = 0; i < n; i += N, p += sizeof(T##_block)) { \
            const T##_block b = encode_block(src + i);               \
            memcpy(p, &b, sizeof b);                                 \
        }                                                            \
    }

/* x as an integer in lo..hi, cut towards zero; NaN is 0 (or the bound next to it). */
static inline int quant_int(float x, int lo, int hi) {
    if (!(x > (float)lo)) return x <= (float)lo || lo > 0 ? lo : 0;
    return x < (float)hi ? (int)x : hi;
}

/* The largest absolute value of a block and the value that has it, first one first; NaN is passed over. */
static inline float quant_peak(const float *x, int n, float *signed_peak) {
    float top = 0.0f, at = 0.0f;
    for (int i = 0; i < n; i++) {
        const float a = fabsf(x[i]);
        if (a > top) {
            top = a;
            at = x[i];
        }
    }
    if (signed_peak) *signed_peak = at;
    return top;
}

/* Smallest and largest value of a block; NaN is passed over, a block of nothing else gives 0 and 0. */
static inline void quant_range(const float *x, int n, float *min, float *max) {
    float lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    *min = lo <= hi ? lo : 0.0f;
    *max = lo <= hi ? hi : 0.0f;
}

#endif
