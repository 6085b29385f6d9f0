/* hyper.c - hyper-connections (Zhu et al. 2024, in the manifold-constrained form): several residual streams that are
 * mixed before and after each block. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

#include <math.h>

typedef struct {
    float eps; /* or scale */
    int32_t n; /* iterations, or whether a gate comes */
} hyper_par;

static const float *row_of(const lode_tensor *s, int64_t i1, int64_t i2) {
    return (const float *)(const void *)lode_host_row(s, i1, i2, 0);
}

static lode_status all_f32(const lode_tensor *t, lode_err *err) {
    for (int i = 0; i < LODE_MAX_SRC && t->src[i]; i++) {
        LODE_TRY(lode_want_type(t, i, LODE_F32, err));
        LODE_TRY(lode_want_rows(t, i, err));
    }
    return LODE_OK;
}

/* ---- hyper_comb: a doubly stochastic 4 by 4 matrix per token (Sinkhorn and Knopp 1967) ---- */

enum { STREAMS = 4, FIRST = 8 }; /* the 16 raw numbers stand behind 8 others */

lode_tensor *lode_hyper_comb(lode_graph *g, lode_tensor *mix, lode_tensor *scale, lode_tensor *base, float eps,
                             int iterations) {
    const hyper_par par = { eps, iterations };
    return lode_op_new3(g, LODE_HYPER_COMB, &par, sizeof par, mix, scale, base);
}

static lode_status infer_comb(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0];
    LODE_TRY(all_f32(t, err));
    LODE_TRY(lode_want(t,
                       x->ne[0] == FIRST + STREAMS * STREAMS && t->src[1]->ne[0] >= 3 && t->src[2]->ne[0] == x->ne[0] &&
                           x->ne[2] == 1 && x->ne[3] == 1,
                       "want [24, t], [3] and [24]", err));
    t->type = LODE_F32;
    t->ne[0] = t->ne[1] = STREAMS;
    t->ne[2] = x->ne[1];
    return lode_dense(t, err);
}

static int64_t units_comb(const lode_tensor *t) { return t->ne[2]; }

/* Divides each line along one index by eps plus its sum. */
static void divide(double v[STREAMS][STREAMS], bool rows, double eps) {
    for (int i = 0; i < STREAMS; i++) {
        double sum = eps;
        for (int k = 0; k < STREAMS; k++) sum += rows ? v[i][k] : v[k][i];
        for (int k = 0; k < STREAMS; k++) *(rows ? &v[i][k] : &v[k][i]) /= sum;
    }
}

static void ref_comb(const lode_tensor *t, int64_t from, int64_t to) {
    const hyper_par *p = LODE_PAR(t, hyper_par);
    const double eps = (double)p->eps, scale = (double)row_of(t->src[1], 0, 0)[2];
    const float *base = row_of(t->src[2], 0, 0) + FIRST;
    for (int64_t u = from; u < to; u++) {
        const float *x = row_of(t->src[0], u, 0) + FIRST;
        double v[STREAMS][STREAMS]; /* [s][d] */
        for (int s = 0; s < STREAMS; s++) {
            double most = -INFINITY, sum = 0;
            for (int d = 0; d < STREAMS; d++) {
                v[s][d] = (double)x[d + STREAMS * s] * scale + (double)base[d + STREAMS * s];
                most = fmax(most, v[s][d]);
            }
            for (int d = 0; d < STREAMS; d++) sum += v[s][d] = exp(v[s][d] - most);
            for (int d = 0; d < STREAMS; d++) v[s][d] = v[s][d] / sum + eps;
        }
        divide(v, false, eps);
        for (int i = 1; i < p->n; i++) {
            divide(v, true, eps);
            divide(v, false, eps);
        }
        for (int s = 0; s < STREAMS; s++)
            for (int d = 0; d < STREAMS; d++) ((float *)(void *)lode_host_row(t, s, u, 0))[d] = (float)v[s][d];
    }
}

static lode_tensor *make_comb(lode_graph *g, const lode_case *c) {
    return lode_hyper_comb(g, c->src[0], c->src[1], c->src[2], (float)lode_case_num(c, "eps", 1e-6),
                           (int)lode_case_num(c, "n", 20));
}

const lode_op_info lode_op_hyper_comb = {
    .name = "hyper_comb",
    .doc = "doubly stochastic mixing matrix of four streams, per token",
    .n_src = 3,
    .infer = infer_comb,
    .ref = ref_comb,
    .units = units_comb,
    .make = make_comb,
    .cases = "x=f32[24,5] s=f32[3] b=f32[24] | x=f32[24,1] s=f32[4] b=f32[24] n=1 eps=0.01",
};

/* ---- hyper_pre: streams summed with weights ---- */

