/* f16.h - half precision, as a block type of one element. `i` may run past the one element of *b, along the row. */
#ifndef LODE_QUANT_F16_H
#define LODE_QUANT_F16_H
#include "dev/dev.h"

typedef struct {
    dev_half v;
} f16_block;

DEV float f16_at(DEV_GLOBAL const f16_block *b, int i) { return dev_h2f(b[i].v); }

DEV void f16_at8(DEV_GLOBAL const f16_block *b, int i, DEV_LOCAL float *out) {
    for (int k = 0; k < 8; k++) out[k] = dev_h2f(b[i + k].v);
}
#endif
