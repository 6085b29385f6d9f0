/* flash_attn.c - attention over dense keys and values (Vaswani et al. 2017; Dao et al. 2022 for the name). */
#include "ops/flash_attn.h"

#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <math.h>

lode_tensor *lode_flash_attn(lode_graph *g, const lode_flash_attn_src *s, const lode_flash_attn_desc *desc) {
    lode_flash_attn_desc d = *desc;
    d.has_mask = s->mask != NULL;
    return lode_op_new(g, LODE_FLASH_ATTN, &d, sizeof d,
                       (lode_tensor *[]){ s->q, s->k, s->v, s->mask ? s->mask : s->sinks, s->mask ? s->sinks : NULL },
                       5);
}

static const lode_tensor *mask_of(const lode_tensor *t) {
    return LODE_PAR(t, lode_flash_attn_desc)->has_mask ? t->src[3] : NULL;
}

static const lode_tensor *sinks_of(const lode_tensor *t) {
    return LODE_PAR(t, lode_flash_attn_desc)->has_mask ? t->src[4] : t->src[3];
}

static lode_status infer_extra(lode_tensor *t, lode_err *err) {
    const lode_tensor *q = t->src[0], *k = t->src[1], *mask = mask_of(t), *sinks = sinks_of(t);
    if (mask)
        LODE_TRY(lode_want(t,
                           mask->type == LODE_F16 && mask->nb[0] == 2 && mask->ne[0] == k->ne[1] &&
                               mask->ne[1] >= q->ne[1] && lode_is_multiple(q->ne[2], mask->ne[2]) &&
                               lode_is_multiple(q->ne[3], mask->ne[3]),
                           "want an f16 mask [keys, tokens, ...]", err));
    if (sinks)
        LODE_TRY(lode_want(t, sinks->type == LODE_F32 && sinks->nb[0] == 4 && sinks->ne[0] == q->ne[2],
                           "want one f32 sink per head", err));
    return LODE_OK;
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *q = t->src[0], *k = t->src[1], *v = t->src[2];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    for (int i = 0; i < 3; i++) LODE_TRY(lode_want_rows(t, i, err));
    LODE_TRY(lode_want(t, lode_type_can_decode(k->type) && lode_type_can_decode(v->type),
                       "want keys and values of floats", err));
    LODE_TRY(lode_want(t,
                       q->ne[0] == k->ne[0] && k->ne[1] == v->ne[1] && k->ne[2] == v->ne[2] &&
                           lode_is_multiple(q->ne[2], k->ne[2]) && q->ne[3] == k->ne[3] && q->ne[3] == v->ne[3],
                       "want q [d, t, heads, b], k [d, keys, kv heads, b], v [dv, keys, kv heads, b]", err));
    LODE_TRY(
        lode_want(t, k->ne[0] <= LODE_FLASH_MAX_D && v->ne[0] <= LODE_FLASH_MAX_D, "want heads of at most 1024", err));
    LODE_TRY(infer_extra(t, err));
    t->type = LODE_F32;
    t->ne[0] = v->ne[0];
    t->ne[1] = q->ne[2];
    t->ne[2] = q->ne[1];
    t->ne[3] = q->ne[3];
    return lode_dense(t, err);
}

float lode_alibi_slope(float max_bias, int64_t h, int64_t n) {
    if (max_bias == 0.0f) return 1.0f;
    const int64_t whole = (int64_t)1 << (int)floor(log2((double)n));
    const double m0 = pow(2.0, -(double)max_bias / (double)whole),
                 m1 = pow(2.0, -(double)max_bias / 2.0 / (double)whole);
    return (float)(h < whole ? pow(m0, (double)(h + 1)) : pow(m1, (double)(2 * (h - whole) + 1)));
}

typedef struct {
    const lode_tensor *t;
    int64_t token, head, batch, kv_head;
    const char *mask; /* row, NULL */
    double slope;
} one_row;

