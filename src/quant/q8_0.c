/* q8_0.c - rows of Q8_0. Values round to nearest, halves away from zero, as in the format's reference encoder. */
#include "quant/q8_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q8_0, 32)

static q8_0_block encode_block(const float *x) {
    const float d = quant_peak(x, 32, NULL) / 127.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
    q8_0_block b;
    b.d = lode_f32_to_f16(d);
    for (int k = 0; k < 32; k++) b.qs[k] = (int8_t)quant_int(roundf(x[k] * inv), -127, 127);
    return b;
}
QUANT_ENCODE(q8_0, 32)

const quant_info lode_quant_Q8_0 = { decode, encode };
