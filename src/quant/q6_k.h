/* q6_k.h - 256 values of 6 bits in 16 sub-blocks, each with a signed scale of 8 bits: x = d * scale * (q - 32). */
#ifndef LODE_QUANT_Q6_K_H
#define LODE_QUANT_Q6_K_H
#include "dev/dev.h"

typedef struct {
    uint8_t ql[128];   /* low 4 bits of value i: byte 64 * (i / 128) + i % 64, high half when i / 64 is odd */
    uint8_t qh[64];    /* high 2 bits: byte 32 * (i / 128) + i % 32, bits from 2 * (i / 32 % 4) */
    int8_t scales[16]; /* of 16 values each */
    dev_half d;
} q6_k_block;

/* Value i without its scale, -32..31. */
DEV int32_t q6_k_int(DEV_GLOBAL const q6_k_block *b, int i) {
    const int32_t lo = (b->ql[i / 128 * 64 + i % 64] >> (i / 64 % 2 * 4)) & 15;
    const int32_t hi = (b->qh[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2)) & 3;
    return (lo | hi << 4) - 32;
}

DEV float q6_k_at(DEV_GLOBAL const q6_k_block *b, int i) {
    return dev_h2f(b->d) * (float)b->scales[i / 16] * (float)q6_k_int(b, i);
}

/* Eight neighbours from i, a multiple of 8. */
DEV void q6_k_at8(DEV_GLOBAL const q6_k_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d) * (float)b->scales[i / 16];
    for (int k = 0; k < 8; k++) out[k] = d * (float)q6_k_int(b, i + k);
}
#endif
