/* mul.c - y = a * b, b repeated where its size is 1 */
#include "ops/binary.h"
#include "ops/case.h"

lode_tensor *lode_mul(lode_graph *g, lode_tensor *a, lode_tensor *b) {
    return lode_op_new2(g, LODE_MUL, NULL, 0, a, b);
}

static double value(double a, double b) { return a * b; }
static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_ref_binary(t, from, to, value); }
static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_mul(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_mul = {
    .name = "mul",
    .doc = "y = a * b, b repeated where its size is 1",
    .n_src = 2,
    .infer = lode_infer_binary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "a=f32[1] b=f32[1] | a=f32[63,3] b=f32[63,3] | a=f32[64,5,2] b=f32[64] | a=f32[64,5,2] b=f32[1,5,2]"
             " | a=f32[576,4]+32 b=f32[576,4] | a=f32[64,3,2] b=f32[64,1,2]",
};
