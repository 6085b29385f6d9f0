/* binary.h - shape rule and walk of element-wise ops of two inputs, the second repeated where its size is 1. */
#ifndef LODE_OPS_BINARY_H
#define LODE_OPS_BINARY_H

#include "graph/graph.h"
#include "graph/host.h"

static inline lode_status lode_infer_binary(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want_rows(t, 1, err));
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, t->src[1]->ne[i] == t->src[0]->ne[i] || t->src[1]->ne[i] == 1,
                           "the second input must have the first one's sizes or 1", err));
    return lode_like(t, 0, LODE_F32, err);
}

/* Row of the second input that goes with row r of the first. */
static inline const float *lode_binary_row(const lode_tensor *t, int64_t r) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    const int64_t i1 = r % a->ne[1], i2 = r / a->ne[1] % a->ne[2], i3 = r / a->ne[1] / a->ne[2];
    return (const float *)(const void *)lode_host_row(b, b->ne[1] == 1 ? 0 : i1, b->ne[2] == 1 ? 0 : i2,
                                                      b->ne[3] == 1 ? 0 : i3);
}

static inline void lode_ref_binary(const lode_tensor *t, int64_t from, int64_t to, double (*f)(double a, double b)) {
    const int64_t step = t->src[1]->ne[0] == 1 ? 0 : 1;
    for (int64_t r = from; r < to; r++) {
        const float *a = (const float *)(const void *)lode_host_nth_row(t->src[0], r), *b = lode_binary_row(t, r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = 0; i < t->ne[0]; i++) y[i] = (float)f((double)a[i], (double)b[i * step]);
    }
}
#endif
