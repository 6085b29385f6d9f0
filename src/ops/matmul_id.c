/* matmul_id.c - mixtures of experts (Shazeer et al. 2017): y[:, e, t] = W[ids[e, t]] x[:, e or 0, t]. */
#include "graph/graph.h"
#include "graph/host.h"
#include "ops/case.h"
#include "ops/matmul.h"

lode_tensor *lode_matmul_id(lode_graph *g, lode_tensor *experts, lode_tensor *x, lode_tensor *ids) {
    return lode_op_new3(g, LODE_MATMUL_ID, NULL, 0, experts, x, ids);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *w = t->src[0], *x = t->src[1], *ids = t->src[2];
    if (x->type != LODE_Q8A) LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_floats(t, 0, err));
    LODE_TRY(lode_want_type(t, 2, LODE_I32, err));
    for (int i = 0; i < 3; i++) LODE_TRY(lode_want_rows(t, i, err));
    LODE_TRY(lode_want(t,
                       w->ne[0] == x->ne[0] && w->ne[3] == 1 && x->ne[3] == 1 && x->ne[2] == ids->ne[1] &&
                           lode_is_multiple(ids->ne[0], x->ne[1]) && ids->ne[2] == 1 && ids->ne[3] == 1,
                       "want [k, n, experts], [k, 1 or used, t] and [used, t]", err));
    t->type = LODE_F32;
    t->ne[0] = w->ne[1];
    t->ne[1] = ids->ne[0];
    t->ne[2] = x->ne[2];
    t->dyn = x->dyn;
    t->dyn_dim = 2;
    return lode_dense(t, err);
}

/* An id outside writes zeros. */
static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *w = t->src[0], *x = t->src[1];
    for (int64_t r = from; r < to; r++) {
        const int64_t e = r % t->ne[1], c = r / t->ne[1];
        const int32_t id = ((const int32_t *)(const void *)lode_host_row(t->src[2], c, 0, 0))[e];
        float *y = (float *)(void *)lode_host_row(t, e, c, 0);
        const char *x_row = lode_host_row(x, e % x->ne[1], c, 0);
        for (int64_t j = 0; j < t->ne[0]; j++)
            y[j] = id < 0 || id >= w->ne[2] ? 0 : (float)lode_ref_dot(w, lode_host_row(w, j, id, 0), x, x_row);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_matmul_id(g, c->src[0], c->src[1], c->src[2]);
}

const lode_op_info lode_op_matmul_id = {
    .name = "matmul_id",
    .doc = "each column times the matrix that its id names",
    .n_src = 3,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "w=f32[63,17,4] x=f32[63,1,5] ids=i32[2,5]<4 | w=q4_0[64,40,8] x=f32[64,3,70] ids=i32[3,70]<8"
             " | w=q8_0[64,9,3] x=f32[64,2,1] ids=i32[2,1]<3+1 | w=f16[33,20,5] x=f32[33,1,100] ids=i32[2,100]<2"
             " | w=iq4_nl[64,9,3] x=f32[64,1,4] ids=i32[2,4]<3"
             " | w=q4_0[64,9,3] x=f32[64,1,2] ids=i32[5,2]<-1..4 | w=f32[30,40,3] x=f32[30,5,2] ids=i32[5,2]<-1..4"
             " | w=q8_0[64,9,3] x=f32[64,1,70] ids=i32[5,70]<-1..4",
};
