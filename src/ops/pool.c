/* pool.c - poolings, and sinusoids of time steps. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

#include <float.h>
#include <math.h>
#include <string.h>

lode_tensor *lode_pool_1d(lode_graph *g, lode_tensor *x, const lode_pool_desc *d) {
    return lode_op_new1(g, LODE_POOL_1D, d, sizeof *d, x);
}

lode_tensor *lode_pool_2d(lode_graph *g, lode_tensor *x, const lode_pool_desc *d) {
    return lode_op_new1(g, LODE_POOL_2D, d, sizeof *d, x);
}

static lode_status infer_pool(lode_tensor *t, int axes, lode_err *err) {
    const lode_pool_desc *d = LODE_PAR(t, lode_pool_desc);
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_like(t, 0, LODE_F32, err));
    for (int i = 0; i < axes; i++) {
        LODE_TRY(lode_want(t, d->kernel[i] > 0 && d->stride[i] > 0 && d->pad[i] >= 0,
                           "want windows and strides above 0", err));
        const int64_t room = t->ne[i] + 2 * (int64_t)d->pad[i] - d->kernel[i];
        LODE_TRY(lode_want(t, room >= 0, "the window is larger than the input", err));
        t->ne[i] = room / d->stride[i] + 1;
    }
    return lode_dense(t, err);
}

static lode_status infer_1d(lode_tensor *t, lode_err *err) { return infer_pool(t, 1, err); }
static lode_status infer_2d(lode_tensor *t, lode_err *err) { return infer_pool(t, 2, err); }

static float pooled(const lode_tensor *t, int axes, const int64_t o[LODE_MAX_DIMS]) {
    const lode_pool_desc *d = LODE_PAR(t, lode_pool_desc);
    const lode_tensor *x = t->src[0];
    const int64_t x0 = o[0] * d->stride[0] - d->pad[0], y0 = axes == 2 ? o[1] * d->stride[1] - d->pad[1] : o[1];
    const int64_t kh = axes == 2 ? d->kernel[1] : 1;
    double sum = 0;
    float most = -FLT_MAX;
    int64_t n = 0;
    for (int64_t b = 0; b < kh; b++)
        for (int64_t a = 0; a < d->kernel[0]; a++) {
            if (x0 + a < 0 || x0 + a >= x->ne[0] || y0 + b < 0 || y0 + b >= x->ne[1]) continue;
            float v;
            memcpy(&v, lode_host_row(x, y0 + b, o[2], o[3]) + (size_t)(x0 + a) * x->nb[0], sizeof v);
            sum += (double)v;
            most = v > most ? v : most;
            n++;
        }
    if (d->kind == LODE_POOL_MAX) return most;
    const int64_t by = axes == 2 ? d->kernel[0] * kh : n;
    return by > 0 ? (float)(sum / (double)by) : 0.0f;
}

static void ref_pool(const lode_tensor *t, int axes, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        int64_t i[LODE_MAX_DIMS] = { 0, r % t->ne[1], r / t->ne[1] % t->ne[2], r / t->ne[1] / t->ne[2] };
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (i[0] = 0; i[0] < t->ne[0]; i[0]++) y[i[0]] = pooled(t, axes, i);
    }
}

static void ref_1d(const lode_tensor *t, int64_t a, int64_t b) { ref_pool(t, 1, a, b); }
static void ref_2d(const lode_tensor *t, int64_t a, int64_t b) { ref_pool(t, 2, a, b); }

static lode_pool_desc desc_of(const lode_case *c) {
    const int32_t k = (int32_t)lode_case_num(c, "k", 2), s = (int32_t)lode_case_num(c, "s", 1);
    const int32_t p = (int32_t)lode_case_num(c, "p", 0);
    return (lode_pool_desc){ (lode_pool_kind)(int)lode_case_num(c, "kind", 0), { k, k + 1 }, { s, s }, { p, p } };
}

static lode_tensor *make_1d(lode_graph *g, const lode_case *c) {
    const lode_pool_desc d = desc_of(c);
    return lode_pool_1d(g, c->src[0], &d);
}

static lode_tensor *make_2d(lode_graph *g, const lode_case *c) {
    const lode_pool_desc d = desc_of(c);
    return lode_pool_2d(g, c->src[0], &d);
}

#define CASES "x=f32[10,9,3] | x=f32[10,9,3,2] kind=1 k=3 s=2 p=1 | x=f32[7,5] k=3 s=3 p=2"

const lode_op_info lode_op_pool_1d = {
    .name = "pool_1d",
    .doc = "largest or mean of windows along rows",
    .n_src = 1,
    .infer = infer_1d,
    .ref = ref_1d,
    .make = make_1d,
    .cases = CASES,
};

const lode_op_info lode_op_pool_2d = {
    .name = "pool_2d",
    .doc = "largest or mean of windows of images",
    .n_src = 1,
    .infer = infer_2d,
    .ref = ref_2d,
    .make = make_2d,
    .cases = CASES,
};

typedef struct {
    int32_t dim, period;
} timestep_par;

lode_tensor *lode_timestep_embedding(lode_graph *g, lode_tensor *t, int dim, int period) {
    const timestep_par par = { dim, period };
    return lode_op_new1(g, LODE_TIMESTEP_EMBEDDING, &par, sizeof par, t);
}

static lode_status infer_timestep(lode_tensor *t, lode_err *err) {
    const timestep_par *p = LODE_PAR(t, timestep_par);
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want(t, p->dim > 0 && p->period > 0 && lode_n_rows(t->src[0]) == 1, "want a row of time steps", err));
    t->type = LODE_F32;
    t->ne[0] = p->dim;
    t->ne[1] = t->src[0]->ne[0];
    return lode_dense(t, err);
}

static void ref_timestep(const lode_tensor *t, int64_t from, int64_t to) {
    const timestep_par *p = LODE_PAR(t, timestep_par);
    const int half = p->dim / 2;
    for (int64_t r = from; r < to; r++) {
        float x, *y = (float *)(void *)lode_host_nth_row(t, r);
        memcpy(&x, lode_host(t->src[0]) + (size_t)r * t->src[0]->nb[0], sizeof x);
        for (int j = 0; j < half; j++) {
            const double a = (double)x * exp(-log((double)p->period) * j / half);
            y[j] = (float)cos(a);
            y[j + half] = (float)sin(a);
        }
        if (p->dim % 2) y[2 * half] = 0;
    }
}

static lode_tensor *make_timestep(lode_graph *g, const lode_case *c) {
    return lode_timestep_embedding(g, c->src[0], (int)lode_case_num(c, "dim", 32),
                                   (int)lode_case_num(c, "period", 10000));
}

const lode_op_info lode_op_timestep_embedding = {
    .name = "timestep_embedding",
    .doc = "cosines, then sines of time steps",
    .n_src = 1,
    .infer = infer_timestep,
    .ref = ref_timestep,
    .make = make_timestep,
    .cases = "t=f32[5] | t=f32[3] dim=33 period=100",
};
