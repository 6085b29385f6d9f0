/* soft_max.c - softmax along rows, with scale, mask, position bias and sinks. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"
#include "ops/flash_attn.h"

#include <math.h>

lode_tensor *lode_soft_max(lode_graph *g, lode_tensor *x, lode_tensor *mask, lode_tensor *sinks,
                           const lode_flash_attn_desc *desc) {
    lode_flash_attn_desc d = *desc;
    d.has_mask = mask != NULL;
    return lode_op_new3(g, LODE_SOFT_MAX, &d, sizeof d, x, mask ? mask : sinks, mask ? sinks : NULL);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0];
    const bool masked = LODE_PAR(t, lode_flash_attn_desc)->has_mask;
    const lode_tensor *mask = masked ? t->src[1] : NULL, *sinks = masked ? t->src[2] : t->src[1];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    if (mask) LODE_TRY(lode_want_rows(t, 1, err));
    if (mask)
        LODE_TRY(lode_want(t,
                           (mask->type == LODE_F32 || mask->type == LODE_F16) && mask->ne[0] == x->ne[0] &&
                               mask->ne[1] >= x->ne[1] && lode_is_multiple(x->ne[2], mask->ne[2]) &&
                               lode_is_multiple(x->ne[3], mask->ne[3]),
                           "want an f32 or f16 mask [n, t, ...]", err));
    if (sinks)
        LODE_TRY(lode_want(t, sinks->type == LODE_F32 && sinks->nb[0] == 4 && sinks->ne[0] == x->ne[2],
                           "want one f32 sink per head", err));
    return lode_like(t, 0, LODE_F32, err);
}

/* The mask's row for row r of x, NULL for none. */
const char *lode_soft_max_mask(const lode_tensor *t, int64_t r) {
    if (!LODE_PAR(t, lode_flash_attn_desc)->has_mask) return NULL;
    const lode_tensor *m = t->src[1];
    const int64_t i1 = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
    return lode_host_row(m, i1, i2 % m->ne[2], i3 % m->ne[3]);
}

float lode_soft_max_sink(const lode_tensor *t, int64_t r) {
    const lode_tensor *s = LODE_PAR(t, lode_flash_attn_desc)->has_mask ? t->src[2] : t->src[1];
    return s ? ((const float *)(const void *)lode_host(s))[r / t->ne[1] % t->ne[2]] : -INFINITY;
}

/* The row's masked scores, into y, and the largest of them. */
static double scores(const lode_tensor *t, int64_t r, float *y) {
    const lode_flash_attn_desc *d = LODE_PAR(t, lode_flash_attn_desc);
    const float *x = (const float *)(const void *)lode_host_nth_row(t->src[0], r);
    const char *mask = lode_soft_max_mask(t, r);
    const double slope = (double)lode_alibi_slope(d->max_bias, r / t->ne[1] % t->ne[2], t->ne[2]);
    double most = -INFINITY;
    float m[LODE_PIECE] = { 0 };
    for (int64_t i = 0, n; i < t->ne[0]; i += n) {
        n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
        if (mask) lode_load(t->src[1], mask, i, n, m);
        for (int64_t k = 0; k < n; k++) {
            const double z = (double)d->scale * (double)x[i + k] + (mask ? slope * (double)m[k] : 0);
            y[i + k] = (float)z;
            most = fmax(most, (double)y[i + k]);
        }
    }
    return most;
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        const double sink = (double)lode_soft_max_sink(t, r), most = fmax(scores(t, r, y), sink);
        double total = sink > -INFINITY ? exp(sink - most) : 0;
        for (int64_t i = 0; i < t->ne[0]; i++) {
            const double e = most > -INFINITY ? exp((double)y[i] - most) : 0;
            y[i] = (float)e;
            total += e;
        }
        for (int64_t i = 0; i < t->ne[0]; i++) y[i] = total > 0 ? (float)((double)y[i] / total) : 0.0f;
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    const lode_flash_attn_desc d = { .scale = (float)lode_case_num(c, "scale", 1),
                                     .max_bias = (float)lode_case_num(c, "bias", 0) };
    const bool mask = c->src[1] && c->src[1]->ne[0] == c->src[0]->ne[0];
    return lode_soft_max(g, c->src[0], mask ? c->src[1] : NULL, mask ? c->src[2] : c->src[1], &d);
}

const lode_op_info lode_op_soft_max = {
    .name = "soft_max",
    .doc = "softmax along rows, with scale, mask, position bias and sinks; a row that sees nothing gets zeros",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .in_place = true,
    .make = make,
    .cases = "x=f32[63,3] | x=f32[300,5,4] m=f32[300,5] scale=0.1 | x=f32[300,5,4,2] m=f16[300,8,4] bias=8"
             " | x=f32[40,3,6] s=f32[6] | x=f32[40,3,6]+8 m=f16[40,3] s=f32[6] scale=0.5 | x=f32[70000,2]",
};
