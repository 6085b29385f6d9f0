/* iq1_m.h - as IQ1_S with 16 sub-blocks of 2 points, and the eighth added or taken off for each point:
 * x = d * (2 * scale + 1) * (t +- 1/8). */
#ifndef LODE_QUANT_IQ1_M_H
#define LODE_QUANT_IQ1_M_H
#include "quant/iq.h"

typedef struct {
    uint8_t qs[32];     /* low 8 bits of point g */
    uint8_t qh[16];     /* half g % 2 of byte g / 2: 3 high bits of point g, 1 when the eighth is taken off */
    uint16_t scales[4]; /* 4 x 3 bits of scale; the top 4 bits of the four are d, lowest first */
} iq1_m_block;

DEV float iq1_m_d(DEV_GLOBAL const iq1_m_block *b) {
    uint32_t bits = 0;
    for (int j = 0; j < 4; j++) bits |= (uint32_t)(b->scales[j] >> 12) << (4 * j);
    return dev_bits2f((uint16_t)bits);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void iq1_m_at8(DEV_GLOBAL const iq1_m_block *b, int i, DEV_LOCAL float *out) {
    const int g = i / 8;
    const int32_t h = b->qh[g / 2] >> (g % 2 * 4), point = b->qs[g] | (h & 7) << 8;
    const float d = iq1_m_d(b) * (float)(2 * ((b->scales[i / 64] >> (i / 16 % 4 * 3)) & 7) + 1);
    iq1_point(iq1_s_grid[point], h & 8, d, out);
}

DEV float iq1_m_at(DEV_GLOBAL const iq1_m_block *b, int i) {
    float v[8];
    iq1_m_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
