/* q1_0.h - 128 values of one bit and one scale: x = d or -d. */
#ifndef LODE_QUANT_Q1_0_H
#define LODE_QUANT_Q1_0_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    uint8_t qs[16]; /* value i: byte i / 8, bit i % 8; 0 means minus */
} q1_0_block;

DEV float q1_0_at(DEV_GLOBAL const q1_0_block *b, int i) {
    const float d = dev_h2f(b->d);
    return (b->qs[i / 8] >> (i % 8)) & 1 ? d : -d;
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q1_0_at8(DEV_GLOBAL const q1_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int32_t bits = b->qs[i / 8];
    for (int k = 0; k < 8; k++) out[k] = (bits >> k) & 1 ? d : -d;
}
#endif
