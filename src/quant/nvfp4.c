/* nvfp4.c - rows of NVFP4. The encoder puts the largest magnitude of a sub-block on 6, the largest value. */
#include "quant/nvfp4.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(nvfp4, 64)

/* A scale to 4 bits of exponent and 3 of fraction, halves up. As in the reference encoder everything from 256 on is
 * 448, the largest: other scales with the top exponent are never written. */
static uint8_t to_e4m3(float x) {
    const float smallest = 0x1p-6f; /* normal value */
    if (!(x > 0.0f)) return 0;
    if (x < smallest) return (uint8_t)quant_int(x * 512.0f + 0.5f, 0, 7);
    int e;
    const int m = quant_int(frexpf(x < 448.0f ? x : 448.0f, &e) * 16.0f + 0.5f, 8, 16); /* 16: 8 of the next exponent */
    const int code = ((e + 6) << 3) + m - 8;
    return (uint8_t)(code < 0x78 ? code : 0x7e);
}

static nvfp4_block encode_block(const float *x) {
    nvfp4_block b = { 0 };
    for (int j = 0; j < 4; j++) {
        const float *v = x + j * 16;
        b.d[j] = to_e4m3(quant_peak(v, 16, NULL) / 6.0f);
        const float d = fp4_half_e4m3(b.d[j]);
        for (int i = 0; i < 8; i++) b.qs[j * 8 + i] = (uint8_t)(fp4_nearest(v[i], d) | fp4_nearest(v[i + 8], d) << 4);
    }
    return b;
}
QUANT_ENCODE(nvfp4, 64)

const quant_info lode_quant_NVFP4 = { decode, encode };
