/* q5_0.c - rows of Q5_0. The encoder puts the value of largest magnitude exactly on the end -16 of the scale. */
#include "quant/q5_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q5_0, 32)

static q5_0_block encode_block(const float *x) {
    float peak;
    quant_peak(x, 32, &peak);
    const float d = peak / -16.0f, inv = d != 0.0f ? 1.0f / d : 0.0f;
    q5_0_block b = { 0 };
    b.d = lode_f32_to_f16(d);
    for (int k = 0; k < 32; k++) {
        const int q = quant_int(x[k] * inv + 16.5f, 0, 31);
        b.qs[k % 16] = (uint8_t)(b.qs[k % 16] | (q & 15) << (k < 16 ? 0 : 4));
        b.qh[k / 8] = (uint8_t)(b.qh[k / 8] | (q >> 4) << (k % 8));
    }
    return b;
}
QUANT_ENCODE(q5_0, 32)

const quant_info lode_quant_Q5_0 = { decode, encode };
