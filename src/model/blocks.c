/* blocks.c - pieces that at least three architectures share. One with other needs copies, it does not add a flag. */
#include "model/model.h"

lode_tensor *lode_build_embed(lode_build *b, lode_tensor *tok_embd) {
    lode_tensor *x = lode_get_rows(b->g, tok_embd, b->tokens);
    lode_tag(x, "embd", -1);
    return x;
}

lode_tensor *lode_build_norm(lode_build *b, lode_tensor *x, lode_tensor *w) {
    return lode_mul(b->g, lode_rms_norm(b->g, x, b->hp->eps), w);
}

lode_tensor *lode_build_linear(lode_build *b, const lode_linear *l, lode_tensor *x) {
    lode_tensor *y = lode_matmul(b->g, l->w, x);
    if (l->scale && !l->scale_last) y = lode_mul(b->g, y, l->scale);
    if (l->bias) y = lode_add(b->g, y, l->bias);
    return l->scale && l->scale_last ? lode_mul(b->g, y, l->scale) : y;
}

lode_tensor *lode_build_rope(lode_build *b, int il, lode_tensor *x) {
    const bool local = b->hp->local_window[il];
    b->turned[il] = true;
    const lode_rope_desc *d = local ? &b->hp->rope_local : &b->hp->rope;
    lode_tensor *table = lode_rope_table(b->g, b->pos, local ? NULL : b->rope_factors, d);
    return lode_rope(b->g, x, table, b->rope_order);
}

lode_tensor *lode_build_attend(lode_build *b, int il, lode_tensor *q, lode_tensor *k, lode_tensor *v) {
    const lode_attend_src src = {
        .q = q,
        .k = lode_kv_store(b->g, b->k[il], k, b->slots),
        .v = lode_kv_store(b->g, b->v[il], v, b->slots),
        .pages = b->pages,
        .spans = b->spans,
    };
    const lode_attend_desc d = {
        .scale = b->hp->attn_scale,
        .softcap = b->hp->attn_softcap,
        .windowed = b->hp->local_window[il],
        .n_kv_head = (int32_t)b->hp->n_head_kv,
    };
    lode_tensor *y = lode_attend(b->g, &src, &d);
    lode_tag(y, "attn", il);
    return y;
}

void lode_build_keep(lode_build *b, int il, lode_tensor **x, lode_tensor **y) {
    if (il != (int)b->hp->n_layer - 1) return;
    *x = lode_get_rows(b->g, *x, b->out_ids);
    *y = lode_get_rows(b->g, *y, b->out_ids);
}
