/* q5_1.c - rows of Q5_1. The encoder spreads the 32 steps evenly from the smallest to the largest value. */
#include "quant/q5_1.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q5_1, 32)

static q5_1_block encode_block(const float *x) {
    float min, max;
    quant_range(x, 32, &min, &max);
    const float d = (max - min) / 31.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
    q5_1_block b = { 0 };
    b.d = lode_f32_to_f16(d);
    b.m = lode_f32_to_f16(min);
    for (int k = 0; k < 32; k++) {
        const int q = quant_int((x[k] - min) * inv + 0.5f, 0, 31);
        b.qs[k % 16] = (uint8_t)(b.qs[k % 16] | (q & 15) << (k < 16 ? 0 : 4));
        b.qh[k / 8] = (uint8_t)(b.qh[k / 8] | (q >> 4) << (k % 8));
    }
    return b;
}
QUANT_ENCODE(q5_1, 32)

const quant_info lode_quant_Q5_1 = { decode, encode };
