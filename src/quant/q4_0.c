/* q4_0.c - rows of Q4_0. The encoder puts the value of largest magnitude exactly on the end -8 of the scale. */
#include "quant/q4_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q4_0_block)) {
        q4_0_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 32; k += 8) q4_0_at8(&b, k, dst + i + k);
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i += 32, p += sizeof(q4_0_block)) {
        const float *x = src + i;
        float peak;
        quant_peak(x, 32, &peak);
        const float d = peak / -8.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
        q4_0_block b;
        b.d = lode_f32_to_f16(d);
        for (int k = 0; k < 16; k++) {
            const int lo = quant_int(x[k] * inv + 8.5f, 0, 15), hi = quant_int(x[k + 16] * inv + 8.5f, 0, 15);
            b.qs[k] = (uint8_t)(lo | hi << 4);
        }
        memcpy(p, &b, sizeof b);
    }
}

const quant_info lode_quant_Q4_0 = { decode, encode };
