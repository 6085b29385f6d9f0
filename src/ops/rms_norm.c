/* rms_norm.c - y = x / sqrt(mean(x^2) + eps), row by row.
 * The weight is a separate mul; rule.def joins the two where a device can. */
#include "ops/rms_norm.h"
#include "ops/case.h"
#include "ops/unary.h"

#include <math.h>

lode_tensor *lode_rms_norm(lode_graph *g, lode_tensor *x, float eps) {
    const lode_rms_norm_par par = { eps };
    return lode_op_new1(g, LODE_RMS_NORM, &par, sizeof par, x);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_rms_norm_par *par = (const lode_rms_norm_par *)(const void *)t->par;
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        double sum = 0;
        for (int64_t i = 0; i < t->ne[0]; i++) sum += (double)x[i] * (double)x[i];
        const double scale = 1.0 / sqrt(sum / (double)t->ne[0] + (double)par->eps);
        for (int64_t i = 0; i < t->ne[0]; i++) y[i] = (float)((double)x[i] * scale);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_rms_norm(g, c->src[0], (float)lode_case_num(c, "eps", 1e-5));
}

const lode_op_info lode_op_rms_norm = {
    .name = "rms_norm",
    .doc = "scale each row to unit root mean square",
    .n_src = 1,
    .infer = lode_infer_unary,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[4096,5] eps=1e-6 | x=f32[64,9,7] | x=f32[576,4]+32",
};
