/* add_id.c - a [n, k, t] plus the column of b [n, e] that ids i32 [k, t] names: biases of experts. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

lode_tensor *lode_add_id(lode_graph *g, lode_tensor *a, lode_tensor *b, lode_tensor *ids) {
    return lode_op_new3(g, LODE_ADD_ID, NULL, 0, a, b, ids);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *a = t->src[0], *b = t->src[1], *ids = t->src[2];
    for (int i = 0; i < 2; i++) LODE_TRY(lode_want_type(t, i, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 2, LODE_I32, err));
    for (int i = 0; i < 3; i++) LODE_TRY(lode_want_rows(t, i, err));
    LODE_TRY(lode_want(t, b->ne[0] == a->ne[0] && ids->ne[0] == a->ne[1] && ids->ne[1] == a->ne[2] && a->ne[3] == 1,
                       "want [n, k, t], [n, e] and [k, t]", err));
    return lode_like(t, 0, LODE_F32, err);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *b = t->src[1];
    for (int64_t r = from; r < to; r++) {
        const int32_t *ids = (const int32_t *)(const void *)lode_host_row(t->src[2], r / t->ne[1], 0, 0);
        const int32_t e = ids[r % t->ne[1]];
        const float *x = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        const bool there = e >= 0 && e < b->ne[1];
        const float *add = (const float *)(const void *)lode_host_row(b, there ? e : 0, 0, 0);
        for (int64_t i = 0; i < t->ne[0]; i++) y[i] = there ? x[i] + add[i] : x[i];
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_add_id(g, c->src[0], c->src[1], c->src[2]); }

const lode_op_info lode_op_add_id = {
    .name = "add_id",
    .doc = "a plus the column of b that each row's id names; an id outside adds nothing",
    .n_src = 3,
    .infer = infer,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "a=f32[63,2,3] b=f32[63,7] ids=i32[2,3]<7 | a=f32[64,4,5] b=f32[64,3] ids=i32[4,5]<4+4"
             " | a=f32[64,11,2] b=f32[64,9] ids=i32[11,2]<-1..10",
};
