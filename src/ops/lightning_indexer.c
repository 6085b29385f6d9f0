/* lightning_indexer.c - which keys matter (DeepSeek-V3.2, 2025): for each token and key, the sum over small heads of
 * w max(0, q.k), plus a mask. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"

enum { MAX_HEAD = 1024 }; /* far above any model's */

lode_tensor *lode_lightning_indexer(lode_graph *g, lode_tensor *q, lode_tensor *k, lode_tensor *w, lode_tensor *mask) {
    return lode_op_new(g, LODE_LIGHTNING_INDEXER, NULL, 0, (lode_tensor *[]){ q, k, w, mask }, 4);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *q = t->src[0], *k = t->src[1], *w = t->src[2], *mask = t->src[3];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want(t, lode_type_can_decode(k->type), "keys of this type have no values", err));
    LODE_TRY(lode_want_type(t, 2, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 3, LODE_F16, err));
    for (int i = 0; i < 4; i++) LODE_TRY(lode_want_rows(t, i, err));
    LODE_TRY(lode_want(t,
                       q->ne[0] == k->ne[0] && q->ne[0] <= MAX_HEAD && k->ne[1] == 1 && q->ne[3] == k->ne[3] &&
                           lode_has_sizes(w, q->ne[1], q->ne[2], 1, q->ne[3]) && mask->ne[2] == 1 &&
                           mask->ne[0] == k->ne[2] && mask->ne[1] >= q->ne[2] &&
                           lode_is_multiple(q->ne[3], mask->ne[3]),
                       "want q [d, h, t, n], k [d, 1, keys, n], w [h, t, 1, n], mask [keys, t, 1, ...]", err));
    t->type = LODE_F32;
    t->ne[0] = k->ne[2];
    t->ne[1] = q->ne[2];
    t->ne[3] = q->ne[3];
    return lode_dense(t, err);
}

static int64_t units(const lode_tensor *t) { return t->ne[0] * t->ne[3]; }

/* A unit is a key: it is decoded once for all tokens. */
static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *q = t->src[0], *k = t->src[1], *mask = t->src[3];
    float key[MAX_HEAD];
    for (int64_t u = from; u < to; u++) {
        const int64_t c = u % t->ne[0], n = u / t->ne[0];
        lode_decode_row(k->type, lode_host_row(k, 0, c, n), key, k->ne[0]);
        for (int64_t i = 0; i < t->ne[1]; i++) {
            const float *w = (const float *)(const void *)lode_host_row(t->src[2], i, 0, n);
            float m;
            lode_decode_row(LODE_F16, lode_host_row(mask, i, 0, n % mask->ne[3]) + (size_t)c * mask->nb[0], &m, 1);
            double sum = (double)m;
            for (int64_t h = 0; h < q->ne[1]; h++) {
                const float *x = (const float *)(const void *)lode_host_row(q, h, i, n);
                float dot[8] = { 0 };
                int64_t d = 0;
                for (; d + 8 <= q->ne[0]; d += 8)
                    for (int e = 0; e < 8; e++) dot[e] += x[d + e] * key[d + e];
                double score = 0;
                for (int e = 0; e < 8; e++) score += (double)dot[e];
                for (; d < q->ne[0]; d++) score += (double)x[d] * (double)key[d];
                if (score > 0) sum += (double)w[h] * score;
            }
            ((float *)(void *)lode_host_row(t, i, 0, n))[c] = (float)sum;
        }
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_lightning_indexer(g, c->src[0], c->src[1], c->src[2], c->src[3]);
}

const lode_op_info lode_op_lightning_indexer = {
    .name = "lightning_indexer",
    .doc = "for each token and key, the sum over heads of w max(0, q.k), plus a mask",
    .n_src = 4,
    .infer = infer,
    .ref = ref,
    .units = units,
    .make = make,
    .cases =
        "q=f32[128,4,5] k=f16[128,1,40] w=f32[4,5] m=f16[40,5] | q=f32[128,2,3,2] k=q8_0[128,1,33,2] w=f32[2,3,1,2]"
        " m=f16[33,3] | q=f32[20,3,2] k=f32[20,1,7] w=f32[3,2] m=f16[7,2]",
};
