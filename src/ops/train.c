/* train.c - what training needs beside the forward ops: outer products, one gradient, optimiser steps. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <math.h>
#include <string.h>

/* ---- out_prod: y[i, j] = sum over k of a[i, k] b[j, k] ---- */

lode_tensor *lode_out_prod(lode_graph *g, lode_tensor *a, lode_tensor *b) {
    return lode_op_new2(g, LODE_OUT_PROD, NULL, 0, a, b);
}

static lode_status infer_out(lode_tensor *t, lode_err *err) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    LODE_TRY(lode_want(t, lode_type_can_decode(a->type), "the first input has no values in floats", err));
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(
        t, a->ne[1] == b->ne[1] && lode_is_multiple(b->ne[2], a->ne[2]) && lode_is_multiple(b->ne[3], a->ne[3]),
        "want [m, k, ...] and [n, k, ...]", err));
    t->type = LODE_F32;
    t->ne[0] = a->ne[0];
    t->ne[1] = b->ne[0];
    t->ne[2] = b->ne[2];
    t->ne[3] = b->ne[3];
    return lode_dense(t, err);
}

static float element(const lode_tensor *s, int64_t i0, const char *row) {
    float v;
    memcpy(&v, row + (size_t)i0 * s->nb[0], sizeof v);
    return v;
}

static void ref_out(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    float buf[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const int64_t j = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = 0, n; i < t->ne[0]; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            double sum[LODE_PIECE] = { 0 };
            for (int64_t k = 0; k < a->ne[1]; k++) {
                const char *row = lode_host_row(a, k, i2 / (t->ne[2] / a->ne[2]), i3 / (t->ne[3] / a->ne[3]));
                const float *x = lode_peek(a, row, i, n, buf);
                const double f = (double)element(b, j, lode_host_row(b, k, i2, i3));
                for (int64_t c = 0; c < n; c++) sum[c] += (double)x[c] * f;
            }
            for (int64_t c = 0; c < n; c++) y[i + c] = (float)sum[c];
        }
    }
}

static lode_tensor *make_out(lode_graph *g, const lode_case *c) { return lode_out_prod(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_out_prod = {
    .name = "out_prod",
    .doc = "sum of outer products of columns",
    .n_src = 2,
    .infer = infer_out,
    .ref = ref_out,
    .make = make_out,
    .cases = "a=f32[7,5] b=f32[3,5] | a=f32[300,4,2] b=f32[5,4,4] | a=q8_0[64,4] b=f32[5,4] | a=f32[7,5] b=f32[5,3]^10",
};

/* ---- silu_back: dy times the derivative of silu at x ---- */

lode_tensor *lode_silu_back(lode_graph *g, lode_tensor *dy, lode_tensor *x) {
    return lode_op_new2(g, LODE_SILU_BACK, NULL, 0, dy, x);
}

static lode_status infer_same(lode_tensor *t, lode_err *err) {
    for (int i = 0; i < 2; i++) {
        LODE_TRY(lode_want_type(t, i, LODE_F32, err));
        LODE_TRY(lode_want_rows(t, i, err));
    }
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, t->src[0]->ne[i] == t->src[1]->ne[i], "the inputs differ in shape", err));
    return lode_like(t, 0, LODE_F32, err);
}

static void ref_silu_back(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        const float *dy = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
        const float *x = (const float *)(const void *)lode_host_nth_row(t->src[1], r);
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i = 0; i < t->ne[0]; i++) {
            const double s = 1.0 / (1.0 + exp(-(double)x[i]));
            y[i] = (float)((double)dy[i] * s * (1.0 + (double)x[i] * (1.0 - s)));
        }
    }
}

static lode_tensor *make_silu_back(lode_graph *g, const lode_case *c) {
    return lode_silu_back(g, c->src[0], c->src[1]);
}

const lode_op_info lode_op_silu_back = {
    .name = "silu_back",
    .doc = "gradient of silu",
    .n_src = 2,
    .infer = infer_same,
    .ref = ref_silu_back,
    .in_place = true,
    .make = make_silu_back,
    .cases = "dy=f32[63,3] x=f32[63,3]",
};

/* ---- Optimiser steps: the result is the weights themselves, afterwards ---- */

