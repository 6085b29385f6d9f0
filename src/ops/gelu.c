/* gelu.c - y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

lode_tensor *lode_gelu(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_GELU, NULL, 0, x); }

static double value(double x, const void *par) {
    (void)par;
    return 0.5 * x * (1.0 + tanh(0.79788456080286536 * x * (1.0 + 0.044715 * x * x)));
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_ref_unary(t, from, to, value); }
static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_gelu(g, c->src[0]); }

const lode_op_info lode_op_gelu = {
    .name = "gelu",
    .doc = "y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
    .n_src = 1,
    .infer = lode_infer_unary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[64,5,2] | x=f32[576,4]+32 | x=f32[1536,7]",
};
