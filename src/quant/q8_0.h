/* q8_0.h - 32 values of 8 bits and one scale: x = d * q. */
#ifndef LODE_QUANT_Q8_0_H
#define LODE_QUANT_Q8_0_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    int8_t qs[32];
} q8_0_block;

DEV float q8_0_at(DEV_GLOBAL const q8_0_block *b, int i) { return dev_h2f(b->d) * (float)b->qs[i]; }

/* Eight neighbours from i, a multiple of 8. */
DEV void q8_0_at8(DEV_GLOBAL const q8_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    for (int k = 0; k < 8; k++) out[k] = d * (float)b->qs[i + k];
}
#endif
