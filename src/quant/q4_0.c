/* q4_0.c - rows of Q4_0. The encoder puts the value of largest magnitude exactly on the end -8 of the scale. */
#include "quant/q4_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q4_0, 32)

static q4_0_block encode_block(const float *x) {
    float peak;
    quant_peak(x, 32, &peak);
    const float d = peak / -8.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
    q4_0_block b;
    b.d = lode_f32_to_f16(d);
    for (int k = 0; k < 16; k++) {
        const int lo = quant_int(x[k] * inv + 8.5f, 0, 15), hi = quant_int(x[k + 16] * inv + 8.5f, 0, 15);
        b.qs[k] = (uint8_t)(lo | hi << 4);
    }
    return b;
}
QUANT_ENCODE(q4_0, 32)

const quant_info lode_quant_Q4_0 = { decode, encode };
