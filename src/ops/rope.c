/* rope.c - rotary position embedding: turning by angles that rope_table made. */
#include "ops/rope.h"

#include "graph/graph.h"
#include "graph/elem.h"
#include "ops/case.h"
#include "ops/unary.h"

lode_tensor *lode_rope_from(lode_graph *g, lode_tensor *x, lode_tensor *table, lode_rope_order order, int offset) {
    const lode_rope_par par = { (int32_t)order, offset };
    return lode_op_new2(g, LODE_ROPE, &par, sizeof par, x, table);
}

lode_tensor *lode_rope(lode_graph *g, lode_tensor *x, lode_tensor *table, lode_rope_order order) {
    return lode_rope_from(g, x, table, order, 0);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0], *table = t->src[1];
    const int32_t offset = LODE_PAR(t, lode_rope_par)->offset;
    LODE_TRY(lode_want_float(t, 0, err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want_rows(t, 1, err));
    LODE_TRY(lode_want(t, table->ne[1] == x->ne[2] && table->ne[0] % 2 == 0, "want one row of pairs per token", err));
    LODE_TRY(
        lode_want(t, offset >= 0 && table->ne[0] + offset <= x->ne[0], "more angles than a head has elements", err));
    LODE_TRY(
        lode_want(t, x->type == LODE_F32 || x->ne[0] <= LODE_ROPE_MAX_HEAD, "heads of short floats are too long", err));
    return lode_like(t, 0, x->type, err);
}

static void turn(float *y, const float *cs, int a, int b) {
    const double c = (double)cs[0], s = (double)cs[1], xa = (double)y[a], xb = (double)y[b];
    y[a] = (float)(xa * c - xb * s);
    y[b] = (float)(xa * s + xb * c);
}

/* A head in place. */
static void turn_head(const lode_tensor *t, float *y, const float *cs) {
    const lode_rope_par *par = LODE_PAR(t, lode_rope_par);
    const int n_rot = (int)t->src[1]->ne[0];
    y += par->offset;
    for (int p = 0; p < n_rot / 2; p++) {
        const bool halves = par->order == LODE_ROPE_NEOX;
        turn(y, cs + 2 * p, halves ? p : 2 * p, halves ? p + n_rot / 2 : 2 * p + 1);
    }
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    float buf[LODE_ROPE_MAX_HEAD];
    for (int64_t r = from; r < to; r++) {
        const char *x = lode_host_nth_row(t->src[0], r);
        char *y = lode_host_nth_row(t, r);
        const float *cs = (const float *)(const void *)lode_host_row(t->src[1], r / t->ne[1] % t->ne[2], 0, 0);
        float *head = t->type == LODE_F32 ? (float *)(void *)y : buf;
        if ((const char *)head != x) lode_load(t->src[0], x, 0, t->ne[0], head);
        turn_head(t, head, cs);
        if (t->type != LODE_F32) lode_store(t, y, 0, t->ne[0], head);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_rope_from(g, c->src[0], c->src[1], (lode_rope_order)(int)lode_case_num(c, "order", 0),
                          (int)lode_case_num(c, "offset", 0));
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
        "order=1 | x=f32[96,2,5,3] cs=f32[32,5] order=1 offset=40 | x=f16[64,3,5] cs=f32[64,5] | x=f32[70,3,4]+2 "
        "cs=f32[20,4]"
        " offset=3 | x=f16[96,2,5,2] cs=f32[48,5] order=1 offset=8",
};
