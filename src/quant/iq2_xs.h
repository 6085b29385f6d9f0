/* iq2_xs.h - 256 values as 32 points of a grid of 512, in 16 sub-blocks of 2: x = d * (scale + 1/2) / 4 * value. */
#ifndef LODE_QUANT_IQ2_XS_H
#define LODE_QUANT_IQ2_XS_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint16_t qs[32];   /* 9 bits of point, 7 of signs */
    uint8_t scales[8]; /* sub-block j: byte j / 2, high half when j is odd */
} iq2_xs_block;

/* Eight neighbours from i, a multiple of 8. */
DEV void iq2_xs_at8(DEV_GLOBAL const iq2_xs_block *b, int i, DEV_LOCAL float *out) {
    const uint32_t q = b->qs[i / 8];
    const float d = dev_h2f(b->d) * (0.5f + (float)((b->scales[i / 32] >> (i / 16 % 2 * 4)) & 15)) * 0.25f;
    iq2_point(iq2_xs_grid[q & 511u], iq_signs(q >> 9), d, out);
}

DEV float iq2_xs_at(DEV_GLOBAL const iq2_xs_block *b, int i) {
    float v[8];
    iq2_xs_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
