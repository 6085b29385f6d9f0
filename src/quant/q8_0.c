/* q8_0.c - rows of Q8_0. Values round to nearest, halves away from zero, as in the format's reference encoder. */
#include "quant/q8_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q8_0_block)) {
        q8_0_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 32; k += 8) q8_0_at8(&b, k, dst + i + k);
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q8_0_block)) {
        const float d = quant_peak(src + i, 32, NULL) / 127.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
        q8_0_block b;
        b.d = lode_f32_to_f16(d);
        for (int k = 0; k < 32; k++) b.qs[k] = (int8_t)quant_int(roundf(src[i + k] * inv), -127, 127);
        memcpy(p, &b, sizeof b);
    }
}

const quant_info lode_quant_Q8_0 = { decode, encode };