lode_tensor *lode_hyper_pre(lode_graph *g, lode_tensor *x, lode_tensor *w, float scale, bool gated) {
    const hyper_par par = { scale, gated };
    return lode_op_new2(g, LODE_HYPER_PRE, &par, sizeof par, x, w);
}

static lode_status infer_pre(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0], *w = t->src[1];
    const bool gated = LODE_PAR(t, hyper_par)->n != 0;
    LODE_TRY(all_f32(t, err));
    LODE_TRY(lode_want(t,
                       x->ne[3] == 1 && (gated ? lode_has_sizes(w, x->ne[0], x->ne[1], x->ne[2], 1)
                                               : lode_has_sizes(w, x->ne[1], x->ne[2], 1, 1)),
                       "want x [n, streams, t] and w [streams, t] or gates like x", err));
    t->type = LODE_F32;
    t->ne[0] = x->ne[0];
    t->ne[1] = x->ne[2];
    return lode_dense(t, err);
}

static void ref_pre(const lode_tensor *t, int64_t from, int64_t to) {
    const hyper_par *p = LODE_PAR(t, hyper_par);
    const lode_tensor *x = t->src[0], *w = t->src[1];
    for (int64_t u = from; u < to; u++) {
        float *y = (float *)(void *)lode_host_nth_row(t, u);
        for (int64_t i = 0; i < t->ne[0]; i++) {
            double sum = 0;
            for (int64_t h = 0; h < x->ne[1]; h++) {
                const double a = p->n ? 1.0 / (1.0 + exp(-(double)row_of(w, h, u)[i])) : (double)row_of(w, u, 0)[h];
                sum += a * (double)row_of(x, h, u)[i];
            }
            y[i] = (float)((double)p->eps * sum);
        }
    }
}

static lode_tensor *make_pre(lode_graph *g, const lode_case *c) {
    return lode_hyper_pre(g, c->src[0], c->src[1], (float)lode_case_num(c, "scale", 1),
                          lode_case_num(c, "gated", 0) != 0);
}

const lode_op_info lode_op_hyper_pre = {
    .name = "hyper_pre",
    .doc = "streams summed with weights or gates",
    .n_src = 2,
    .infer = infer_pre,
    .ref = ref_pre,
    .make = make_pre,
    .cases = "x=f32[30,4,5] w=f32[4,5] scale=0.5 | x=f32[30,3,5] w=f32[30,3,5] gated=1",
};

/* ---- hyper_post: a block's result added to each mixed stream ---- */

lode_tensor *lode_hyper_post(lode_graph *g, lode_tensor *x, lode_tensor *streams, lode_tensor *post,
                             lode_tensor *comb) {
    return lode_op_new(g, LODE_HYPER_POST, NULL, 0, (lode_tensor *[]){ x, streams, post, comb }, 4);
}

static lode_status infer_post(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0], *s = t->src[1], *post = t->src[2], *comb = t->src[3];
    LODE_TRY(all_f32(t, err));
    LODE_TRY(lode_want(t,
                       lode_has_sizes(x, s->ne[0], s->ne[2], 1, 1) && s->ne[3] == 1 &&
                           lode_has_sizes(post, s->ne[1], s->ne[2], 1, 1) &&
                           (!comb || lode_has_sizes(comb, s->ne[1], s->ne[1], s->ne[2], 1)),
                       "want x [n, t], streams [n, s, t], post [s, t], comb [s, s, t]", err));
    return lode_like(t, 1, LODE_F32, err);
}

static void ref_post(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *streams = t->src[1], *comb = t->src[3];
    for (int64_t u = from; u < to; u++) {
        const int64_t d = u % t->ne[1], k = u / t->ne[1];
        const float *x = row_of(t->src[0], k, 0);
        const double post = (double)row_of(t->src[2], k, 0)[d];
        float *y = (float *)(void *)lode_host_nth_row(t, u);
        for (int64_t i = 0; i < t->ne[0]; i++) {
            double sum = (double)x[i] * post + (comb ? 0 : (double)row_of(streams, d, k)[i]);
            for (int64_t s = 0; comb && s < t->ne[1]; s++)
                sum += (double)row_of(streams, s, k)[i] * (double)row_of(comb, s, k)[d];
            y[i] = (float)sum;
        }
    }
}

static lode_tensor *make_post(lode_graph *g, const lode_case *c) {
    return lode_hyper_post(g, c->src[0], c->src[1], c->src[2], c->src[3]);
}

const lode_op_info lode_op_hyper_post = {
    .name = "hyper_post",
    .doc = "a block's result added to each stream, the streams mixed first",
    .n_src = 3,
    .infer = infer_post,
    .ref = ref_post,
    .make = make_post,
    .cases = "x=f32[30,5] s=f32[30,4,5] p=f32[4,5] c=f32[4,4,5] | x=f32[30,5] s=f32[30,3,5] p=f32[3,5]",
};
