/* tr_elem.c - ops that work element by element. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_add(const gg_node *n) { return lode_add(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_sub(const gg_node *n) { return lode_sub(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_mul(const gg_node *n) { return lode_mul(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_div(const gg_node *n) { return lode_div(n->g, n->src[0], n->src[1]); }
lode_tensor *gg_tr_add_id(const gg_node *n) { return lode_add_id(n->g, n->src[0], n->src[1], n->src[2]); }
lode_tensor *gg_tr_scale(const gg_node *n) { return lode_scale_offset(n->g, n->src[0], gg_f(n, 0), gg_f(n, 1)); }
lode_tensor *gg_tr_clamp(const gg_node *n) { return lode_clamp(n->g, n->src[0], gg_f(n, 0), gg_f(n, 1)); }
lode_tensor *gg_tr_leaky_relu(const gg_node *n) { return lode_leaky_relu(n->g, n->src[0], gg_f(n, 0)); }
lode_tensor *gg_tr_fill(const gg_node *n) { return lode_fill(n->g, n->src[0], gg_f(n, 0)); }
lode_tensor *gg_tr_arange(const gg_node *n) { return lode_arange(n->g, gg_f(n, 0), gg_f(n, 1), gg_f(n, 2)); }

lode_tensor *gg_tr_xielu(const gg_node *n) {
    const lode_xielu_desc d = { .alpha_n = gg_f(n, 1), .alpha_p = gg_f(n, 2), .beta = gg_f(n, 3), .eps = gg_f(n, 4) };
    return lode_xielu(n->g, n->src[0], &d);
}

#define UNARY(id, name, meaning) \
    lode_tensor *gg_tr_##name(const gg_node *n) { return lode_##name(n->g, n->src[0]); }
#include "lode/unary.def"
#undef UNARY

/* Gate and value: two sources, or the halves of one row, exchanged when par[1] is set. */
typedef struct {
    lode_tensor *gate, *value;
} pair;

static pair pair_of(const gg_node *n) {
    if (n->src[1]) return (pair){ n->src[0], n->src[1] };
    const int64_t half = n->src[0]->ne[0] / 2;
    const bool swapped = n->par[1] != 0;
    return (pair){ lode_columns(n->g, n->src[0], swapped ? half : 0, half),
                   lode_columns(n->g, n->src[0], swapped ? 0 : half, half) };
}

#define PLAIN_GATE(name)                           \
    lode_tensor *gg_tr_##name(const gg_node *n) {  \
        const pair p = pair_of(n);                 \
        return lode_##name(n->g, p.gate, p.value); \
    }
PLAIN_GATE(reglu)
PLAIN_GATE(geglu)
PLAIN_GATE(swiglu)
PLAIN_GATE(geglu_erf)
PLAIN_GATE(geglu_quick)

lode_tensor *gg_tr_swiglu_oai(const gg_node *n) {
    const pair p = pair_of(n);
    return lode_swiglu_oai(n->g, p.gate, p.value, gg_f(n, 2), gg_f(n, 3));
}

lode_tensor *gg_tr_swiglu_clamp(const gg_node *n) {
    const pair p = pair_of(n);
    return lode_swiglu_clamp(n->g, p.gate, p.value, gg_f(n, 3));
}
