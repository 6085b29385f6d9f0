/* unary.h - the walk that references of element-wise ops share. */
#ifndef LODE_OPS_UNARY_H
#define LODE_OPS_UNARY_H

#include "graph/graph.h"
#include "graph/host.h"

/* t[i] = f(src0[i], par). */
static inline void lode_ref_unary(const lode_tensor *t, int64_t from, int64_t to,
                                  double (*f)(double x, const void *par)) {
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = 0; i < t->ne[0]; i++) y[i] = (float)f((double)x[i], t->par);
    }
}

/* Type and shape rule of element-wise f32 ops of one input. */
static inline lode_status lode_infer_unary(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    return lode_like(t, 0, LODE_F32, err);
}
#endif
