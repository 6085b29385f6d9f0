/* silu.c - y = x / (1 + exp(-x)) */
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

lode_tensor *lode_silu(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_SILU, NULL, 0, x); }

static double value(double x, const void *par) {
    (void)par;
    return x / (1.0 + exp(-x));
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_ref_unary(t, from, to, value); }
static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_silu(g, c->src[0]); }

const lode_op_info lode_op_silu = {
    .name = "silu",
    .doc = "y = x / (1 + exp(-x))",
    .n_src = 1,
    .infer = lode_infer_unary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[64,5,2] | x=f32[576,4]+32 | x=f32[1536,7]",
};
