/* q1_0.c - rows of Q1_0. The encoder keeps the signs and the mean magnitude. */
#include "quant/q1_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q1_0, 128)

static q1_0_block encode_block(const float *x) {
    q1_0_block b = { 0 };
    float sum = 0.0f;
    for (int i = 0; i < 128; i++) {
        sum += fabsf(x[i]);
        b.qs[i / 8] = (uint8_t)(b.qs[i / 8] | (x[i] >= 0.0f) << (i % 8));
    }
    b.d = lode_f32_to_f16(sum / 128.0f);
    return b;
}
QUANT_ENCODE(q1_0, 128)

const quant_info lode_quant_Q1_0 = { decode, encode };
