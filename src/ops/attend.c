/* attend.c - attention of new tokens over a paged cache of keys and values. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <math.h>

lode_tensor *lode_attend(lode_graph *g, const lode_attend_src *s, const lode_attend_desc *desc) {
    return lode_op_new(g, LODE_ATTEND, desc, sizeof *desc, (lode_tensor *[]){ s->q, s->k, s->v, s->pages, s->spans },
                       5);
}

enum { MAX_HEAD = 1024 }; /* far above any model's */

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
    LODE_TRY(lode_want(t, q->ne[0] <= MAX_HEAD, "want heads of at most 1024", err));
    LODE_TRY(lode_want(t, spans->ne[0] == LODE_SPAN_N && spans->ne[1] == q->ne[2], "want one span per token", err));
    t->type = LODE_F32;
    t->ne[0] = q->ne[0] * q->ne[1];
    t->ne[1] = q->ne[2];
    t->dyn = q->dyn;
    t->dyn_dim = 1;
    return lode_dense(t, err);
}

/* One head of one token, in two passes over its cells: the largest score; sum and weighted values. */
typedef struct {
    const lode_tensor *t;
    const int32_t *pages, *span;
    int64_t head, token;
} one_head;

/* This head's part of a cell of cache c, as floats. */
static void load_cell(const one_head *h, const lode_tensor *c, int64_t cell, float out[MAX_HEAD]) {
    const lode_attend_desc *d = LODE_PAR(h->t, lode_attend_desc);
    const lode_tensor *q = h->t->src[0];
    const int64_t kv = h->head / (q->ne[1] / d->n_kv_head);
    const size_t row = (size_t)h->pages[cell / LODE_PAGE] * LODE_PAGE + (size_t)(cell % LODE_PAGE);
    lode_decode_row(c->type, lode_host(c) + row * c->nb[1] + (size_t)(kv * q->ne[0]) * c->nb[0], out, q->ne[0]);
}

static double score(const one_head *h, int64_t cell) {
    const lode_attend_desc *d = LODE_PAR(h->t, lode_attend_desc);
    const lode_tensor *q = h->t->src[0];
    const float *qr = (const float *)(const void *)lode_host_row(q, h->head, h->token, 0);
    float k[MAX_HEAD];
    load_cell(h, h->t->src[1], cell, k);
    double sum = 0;
    for (int64_t i = 0; i < q->ne[0]; i++) sum += (double)qr[i] * (double)k[i];
    sum *= (double)d->scale;
    return d->softcap != 0 ? (double)d->softcap * tanh(sum / (double)d->softcap) : sum;
}

static void attend_one(const one_head *h) {
    const lode_tensor *t = h->t;
    const int64_t dh = t->src[0]->ne[0];
    const bool windowed = LODE_PAR(t, lode_attend_desc)->windowed;
    const int64_t from = h->span[windowed ? LODE_SPAN_FROM_WINDOW : LODE_SPAN_FROM], to = h->span[LODE_SPAN_TO];
    float *y = (float *)(void *)lode_host_row(t, h->token, 0, 0) + h->head * dh, v[MAX_HEAD];
    double most = -INFINITY, total = 0, sum[MAX_HEAD] = { 0 };
    for (int64_t c = from; c < to; c++) most = fmax(most, score(h, c));
    for (int64_t c = from; c < to; c++) {
        const double w = exp(score(h, c) - most);
        load_cell(h, t->src[2], c, v);
        total += w;
        for (int64_t i = 0; i < dh; i++) sum[i] += w * (double)v[i];
    }
    for (int64_t i = 0; i < dh; i++) y[i] = to > from ? (float)(sum[i] / total) : 0.0f;
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

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    const lode_attend_desc d = {
        .scale = (float)lode_case_num(c, "scale", 0.125),
        .softcap = (float)lode_case_num(c, "cap", 0),
        .windowed = (int32_t)lode_case_num(c, "windowed", 0),
        .n_kv_head = (int32_t)lode_case_num(c, "kv", 1),
    };
    return lode_attend(g, &(lode_attend_src){ c->src[0], c->src[1], c->src[2], c->src[3], c->src[4] }, &d);
}

const lode_op_info lode_op_attend = {
    .name = "attend",
    .doc = "attention over a paged cache",
    .n_src = 5,
    .infer = infer,
    .ref = ref,
    .units = units,
    .make = make,
    /* Cells of both sequences lie in a permuted order of pages; spans end within and behind a part of 512 cells. */
    .cases = "q=f32[64,9,1] k=f16[192,1280] v=f16[192,1280] pages=i32[10,2]<20 spans=i32[4,1]<640 kv=3 | "
             "q=f32[64,4,5] k=f32[256,1280] v=f32[256,1280] pages=i32[10,2]<20 spans=i32[4,5]<640 kv=4 | "
             "q=f32[80,4,3] k=f16[160,1280] v=f16[160,1280] pages=i32[10,2]<20 spans=i32[4,3]<640 kv=2 scale=0.11 | "
             "q=f32[96,4,2] k=f16[96,1280] v=f16[96,1280] pages=i32[10,2]<20 spans=i32[4,2]<640 cap=30 | "
             "q=f32[128,8,20] k=f16[128,1280] v=f16[128,1280] pages=i32[10,2]<20 spans=i32[4,20]<640 scale=0.09 | "
             "q=f32[128,3,7] k=f32[128,1280] v=f32[128,1280] pages=i32[10,2]<20 spans=i32[4,7]<640 windowed=1 | "
             "q=f32[256,4,9] k=f16[256,1280] v=f16[256,1280] pages=i32[10,2]<20 spans=i32[4,9]<640 windowed=1 cap=50 "
             "scale=0.06",
};
