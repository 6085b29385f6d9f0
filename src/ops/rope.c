/* rope.c - rotary position embedding: turning by angles that rope_table made. */
#include "ops/rope.h"

#include "graph/graph.h"
#include "graph/host.h"
#include "ops/case.h"

lode_tensor *lode_rope(lode_graph *g, lode_tensor *x, lode_tensor *table, lode_rope_order order) {
    const lode_rope_par par = { (int32_t)order };
    return lode_op_new2(g, LODE_ROPE, &par, sizeof par, x, table);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0], *table = t->src[1];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(t, table->ne[1] == x->ne[2] && x->ne[3] == 1, "want one row of angles per token", err));
    LODE_TRY(lode_want(t, table->ne[0] <= x->ne[0], "more angles than a head has elements", err));
    return lode_like(t, 0, LODE_F32, err);
}

static void turn(const float *x, float *y, const float *cs, int a, int b) {
    const double c = (double)cs[0], s = (double)cs[1], xa = (double)x[a], xb = (double)x[b];
    y[a] = (float)(xa * c - xb * s);
    y[b] = (float)(xa * s + xb * c);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_rope_par *par = (const lode_rope_par *)(const void *)t->par;
    const int n_rot = (int)t->src[1]->ne[0];
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
        const float *cs = (const float *)(const void *)lode_host_row(t->src[1], r / t->ne[1], 0, 0);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = n_rot; i < t->ne[0]; i++) y[i] = x[i];
        for (int p = 0; p < n_rot / 2; p++) {
            if (par->order == LODE_ROPE_NEOX)
                turn(x, y, cs + 2 * p, p, p + n_rot / 2);
            else
                turn(x, y, cs + 2 * p, 2 * p, 2 * p + 1);
        }
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_rope(g, c->src[0], c->src[1], (lode_rope_order)(int)lode_case_num(c, "order", 0));
}

const lode_op_info lode_op_rope = {
    .name = "rope",
    .doc = "turns pairs of elements of each head by a table of angles",
    .n_src = 2,
    .infer = infer,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases =
        "x=f32[64,9,3] cs=f32[64,3] order=0 | x=f32[64,9,3] cs=f32[64,3] order=1 | x=f32[96,2,5] cs=f32[32,5] order=1"
        " | x=f32[256,4,2] cs=f32[256,2] order=1 | x=f32[20,3,4] cs=f32[18,4] order=0 | x=f32[20,3,4] cs=f32[18,4] "
        "order=1",
};
