/* binary.h - rule and walk of element-wise ops of two inputs, the second repeated to the size of the first. */
#ifndef LODE_OPS_BINARY_H
#define LODE_OPS_BINARY_H

#include "ops/unary.h"

/* The second input may be f32 beside a first one of any floating type. */
static inline lode_status lode_infer_binary(lode_tensor *t, lode_err *err) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    LODE_TRY(lode_want_float(t, 0, err));
    LODE_TRY(lode_want(t, b->type == a->type || b->type == LODE_F32,
                       "the second input must be f32 or of the first's type", err));
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, lode_is_multiple(a->ne[i], b->ne[i]), "the second input must repeat to the first's sizes",
                           err));
    return lode_like(t, 0, a->type, err);
}

/* n elements of a row, from i0 on, of a tensor that repeats along it. */
static inline void lode_load_repeated(const lode_tensor *b, const char *row, int64_t i0, int64_t n, float *out) {
    for (int64_t k = 0, m; k < n; k += m) {
        const int64_t at = (i0 + k) % b->ne[0];
        m = b->ne[0] - at < n - k ? b->ne[0] - at : n - k;
        lode_load(b, row, at, m, out + k);
    }
}

static inline void lode_ref_binary(const lode_tensor *t, int64_t from, int64_t to,
                                   double (*f)(double a, double b, const void *par)) {
    float a[LODE_PIECE], b[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const char *in = lode_host_nth_row(t->src[0], r), *second = lode_host_repeated_row(t->src[1], t, r);
        char *out = lode_host_nth_row(t, r);
        for (int64_t i = 0, n; i < t->ne[0]; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            lode_load(t->src[0], in, i, n, a);
            lode_load_repeated(t->src[1], second, i, n, b);
            for (int64_t k = 0; k < n; k++) a[k] = (float)f((double)a[k], (double)b[k], t->par);
            lode_store(t, out, i, n, a);
        }
    }
}
#endif
