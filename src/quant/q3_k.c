/* q3_k.c - rows of Q3_K. */
#include "quant/q3_k.h"

#include "quant/k_fit.h"

DEV_NO_CONTRACT

QUANT_DECODE(q3_k, 256)

static q3_k_block encode_block(const float *x) {
    q3_k_block b = { 0 };
    float sub[16];
    for (int j = 0; j < 16; j++) sub[j] = quant_fit_signed(x + j * 16, 16, 4);
    const quant_k_signed s = quant_join_signed(sub, 16, 32);
    b.d = s.d;
    for (int j = 0; j < 16; j++) {
        const int v = s.scale[j] + 32;
        b.scales[j % 8] = (uint8_t)(b.scales[j % 8] | (v & 15) << (j / 8 * 4));
        b.scales[8 + j % 4] = (uint8_t)(b.scales[8 + j % 4] | (v >> 4) << (j / 4 * 2));
    }
    for (int i = 0; i < 256; i++) {
        const int q = quant_nearest(x[i], dev_h2f(b.d) * (float)s.scale[i / 16], 0.0f, -4, 3) + 4;
        uint8_t *lo = &b.qs[i / 128 * 32 + i % 32], *hi = &b.hmask[i % 32];
        *lo = (uint8_t)(*lo | (q & 3) << (i / 32 % 4 * 2));
        *hi = (uint8_t)(*hi | (q >> 2) << (i / 32));
    }
    return b;
}

QUANT_ENCODE(q3_k, 256)

const quant_info lode_quant_Q3_K = { decode, encode };
