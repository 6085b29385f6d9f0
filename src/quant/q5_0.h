/* q5_0.h - 32 values of 5 bits and one scale: x = d * (q - 16). */
#ifndef LODE_QUANT_Q5_0_H
#define LODE_QUANT_Q5_0_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    uint8_t qh[4];  /* fifth bit of value i: bit i, little-endian */
    uint8_t qs[16]; /* value i in the low half of byte i, value 16 + i in the high half */
} q5_0_block;

/* Value i without the scale, -16..15. */
DEV int32_t q5_0_int(DEV_GLOBAL const q5_0_block *b, int i) {
    const int32_t lo = (b->qs[i % 16] >> (i < 16 ? 0 : 4)) & 15, hi = (b->qh[i / 8] >> (i % 8)) & 1;
    return (lo | hi << 4) - 16;
}

DEV float q5_0_at(DEV_GLOBAL const q5_0_block *b, int i) { return dev_h2f(b->d) * (float)q5_0_int(b, i); }

/* Eight neighbours from i, a multiple of 8. */
DEV void q5_0_at8(DEV_GLOBAL const q5_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int shift = i < 16 ? 0 : 4;
    const int32_t high = b->qh[i / 8];
    for (int k = 0; k < 8; k++) {
        const int32_t q = ((b->qs[i % 16 + k] >> shift) & 15) | ((high >> k) & 1) << 4;
        out[k] = d * (float)(q - 16);
    }
}
#endif
