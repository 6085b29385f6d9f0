/* iq4_nl.h - 32 codes of 4 bits for 16 values that lie closer round zero, and one scale: x = d * value. */
#ifndef LODE_QUANT_IQ4_NL_H
#define LODE_QUANT_IQ4_NL_H
#include "dev/dev.h"

typedef struct {
    dev_half d;
    uint8_t qs[16]; /* code i in the low half of byte i, code 16 + i in the high half */
} iq4_nl_block;

/* Fixed by the formats IQ4_NL and IQ4_XS. */
DEV_TABLE int8_t iq4_value[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

DEV float iq4_nl_at(DEV_GLOBAL const iq4_nl_block *b, int i) {
    return dev_h2f(b->d) * (float)iq4_value[(b->qs[i % 16] >> (i < 16 ? 0 : 4)) & 15];
}

/* Eight neighbours from i, a multiple of 8. */
DEV void iq4_nl_at8(DEV_GLOBAL const iq4_nl_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    const int shift = i < 16 ? 0 : 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)iq4_value[(b->qs[i % 16 + k] >> shift) & 15];
}
#endif
