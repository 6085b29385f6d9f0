/* iq3_xxs.h - 256 values as 64 points of a grid of 256, in 8 sub-blocks of 8: x = d * (scale + 1/2) / 2 * value. */
#ifndef LODE_QUANT_IQ3_XXS_H
#define LODE_QUANT_IQ3_XXS_H
#include "quant/iq.h"

typedef struct {
    dev_half d;
    uint8_t qs[64];    /* points */
    uint8_t words[32]; /* 4 bytes a sub-block: 4 x 7 signs and 4 bits of scale */
} iq3_xxs_block;

/* Values are 4, 12, 20 ... 52, and 62 instead of 60. */
DEV float iq3_xxs_value(int32_t code) { return (float)(code == 7 ? 62 : 8 * code + 4); }

/* Eight neighbours from i, a multiple of 8. */
DEV void iq3_xxs_at8(DEV_GLOBAL const iq3_xxs_block *b, int i, DEV_LOCAL float *out) {
    const uint32_t word = iq_word(b->words + i / 32 * 4);
    const int32_t signs = iq_signs(word >> (i / 8 % 4 * 7));
    const float d = dev_h2f(b->d) * (0.5f + (float)(word >> 28)) * 0.5f;
    for (int k = 0; k < 8; k++) {
        const int32_t code = (iq3_xxs_grid[b->qs[i / 4 + k / 4]] >> (k % 4 * 3)) & 7;
        out[k] = iq_signed(d * iq3_xxs_value(code), signs >> k);
    }
}

DEV float iq3_xxs_at(DEV_GLOBAL const iq3_xxs_block *b, int i) {
    float v[8];
    iq3_xxs_at8(b, i / 8 * 8, v);
    return v[i % 8];
}
#endif
