/* tr_matmul.c - matrix products. Precision hints ask for at least what they name: activations of 8 bits with scales in
 * f32, or floats, are what we have. */
#include "plugin/ggml/translate.h"

static lode_tensor *as_f32(const gg_node *n, lode_tensor *x) {
    return !x || x->type == LODE_F32 ? x : lode_copy(n->g, x, LODE_F32);
}

lode_tensor *gg_tr_mul_mat(const gg_node *n) { return lode_matmul(n->g, n->src[0], as_f32(n, n->src[1])); }

lode_tensor *gg_tr_mul_mat_id(const gg_node *n) {
    return lode_matmul_id(n->g, n->src[0], as_f32(n, n->src[1]), n->src[2]);
}
