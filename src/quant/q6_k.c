/* q6_k.c - rows of Q6_K. */
#include "quant/q6_k.h"

#include "quant/k_fit.h"

DEV_NO_CONTRACT

QUANT_DECODE(q6_k, 256)

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

QUANT_ENCODE(q6_k, 256)

const quant_info lode_quant_Q6_K = { decode, encode };
