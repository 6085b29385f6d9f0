/* q4_k.h - 256 values of 4 bits in 8 sub-blocks, each with a scale and a minimum of 6 bits:
 * x = d * scale * q - dmin * min. */
#ifndef LODE_QUANT_Q4_K_H
#define LODE_QUANT_Q4_K_H
#include "dev/dev.h"
#include "quant/k_scale.h"

typedef struct {
    dev_half d, dmin;
    uint8_t scales[12]; /* of 32 values each, packed as in k_scale.h */
    uint8_t qs[128];    /* value i: byte 32 * (i / 64) + i % 32, high half when i / 32 is odd */
} q4_k_block;

DEV float q4_k_at(DEV_GLOBAL const q4_k_block *b, int i) {
    const k_scale s = k_scale_at(b->scales, i / 32);
    const int32_t q = (b->qs[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4)) & 15;
    return dev_h2f(b->d) * (float)s.scale * (float)q - dev_h2f(b->dmin) * (float)s.min;
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q4_k_at8(DEV_GLOBAL const q4_k_block *b, int i, DEV_LOCAL float *out) {
    const k_scale s = k_scale_at(b->scales, i / 32);
    const float d = dev_h2f(b->d) * (float)s.scale, m = dev_h2f(b->dmin) * (float)s.min;
    const int byte = i / 64 * 32 + i % 32, shift = i / 32 % 2 * 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)((b->qs[byte + k] >> shift) & 15) - m;
}
#endif
