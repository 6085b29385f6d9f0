/* norm.c - norms without weights: layer norm (Ba et al. 2016), L2 norm, group norm (Wu and He 2018). Sums are in
 * double, the mean is taken off before squares are summed. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"
#include "ops/rms_norm.h"

#include <math.h>

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    return lode_like(t, 0, LODE_F32, err);
}

/* Sum of (x - mean)^p over a row, p 1 or 2. */
static double moment(const lode_tensor *x, const char *row, double mean, int p) {
    float buf[LODE_PIECE];
    double sum = 0;
    for (int64_t i = 0, n; i < x->ne[0]; i += n) {
        n = x->ne[0] - i < LODE_PIECE ? x->ne[0] - i : LODE_PIECE;
        const float *v = lode_peek(x, row, i, n, buf);
        for (int64_t k = 0; k < n; k++) {
            const double d = (double)v[k] - mean;
            sum += p == 1 ? d : d * d;
        }
    }
    return sum;
}

/* y = (x - mean) * scale */
static void write_row(const lode_tensor *t, int64_t r, double mean, double scale) {
    float buf[LODE_PIECE];
    const char *row = lode_host_nth_row(t->src[0], r);
    float *y = (float *)(void *)lode_host_nth_row(t, r);
    for (int64_t i = 0, n; i < t->ne[0]; i += n) {
        n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
        const float *v = lode_peek(t->src[0], row, i, n, buf);
        for (int64_t k = 0; k < n; k++) y[i + k] = (float)(((double)v[k] - mean) * scale);
    }
}

static double eps_of(const lode_tensor *t) { return (double)LODE_PAR(t, lode_rms_norm_par)->eps; }

static lode_tensor *with_eps(lode_graph *g, lode_op op, lode_tensor *x, float eps) {
    const lode_rms_norm_par par = { eps };
    return lode_op_new1(g, op, &par, sizeof par, x);
}

lode_tensor *lode_layer_norm(lode_graph *g, lode_tensor *x, float eps) { return with_eps(g, LODE_LAYER_NORM, x, eps); }
lode_tensor *lode_l2_norm(lode_graph *g, lode_tensor *x, float eps) { return with_eps(g, LODE_L2_NORM, x, eps); }

static void ref_layer(const lode_tensor *t, int64_t from, int64_t to) {
    const double n = (double)t->ne[0];
    for (int64_t r = from; r < to; r++) {
        const char *row = lode_host_nth_row(t->src[0], r);
        const double mean = moment(t->src[0], row, 0, 1) / n;
        write_row(t, r, mean, 1.0 / sqrt(moment(t->src[0], row, mean, 2) / n + eps_of(t)));
    }
}

static void ref_l2(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++)
        write_row(t, r, 0, 1.0 / fmax(sqrt(moment(t->src[0], lode_host_nth_row(t->src[0], r), 0, 2)), eps_of(t)));
}

static lode_tensor *make_layer(lode_graph *g, const lode_case *c) {
    return lode_layer_norm(g, c->src[0], (float)lode_case_num(c, "eps", 1e-5));
}

static lode_tensor *make_l2(lode_graph *g, const lode_case *c) {
    return lode_l2_norm(g, c->src[0], (float)lode_case_num(c, "eps", 1e-5));
}

#define CASES "x=f32[63,3] | x=f32[4096,5] eps=1e-6 | x=f32[64,9,7] | x=f32[576,4]+32 | x=f32[12,50,3]^102 eps=0.1"

const lode_op_info lode_op_layer_norm = {
    .name = "layer_norm",
    .doc = "each row with its mean taken off, divided by its deviation",
    .n_src = 1,
    .infer = infer,
    .ref = ref_layer,
    .in_place = true,
    .make = make_layer,
    .cases = CASES,
};

const lode_op_info lode_op_l2_norm = {
    .name = "l2_norm",
    .doc = "each row divided by its length, or by eps if that is more",
    .n_src = 1,
    .infer = infer,
    .ref = ref_l2,
    .in_place = true,
    .make = make_l2,
    .cases = CASES,
};

typedef struct {
    int32_t n_groups;
    float eps;
} group_par;

lode_tensor *lode_group_norm(lode_graph *g, lode_tensor *x, int n_groups, float eps) {
    const group_par par = { n_groups, eps };
    return lode_op_new1(g, LODE_GROUP_NORM, &par, sizeof par, x);
}

static lode_status infer_group(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want(t, LODE_PAR(t, group_par)->n_groups > 0, "want at least one group", err));
    return infer(t, err);
}

static int64_t units_group(const lode_tensor *t) { return LODE_PAR(t, group_par)->n_groups * t->ne[3]; }

static void one_group(const lode_tensor *t, int64_t group, int64_t i3) {
    const group_par *par = LODE_PAR(t, group_par);
    const lode_tensor *x = t->src[0];
    const int64_t width = (t->ne[2] + par->n_groups - 1) / par->n_groups;
    const int64_t c0 = group * width, c1 = c0 + width < t->ne[2] ? c0 + width : t->ne[2];
    if (c0 >= c1) return;
    const double n = (double)(t->ne[0] * t->ne[1] * (c1 - c0));
    const int64_t first = (i3 * t->ne[2] + c0) * t->ne[1], last = (i3 * t->ne[2] + c1) * t->ne[1];
    double sum = 0, squares = 0;
    for (int64_t r = first; r < last; r++) sum += moment(x, lode_host_nth_row(x, r), 0, 1);
    for (int64_t r = first; r < last; r++) squares += moment(x, lode_host_nth_row(x, r), sum / n, 2);
    for (int64_t r = first; r < last; r++) write_row(t, r, sum / n, 1.0 / sqrt(squares / n + (double)par->eps));
}

static void ref_group(const lode_tensor *t, int64_t from, int64_t to) {
    const int64_t n = LODE_PAR(t, group_par)->n_groups;
    for (int64_t i = from; i < to; i++) one_group(t, i % n, i / n);
}

static lode_tensor *make_group(lode_graph *g, const lode_case *c) {
    return lode_group_norm(g, c->src[0], (int)lode_case_num(c, "groups", 4), (float)lode_case_num(c, "eps", 1e-5));
}

const lode_op_info lode_op_group_norm = {
    .name = "group_norm",
    .doc = "layer norm over dimensions 0, 1 and each group of channels (dimension 2)",
    .n_src = 1,
    .infer = infer_group,
    .ref = ref_group,
    .units = units_group,
    .in_place = true,
    .make = make_group,
    .cases = "x=f32[7,5,12,2] | x=f32[7,5,10] groups=3 | x=f32[9,3,4]+2 groups=8",
};
