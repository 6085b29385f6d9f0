/* f32.h - plain floats, as a block type of one element. `i` may run past the one element of *b, along the row. */
#ifndef LODE_QUANT_F32_H
#define LODE_QUANT_F32_H
#include "dev/dev.h"

typedef struct {
    float v;
} f32_block;

DEV float f32_at(DEV_GLOBAL const f32_block *b, int i) { return b[i].v; }

DEV void f32_at8(DEV_GLOBAL const f32_block *b, int i, DEV_LOCAL float *out) {
    for (int k = 0; k < 8; k++) out[k] = b[i + k].v;
}
#endif
