/* gemma2.c - Gemma 2: norms before and after each block, soft caps, a window on every other layer. */
#include "model/model.h"

#include <math.h>

typedef struct {
    lode_tensor *tok_embd, *out_norm;
} weights;

typedef struct {
    lode_tensor *attn_norm, *attn_post, *ffn_norm, *ffn_post;
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
    { "blk.*.post_attention_norm.weight", L(attn_post), "embd", NULL },
    { "blk.*.ffn_norm.weight", L(ffn_norm), "embd", NULL },
    { "blk.*.ffn_gate", L(gate) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_up", L(up) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_down", L(down) | LODE_LINEAR | LODE_UNSCALED, "ff embd", NULL },
    { "blk.*.post_ffw_norm.weight", L(ffn_post), "embd", NULL },
    { 0 },
};

/* Layers of the 27B model, the only one whose attention is scaled by the width per head (report, table 1). */
enum { LAYERS_27B = 46, WINDOW = 4096, PERIOD = 2 };

static lode_status prepare(lode_hparams *hp, lode_err *err) {
    (void)err;
    if (hp->window == 0) hp->window = WINDOW;
    if (hp->window_period == 0) hp->window_period = PERIOD;
    if (hp->attn_scale == 0 && hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1.0f / sqrtf((float)(hp->n_embd / hp->n_head));
    return LODE_OK;
}

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
        x = lode_add(g, lode_build_norm(b, lode_build_linear(b, &l->wo, h), l->attn_post), x);
        h = lode_build_norm(b, x, l->ffn_norm);
        h = lode_geglu(g, lode_build_linear(b, &l->gate, h), lode_build_linear(b, &l->up, h));
        x = lode_add(g, lode_build_norm(b, lode_build_linear(b, &l->down, h), l->ffn_post), x);
        lode_tag(x, "l_out", il);
    }
    x = lode_build_norm(b, x, w->out_norm);
    x = lode_matmul(g, w->tok_embd, x);
    return hp->final_softcap != 0 ? lode_softcap(g, x, hp->final_softcap) : x;
}

const lode_arch lode_arch_gemma2 = {
    .name = "gemma2",
    .weights_size = sizeof(weights),
    .layer_size = sizeof(layer),
    .tensors = tensors,
    .rope_order = LODE_ROPE_NEOX,
    .attn_softcap = true,
    .final_softcap = true,
    .prepare = prepare,
    .build = build,
};
