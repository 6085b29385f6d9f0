/* q4_0.h - 32 values of 4 bits and one scale: x = d * (q - 8). */
#ifndef LODE_QUANT_Q4_0_H
#define LODE_QUANT_Q4_0_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    uint8_t qs[16]; /* value i in the low half of byte i, value 16 + i in the high half */
} q4_0_block;

DEV float q4_0_at(DEV_GLOBAL const q4_0_block *b, int i) {
    const int32_t v = b->qs[i % 16];
    return dev_h2f(b->d) * (float)((i < 16 ? v & 15 : v >> 4) - 8);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q4_0_at8(DEV_GLOBAL const q4_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int shift = i < 16 ? 0 : 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)(((b->qs[i % 16 + k] >> shift) & 15) - 8);
}
#endif
