/* q5_1.h - 32 values of 5 bits, a scale and a minimum: x = d * q + m. */
#ifndef LODE_QUANT_Q5_1_H
#define LODE_QUANT_Q5_1_H
#include "dev/dev.h"

typedef struct {
    dev_half d, m;
    uint8_t qh[4];  /* fifth bit of value i: bit i, little-endian */
    uint8_t qs[16]; /* value i in the low half of byte i, value 16 + i in the high half */
} q5_1_block;

/* Value i without scale and minimum, 0..31. */
DEV int32_t q5_1_int(DEV_GLOBAL const q5_1_block *b, int i) {
    const int32_t lo = (b->qs[i % 16] >> (i < 16 ? 0 : 4)) & 15, hi = (b->qh[i / 8] >> (i % 8)) & 1;
    return lo | hi << 4;
}

DEV float q5_1_at(DEV_GLOBAL const q5_1_block *b, int i) {
    return dev_h2f(b->d) * (float)q5_1_int(b, i) + dev_h2f(b->m);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q5_1_at8(DEV_GLOBAL const q5_1_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d), m = dev_h2f(b->m);
    const int shift = i < 16 ? 0 : 4;
    const int32_t high = b->qh[i / 8];
    for (int k = 0; k < 8; k++) {
        const int32_t q = ((b->qs[i % 16 + k] >> shift) & 15) | ((high >> k) & 1) << 4;
        out[k] = d * (float)q + m;
    }
}
#endif
