/* matmul.c - y[j, t] = sum over k of w[k, j] x[k, t]: one row of w per output. Dimensions 2 and 3 are batches; where x
 * has more of them, neighbouring ones share a matrix of w (query heads that share a KV head). */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "ops/matmul.h"

lode_tensor *lode_matmul(lode_graph *g, lode_tensor *w, lode_tensor *x) {
    return lode_op_new2(g, LODE_MATMUL, NULL, 0, w, x);
}

lode_status lode_infer_matmul(lode_tensor *t, lode_err *err) {
    const lode_tensor *w = t->src[0], *x = t->src[1];
    if (x->type != LODE_Q8A) LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_floats(t, 0, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want_rows(t, 1, err));
    LODE_TRY(lode_want(t, w->ne[0] == x->ne[0], "the rows' lengths differ", err));
    LODE_TRY(lode_want(t, lode_is_multiple(x->ne[2], w->ne[2]) && lode_is_multiple(x->ne[3], w->ne[3]),
                       "the second input's batches are no multiple of the first's", err));
    t->type = LODE_F32;
    t->ne[0] = w->ne[1];
    for (int i = 1; i < LODE_MAX_DIMS; i++) t->ne[i] = x->ne[i];
    t->dyn = x->dyn;
    t->dyn_dim = x->dyn_dim;
    return lode_dense(t, err);
}

static double dot(const float *a, const float *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Decodes both rows in pieces, so that the reference allocates nothing. */
double lode_ref_dot(const lode_tensor *w, const char *w_row, const lode_tensor *x, const char *x_row) {
    enum { PIECE = 1024 };
    float a[PIECE], b[PIECE];
    double sum = 0;
    for (int64_t k = 0; k < w->ne[0]; k += PIECE) {
        const int64_t n = w->ne[0] - k < PIECE ? w->ne[0] - k : PIECE;
        lode_decode_row(w->type, w_row + (size_t)(k / lode_type_block(w->type)) * w->nb[0], a, n);
        lode_decode_row(x->type, x_row + (size_t)(k / lode_type_block(x->type)) * x->nb[0], b, n);
        sum += dot(a, b, n);
    }
    return sum;
}

static int64_t units(const lode_tensor *t) { return t->ne[0] * t->ne[2] * t->ne[3]; }

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *w = t->src[0], *x = t->src[1];
    const int64_t share2 = x->ne[2] / w->ne[2], share3 = x->ne[3] / w->ne[3];
    for (int64_t u = from; u < to; u++) {
        const int64_t j = u % t->ne[0], i2 = u / t->ne[0] % t->ne[2], i3 = u / t->ne[0] / t->ne[2];
        const char *w_row = lode_host_row(w, j, i2 / share2, i3 / share3);
        for (int64_t c = 0; c < x->ne[1]; c++)
            ((float *)(void *)lode_host_row(t, c, i2, i3))[j] =
                (float)lode_ref_dot(w, w_row, x, lode_host_row(x, c, i2, i3));
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) { return lode_matmul(g, c->src[0], c->src[1]); }

#define TYPED(type) \
    "w=" type "[512,67] x=f32[512,1] | w=" type "[512,33] x=f32[512,5] | w=" type "[1024,16] x=f32[1024,40] | "

#define DECODED(type) "w=" type "[512,67] x=f32[512,1] | w=" type "[512,33] x=f32[512,5] | "

const lode_op_info lode_op_matmul = {
    .name = "matmul",
    .doc = "matrix product; w is a weight of any type with one row per output; batches may share a matrix",
    .n_src = 2,
    .infer = lode_infer_matmul,
    .ref = ref,
    .units = units,
    .make = make,
    .cases = TYPED("f32") TYPED("f16") TYPED("bf16") TYPED("q4_0") TYPED("q4_1") TYPED("q5_0") TYPED("q5_1")
        TYPED("q8_0") TYPED("q2_k") TYPED("q3_k") TYPED("q4_k") TYPED("q5_k") TYPED("q6_k") DECODED("iq1_s")
            DECODED("iq1_m") DECODED("iq2_xxs") DECODED("iq2_xs") DECODED("iq2_s") DECODED("iq3_xxs") DECODED("iq3_s")
                DECODED("iq4_nl") DECODED("iq4_xs") DECODED("tq1_0") DECODED("tq2_0") DECODED("mxfp4") DECODED("nvfp4")
                    DECODED("q1_0") DECODED("q2_0")
                        DECODED("f64") "w=f32[1,1] x=f32[1,1] | w=f32[63,3] x=f32[63,2] | w=q8_0[32,1] x=f32[32,3] | "
                                       "w=q4_1[576,576] x=f32[576,4]+32",
};
