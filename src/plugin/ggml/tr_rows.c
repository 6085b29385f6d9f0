/* tr_rows.c - rows by index, copies, layout. */
#include "plugin/ggml/translate.h"

#include <math.h>

/* The host compares bytes of its own encoder, whose search ours does not follow for these. */
static bool encodes_otherwise(const gg_node *n, lode_type from, lode_type to) {
    static const lode_type types[] = { LODE_Q2_K, LODE_Q3_K, LODE_Q4_K, LODE_Q5_K, LODE_Q6_K };
    /* Short floats fall on halves of a step, which the host's vector code rounds to even and its own reference away
     * from zero. */
    bool other = from == LODE_BF16 && to == LODE_Q8_0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) other = other || (to == types[i] && from != to);
    if (other) gg_no(n, "encoding of this type gives other bytes than the host's");
    return other;
}

lode_tensor *gg_tr_get_rows(const gg_node *n) { return lode_get_rows(n->g, n->src[0], n->src[1]); }

/* dup, cont, cpy: the result's type, sizes and place say it all. */
lode_tensor *gg_tr_copy(const gg_node *n) {
    if (encodes_otherwise(n, n->src[0]->type, n->like.type)) return n->src[0];
    return lode_copy_as(n->g, n->src[0], n->like.type, n->like.ne);
}

lode_tensor *gg_tr_set_rows(const gg_node *n) {
    if (encodes_otherwise(n, n->src[0]->type, n->like.type)) return n->src[0];
    return lode_set_rows(n->g, n->src[2], n->src[0], n->src[1]);
}

static lode_region region(const gg_node *n) {
    return (lode_region){ .nb = { (size_t)n->par[0], (size_t)n->par[1], (size_t)n->par[2] },
                          .offset = (size_t)n->par[3] };
}

lode_tensor *gg_tr_set(const gg_node *n) {
    const lode_region r = region(n);
    return lode_set(n->g, n->src[0], n->src[1], &r);
}

lode_tensor *gg_tr_acc(const gg_node *n) {
    const lode_region r = region(n);
    return lode_acc(n->g, n->src[0], n->src[1], &r);
}

lode_tensor *gg_tr_concat(const gg_node *n) { return lode_concat(n->g, n->src[0], n->src[1], n->par[0]); }
lode_tensor *gg_tr_repeat(const gg_node *n) { return lode_repeat(n->g, n->src[0], n->like.ne); }
lode_tensor *gg_tr_roll(const gg_node *n) { return lode_roll(n->g, n->src[0], n->par); }
lode_tensor *gg_tr_diag(const gg_node *n) { return lode_diag(n->g, n->src[0]); }
lode_tensor *gg_tr_tri(const gg_node *n) { return lode_tri(n->g, n->src[0], (lode_tri_kind)n->par[0]); }
lode_tensor *gg_tr_mask_inf(const gg_node *n) { return lode_diag_mask(n->g, n->src[0], n->par[0], -INFINITY); }
lode_tensor *gg_tr_mask_zero(const gg_node *n) { return lode_diag_mask(n->g, n->src[0], n->par[0], 0.0f); }
lode_tensor *gg_tr_pad_reflect(const gg_node *n) { return lode_pad_reflect(n->g, n->src[0], n->par[0], n->par[1]); }

lode_tensor *gg_tr_pad(const gg_node *n) {
    lode_pad_desc d = { .circular = n->par[8] };
    for (int i = 0; i < GG_DIMS; i++) {
        d.lo[i] = n->par[2 * i];
        d.hi[i] = n->par[2 * i + 1];
    }
    return lode_pad(n->g, n->src[0], &d);
}

lode_tensor *gg_tr_upscale(const gg_node *n) {
    enum { MODE = 0xFF, ALIGN = 0x100, ANTIALIAS = 0x200 };
    lode_upscale_desc d = {
        .mode = (lode_upscale_mode)(n->par[0] & MODE),
        .align_corners = (n->par[0] & ALIGN) != 0,
        .antialias = (n->par[0] & ANTIALIAS) != 0,
    };
    memcpy(d.ne, n->like.ne, sizeof d.ne);
    return lode_upscale(n->g, n->src[0], &d);
}
