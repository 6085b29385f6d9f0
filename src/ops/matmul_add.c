/* matmul_add.c - matrix product plus a bias or a residual. rule.def is the meaning. */
#include "ops/binary.h"
#include "ops/case.h"
#include "ops/matmul.h"

lode_tensor *lode_matmul_add(lode_graph *g, lode_tensor *w, lode_tensor *x, lode_tensor *c) {
    return lode_op_new3(g, LODE_MATMUL_ADD, NULL, 0, w, x, c);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_infer_matmul(t, err));
    LODE_TRY(lode_want_type(t, 2, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 2, err));
    LODE_TRY(lode_want(t, t->ne[2] == 1 && t->ne[3] == 1, "want two matrices", err));
    return lode_want(t, t->src[2]->ne[0] == t->ne[0] && (t->src[2]->ne[1] == t->ne[1] || t->src[2]->ne[1] == 1),
                     "what is added does not fit the product", err);
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_matmul_add(g, c->src[0], c->src[1], c->src[2]);
}

const lode_op_info lode_op_matmul_add = {
    .name = "matmul_add",
    .doc = "matrix product plus a bias or a residual",
    .n_src = 3,
    .infer = infer,
    .make = make,
    .cases = "w=f32[64,7] x=f32[64,3] c=f32[7] | w=q4_1[576,37] x=f32[576,1] c=f32[37,1]"
             " | w=q8_0[512,40] x=f32[512,20] c=f32[40,20] | w=q6_k[512,33] x=f32[512,5] c=f32[33]",
};
