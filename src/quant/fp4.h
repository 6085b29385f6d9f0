/* fp4.h - floats of 4 bits (E2M1) and their scales of 8 bits, as MXFP4 and NVFP4 have them.
 * The table holds twice the value, which is an integer; so scales come out at half their size. */
#ifndef LODE_QUANT_FP4_H
#define LODE_QUANT_FP4_H
#include "dev/dev.h"

DEV_TABLE int8_t fp4_twice[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* Half of a power of two, E8M0: 2^(e - 128). The two lowest are subnormal. */
DEV float fp4_half_e8m0(int32_t e) { return dev_b2f((dev_bf16)(e < 2 ? 0x20 << e : (e - 1) << 7)); }

/* Half of a scale of 4 bits exponent and 3 bits fraction, E4M3 without its sign; 0x7f, a NaN, is 0. */
DEV float fp4_half_e4m3(int32_t s) {
    const int32_t e = (s >> 3) & 15, m = s & 7;
    return s == 0x7f ? 0.0f : (float)(e > 0 ? (8 + m) << e : m << 1) / 2048.0f;
}

/* The code whose value at the (half) scale d is nearest to x, the lowest of several; 0 for NaN. */
DEV int32_t fp4_nearest(float x, float d) {
    int32_t best = 0;
    float least = x < 0.0f ? -x : x;
    for (int32_t i = 1; i < 16; i++) {
        const float miss = (float)fp4_twice[i] * d - x, error = miss < 0.0f ? -miss : miss;
        if (!(error < least)) continue;
        best = i;
        least = error;
    }
    return best;
}
#endif
