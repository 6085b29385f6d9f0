/* q4_1.h - 32 values of 4 bits, a scale and a minimum: x = d * q + m. */
#ifndef LODE_QUANT_Q4_1_H
#define LODE_QUANT_Q4_1_H
#include "dev/dev.h"

typedef struct {
    dev_half d, m;
    uint8_t qs[16]; /* value i in the low half of byte i, value 16 + i in the high half */
} q4_1_block;

DEV float q4_1_at(DEV_GLOBAL const q4_1_block *b, int i) {
    const int32_t v = b->qs[i % 16];
    return dev_h2f(b->d) * (float)(i < 16 ? v & 15 : v >> 4) + dev_h2f(b->m);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q4_1_at8(DEV_GLOBAL const q4_1_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d), m = dev_h2f(b->m);
    const int shift = i < 16 ? 0 : 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)((b->qs[i % 16 + k] >> shift) & 15) + m;
}
#endif
