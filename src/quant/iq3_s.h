/* iq3_s.h - 256 values as 64 points of a grid of 512, in 8 sub-blocks of 8: x = d * (2 * scale + 1) * value. */
#ifndef LODE_QUANT_IQ3_S_H
#define LODE_QUANT_IQ3_S_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint8_t qs[64];    /* low 8 bits of point g */
    uint8_t qh[8];     /* ninth bit of point g: byte g / 8, bit g % 8 */
    uint8_t signs[32]; /* of value i: byte i / 8, bit i % 8 */
    uint8_t scales[4]; /* sub-block j: byte j / 2, high half when j is odd */
} iq3_s_block;

/* Eight neighbours from i, a multiple of 8. Values are the odd numbers up to 15. */
DEV void iq3_s_at8(DEV_GLOBAL const iq3_s_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d) * (float)(1 + 2 * ((b->scales[i / 64] >> (i / 32 % 2 * 4)) & 15));
    for (int k = 0; k < 8; k++) {
        const int g = i / 4 + k / 4;
        const int32_t point = iq3_s_grid[b->qs[g] | ((b->qh[g / 8] >> (g % 8)) & 1) << 8];
        out[k] = iq_signed(d * (float)(2 * ((point >> (k % 4 * 3)) & 7) + 1), b->signs[i / 8] >> k);
    }
}

DEV float iq3_s_at(DEV_GLOBAL const iq3_s_block *b, int i) {
    float v[8];
    iq3_s_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
