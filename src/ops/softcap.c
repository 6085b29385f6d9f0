/* softcap.c - y = cap tanh(x / cap) */
#include "ops/softcap.h"
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

lode_tensor *lode_softcap(lode_graph *g, lode_tensor *x, float cap) {
    const lode_softcap_par par = { cap };
    return lode_op_new1(g, LODE_SOFTCAP, &par, sizeof par, x);
}

static double value(double x, const void *par_) {
    const lode_softcap_par *par = par_;
    const double cap = (double)par->cap;
    return cap * tanh(x / cap);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_ref_unary(t, from, to, value); }

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_softcap(g, c->src[0], (float)lode_case_num(c, "cap", 1));
}

const lode_op_info lode_op_softcap = {
    .name = "softcap",
    .doc = "y = cap tanh(x / cap)",
    .n_src = 1,
    .infer = lode_infer_unary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] cap=3 | x=f32[63,3] cap=0.5 | x=f32[576,4]+32 cap=30",
};
