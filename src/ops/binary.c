/* binary.c - a + b, a - b, a b, a / b, element by element; b repeats to a's sizes. */
#include "ops/binary.h"
#include "ops/case.h"

#define BINARY(ID, lower, expr, text)                                                                                \
    lode_tensor *lode_##lower(lode_graph *g, lode_tensor *a, lode_tensor *b) {                                       \
        return lode_op_new2(g, LODE_##ID, NULL, 0, a, b);                                                            \
    }                                                                                                                \
    static double value_##lower(double a, double b, const void *p) {                                                 \
        (void)p;                                                                                                     \
        return expr;                                                                                                 \
    }                                                                                                                \
    static void ref_##lower(const lode_tensor *t, int64_t i, int64_t n) { lode_ref_binary(t, i, n, value_##lower); } \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) {                                            \
        return lode_##lower(g, c->src[0], c->src[1]);                                                                \
    }                                                                                                                \
    const lode_op_info lode_op_##lower = {                                                                           \
        .name = #lower,                                                                                              \
        .doc = text,                                                                                                 \
        .n_src = 2,                                                                                                  \
        .infer = lode_infer_binary,                                                                                  \
        .ref = ref_##lower,                                                                                          \
        .in_place = true,                                                                                            \
        .make = make_##lower,                                                                                        \
        .cases = CASES,                                                                                              \
    };

#define CASES                                                                                                        \
    "a=f32[1] b=f32[1] | a=f32[63,3] b=f32[63,3] | a=f32[64,5,2] b=f32[64] | a=f32[64,5,2] b=f32[1,5,2]"             \
    " | a=f32[576,4]+32 b=f32[576,4] | a=f32[64,3,2] b=f32[64,1,2] | a=f16[67,3] b=f16[67,3]"                        \
    " | a=bf16[300,2] b=bf16[300] | a=bf16[64,4] b=f32[16,2] | a=f16[64,4] b=f32[64,4] | a=f32[12,5] b=f32[5,12]^10" \
    " | a=f32[600,4] b=f32[30,2]"

BINARY(ADD, add, a + b, "a + b, b repeated to a's sizes")
BINARY(SUB, sub, a - b, "a - b, b repeated to a's sizes")
BINARY(MUL, mul, a *b, "a b, b repeated to a's sizes")
BINARY(DIV, div, a / b, "a / b, b repeated to a's sizes")
