/* q3_k.h - 256 values of 3 bits in 16 sub-blocks, each with a signed scale of 6 bits: x = d * scale * q, q in -4..3. */
#ifndef LODE_QUANT_Q3_K_H
#define LODE_QUANT_Q3_K_H
#include "dev/dev.h"

typedef struct {
    uint8_t hmask[32];  /* third bit of value i: byte i % 32, bit i / 32; 0 means "4 less" */
    uint8_t qs[64];     /* value i: byte 32 * (i / 128) + i % 32, bits from 2 * (i / 32 % 4) */
    uint8_t scales[12]; /* 16 x 6 bits: low 4 in bytes 0..7, high 2 in bytes 8..11 */
    dev_half d;
} q3_k_block;

/* Scale of sub-block j (0..15), -32..31. */
DEV int32_t q3_k_scale(DEV_GLOBAL const q3_k_block *b, int j) {
    const int32_t lo = (b->scales[j % 8] >> (j / 8 * 4)) & 15, hi = (b->scales[8 + j % 4] >> (j / 4 * 2)) & 3;
    return (lo | hi << 4) - 32;
}

/* Value i without its scale. */
DEV int32_t q3_k_int(DEV_GLOBAL const q3_k_block *b, int i) {
    const int32_t lo = (b->qs[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3, hi = (b->hmask[i % 32] >> (i / 32)) & 1;
    return lo - (hi ? 0 : 4);
}

DEV float q3_k_at(DEV_GLOBAL const q3_k_block *b, int i) {
    return dev_h2f(b->d) * (float)q3_k_scale(b, i / 16) * (float)q3_k_int(b, i);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q3_k_at8(DEV_GLOBAL const q3_k_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d) * (float)q3_k_scale(b, i / 16);
    for (int k = 0; k < 8; k++) out[k] = d * (float)q3_k_int(b, i + k);
}
#endif
