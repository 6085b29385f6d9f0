/* iq4_xs.h - 256 codes of IQ4_NL in 8 sub-blocks, each with a scale of 6 bits: x = d * scale * value. */
#ifndef LODE_QUANT_IQ4_XS_H
#define LODE_QUANT_IQ4_XS_H
#include "quant/iq4_nl.h"

typedef struct {
    dev_half d;
    uint16_t scales_h;   /* high 2 bits of sub-block j from bit 2 * j */
    uint8_t scales_l[4]; /* low 4 bits: byte j / 2, high half when j is odd */
    uint8_t qs[128];     /* 16 bytes a sub-block: its code i in the low half of byte i, 16 + i in the high half */
} iq4_xs_block;

/* Scale of sub-block j (0..7), -32..31. */
DEV int32_t iq4_xs_scale(DEV_GLOBAL const iq4_xs_block *b, int j) {
    const int32_t lo = (b->scales_l[j / 2] >> (j % 2 * 4)) & 15, hi = (b->scales_h >> (2 * j)) & 3;
    return (lo | hi << 4) - 32;
}

DEV float iq4_xs_at(DEV_GLOBAL const iq4_xs_block *b, int i) {
    const int32_t code = (b->qs[i / 32 * 16 + i % 16] >> (i / 16 % 2 * 4)) & 15;
    return dev_h2f(b->d) * (float)iq4_xs_scale(b, i / 32) * (float)iq4_value[code];
}

/* Eight neighbours from i, a multiple of 8. */
DEV void iq4_xs_at8(DEV_GLOBAL const iq4_xs_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d) * (float)iq4_xs_scale(b, i / 32);
    const int byte = i / 32 * 16 + i % 16, shift = i / 16 % 2 * 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)iq4_value[(b->qs[byte + k] >> shift) & 15];
}
#endif
