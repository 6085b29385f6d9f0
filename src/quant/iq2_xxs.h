/* iq2_xxs.h - 256 values as 32 points of a grid of 256, in 8 sub-blocks of 4: x = d * (scale + 1/2) / 4 * value. */
#ifndef LODE_QUANT_IQ2_XXS_H
#define LODE_QUANT_IQ2_XXS_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint8_t qs[64]; /* 8 bytes a sub-block: 4 points, then a word of 4 x 7 signs and 4 bits of scale */
} iq2_xxs_block;

/* Eight neighbours from i, a multiple of 8. */
DEV void iq2_xxs_at8(DEV_GLOBAL const iq2_xxs_block *b, int i, DEV_LOCAL float *out) {
    const int sub = i / 32 * 8, l = i / 8 % 4;
    const uint32_t word = iq_word(b->qs + sub + 4);
    const float d = dev_h2f(b->d) * (0.5f + (float)(word >> 28)) * 0.25f;
    iq2_point(iq2_xxs_grid[b->qs[sub + l]], iq_signs(word >> (7 * l)), d, out);
}

DEV float iq2_xxs_at(DEV_GLOBAL const iq2_xxs_block *b, int i) {
    float v[8];
    iq2_xxs_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
