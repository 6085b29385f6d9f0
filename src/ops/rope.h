/* rope.h - parameters of rope, and the angles that reference and kernels share. */
#ifndef LODE_OPS_ROPE_H
#define LODE_OPS_ROPE_H

#include "lode/graph.h"

enum { LODE_ROPE_MAX_HEAD = 2048 }; /* of types that are turned in a copy; far above any model's */

typedef struct lode_rope_par {
    int32_t order;  /* lode_rope_order */
    int32_t offset; /* of the first element that turns */
} lode_rope_par;

/* Multiplier of cos and sin, and the frequency of pair i (0..n_rot/2-1) in radians per position. `factor` is 1 or the
 * model's divisor for this pair. */
double lode_rope_magnitude(const lode_rope_desc *d);
double lode_rope_frequency(const lode_rope_desc *d, int pair, double factor);
/* Fills pairs pair_from..pair_to-1 of a rope_table node in host memory, for all its tokens. */
void lode_rope_table_fill(const lode_tensor *t, int pair_from, int pair_to);
#endif
