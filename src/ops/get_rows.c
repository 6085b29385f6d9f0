/* get_rows.c - rows of a matrix by index: token embeddings, and the rows whose logits somebody wants. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "ops/rows.h"

#include <string.h>

lode_tensor *lode_get_rows(lode_graph *g, lode_tensor *w, lode_tensor *ids) {
    return lode_op_new2(g, LODE_GET_ROWS, NULL, 0, w, ids);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *w = t->src[0], *ids = t->src[1];
    LODE_TRY(lode_want_type(t, 1, LODE_I32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(
        lode_want(t, w->type == LODE_I32 || lode_type_can_decode(w->type), "rows of this type have no values", err));
    LODE_TRY(lode_want(t, w->ne[2] == ids->ne[1] && w->ne[3] == ids->ne[2] && ids->ne[3] == 1,
                       "want [d, n, x, y] and [t, x, y]", err));
    t->type = w->type == LODE_I32 ? LODE_I32 : LODE_F32;
    t->ne[0] = w->ne[0];
    for (int i = 0; i < 3; i++) t->ne[i + 1] = ids->ne[i];
    t->dyn = ids->dyn;
    t->dyn_dim = 1;
    return lode_dense(t, err);
}

const char *lode_get_rows_at(const lode_tensor *t, int64_t r) {
    const lode_tensor *w = t->src[0];
    const int64_t i = r % t->ne[1], j = r / t->ne[1] % t->ne[2], k = r / t->ne[1] / t->ne[2];
    const int64_t id = lode_row_id(t->src[1], i, j, k);
    return id < 0 || id >= w->ne[1] ? NULL : lode_host_row(w, id, j, k);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        const char *row = lode_get_rows_at(t, r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        if (!row)
            memset(y, 0, (size_t)t->ne[0] * sizeof *y);
        else if (t->type == LODE_I32)
            memcpy(y, row, (size_t)t->ne[0] * sizeof *y);
        else
            lode_decode_row(t->src[0]->type, row, y, t->ne[0]);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_get_rows(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_get_rows = {
    .name = "get_rows",
    .doc = "rows of a matrix of any type by index, as f32 (whole numbers stay); an index outside gives zeros",
    .n_src = 2,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "w=f32[64,7] ids=i32[5]<7 | w=f16[64,7] ids=i32[3]<7 | w=q8_0[640,9] ids=i32[70]<9"
             " | w=q4_1[576,9] ids=i32[1]<9 | w=q6_k[512,9] ids=i32[4]<12 | w=f32[64,7]+64 ids=i32[5]<7"
             " | w=iq4_nl[64,7] ids=i32[3]<7 | w=mxfp4[64,7] ids=i32[3]<7 | w=f32[63,7,3,2] ids=i32[4,3,2]<7"
             " | w=i32[9,7]<50 ids=i32[4]<7 | w=f16[16,9,3] ids=i32[5,3]<9+3"
             " | w=f32[16,9] ids=i32[11]<-1..10 | w=f16[16,9] ids=i32[11]<-1..10 | w=i32[16,9]<50 ids=i32[11]<-1..10",
};
