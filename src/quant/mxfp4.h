/* mxfp4.h - 32 floats of 4 bits and a power of two as their scale: OCP Microscaling MXFP4. */
#ifndef LODE_QUANT_MXFP4_H
#define LODE_QUANT_MXFP4_H
#include "quant/fp4.h"

typedef struct {
    uint8_t e;
    uint8_t qs[16]; /* value i in the low half of byte i, value 16 + i in the high half */
} mxfp4_block;

DEV float mxfp4_at(DEV_GLOBAL const mxfp4_block *b, int i) {
    return fp4_half_e8m0(b->e) * (float)fp4_twice[(b->qs[i % 16] >> (i < 16 ? 0 : 4)) & 15];
}

/* Eight neighbours from i, a multiple of 8. */
DEV void mxfp4_at8(DEV_GLOBAL const mxfp4_block *b, int i, DEV_LOCAL float *out) {
    const float d = fp4_half_e8m0(b->e);
    const int shift = i < 16 ? 0 : 4;
    for (int k = 0; k < 8; k++) out[k] = d * (float)fp4_twice[(b->qs[i % 16 + k] >> shift) & 15];
}
#endif
