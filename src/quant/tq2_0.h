/* tq2_0.h - 256 values -1, 0 or 1 of 2 bits and one scale: x = d * (q - 1). */
#ifndef LODE_QUANT_TQ2_0_H
#define LODE_QUANT_TQ2_0_H
#include "dev/dev.h"

typedef struct {
    uint8_t qs[64]; /* value i: byte 32 * (i / 128) + i % 32, bits from 2 * (i / 32 % 4) */
    dev_half d;
} tq2_0_block;

DEV float tq2_0_at(DEV_GLOBAL const tq2_0_block *b, int i) {
    return dev_h2f(b->d) * (float)(((b->qs[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3) - 1);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void tq2_0_at8(DEV_GLOBAL const tq2_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int byte = i / 128 * 32 + i % 32, shift = i / 32 % 4 * 2;
    for (int k = 0; k < 8; k++) out[k] = d * (float)(((b->qs[byte + k] >> shift) & 3) - 1);
}
#endif
