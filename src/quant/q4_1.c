/* q4_1.c - rows of Q4_1. The encoder spreads the sixteen steps evenly from the smallest to the largest value. */
#include "quant/q4_1.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q4_1, 32)

static q4_1_block encode_block(const float *x) {
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
    return b;
}
QUANT_ENCODE(q4_1, 32)

const quant_info lode_quant_Q4_1 = { decode, encode };
