/* quant_act.c - activations as blocks of 32 int8 with a scale (q8a), the form in which integer matmul kernels read
 * them. The plan inserts it; several matmuls of one input share it. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"

lode_tensor *lode_quant_act(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_QUANT_ACT, NULL, 0, x); }

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    return lode_like(t, 0, LODE_Q8A, err);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++)
        lode_encode_row(LODE_Q8A, (const float *)(const void *)lode_host_nth_row(t->src[0], r), lode_host_nth_row(t, r),
                        t->ne[0]);
}

static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_quant_act(g, c->src[0]); }

const lode_op_info lode_op_quant_act = {
    .name = "quant_act",
    .doc = "f32 rows to q8a",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "x=f32[32] | x=f32[576,5] | x=f32[1536,1] | x=f32[64,3]+32",
};
