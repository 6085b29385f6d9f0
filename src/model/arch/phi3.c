/* phi3.c - Phi 3 and 4: queries, keys and values in one matrix, gate and up in another; longrope factors
 * for contexts below and above that of training. */
#include "model/model.h"

typedef struct {
    lode_tensor *tok_embd, *out_norm, *rope_long, *rope_short;
    lode_linear output;
} weights;

typedef struct {
    lode_tensor *attn_norm, *ffn_norm;
    lode_linear wqkv, wq, wk, wv, wo, up, down;
} layer;
#define M(f) offsetof(weights, f)
#define L(f) (offsetof(layer, f) | LODE_PER_LAYER)

static const lode_tensor_rule tensors[] = {
    { "token_embd.weight", M(tok_embd), "embd vocab", NULL },
    { "output_norm.weight", M(out_norm), "embd", NULL },
    { "output", M(output) | LODE_LINEAR, "embd vocab", "token_embd.weight" },
    { "rope_factors_long.weight", M(rope_long), "rot2", "" },
    { "rope_factors_short.weight", M(rope_short), "rot2", "" },
    { "blk.*.attn_norm.weight", L(attn_norm), "embd", NULL },
    { "blk.*.attn_qkv", L(wqkv) | LODE_LINEAR, "embd qkv", "" },
    { "blk.*.attn_q", L(wq) | LODE_LINEAR, "embd q", "" },
    { "blk.*.attn_k", L(wk) | LODE_LINEAR, "embd kv", "" },
    { "blk.*.attn_v", L(wv) | LODE_LINEAR, "embd kv", "" },
    { "blk.*.attn_output", L(wo) | LODE_LINEAR, "q embd", NULL },
    { "blk.*.ffn_norm.weight", L(ffn_norm), "embd", NULL },
    { "blk.*.ffn_up", L(up) | LODE_LINEAR | LODE_UNSCALED, "embd ff2", NULL },
    { "blk.*.ffn_down", L(down) | LODE_LINEAR | LODE_UNSCALED, "ff embd", NULL },
    { 0 },
};

/* Queries, keys and values of a step: columns of one product, or three. */
static void qkv(lode_build *b, const layer *l, lode_tensor *h, lode_tensor *out[3]) {
    const lode_hparams *hp = b->hp;
    const int64_t width[3] = { (int64_t)hp->d_head * hp->n_head, (int64_t)hp->d_head * hp->n_head_kv,
                               (int64_t)hp->d_head * hp->n_head_kv };
    lode_tensor *all = l->wqkv.w ? lode_build_linear(b, &l->wqkv, h) : NULL;
    const lode_linear *const w[3] = { &l->wq, &l->wk, &l->wv };
    for (int i = 0, from = 0; i < 3; from += (int)width[i], i++) {
        if (!all && !w[i]->w) {
            lode_graph_fail(b->g, LODE_E_FORMAT, "tensor blk.*.attn_qkv.weight is missing: the file is incomplete");
            return;
        }
        lode_tensor *y = all ? lode_columns(b->g, all, from, width[i]) : lode_build_linear(b, w[i], h);
        out[i] = lode_heads(b->g, y, hp->d_head, width[i] / hp->d_head);
    }
}

static lode_tensor *build(lode_build *b, const void *weights_, const void *layers_) {
    const weights *w = weights_;
    const layer *l = layers_;
    const lode_hparams *hp = b->hp;
    lode_graph *g = b->g;
    b->rope_factors = b->n_ctx_seq > (int64_t)hp->n_ctx_orig ? w->rope_long : w->rope_short;
    lode_tensor *x = lode_build_embed(b, w->tok_embd);
    for (int il = 0; il < (int)hp->n_layer; il++, l++) {
        lode_tensor *h = lode_build_norm(b, x, l->attn_norm), *y[3] = { x, x, x };
        qkv(b, l, h, y);
        h = lode_build_attend(b, il, lode_build_rope(b, il, y[0]), lode_build_rope(b, il, y[1]), y[2]);
        lode_build_keep(b, il, &h, &x);
        x = lode_add(g, lode_build_linear(b, &l->wo, h), x);
        h = lode_build_linear(b, &l->up, lode_build_norm(b, x, l->ffn_norm));
        h = lode_swiglu(g, lode_columns(g, h, 0, hp->n_ff), lode_columns(g, h, hp->n_ff, hp->n_ff));
        x = lode_add(g, lode_build_linear(b, &l->down, h), x);
        lode_tag(x, "l_out", il);
    }
    return lode_build_linear(b, &w->output, lode_build_norm(b, x, w->out_norm));
}

const lode_arch lode_arch_phi3 = {
    .name = "phi3",
    .weights_size = sizeof(weights),
    .layer_size = sizeof(layer),
    .tensors = tensors,
    .rope_order = LODE_ROPE_NEOX,
    .build = build,
};
