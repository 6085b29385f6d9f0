/* q4_1.c - rows of Q4_1. The encoder spreads the sixteen steps evenly from the smallest to the largest value. */
#include "quant/q4_1.h"

#include "quant/row.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q4_1_block)) {
        q4_1_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 32; k += 8) q4_1_at8(&b, k, dst + i + k);
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q4_1_block)) {
        const float *x = src + i;
        float min, max;
        quant_range(x, 32, &min, &max);
        const float d = (max - min) / 15.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
        q4_1_block b;
        b.d = lode_f32_to_f16(d);
        b.m = lode_f32_to_f16(min);
        for (int k = 0; k < 16; k++) {
            const int lo = quant_int((x[k] - min) * inv + 0.5f, 0, 15);
            const int hi = quant_int((x[k + 16] - min) * inv + 0.5f, 0, 15);
            b.qs[k] = (uint8_t)(lo | hi << 4);
        }
        memcpy(p, &b, sizeof b);
    }
}

const quant_info lode_quant_Q4_1 = { decode, encode };
