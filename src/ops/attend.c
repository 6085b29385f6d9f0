/* attend.c - attention of new tokens over a paged cache of keys and values. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"

#include <math.h>

lode_tensor *lode_attend(lode_graph *g, const lode_attend_src *s, const lode_attend_desc *desc) {
    return lode_op_new(g, LODE_ATTEND, desc, sizeof *desc, (lode_tensor *[]){ s->q, s->k, s->v, s->pages, s->spans },
                       5);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_attend_desc *d = (const lode_attend_desc *)(const void *)t->par;
    const lode_tensor *q = t->src[0], *k = t->src[1], *v = t->src[2], *spans = t->src[4];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 3, LODE_I32, err));
    LODE_TRY(lode_want_type(t, 4, LODE_I32, err));
    LODE_TRY(
        lode_want(t, d->n_kv_head > 0 && q->ne[1] % d->n_kv_head == 0, "heads are not a multiple of kv heads", err));
    LODE_TRY(lode_want(t, k->ne[0] == q->ne[0] * d->n_kv_head && v->ne[0] == k->ne[0] && v->ne[1] == k->ne[1],
                       "the caches do not fit the heads", err));
    LODE_TRY(lode_want(t, k->type == v->type && lode_type_block(k->type) == 1, "want caches of one plain type", err));
    LODE_TRY(lode_want(t, k->ne[1] % LODE_PAGE == 0, "want whole pages", err));
    LODE_TRY(lode_want(t, spans->ne[0] == LODE_SPAN_N && spans->ne[1] == q->ne[2], "want one span per token", err));
    t->type = LODE_F32;
    t->ne[0] = q->ne[0] * q->ne[1];
    t->ne[1] = q->ne[2];
    t->dyn = q->dyn;
    t->dyn_dim = 1;
    return lode_dense(t, err);
}

/* One head of one token, in three passes over its cells: largest score, sum, weighted values. */
typedef struct {
    const lode_tensor *t;
    const int32_t *pages, *span;
    int64_t head, token;
} one_head;

static size_t row_of(const one_head *h, int64_t cell) {
    return (size_t)h->pages[cell / LODE_PAGE] * LODE_PAGE + (size_t)(cell % LODE_PAGE);
}

static double element(const lode_tensor *c, size_t row, int64_t i) {
    const char *p = lode_host(c) + row * c->nb[1] + (size_t)i * c->nb[0];
    float f;
    lode_decode_row(c->type, p, &f, 1);
    return (double)f;
}

static double score(const one_head *h, int64_t cell) {
    const lode_tensor *t = h->t;
    const lode_attend_desc *d = (const lode_attend_desc *)(const void *)t->par;
    const lode_tensor *q = t->src[0];
    const int64_t dh = q->ne[0], kv = h->head / (q->ne[1] / d->n_kv_head);
    const float *qr = (const float *)(const void *)lode_host_row(q, h->head, h->token, 0);
    double sum = 0;
    for (int64_t i = 0; i < dh; i++) sum += (double)qr[i] * element(t->src[1], row_of(h, cell), kv * dh + i);
    sum *= (double)d->scale;
    return d->softcap != 0 ? (double)d->softcap * tanh(sum / (double)d->softcap) : sum;
}

static void attend_one(const one_head *h) {
    const lode_tensor *t = h->t;
    const lode_attend_desc *d = (const lode_attend_desc *)(const void *)t->par;
    const int64_t dh = t->src[0]->ne[0], kv = h->head / (t->src[0]->ne[1] / d->n_kv_head);
    const int64_t from = h->span[d->windowed ? LODE_SPAN_FROM_WINDOW : LODE_SPAN_FROM], to = h->span[LODE_SPAN_TO];
    float *y = (float *)(void *)lode_host_row(t, h->token, 0, 0) + h->head * dh;
    double most = -INFINITY, total = 0;
    for (int64_t c = from; c < to; c++) most = fmax(most, score(h, c));
    for (int64_t i = 0; i < dh; i++) y[i] = 0;
    for (int64_t c = from; c < to; c++) total += exp(score(h, c) - most);
    for (int64_t i = 0; i < dh && to > from; i++) {
        double sum = 0;
        for (int64_t c = from; c < to; c++)
            sum += exp(score(h, c) - most) * element(t->src[2], row_of(h, c), kv * dh + i);
        y[i] = (float)(sum / total);
    }
}

static int64_t units(const lode_tensor *t) { return t->src[0]->ne[1] * t->src[0]->ne[2]; }

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *pages = t->src[3], *spans = t->src[4];
    const int64_t n_head = t->src[0]->ne[1];
    for (int64_t i = from; i < to; i++) {
        one_head h = { .t = t, .head = i % n_head, .token = i / n_head };
        h.span = (const int32_t *)(const void *)lode_host_row(spans, h.token, 0, 0);
        h.pages = (const int32_t *)(const void *)lode_host_row(pages, h.span[LODE_SPAN_SEQ], 0, 0);
        attend_one(&h);
    }
}

const lode_op_info lode_op_attend = {
    .name = "attend",
    .doc = "attention over a paged cache; its cases stand in attend_test.c, which fills pages and spans",
    .n_src = 5,
    .infer = infer,
    .ref = ref,
    .units = units,
};
