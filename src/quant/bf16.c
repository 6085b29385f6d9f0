/* bf16.c - bfloat16: conversions and rows. */
#include "quant/bf16.h"

#include "quant/row.h"

float lode_bf16_to_f32(uint16_t h) { return dev_b2f(h); }

uint16_t lode_f32_to_bf16(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((u >> 16) | 64u); /* NaN stays NaN, made quiet */
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) {
        bf16_block b;
        memcpy(&b, p + i * 2, sizeof b);
        dst[i] = bf16_at(&b, 0);
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i++) {
        const uint16_t h = lode_f32_to_bf16(src[i]);
        memcpy(p + i * 2, &h, sizeof h);
    }
}

const quant_info lode_quant_BF16 = { decode, encode };
