/* tr_elem.c - ops that work element by element. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_add(const gg_node *n) { return lode_add(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_mul(const gg_node *n) { return lode_mul(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_silu(const gg_node *n) { return lode_silu(n->g, n->src[0]); }
lode_tensor *gg_tr_gelu(const gg_node *n) { return lode_gelu(n->g, n->src[0]); }

/* s x + c */
lode_tensor *gg_tr_scale(const gg_node *n) {
    if (gg_f(n, 1) != 0) return gg_no(n, "scale with an offset");
    return lode_scale(n->g, n->src[0], gg_f(n, 0));
}

/* Gate and value: two sources, or the halves of one row, exchanged when par[1] is set. */
static void halves(const gg_node *n, lode_tensor **gate, lode_tensor **up) {
    const int64_t half = n->src[0]->ne[0] / 2;
    const bool swapped = n->par[1] != 0;
    *gate = n->src[1] ? n->src[0] : lode_columns(n->g, n->src[0], swapped ? half : 0, half);
    *up = n->src[1] ? n->src[1] : lode_columns(n->g, n->src[0], swapped ? 0 : half, half);
}

lode_tensor *gg_tr_swiglu(const gg_node *n) {
    lode_tensor *gate, *up;
    halves(n, &gate, &up);
    return lode_swiglu(n->g, gate, up);
}

lode_tensor *gg_tr_geglu(const gg_node *n) {
    lode_tensor *gate, *up;
    halves(n, &gate, &up);
    return lode_geglu(n->g, gate, up);
}
