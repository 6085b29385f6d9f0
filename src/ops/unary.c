/* unary.c - functions of one element: unary.def lists them, here is what each means. */
#include "ops/unary.h"
#include "ops/case.h"

#include <math.h>

#define VALUE(name, expr)                                 \
    static double value_##name(double x, const void *p) { \
        (void)p;                                          \
        return expr;                                      \
    }

static double sigma(double x) { return 1.0 / (1.0 + exp(-x)); }
static double unit(double x) { return fmin(1.0, fmax(0.0, x)); }

VALUE(abs, fabs(x))
VALUE(sgn, x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0)
VALUE(neg, -x)
VALUE(step, x > 0 ? 1.0 : 0.0)
VALUE(tanh, tanh(x))
VALUE(elu, x > 0 ? x : expm1(x))
VALUE(relu, x > 0 ? x : 0.0)
VALUE(sigmoid, sigma(x))
VALUE(gelu, 0.5 * x * (1.0 + tanh(0.79788456080286536 * x * (1.0 + 0.044715 * x * x))))
VALUE(gelu_quick, x *sigma(1.702 * x))
VALUE(gelu_erf, 0.5 * x * (1.0 + erf(x * 0.70710678118654752)))
VALUE(silu, x *sigma(x))
VALUE(hardswish, x *unit((x + 3.0) / 6.0))
VALUE(hardsigmoid, unit((x + 3.0) / 6.0))
VALUE(exp, exp(x))
VALUE(expm1, expm1(x))
VALUE(softplus, x > 20 ? x : log1p(exp(x)))
VALUE(floor, floor(x))
VALUE(ceil, ceil(x))
VALUE(round, round(x))
VALUE(trunc, trunc(x))
VALUE(sqr, x *x)
VALUE(sqrt, sqrt(x))
VALUE(ln, log(x))
VALUE(sin, sin(x))
VALUE(cos, cos(x))

#define UNARY(ID, lower, text)                                                                                      \
    lode_tensor *lode_##lower(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_##ID, NULL, 0, x); }     \
    static void ref_##lower(const lode_tensor *t, int64_t a, int64_t b) { lode_ref_unary(t, a, b, value_##lower); } \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) { return lode_##lower(g, c->src[0]); }      \
    const lode_op_info lode_op_##lower = {                                                                          \
        .name = #lower,                                                                                             \
        .doc = text,                                                                                                \
        .n_src = 1,                                                                                                 \
        .infer = lode_infer_unary,                                                                                  \
        .ref = ref_##lower,                                                                                         \
        .in_place = true,                                                                                           \
        .make = make_##lower,                                                                                       \
        .cases = "x=f32[1] | x=f32[63,3] | x=f32[64,5,2] | x=f32[576,4]+32 | x=f32[1536,7] | x=f16[67,3]"           \
                 " | x=bf16[300,2]+4 | x=f16[20,6,3]^1023",                                                         \
    };
#include "lode/unary.def"
#undef UNARY
