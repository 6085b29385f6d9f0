/* scale.c - element-wise functions with parameters: s x + c, clamp, leaky_relu, xielu. */
#include "ops/scale.h"
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

#define MAPPED(lower, text, case_list)                                                                              \
    static void ref_##lower(const lode_tensor *t, int64_t a, int64_t b) { lode_ref_unary(t, a, b, value_##lower); } \
    const lode_op_info lode_op_##lower = {                                                                          \
        .name = #lower,                                                                                             \
        .doc = text,                                                                                                \
        .n_src = 1,                                                                                                 \
        .infer = lode_infer_unary,                                                                                  \
        .ref = ref_##lower,                                                                                         \
        .in_place = true,                                                                                           \
        .make = make_##lower,                                                                                       \
        .cases = case_list,                                                                                         \
    };

lode_tensor *lode_scale_offset(lode_graph *g, lode_tensor *x, float s, float c) {
    const lode_scale_par par = { s, c };
    return lode_op_new1(g, LODE_SCALE, &par, sizeof par, x);
}

lode_tensor *lode_scale(lode_graph *g, lode_tensor *x, float s) { return lode_scale_offset(g, x, s, 0.0f); }

static double value_scale(double x, const void *par_) {
    const lode_scale_par *par = par_;
    return (double)par->s * x + (double)par->c;
}

static lode_tensor *make_scale(lode_graph *g, const lode_case *c) {
    return lode_scale_offset(g, c->src[0], (float)lode_case_num(c, "s", 1), (float)lode_case_num(c, "c", 0));
}

MAPPED(scale, "y = s x + c",
       "x=f32[1] s=3 | x=f32[63,3] s=0.5 | x=f32[576,4]+32 s=30 | x=bf16[70,3] s=3 c=0.5 | x=f16[64,2] s=3"
       " | x=f32[40,3] s=2 c=-1")

lode_tensor *lode_clamp(lode_graph *g, lode_tensor *x, float lo, float hi) {
    const lode_clamp_par par = { lo, hi };
    return lode_op_new1(g, LODE_CLAMP, &par, sizeof par, x);
}

static double value_clamp(double x, const void *par_) {
    const lode_clamp_par *par = par_;
    return fmax(fmin(x, (double)par->hi), (double)par->lo);
}

static lode_tensor *make_clamp(lode_graph *g, const lode_case *c) {
    return lode_clamp(g, c->src[0], (float)lode_case_num(c, "lo", -1), (float)lode_case_num(c, "hi", INFINITY));
}

MAPPED(clamp, "x, but at least lo and at most hi", "x=f32[63,3] lo=-0.5 hi=0.25 | x=f16[64,5] lo=0 | x=bf16[64,5] hi=1")

lode_tensor *lode_leaky_relu(lode_graph *g, lode_tensor *x, float slope) {
    const lode_scale_par par = { slope, 0.0f };
    return lode_op_new1(g, LODE_LEAKY_RELU, &par, sizeof par, x);
}

static double value_leaky_relu(double x, const void *par_) {
    const lode_scale_par *par = par_;
    return x > 0 ? x : (double)par->s * x;
}

static lode_tensor *make_leaky_relu(lode_graph *g, const lode_case *c) {
    return lode_leaky_relu(g, c->src[0], (float)lode_case_num(c, "s", 0.1));
}

MAPPED(leaky_relu, "x where x > 0, else slope x", "x=f32[63,3] s=0.1 | x=f16[64,5] s=0.2")

lode_tensor *lode_xielu(lode_graph *g, lode_tensor *x, const lode_xielu_desc *desc) {
    return lode_op_new1(g, LODE_XIELU, desc, sizeof *desc, x);
}

static double value_xielu(double x, const void *par_) {
    const lode_xielu_desc *d = par_;
    if (x > 0) return (double)d->alpha_p * x * x + (double)d->beta * x;
    return (expm1(fmin(x, (double)d->eps)) - x) * (double)d->alpha_n + (double)d->beta * x;
}

static lode_tensor *make_xielu(lode_graph *g, const lode_case *c) {
    const lode_xielu_desc d = {
        .alpha_n = (float)lode_case_num(c, "an", 1.2),
        .alpha_p = (float)lode_case_num(c, "ap", 0.8),
        .beta = (float)lode_case_num(c, "beta", 0.5),
        .eps = (float)lode_case_num(c, "eps", -1e-6),
    };
    return lode_xielu(g, c->src[0], &d);
}

MAPPED(xielu, "expanded integral of ELU", "x=f32[63,3] | x=f16[64,5] an=2 ap=0.1")
