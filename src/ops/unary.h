/* unary.h - the rule and the walk that element-wise ops of one input share. */
#ifndef LODE_OPS_UNARY_H
#define LODE_OPS_UNARY_H

#include "graph/elem.h"
#include "graph/graph.h"

/* t[i] = f(src0[i], par), rounded once. */
static inline void lode_ref_unary(const lode_tensor *t, int64_t from, int64_t to,
                                  double (*f)(double x, const void *par)) {
    float x[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const char *in = lode_host_nth_row(t->src[0], r);
        char *out = lode_host_nth_row(t, r);
        for (int64_t i = 0, n; i < t->ne[0]; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            lode_load(t->src[0], in, i, n, x);
            for (int64_t k = 0; k < n; k++) x[k] = (float)f((double)x[k], t->par);
            lode_store(t, out, i, n, x);
        }
    }
}

/* The floating types that element-wise ops compute in f32 and round back to. */
static inline bool lode_is_float(lode_type t) { return t == LODE_F32 || t == LODE_F16 || t == LODE_BF16; }

static inline lode_status lode_want_float(const lode_tensor *t, int src, lode_err *err) {
    return lode_is_float(t->src[src]->type) ? LODE_OK : lode_want(t, false, "want f32, f16 or bf16", err);
}

/* Type and shape rule of element-wise ops of one input. */
static inline lode_status lode_infer_unary(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_float(t, 0, err));
    return lode_like(t, 0, t->src[0]->type, err);
}
#endif
