/* rms_norm.c - y = x / sqrt(mean(x^2) + eps), row by row.
 * The weight is a separate mul; rule.def joins the two where a device can. */
#include "ops/rms_norm.h"
#include "graph/elem.h"
#include "ops/case.h"

#include <math.h>

lode_tensor *lode_rms_norm(lode_graph *g, lode_tensor *x, float eps) {
    const lode_rms_norm_par par = { eps };
    return lode_op_new1(g, LODE_RMS_NORM, &par, sizeof par, x);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    return lode_like(t, 0, LODE_F32, err);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_rms_norm_par *par = (const lode_rms_norm_par *)(const void *)t->par;
    float buf[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const char *row = lode_host_nth_row(t->src[0], r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        double sum = 0, scale = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t i = 0, n; i < t->ne[0]; i += n) {
                n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
                const float *x = lode_peek(t->src[0], row, i, n, buf);
                for (int64_t k = 0; k < n && !pass; k++) sum += (double)x[k] * (double)x[k];
                for (int64_t k = 0; k < n && pass; k++) y[i + k] = (float)((double)x[k] * scale);
            }
            scale = 1.0 / sqrt(sum / (double)t->ne[0] + (double)par->eps);
        }
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_rms_norm(g, c->src[0], (float)lode_case_num(c, "eps", 1e-5));
}

const lode_op_info lode_op_rms_norm = {
    .name = "rms_norm",
    .doc = "scale each row to unit root mean square",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[4096,5] eps=1e-6 | x=f32[64,9,7] | x=f32[576,4]+32 | x=f32[12,50,3]^102 "
             "eps=0.1",
};
