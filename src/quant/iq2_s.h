/* iq2_s.h - 256 values as 32 points of a grid of 1024, in 16 sub-blocks of 2: x = d * (scale + 1/2) / 4 * value. */
#ifndef LODE_QUANT_IQ2_S_H
#define LODE_QUANT_IQ2_S_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint8_t qs[32];    /* low 8 bits of point g */
    uint8_t signs[32]; /* of the 8 values of point g */
    uint8_t qh[8];     /* high 2 bits of point g: byte g / 4, bits from 2 * (g % 4) */
    uint8_t scales[8]; /* sub-block j: byte j / 2, high half when j is odd */
} iq2_s_block;

/* Eight neighbours from i, a multiple of 8. */
DEV void iq2_s_at8(DEV_GLOBAL const iq2_s_block *b, int i, DEV_LOCAL float *out) {
    const int g = i / 8;
    const int32_t point = b->qs[g] | ((b->qh[g / 4] >> (g % 4 * 2)) & 3) << 8;
    const float d = dev_h2f(b->d) * (0.5f + (float)((b->scales[i / 32] >> (i / 16 % 2 * 4)) & 15)) * 0.25f;
    iq2_point(iq2_s_grid[point], b->signs[g], d, out);
}

DEV float iq2_s_at(DEV_GLOBAL const iq2_s_block *b, int i) {
    float v[8];
    iq2_s_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
