/* bf16.h - bfloat16, the upper half of a float, as a block type of one element. `i` may run past the one element of *b,
 * along the row. */
#ifndef LODE_QUANT_BF16_H
#define LODE_QUANT_BF16_H
#include "dev/dev.h"

typedef struct {
    dev_bf16 v;
} bf16_block;

DEV float bf16_at(DEV_GLOBAL const bf16_block *b, int i) { return dev_b2f(b[i].v); }

DEV void bf16_at8(DEV_GLOBAL const bf16_block *b, int i, DEV_LOCAL float *out) {
    for (int k = 0; k < 8; k++) out[k] = dev_b2f(b[i + k].v);
}
#endif
