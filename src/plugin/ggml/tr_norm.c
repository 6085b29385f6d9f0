/* tr_norm.c - norms and sums along rows. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_rms_norm(const gg_node *n) { return lode_rms_norm(n->g, n->src[0], gg_f(n, 0)); }
lode_tensor *gg_tr_layer_norm(const gg_node *n) { return lode_layer_norm(n->g, n->src[0], gg_f(n, 0)); }
lode_tensor *gg_tr_l2_norm(const gg_node *n) { return lode_l2_norm(n->g, n->src[0], gg_f(n, 0)); }
lode_tensor *gg_tr_group_norm(const gg_node *n) { return lode_group_norm(n->g, n->src[0], n->par[0], gg_f(n, 1)); }
lode_tensor *gg_tr_sum(const gg_node *n) { return lode_sum(n->g, n->src[0]); }
lode_tensor *gg_tr_sum_rows(const gg_node *n) { return lode_sum_rows(n->g, n->src[0]); }
lode_tensor *gg_tr_mean(const gg_node *n) { return lode_mean(n->g, n->src[0]); }
lode_tensor *gg_tr_cumsum(const gg_node *n) { return lode_cumsum(n->g, n->src[0]); }
lode_tensor *gg_tr_argmax(const gg_node *n) { return lode_argmax(n->g, n->src[0]); }
lode_tensor *gg_tr_count_equal(const gg_node *n) { return lode_count_equal(n->g, n->src[0], n->src[1]); }
