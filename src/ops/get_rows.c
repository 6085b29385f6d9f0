/* get_rows.c - rows of a matrix by index: token embeddings, and the rows whose logits somebody wants. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <string.h>

lode_tensor *lode_get_rows(lode_graph *g, lode_tensor *w, lode_tensor *ids) {
    return lode_op_new2(g, LODE_GET_ROWS, NULL, 0, w, ids);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *w = t->src[0], *ids = t->src[1];
    LODE_TRY(lode_want_type(t, 1, LODE_I32, err));
    LODE_TRY(lode_want_floats(t, 0, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(t, w->ne[2] == 1 && w->ne[3] == 1 && lode_n_rows(ids) == 1, "want [d, n] and [t]", err));
    t->type = LODE_F32;
    t->ne[0] = w->ne[0];
    t->ne[1] = ids->ne[0];
    t->dyn = ids->dyn;
    t->dyn_dim = 1;
    return lode_dense(t, err);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *w = t->src[0];
    const int32_t *ids = (const int32_t *)(const void *)lode_host(t->src[1]);
    for (int64_t r = from; r < to; r++) {
        float *y = (float *)(void *)lode_host_row(t, r, 0, 0);
        if (ids[r] < 0 || ids[r] >= w->ne[1])
            memset(y, 0, (size_t)t->ne[0] * sizeof *y);
        else
            lode_decode_row(w->type, lode_host_row(w, ids[r], 0, 0), y, t->ne[0]);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_get_rows(g, c->src[0], c->src[1]); }

#define TYPED(type) "w=" type "[512,7] ids=i32[3]<7 | "

const lode_op_info lode_op_get_rows = {
    .name = "get_rows",
    .doc = "rows of a matrix of any type by index, as f32; an index outside gives zeros",
    .n_src = 2,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "w=f32[64,7] ids=i32[5]<7 | w=q8_0[640,9] ids=i32[70]<9 | w=q4_1[576,9] ids=i32[1]<9 | "
             "w=f32[64,7]+64 ids=i32[5]<7 | " TYPED("f16") TYPED("bf16") TYPED("f64") TYPED("q4_0") TYPED("q5_0")
                 TYPED("q5_1") TYPED("q2_k") TYPED("q3_k") TYPED("q4_k") TYPED("q5_k") TYPED("iq1_s") TYPED("iq1_m")
                     TYPED("iq2_xxs") TYPED("iq2_xs") TYPED("iq2_s") TYPED("iq3_xxs") TYPED("iq3_s") TYPED("iq4_nl")
                         TYPED("iq4_xs") TYPED("tq1_0") TYPED("tq2_0") TYPED("mxfp4") TYPED("nvfp4") TYPED("q1_0")
                             TYPED("q2_0") "w=q6_k[512,9] ids=i32[4]<12",
};
