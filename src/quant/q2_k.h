/* q2_k.h - 256 values of 2 bits in 16 sub-blocks, each with a scale and a minimum of 4 bits:
 * x = d * scale * q - dmin * min. */
#ifndef LODE_QUANT_Q2_K_H
#define LODE_QUANT_Q2_K_H
#include "dev/dev.h"

typedef struct {
    uint8_t scales[16]; /* of 16 values each: scale in the low half, minimum in the high half */
    uint8_t qs[64];     /* value i: byte 32 * (i / 128) + i % 32, bits from 2 * (i / 32 % 4) */
    dev_half d, dmin;
} q2_k_block;

DEV float q2_k_at(DEV_GLOBAL const q2_k_block *b, int i) {
    const int32_t s = b->scales[i / 16], q = (b->qs[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3;
    return dev_h2f(b->d) * (float)(s & 15) * (float)q - dev_h2f(b->dmin) * (float)(s >> 4);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q2_k_at8(DEV_GLOBAL const q2_k_block *b, int i, DEV_LOCAL float *out) {
    const int32_t s = b->scales[i / 16];
    const float d = dev_h2f(b->d) * (float)(s & 15), m = dev_h2f(b->dmin) * (float)(s >> 4);
    const int byte = i / 128 * 32 + i % 32, shift = i / 32 % 4 * 2;
    for (int k = 0; k < 8; k++) out[k] = d * (float)((b->qs[byte + k] >> shift) & 3) - m;
}
#endif
