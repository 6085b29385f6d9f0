/* q2_0.h - 64 values of 2 bits and one scale: x = d * (q - 1). */
#ifndef LODE_QUANT_Q2_0_H
#define LODE_QUANT_Q2_0_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    uint8_t qs[16]; /* value i: byte i / 4, bits from 2 * (i % 4) */
} q2_0_block;

DEV float q2_0_at(DEV_GLOBAL const q2_0_block *b, int i) {
    return dev_h2f(b->d) * (float)(((b->qs[i / 4] >> (i % 4 * 2)) & 3) - 1);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q2_0_at8(DEV_GLOBAL const q2_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int32_t q = b->qs[i / 4] | b->qs[i / 4 + 1] << 8;
    for (int k = 0; k < 8; k++) out[k] = d * (float)(((q >> (2 * k)) & 3) - 1);
}
#endif
