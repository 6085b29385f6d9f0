/* mxfp4.c - rows of MXFP4. The encoder puts the largest magnitude into the top binade, 4..6 of the scale. */
#include "quant/mxfp4.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(mxfp4, 32)

static mxfp4_block encode_block(const float *x) {
    mxfp4_block b = { 0 };
    const float top = quant_peak(x, 32, NULL);
    b.e = (uint8_t)(top > 0.0f ? quant_int(floorf(log2f(top)) + 125.0f, 0, 254) : 0);
    const float d = fp4_half_e8m0(b.e);
    for (int i = 0; i < 16; i++) b.qs[i] = (uint8_t)(fp4_nearest(x[i], d) | fp4_nearest(x[i + 16], d) << 4);
    return b;
}
QUANT_ENCODE(mxfp4, 32)

const quant_info lode_quant_MXFP4 = { decode, encode };
