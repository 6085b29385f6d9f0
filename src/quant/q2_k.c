/* q2_k.c - rows of Q2_K. */
#include "quant/q2_k.h"

#include "quant/k_fit.h"

DEV_NO_CONTRACT

QUANT_DECODE(q2_k, 256)

static q2_k_block encode_block(const float *x) {
    q2_k_block b = { 0 };
    quant_range_fit sub[16];
    for (int j = 0; j < 16; j++) sub[j] = quant_fit_range(x + j * 16, 16, 3);
    const quant_k_scales s = quant_join_ranges(sub, 16, 15);
    b.d = s.d;
    b.dmin = s.dmin;
    for (int j = 0; j < 16; j++) b.scales[j] = (uint8_t)(s.scale[j] | s.min[j] << 4);
    for (int i = 0; i < 256; i++) {
        const float d = dev_h2f(b.d) * (float)s.scale[i / 16], m = dev_h2f(b.dmin) * (float)s.min[i / 16];
        uint8_t *q = &b.qs[i / 128 * 32 + i % 32];
        *q = (uint8_t)(*q | quant_nearest(x[i], d, m, 0, 3) << (i / 32 % 4 * 2));
    }
    return b;
}

QUANT_ENCODE(q2_k, 256)

const quant_info lode_quant_Q2_K = { decode, encode };
