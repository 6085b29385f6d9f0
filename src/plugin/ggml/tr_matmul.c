/* tr_matmul.c - matrix products. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_mul_mat(const gg_node *n) { return lode_matmul(n->g, n->src[0], n->src[1]); }
