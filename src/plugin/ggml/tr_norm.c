/* tr_norm.c - norms and sums along rows. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_rms_norm(const gg_node *n) { return lode_rms_norm(n->g, n->src[0], gg_f(n, 0)); }
