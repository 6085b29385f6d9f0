/* scale.c - y = s x */
#include "ops/scale.h"
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

lode_tensor *lode_scale(lode_graph *g, lode_tensor *x, float s) {
    const lode_scale_par par = { s };
    return lode_op_new1(g, LODE_SCALE, &par, sizeof par, x);
}

static double value(double x, const void *par_) {
    const lode_scale_par *par = par_;
    const double s = (double)par->s;
    return s * x;
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_ref_unary(t, from, to, value); }

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_scale(g, c->src[0], (float)lode_case_num(c, "s", 1));
}

const lode_op_info lode_op_scale = {
    .name = "scale",
    .doc = "y = s x",
    .n_src = 1,
    .infer = lode_infer_unary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] s=3 | x=f32[63,3] s=0.5 | x=f32[576,4]+32 s=30",
};
