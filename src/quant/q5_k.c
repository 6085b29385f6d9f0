/* q5_k.c - rows of Q5_K. */
#include "quant/q5_k.h"

#include "quant/k_fit.h"

DEV_NO_CONTRACT

QUANT_DECODE(q5_k, 256)

static q5_k_block encode_block(const float *x) {
    q5_k_block b = { 0 };
    quant_range_fit sub[8];
    for (int j = 0; j < 8; j++) sub[j] = quant_fit_range(x + j * 32, 32, 31);
    const quant_k_scales s = quant_join_ranges(sub, 8, 63);
    b.d = s.d;
    b.dmin = s.dmin;
    quant_pack_k_scales(&s, b.scales);
    for (int i = 0; i < 256; i++) {
        const float d = dev_h2f(b.d) * (float)s.scale[i / 32], m = dev_h2f(b.dmin) * (float)s.min[i / 32];
        const int q = quant_nearest(x[i], d, m, 0, 31);
        uint8_t *lo = &b.qs[i / 64 * 32 + i % 32], *hi = &b.qh[i % 32];
        *lo = (uint8_t)(*lo | (q & 15) << (i / 32 % 2 * 4));
        *hi = (uint8_t)(*hi | (q >> 4) << (i / 32));
    }
    return b;
}

QUANT_ENCODE(q5_k, 256)

const quant_info lode_quant_Q5_K = { decode, encode };
