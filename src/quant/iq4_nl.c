/* iq4_nl.c - rows of IQ4_NL. The encoder rounds with the peak on the end of the table, then solves for the scale. */
#include "quant/iq4_nl.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(iq4_nl, 32)

/* Code of the nearest value, the larger one of two that are equally near. */
static int nearest(float x) {
    int code = 0;
    while (code < 15 && x - (float)iq4_value[code] >= (float)iq4_value[code + 1] - x) code++;
    return code;
}

static iq4_nl_block encode_block(const float *x) {
    iq4_nl_block b = { 0 };
    float peak, sqx = 0.0f, sqq = 0.0f;
    if (quant_peak(x, 32, &peak) < 1e-15f) return b;
    const float inv = 1.0f / (peak / (float)iq4_value[0]);
    for (int i = 0; i < 32; i++) {
        const int code = nearest(x[i] * inv);
        const float q = (float)iq4_value[code], w = x[i] * x[i]; /* large values count more */
        sqx += w * q * x[i];
        sqq += w * q * q;
        b.qs[i % 16] = (uint8_t)(b.qs[i % 16] | code << (i < 16 ? 0 : 4));
    }
    b.d = lode_f32_to_f16(sqq > 0.0f ? sqx / sqq : 0.0f);
    return b;
}
QUANT_ENCODE(iq4_nl, 32)

const quant_info lode_quant_IQ4_NL = { decode, encode };
