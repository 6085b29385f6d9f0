/* set_rows.c - writes rows into a target by index, converted to its type. The result is the target itself, so that what
 * reads it comes after. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "ops/rows.h"

#include <string.h>

lode_tensor *lode_set_rows(lode_graph *g, lode_tensor *target, lode_tensor *x, lode_tensor *ids) {
    return lode_op_new3(g, LODE_SET_ROWS, NULL, 0, target, x, ids);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    lode_tensor *target = t->src[0];
    const lode_tensor *x = t->src[1], *ids = t->src[2];
    LODE_TRY(lode_want(t, ids->type == LODE_I64 || ids->type == LODE_I32, "indices are i32 or i64", err));
    LODE_TRY(
        lode_want(t, x->type == target->type || lode_type_can_encode(target->type), "no encoder for this type", err));
    LODE_TRY(lode_want(t, lode_type_can_decode(x->type), "values are floats", err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(t,
                       x->ne[0] == target->ne[0] && x->ne[1] == ids->ne[0] && x->ne[2] == target->ne[2] &&
                           x->ne[3] == target->ne[3],
                       "want [n, m, x, y], [n, r, x, y] and [r, ...]", err));
    LODE_TRY(lode_want(
        t, lode_is_multiple(x->ne[2], ids->ne[1]) && lode_is_multiple(x->ne[3], ids->ne[2]) && ids->ne[3] == 1,
        "indices do not repeat to the values' sizes", err));
    t->type = target->type;
    memcpy(t->ne, target->ne, sizeof t->ne);
    memcpy(t->nb, target->nb, sizeof t->nb);
    t->view_of = target->view_of ? target->view_of : target;
    t->view_off = target->view_off;
    return LODE_OK;
}

static int64_t units(const lode_tensor *t) { return lode_n_rows(t->src[1]); }

char *lode_set_rows_at(const lode_tensor *t, int64_t r) {
    const lode_tensor *x = t->src[1], *ids = t->src[2];
    const int64_t i = r % x->ne[1], j = r / x->ne[1] % x->ne[2], k = r / x->ne[1] / x->ne[2];
    const int64_t id = lode_row_id(ids, i, j % ids->ne[1], k % ids->ne[2]);
    return id < 0 || id >= t->ne[1] ? NULL : lode_host_row(t, id, j, k);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *x = t->src[1];
    float buf[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        char *row = lode_set_rows_at(t, r);
        const char *values = lode_host_nth_row(x, r);
        for (int64_t i = 0, n; i < t->ne[0] && row; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            lode_store(t, row, i, n, lode_peek(x, values, i, n, buf));
        }
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_set_rows(g, c->src[0], c->src[1], c->src[2]);
}

const lode_op_info lode_op_set_rows = {
    .name = "set_rows",
    .doc = "rows into a target by index; an index outside writes nothing",
    .n_src = 3,
    .infer = infer,
    .ref = ref,
    .units = units,
    .make = make,
    .cases = "y=f32[63,20] x=f32[63,3] ids=i32[3]<20 | y=f16[64,20] x=f32[64,3] ids=i64[3]<20"
             " | y=q8_0[64,20] x=f32[64,5] ids=i32[5]<20 | y=f16[30,9,4,2] x=f16[30,3,4,2] ids=i64[3,2]<9"
             " | y=bf16[30,9] x=f32[30,3]+2 ids=i32[3]<9 | y=q4_0[64,20] x=f16[64,5] ids=i32[5]<20"
             " | y=f16[16,9] x=f32[16,11] ids=i32[11]<-1..10 | y=f32[16,9] x=f32[16,11] ids=i64[11]<-1..10"
             " | y=q8_0[32,9] x=f32[32,11] ids=i64[11]<-1..10",
};
