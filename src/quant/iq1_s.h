/* iq1_s.h - 256 values as 32 points of a grid of 2048, in 8 sub-blocks of 4: x = d * (2 * scale + 1) * (t +- 1/8) with
 * t in -1..1. */
#ifndef LODE_QUANT_IQ1_S_H
#define LODE_QUANT_IQ1_S_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint8_t qs[32]; /* low 8 bits of point g */
    uint16_t qh[8]; /* of a sub-block: 4 x 3 high bits of points, 3 bits of scale, 1 when the eighth is taken off */
} iq1_s_block;

/* Eight neighbours from i, a multiple of 8. */
DEV void iq1_s_at8(DEV_GLOBAL const iq1_s_block *b, int i, DEV_LOCAL float *out) {
    const int32_t h = b->qh[i / 32], point = b->qs[i / 8] | ((h >> (i / 8 % 4 * 3)) & 7) << 8;
    const float d = dev_h2f(b->d) * (float)(2 * ((h >> 12) & 7) + 1);
    iq1_point(iq1_s_grid[point], h >> 15, d, out);
}

DEV float iq1_s_at(DEV_GLOBAL const iq1_s_block *b, int i) {
    float v[8];
    iq1_s_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
