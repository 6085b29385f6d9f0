/* tq2_0.c - rows of TQ2_0. The encoder takes the largest magnitude as the scale. */
#include "quant/tq2_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(tq2_0, 256)

static tq2_0_block encode_block(const float *x) {
    tq2_0_block b = { 0 };
    const float d = quant_peak(x, 256, NULL), inv = d != 0.0f ? 1.0f / d : 0.0f;
    b.d = lode_f32_to_f16(d);
    for (int i = 0; i < 256; i++) {
        uint8_t *q = &b.qs[i / 128 * 32 + i % 32];
        *q = (uint8_t)(*q | (quant_int(roundf(x[i] * inv), -1, 1) + 1) << (i / 32 % 4 * 2));
    }
    return b;
}
QUANT_ENCODE(tq2_0, 256)

const quant_info lode_quant_TQ2_0 = { decode, encode };
