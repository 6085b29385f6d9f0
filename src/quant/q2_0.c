/* q2_0.c - rows of Q2_0. The encoder takes the largest magnitude as the scale, so of the four codes it never uses 2 *
 * d. */
#include "quant/q2_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q2_0, 64)

static q2_0_block encode_block(const float *x) {
    q2_0_block b = { 0 };
    const float d = quant_peak(x, 64, NULL), inv = d > 0.0f ? 1.0f / d : 0.0f;
    b.d = lode_f32_to_f16(d);
    for (int i = 0; i < 64; i++)
        b.qs[i / 4] = (uint8_t)(b.qs[i / 4] | (quant_int(roundf(x[i] * inv), -1, 2) + 1) << (i % 4 * 2));
    return b;
}
QUANT_ENCODE(q2_0, 64)

const quant_info lode_quant_Q2_0 = { decode, encode };
