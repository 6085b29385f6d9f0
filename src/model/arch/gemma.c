/* gemma.c - Gemma: scaled embeddings, GELU gates, the embedding as head. */
#include "model/model.h"

#include <math.h>

typedef struct {
    lode_tensor *tok_embd, *out_norm;
} weights;

typedef struct {
    lode_tensor *attn_norm, *ffn_norm;
    lode_linear wq, wk, wv, wo, gate, up, down;
} layer;
#define M(f) offsetof(weights, f)
#define L(f) (offsetof(layer, f) | LODE_PER_LAYER)

static const lode_tensor_rule tensors[] = {
    { "token_embd.weight", M(tok_embd), "embd vocab", NULL },
    { "output_norm.weight", M(out_norm), "embd", NULL },
    { "blk.*.attn_norm.weight", L(attn_norm), "embd", NULL },
    { "blk.*.attn_q", L(wq) | LODE_LINEAR, "embd q", NULL },
    { "blk.*.attn_k", L(wk) | LODE_LINEAR, "embd kv", NULL },
    { "blk.*.attn_v", L(wv) | LODE_LINEAR, "embd kv", NULL },
    { "blk.*.attn_output", L(wo) | LODE_LINEAR, "q embd", NULL },
    { "blk.*.ffn_norm.weight", L(ffn_norm), "embd", NULL },
    { "blk.*.ffn_gate", L(gate) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_up", L(up) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_down", L(down) | LODE_LINEAR | LODE_UNSCALED, "ff embd", NULL },
    { 0 },
};

static lode_tensor *build(lode_build *b, const void *weights_, const void *layers_) {
    const weights *w = weights_;
    const layer *l = layers_;
    const lode_hparams *hp = b->hp;
    lode_graph *g = b->g;
    lode_tensor *x = lode_scale(g, lode_build_embed(b, w->tok_embd), sqrtf((float)hp->n_embd));
    for (int il = 0; il < (int)hp->n_layer; il++, l++) {
        lode_tensor *h = lode_build_norm(b, x, l->attn_norm);
        lode_tensor *q = lode_heads(g, lode_build_linear(b, &l->wq, h), hp->d_head, hp->n_head);
        lode_tensor *k = lode_heads(g, lode_build_linear(b, &l->wk, h), hp->d_head, hp->n_head_kv);
        lode_tensor *v = lode_heads(g, lode_build_linear(b, &l->wv, h), hp->d_head, hp->n_head_kv);
        q = lode_build_rope(b, il, q);
        k = lode_build_rope(b, il, k);
        h = lode_build_attend(b, il, q, k, v);
        lode_build_keep(b, il, &h, &x);
        x = lode_add(g, lode_build_linear(b, &l->wo, h), x);
        h = lode_build_norm(b, x, l->ffn_norm);
        h = lode_geglu(g, lode_build_linear(b, &l->gate, h), lode_build_linear(b, &l->up, h));
        x = lode_add(g, lode_build_linear(b, &l->down, h), x);
        lode_tag(x, "l_out", il);
    }
    x = lode_build_norm(b, x, w->out_norm);
    return lode_matmul(g, w->tok_embd, x);
}

const lode_arch lode_arch_gemma = {
    .name = "gemma",
    .weights_size = sizeof(weights),
    .layer_size = sizeof(layer),
    .tensors = tensors,
    .rope_order = LODE_ROPE_NEOX,
    .build = build,
};
