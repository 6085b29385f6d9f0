/* q8a.h - quantised activations, never in a file: 32 values of 8 bits, the scale in full precision, and the sums that
 * weights with a minimum or an offset need: sum(x) of the block is ds, of either half d * s0 and d * s1.
 *
 * Exact definition (every kernel that writes this type gives the same bytes): amax = largest |x|; d = amax / 127;
 * q = x * (1 / d) to nearest, halves to even, all 0 when d is 0; ds = d * (s0 + s1). A block that holds a NaN or an
 * infinity has d = ds = NaN and zeros, so that it shows in every result. */
#ifndef LODE_QUANT_Q8A_H
#define LODE_QUANT_Q8A_H
#include "dev/dev.h"

typedef struct {
    float d, ds;
    int16_t s0, s1; /* sums of qs[0..16) and qs[16..32) */
    int8_t qs[32];
} q8a_block;

DEV float q8a_at(DEV_GLOBAL const q8a_block *b, int i) { return b->d * (float)b->qs[i]; }

/* Eight neighbours from i, a multiple of 8. */
DEV void q8a_at8(DEV_GLOBAL const q8a_block *b, int i, DEV_LOCAL float *out) {
    for (int k = 0; k < 8; k++) out[k] = b->d * (float)b->qs[i + k];
}
#endif