static lode_status into_weights(lode_tensor *t, int n_same, int64_t n_numbers, lode_err *err) {
    lode_tensor *w = t->src[0];
    const lode_tensor *numbers = t->src[n_same];
    for (int i = 0; i <= n_same; i++) {
        LODE_TRY(lode_want_type(t, i, LODE_F32, err));
        LODE_TRY(lode_want(t, lode_is_contiguous(t->src[i]), "want packed tensors", err));
    }
    for (int i = 1; i < n_same; i++)
        LODE_TRY(lode_want(t, lode_n_elements(t->src[i]) == lode_n_elements(w), "the inputs differ in size", err));
    LODE_TRY(lode_want(t, lode_n_elements(numbers) == n_numbers, "the parameters are of another number", err));
    t->type = LODE_F32;
    memcpy(t->ne, w->ne, sizeof t->ne);
    memcpy(t->nb, w->nb, sizeof t->nb);
    t->view_of = w->view_of ? w->view_of : w;
    t->view_off = w->view_off;
    return LODE_OK;
}

static float *data_of(const lode_tensor *t) { return (float *)(void *)lode_host(t); }
static int64_t units_step(const lode_tensor *t) { return lode_n_elements(t); }

lode_tensor *lode_sgd_step(lode_graph *g, lode_tensor *w, lode_tensor *grad, lode_tensor *numbers) {
    return lode_op_new3(g, LODE_SGD_STEP, NULL, 0, w, grad, numbers);
}

static lode_status infer_sgd(lode_tensor *t, lode_err *err) { return into_weights(t, 2, 2, err); }

static void ref_sgd(const lode_tensor *t, int64_t from, int64_t to) {
    const float *g = data_of(t->src[1]), *p = data_of(t->src[2]);
    float *w = data_of(t);
    for (int64_t i = from; i < to; i++)
        w[i] = (float)((double)w[i] * (1.0 - (double)p[0] * (double)p[1]) - (double)p[0] * (double)g[i]);
}

static lode_tensor *make_sgd(lode_graph *g, const lode_case *c) {
    return lode_sgd_step(g, c->src[0], c->src[1], c->src[2]);
}

const lode_op_info lode_op_sgd_step = {
    .name = "sgd_step",
    .doc = "w (1 - alpha wd) - alpha g, into w",
    .n_src = 3,
    .infer = infer_sgd,
    .ref = ref_sgd,
    .units = units_step,
    .make = make_sgd,
    .cases = "w=f32[63,3] g=f32[63,3] p=f32[2]",
};

lode_tensor *lode_adamw_step(lode_graph *g, lode_tensor *w, lode_tensor *grad, lode_tensor *const moments[2],
                             lode_tensor *numbers) {
    return lode_op_new(g, LODE_ADAMW_STEP, NULL, 0, (lode_tensor *[]){ w, grad, moments[0], moments[1], numbers }, 5);
}

static lode_status infer_adamw(lode_tensor *t, lode_err *err) { return into_weights(t, 4, 7, err); }

static void ref_adamw(const lode_tensor *t, int64_t from, int64_t to) {
    enum { ALPHA, BETA1, BETA2, EPS, DECAY, CORRECT1, CORRECT2, N };
    double p[N];
    for (int i = 0; i < N; i++) p[i] = (double)data_of(t->src[4])[i];
    const float *g = data_of(t->src[1]);
    float *w = data_of(t), *m = data_of(t->src[2]), *v = data_of(t->src[3]);
    for (int64_t i = from; i < to; i++) {
        const double grad = (double)g[i];
        m[i] = (float)((double)m[i] * p[BETA1] + grad * (1.0 - p[BETA1]));
        v[i] = (float)((double)v[i] * p[BETA2] + grad * grad * (1.0 - p[BETA2]));
        const double step = (double)m[i] * p[CORRECT1] / (sqrt((double)v[i] * p[CORRECT2]) + p[EPS]);
        w[i] = (float)((double)w[i] * (1.0 - p[ALPHA] * p[DECAY]) - p[ALPHA] * step);
    }
}

static lode_tensor *make_adamw(lode_graph *g, const lode_case *c) {
    return lode_adamw_step(g, c->src[0], c->src[1], c->src + 2, c->src[4]);
}

const lode_op_info lode_op_adamw_step = {
    .name = "adamw_step",
    .doc = "AdamW (Loshchilov and Hutter 2017), into weights and moments",
    .n_src = 5,
    .infer = infer_adamw,
    .ref = ref_adamw,
    .units = units_step,
    .writes = 1 << 2 | 1 << 3,
    .make = make_adamw,
    .cases = "w=f32[63] g=f32[63] m=f32[63] v=f32[63] p=f32[7]",
};
