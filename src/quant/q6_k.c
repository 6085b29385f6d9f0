/* q6_k.c - rows of Q6_K. */
#include "quant/q6_k.h"

#include "quant/k_fit.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 256, p += sizeof(q6_k_block)) {
        q6_k_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 256; k += 8) q6_k_at8(&b, k, dst + i + k);
    }
}

static q6_k_block encode_block(const float *x) {
    q6_k_block b = { 0 };
    float sub[16];
    for (int j = 0; j < 16; j++) sub[j] = quant_fit_signed(x + j * 16, 16, 32);
    const quant_k_signed s = quant_join_signed(sub, 16, 128);
    b.d = s.d;
    for (int j = 0; j < 16; j++) b.scales[j] = (int8_t)s.scale[j];
    for (int i = 0; i < 256; i++) {
        const int q = quant_nearest(x[i], dev_h2f(b.d) * (float)s.scale[i / 16], 0.0f, -32, 31) + 32;
        uint8_t *lo = &b.ql[i / 128 * 64 + i % 64], *hi = &b.qh[i / 128 * 32 + i % 32];
        *lo = (uint8_t)(*lo | (q & 15) << (i / 64 % 2 * 4));
        *hi = (uint8_t)(*hi | (q >> 4) << (i / 32 % 4 * 2));
    }
    return b;
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i += 256, p += sizeof(q6_k_block)) {
        const q6_k_block b = encode_block(src + i);
        memcpy(p, &b, sizeof b);
    }
}

const quant_info lode_quant_Q6_K = { decode, encode };