static double score(const one_row *r, int64_t cell) {
    const lode_flash_attn_desc *d = LODE_PAR(r->t, lode_flash_attn_desc);
    const lode_tensor *q = r->t->src[0], *k = r->t->src[1];
    const float *qr = (const float *)(const void *)lode_host_row(q, r->token, r->head, r->batch);
    float key[LODE_FLASH_MAX_D];
    double sum = 0;
    float m = 0;
    if (r->mask) lode_decode_row(LODE_F16, r->mask + cell * 2, &m, 1);
    if (m == -INFINITY) return -INFINITY;
    lode_decode_row(k->type, lode_host_row(k, cell, r->kv_head, r->batch), key, k->ne[0]);
    for (int64_t i = 0; i < k->ne[0]; i++) sum += (double)qr[i] * (double)key[i];
    sum *= (double)d->scale;
    if (d->softcap != 0) sum = (double)d->softcap * tanh(sum / (double)d->softcap);
    return sum + r->slope * (double)m;
}

static void attend(const one_row *r) {
    const lode_tensor *t = r->t, *v = t->src[2], *sinks = sinks_of(t);
    const int64_t keys = v->ne[1];
    double most = -INFINITY, total = 0, sum[LODE_FLASH_MAX_D] = { 0 };
    float value[LODE_FLASH_MAX_D], *y = (float *)(void *)lode_host_row(t, r->head, r->token, r->batch);
    const double sink = sinks ? (double)((const float *)(const void *)lode_host(sinks))[r->head] : -INFINITY;
    for (int64_t c = 0; c < keys; c++) most = fmax(most, score(r, c));
    most = fmax(most, sink);
    for (int64_t c = 0; c < keys && most > -INFINITY; c++) {
        const double w = exp(score(r, c) - most);
        if (w == 0) continue;
        lode_decode_row(v->type, lode_host_row(v, c, r->kv_head, r->batch), value, v->ne[0]);
        total += w;
        for (int64_t i = 0; i < v->ne[0]; i++) sum[i] += w * (double)value[i];
    }
    if (sinks) total += exp(sink - most);
    for (int64_t i = 0; i < v->ne[0]; i++) y[i] = total > 0 ? (float)(sum[i] / total) : 0.0f;
}

/* Rows (head, token, batch) of the result. */
static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *q = t->src[0], *mask = mask_of(t);
    const int64_t group = q->ne[2] / t->src[1]->ne[2];
    for (int64_t i = from; i < to; i++) {
        one_row r = {
            .t = t, .head = i % t->ne[1], .token = i / t->ne[1] % t->ne[2], .batch = i / t->ne[1] / t->ne[2]
        };
        r.kv_head = r.head / group;
        r.slope = (double)lode_alibi_slope(LODE_PAR(t, lode_flash_attn_desc)->max_bias, r.head, q->ne[2]);
        if (mask) r.mask = lode_host_row(mask, r.token, r.head % mask->ne[2], r.batch % mask->ne[3]);
        attend(&r);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    const lode_flash_attn_desc d = {
        .scale = (float)lode_case_num(c, "scale", 0.125),
        .max_bias = (float)lode_case_num(c, "bias", 0),
        .softcap = (float)lode_case_num(c, "cap", 0),
    };
    const bool mask = c->src[3] && c->src[3]->type == LODE_F16;
    return lode_flash_attn(g,
                           &(lode_flash_attn_src){ c->src[0], c->src[1], c->src[2], mask ? c->src[3] : NULL,
                                                   mask ? c->src[4] : c->src[3] },
                           &d);
}

const lode_op_info lode_op_flash_attn = {
    .name = "flash_attn",
    .doc = "attention over dense keys and values, with mask, position bias, soft-cap and sinks",
    .n_src = 3,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases =
        "q=f32[64,3,4] k=f16[64,70,2] v=f16[64,70,2] m=f16[70,3] | q=f32[64,1,6] k=f32[64,600,2] v=f32[64,600,2]"
        " | q=f32[40,5,4] k=f16[40,33,4] v=f16[40,33,4] m=f16[33,8] s=f32[4] cap=10"
        " | q=f32[64,2,4,2] k=q8_0[64,90,1,2] v=q4_0[64,90,1,2] m=f16[90,2,1,2] bias=8"
        " | q=f32[65,2,3] k=f32[65,40,1] v=f16[67,40,1] s=f32[3] | q=f32[576,2,8] k=bf16[576,100,1] v=bf16[512,100,1]"
        " | q=f32[128,40,8] k=f16[128,300,2] v=f16[128,300,2] m=f16[300,40] scale=0.09"
        " | q=f32[64,4,50]^0213 k=f16[64,2,50]^021 v=f16[64,2,50]^021 m=f16[50,50]"
        " | q=f32[32,1,32] k=f16[32,1500,1] v=f16[32,1500,1] m=f16[1500,1]",
};
