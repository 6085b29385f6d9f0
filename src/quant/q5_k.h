/* q5_k.h - 256 values of 5 bits in 8 sub-blocks, each with a scale and a minimum of 6 bits:
 * x = d * scale * q - dmin * min. */
#ifndef LODE_QUANT_Q5_K_H
#define LODE_QUANT_Q5_K_H
#include "dev/dev.h"
#include "quant/k_scale.h"

typedef struct {
    dev_half d, dmin;
    uint8_t scales[12]; /* of 32 values each, packed as in k_scale.h */
    uint8_t qh[32];     /* fifth bit of value i: byte i % 32, bit i / 32 */
    uint8_t qs[128];    /* value i: byte 32 * (i / 64) + i % 32, high half when i / 32 is odd */
} q5_k_block;

/* Value i without scale and minimum, 0..31. */
DEV int32_t q5_k_int(DEV_GLOBAL const q5_k_block *b, int i) {
    const int32_t lo = (b->qs[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4)) & 15, hi = (b->qh[i % 32] >> (i / 32)) & 1;
    return lo | hi << 4;
}

DEV float q5_k_at(DEV_GLOBAL const q5_k_block *b, int i) {
    const k_scale s = k_scale_at(b->scales, i / 32);
    return dev_h2f(b->d) * (float)s.scale * (float)q5_k_int(b, i) - dev_h2f(b->dmin) * (float)s.min;
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q5_k_at8(DEV_GLOBAL const q5_k_block *b, int i, DEV_LOCAL float *out) {
    const k_scale s = k_scale_at(b->scales, i / 32);
    const float d = dev_h2f(b->d) * (float)s.scale, m = dev_h2f(b->dmin) * (float)s.min;
    for (int k = 0; k < 8; k++) out[k] = d * (float)q5_k_int(b, i + k) - m;
}
#endif
