/* tq1_0.c - rows of TQ1_0. The encoder takes the largest magnitude as the scale. */
#include "quant/tq1_0.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(tq1_0, 256)

/* n digits, of values `step` apart, to the smallest fraction of 256 that has them as its first digits. */
static uint8_t pack(const float *x, int step, int n, float inv) {
    int digits = 0;
    for (int k = 0; k < 5; k++) digits = digits * 3 + (k < n ? quant_int(roundf(x[k * step] * inv), -1, 1) + 1 : 0);
    return (uint8_t)((digits * 256 + 242) / 243);
}

static tq1_0_block encode_block(const float *x) {
    tq1_0_block b = { 0 };
    const float d = quant_peak(x, 256, NULL), inv = d != 0.0f ? 1.0f / d : 0.0f;
    b.d = lode_f32_to_f16(d);
    for (int i = 0; i < 32; i++) b.qs[i] = pack(x + i, 32, 5, inv);
    for (int i = 0; i < 16; i++) b.qs[32 + i] = pack(x + 160 + i, 16, 5, inv);
    for (int i = 0; i < 4; i++) b.qh[i] = pack(x + 240 + i, 4, 4, inv);
    return b;
}
QUANT_ENCODE(tq1_0, 256)

const quant_info lode_quant_TQ1_0 = { decode, encode };
