/* nvfp4.h - 64 floats of 4 bits in 4 sub-blocks, each with a scale of 8 bits. A scale of the whole tensor is a tensor
 * of its own. */
#ifndef LODE_QUANT_NVFP4_H
#define LODE_QUANT_NVFP4_H
#include "quant/fp4.h"

typedef struct {
    uint8_t d[4];   /* of 16 values each */
    uint8_t qs[32]; /* 8 bytes a sub-block: its value i in the low half of byte i, 8 + i in the high half */
} nvfp4_block;

DEV float nvfp4_at(DEV_GLOBAL const nvfp4_block *b, int i) {
    return fp4_half_e4m3(b->d[i / 16]) * (float)fp4_twice[(b->qs[i / 16 * 8 + i % 8] >> (i / 8 % 2 * 4)) & 15];
}

/* Eight neighbours from i, a multiple of 8. */
DEV void nvfp4_at8(DEV_GLOBAL const nvfp4_block *b, int i, DEV_LOCAL float *out) {
    const float d = fp4_half_e4m3(b->d[i / 16]);
    const int byte = i / 16 * 8, shift = i / 8 % 2 * 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)fp4_twice[(b->qs[byte + k] >> shift) & 15];
}
#endif
