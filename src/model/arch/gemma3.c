/* gemma3.c - Gemma 3: Gemma 2 without soft caps, with norms on queries and keys; five of six layers see a
 * window and turn by a base of their own. */
#include "model/model.h"

#include <math.h>

typedef struct {
    lode_tensor *tok_embd, *out_norm;
    lode_linear output;
} weights;

typedef struct {
    lode_tensor *attn_norm, *q_norm, *k_norm, *attn_post, *ffn_norm, *ffn_post;
    lode_linear wq, wk, wv, wo, gate, up, down;
} layer;
#define M(f) offsetof(weights, f)
#define L(f) (offsetof(layer, f) | LODE_PER_LAYER)

static const lode_tensor_rule tensors[] = {
    { "token_embd.weight", M(tok_embd), "embd vocab", NULL },
    { "output_norm.weight", M(out_norm), "embd", NULL },
    { "output", M(output) | LODE_LINEAR, "embd vocab", "token_embd.weight" },
    { "blk.*.attn_norm.weight", L(attn_norm), "embd", NULL },
    { "blk.*.attn_q", L(wq) | LODE_LINEAR, "embd q", NULL },
    { "blk.*.attn_k", L(wk) | LODE_LINEAR, "embd kv", NULL },
    { "blk.*.attn_v", L(wv) | LODE_LINEAR, "embd kv", NULL },
    { "blk.*.attn_output", L(wo) | LODE_LINEAR, "q embd", NULL },
    { "blk.*.attn_q_norm.weight", L(q_norm), "head", NULL },
    { "blk.*.attn_k_norm.weight", L(k_norm), "head", NULL },
    { "blk.*.post_attention_norm.weight", L(attn_post), "embd", NULL },
    { "blk.*.ffn_norm.weight", L(ffn_norm), "embd", NULL },
    { "blk.*.ffn_gate", L(gate) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_up", L(up) | LODE_LINEAR | LODE_UNSCALED, "embd ff", NULL },
    { "blk.*.ffn_down", L(down) | LODE_LINEAR | LODE_UNSCALED, "ff embd", NULL },
    { "blk.*.post_ffw_norm.weight", L(ffn_post), "embd", NULL },
    { 0 },
};

/* Layers of the 27B model, whose attention is scaled by the width per head (report, 2025). */
enum { LAYERS_27B = 62, PERIOD = 6 };
static const float local_base = 10000.0f; /* of the layers with a window, never scaled */

static lode_status prepare(lode_hparams *hp, lode_err *err) {
    (void)err;
    if (hp->window_period == 0) hp->window_period = PERIOD;
    if (hp->attn_scale == 0 && hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1.0f / sqrtf((float)(hp->n_embd / hp->n_head));
    hp->rope_local.base = hp->rope_base_local != 0 ? hp->rope_base_local : local_base;
    hp->rope_local.scale = 1.0f;
    hp->rope_local.ext_factor = 0;
    hp->rope_local.attn_factor = 1.0f;
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
        q = lode_build_rope(b, il, lode_build_norm(b, q, l->q_norm));
        k = lode_build_rope(b, il, lode_build_norm(b, k, l->k_norm));
        h = lode_build_attend(b, il, q, k, v);
        lode_build_keep(b, il, &h, &x);
        x = lode_add(g, lode_build_norm(b, lode_build_linear(b, &l->wo, h), l->attn_post), x);
        h = lode_build_norm(b, x, l->ffn_norm);
        h = lode_geglu(g, lode_build_linear(b, &l->gate, h), lode_build_linear(b, &l->up, h));
        x = lode_add(g, lode_build_norm(b, lode_build_linear(b, &l->down, h), l->ffn_post), x);
        lode_tag(x, "l_out", il);
    }
    x = lode_build_norm(b, x, w->out_norm);
    x = lode_build_linear(b, &w->output, x);
    return hp->final_softcap != 0 ? lode_softcap(g, x, hp->final_softcap) : x;
}

const lode_arch lode_arch_gemma3 = {
    .name = "gemma3",
    .weights_size = sizeof(weights),
    .layer_size = sizeof(layer),
    .tensors = tensors,
    .rope_order = LODE_ROPE_NEOX,
    .final_softcap = true,
    .prepare = prepare,
    .build = build,
};
