/* tr_attn.c - attention and positions. */
#include "plugin/ggml/translate.h"

/* Modes of the host: the order of pairs, and how several positions of a token are told apart. */
static const struct {
    int32_t mode;
    lode_rope_order order;
    lode_rope_multi multi;
} modes[] = {
    { 0, LODE_ROPE_NORM, LODE_ROPE_ONE },     { 2, LODE_ROPE_NEOX, LODE_ROPE_ONE },
    { 8, LODE_ROPE_NEOX, LODE_ROPE_BLOCKS },  { 40, LODE_ROPE_NEOX, LODE_ROPE_INTERLEAVED },
    { 24, LODE_ROPE_NEOX, LODE_ROPE_VISION },
};

static lode_tensor *rope(const gg_node *n, bool inverse) {
    enum { N_DIMS = 1, MODE = 2, CTX = 4, BASE = 5, SCALE, EXT, ATTN, FAST, SLOW, SECTIONS, OFFSET = 15 };
    if (n->par[N_DIMS] == 0) return lode_copy(n->g, n->src[0], n->src[0]->type); /* a layer without positions */
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (modes[i].mode != n->par[MODE]) continue;
        const bool vision = modes[i].multi == LODE_ROPE_VISION;
        lode_rope_desc d = {
            .n_rot = n->par[N_DIMS] * (vision ? 2 : 1),
            .base = gg_f(n, BASE),
            .scale = gg_f(n, SCALE),
            .ext_factor = gg_f(n, EXT),
            .attn_factor = gg_f(n, ATTN),
            .beta_fast = gg_f(n, FAST),
            .beta_slow = gg_f(n, SLOW),
            .n_ctx_orig = n->par[CTX],
            .multi = modes[i].multi,
            .inverse = inverse,
        };
        memcpy(d.sections, n->par + SECTIONS, sizeof d.sections);
        lode_tensor *table = lode_rope_table(n->g, n->src[1], n->src[2], &d);
        return lode_rope_from(n->g, n->src[0], table, modes[i].order, vision ? 0 : n->par[OFFSET]);
    }
    return gg_no(n, "rope of this mode");
}

lode_tensor *gg_tr_rope(const gg_node *n) { return rope(n, false); }
lode_tensor *gg_tr_rope_back(const gg_node *n) { return rope(n, true); }

static lode_flash_attn_desc soft(const gg_node *n) {
    return (lode_flash_attn_desc){ .scale = gg_f(n, 0), .max_bias = gg_f(n, 1) };
}

lode_tensor *gg_tr_flash_attn(const gg_node *n) {
    lode_flash_attn_desc d = soft(n);
    d.softcap = gg_f(n, 2);
    return lode_flash_attn(n->g, &(lode_flash_attn_src){ n->src[0], n->src[1], n->src[2], n->src[3], n->src[4] }, &d);
}

lode_tensor *gg_tr_soft_max(const gg_node *n) {
    const lode_flash_attn_desc d = soft(n);
    return lode_soft_max(n->g, n->src[0], n->src[1], n->src[2], &d);
}

lode_tensor *gg_tr_lightning_indexer(const gg_node *n) {
    return lode_lightning_indexer(n->g, n->src[0], n->src[1], n->src[2], n->src[3]);
}
