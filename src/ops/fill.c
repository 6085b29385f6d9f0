/* fill.c - tensors of one value, or of evenly spaced ones. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"
#include "ops/scale.h"

#include <math.h>

lode_tensor *lode_fill(lode_graph *g, lode_tensor *like, float c) {
    const lode_scale_par par = { 0.0f, c };
    return lode_op_new1(g, LODE_FILL, &par, sizeof par, like);
}

static lode_status infer_fill(lode_tensor *t, lode_err *err) { return lode_like(t, 0, t->src[0]->type, err); }

static void ref_fill(const lode_tensor *t, int64_t from, int64_t to) {
    float c[LODE_PIECE];
    for (int i = 0; i < LODE_PIECE; i++) c[i] = LODE_PAR(t, lode_scale_par)->c;
    for (int64_t r = from; r < to; r++)
        for (int64_t i = 0; i < t->ne[0]; i += LODE_PIECE)
            lode_store(t, lode_host_nth_row(t, r), i, t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE, c);
}

static lode_tensor *make_fill(lode_graph *g, const lode_case *c) {
    return lode_fill(g, c->src[0], (float)lode_case_num(c, "c", 2.5));
}

const lode_op_info lode_op_fill = {
    .name = "fill",
    .doc = "one value everywhere; the input gives type and sizes alone",
    .n_src = 1,
    .infer = infer_fill,
    .ref = ref_fill,
    .in_place = true,
    .make = make_fill,
    .cases = "x=f32[63,3] | x=f16[300,2] c=-1 | x=f32[1] c=0",
};

typedef struct {
    float start, step;
    int64_t n;
} arange_par;

lode_tensor *lode_arange(lode_graph *g, float start, float stop, float step) {
    const double n = ceil(((double)stop - (double)start) / (double)step);
    if (!(n >= 1 && n < 1e12)) {
        lode_graph_fail(g, LODE_E_INPUT, "arange: from %g to %g by %g are no values", (double)start, (double)stop,
                        (double)step);
        return g->nowhere;
    }
    const arange_par par = { start, step, (int64_t)n };
    return lode_op_new(g, LODE_ARANGE, &par, sizeof par, NULL, 0);
}

static lode_status infer_arange(lode_tensor *t, lode_err *err) {
    t->type = LODE_F32;
    t->ne[0] = LODE_PAR(t, arange_par)->n;
    return lode_dense(t, err);
}

static void ref_arange(const lode_tensor *t, int64_t from, int64_t to) {
    const arange_par *par = LODE_PAR(t, arange_par);
    float *y = (float *)(void *)lode_host(t);
    for (int64_t i = from; i < to; i++) y[i] = (float)((double)par->start + (double)par->step * (double)i);
}

static int64_t units_arange(const lode_tensor *t) { return t->ne[0]; }

static lode_tensor *make_arange(lode_graph *g, const lode_case *c) {
    return lode_arange(g, (float)lode_case_num(c, "start", 0), (float)lode_case_num(c, "stop", 10),
                       (float)lode_case_num(c, "step", 1));
}

const lode_op_info lode_op_arange = {
    .name = "arange",
    .doc = "start + step i, up to stop",
    .infer = infer_arange,
    .ref = ref_arange,
    .units = units_arange,
    .make = make_arange,
    .cases = "stop=10 | start=3 stop=-500 step=-0.25",
};
