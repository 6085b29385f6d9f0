/* tr_rec.c - sorting, recurrences, training. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_argsort(const gg_node *n) { return lode_argsort(n->g, n->src[0], n->par[0] != 0); }
lode_tensor *gg_tr_top_k(const gg_node *n) { return lode_top_k(n->g, n->src[0], n->like.ne[0]); }
lode_tensor *gg_tr_ssm_conv(const gg_node *n) { return lode_ssm_conv(n->g, n->src[0], n->src[1]); }

lode_tensor *gg_tr_ssm_scan(const gg_node *n) {
    lode_tensor *const *s = n->src;
    const lode_ssm_scan_src src = { s[0], s[1], s[2], s[3], s[4], s[5], s[6] };
    return lode_ssm_scan(n->g, &src, n->par[0] > 0 ? n->par[0] : 1);
}

lode_tensor *gg_tr_wkv6(const gg_node *n) { return lode_wkv6(n->g, n->src); }
lode_tensor *gg_tr_wkv7(const gg_node *n) { return lode_wkv7(n->g, n->src); }
lode_tensor *gg_tr_gla(const gg_node *n) { return lode_gla(n->g, n->src, gg_f(n, 0)); }

lode_tensor *gg_tr_gated_delta_net(const gg_node *n) {
    return lode_gated_delta_net(n->g, n->src, n->par[0] > 0 ? n->par[0] : 1);
}

lode_tensor *gg_tr_solve_tri(const gg_node *n) { return lode_solve_tri(n->g, n->src[0], n->src[1]); }

lode_tensor *gg_tr_hyper_comb(const gg_node *n) {
    return lode_hyper_comb(n->g, n->src[0], n->src[1], n->src[2], gg_f(n, 0), n->par[1]);
}

lode_tensor *gg_tr_hyper_pre(const gg_node *n) {
    return lode_hyper_pre(n->g, n->src[0], n->src[1], gg_f(n, 0), n->par[1] != 0);
}

lode_tensor *gg_tr_hyper_post(const gg_node *n) {
    return lode_hyper_post(n->g, n->src[0], n->src[1], n->src[2], n->src[3]);
}

lode_tensor *gg_tr_out_prod(const gg_node *n) { return lode_out_prod(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_silu_back(const gg_node *n) { return lode_silu_back(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_sgd(const gg_node *n) { return lode_sgd_step(n->g, n->src[0], n->src[1], n->src[2]); }
lode_tensor *gg_tr_adamw(const gg_node *n) {
    return lode_adamw_step(n->g, n->src[0], n->src[1], n->src + 2, n->src[4]);
}
