/* reduce.c - sums, means, running sums, places of the largest, along rows or over everything. Sums are in double. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

/* f32 in; the result has size n along rows. */
static lode_status infer_rows(lode_tensor *t, lode_type type, int64_t n, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_like(t, 0, type, err));
    t->ne[0] = n;
    return lode_dense(t, err);
}

static double sum_of_row(const lode_tensor *x, const char *row) {
    float buf[LODE_PIECE];
    double sum = 0;
    for (int64_t i = 0, n; i < x->ne[0]; i += n) {
        n = x->ne[0] - i < LODE_PIECE ? x->ne[0] - i : LODE_PIECE;
        const float *v = lode_peek(x, row, i, n, buf);
        for (int64_t k = 0; k < n; k++) sum += (double)v[k];
    }
    return sum;
}

static float *result(const lode_tensor *t, int64_t row) { return (float *)(void *)lode_host_nth_row(t, row); }
static int64_t one(const lode_tensor *t) {
    (void)t;
    return 1;
}

#define ROWS_OP(ID, lower)                                                                                      \
    lode_tensor *lode_##lower(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_##ID, NULL, 0, x); } \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) { return lode_##lower(g, c->src[0]); }

ROWS_OP(SUM, sum)

static lode_status infer_sum(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    t->type = LODE_F32;
    return lode_dense(t, err);
}

static void ref_sum(const lode_tensor *t, int64_t from, int64_t to) {
    (void)from;
    (void)to;
    const lode_tensor *x = t->src[0];
    double sum = 0;
    for (int64_t r = 0; r < lode_n_rows(x); r++) sum += sum_of_row(x, lode_host_nth_row(x, r));
    *result(t, 0) = (float)sum;
}

const lode_op_info lode_op_sum = {
    .name = "sum",
    .doc = "sum of all elements",
    .n_src = 1,
    .infer = infer_sum,
    .ref = ref_sum,
    .units = one,
    .make = make_sum,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[64,5,2]+3 | x=f32[12,5,4,3]^0213",
};

ROWS_OP(SUM_ROWS, sum_rows)

static lode_status infer_one(lode_tensor *t, lode_err *err) { return infer_rows(t, LODE_F32, 1, err); }

static void ref_sum_rows(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) *result(t, r) = (float)sum_of_row(t->src[0], lode_host_nth_row(t->src[0], r));
}

#define ROWS_CASES "x=f32[1] | x=f32[63,3] | x=f32[600,5,2]+3 | x=f32[12,5,4,3]^0213 | x=f32[12,5,4,3]^2103"

const lode_op_info lode_op_sum_rows = {
    .name = "sum_rows",
    .doc = "sum of each row",
    .n_src = 1,
    .infer = infer_one,
    .ref = ref_sum_rows,
    .make = make_sum_rows,
    .cases = ROWS_CASES,
};

ROWS_OP(MEAN, mean)

static void ref_mean(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++)
        *result(t, r) = (float)(sum_of_row(t->src[0], lode_host_nth_row(t->src[0], r)) / (double)t->src[0]->ne[0]);
}

const lode_op_info lode_op_mean = {
    .name = "mean",
    .doc = "mean of each row",
    .n_src = 1,
    .infer = infer_one,
    .ref = ref_mean,
    .make = make_mean,
    .cases = ROWS_CASES,
};

ROWS_OP(CUMSUM, cumsum)

static lode_status infer_cumsum(lode_tensor *t, lode_err *err) {
    return infer_rows(t, LODE_F32, t->src[0]->ne[0], err);
}

static void ref_cumsum(const lode_tensor *t, int64_t from, int64_t to) {
    float buf[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const char *row = lode_host_nth_row(t->src[0], r);
        double sum = 0;
        for (int64_t i = 0, n; i < t->ne[0]; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            const float *v = lode_peek(t->src[0], row, i, n, buf);
            for (int64_t k = 0; k < n; k++) result(t, r)[i + k] = (float)(sum += (double)v[k]);
        }
    }
}

const lode_op_info lode_op_cumsum = {
    .name = "cumsum",
    .doc = "running sum along each row",
    .n_src = 1,
    .infer = infer_cumsum,
    .ref = ref_cumsum,
    .in_place = true,
    .make = make_cumsum,
    .cases = ROWS_CASES,
};

ROWS_OP(ARGMAX, argmax)

static lode_status infer_argmax(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0];
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want(t, x->ne[2] == 1 && x->ne[3] == 1, "want a matrix", err));
    t->type = LODE_I32;
    t->ne[0] = x->ne[1];
    return lode_dense(t, err);
}

static int64_t units_argmax(const lode_tensor *t) { return t->ne[0]; }

static void ref_argmax(const lode_tensor *t, int64_t from, int64_t to) {
    float buf[LODE_PIECE];
    for (int64_t r = from; r < to; r++) {
        const char *row = lode_host_nth_row(t->src[0], r);
        float most = 0;
        int64_t at = -1;
        for (int64_t i = 0, n; i < t->src[0]->ne[0]; i += n) {
            n = t->src[0]->ne[0] - i < LODE_PIECE ? t->src[0]->ne[0] - i : LODE_PIECE;
            const float *v = lode_peek(t->src[0], row, i, n, buf);
            for (int64_t k = 0; k < n; k++)
                if (at < 0 ? v[k] == v[k] : v[k] > most) {
                    most = v[k];
                    at = i + k;
                }
        }
        ((int32_t *)(void *)lode_host(t))[r] = (int32_t)(at < 0 ? 0 : at);
    }
}

const lode_op_info lode_op_argmax = {
    .name = "argmax",
    .doc = "place of the largest value of each row, the first of equal ones; NaN never wins",
    .n_src = 1,
    .infer = infer_argmax,
    .ref = ref_argmax,
    .units = units_argmax,
    .make = make_argmax,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[600,5]+3 | x=f32[12,5]^10",
};

lode_tensor *lode_count_equal(lode_graph *g, lode_tensor *a, lode_tensor *b) {
    return lode_op_new2(g, LODE_COUNT_EQUAL, NULL, 0, a, b);
}

static lode_status infer_count(lode_tensor *t, lode_err *err) {
    for (int i = 0; i < 2; i++) {
        LODE_TRY(lode_want_type(t, i, LODE_I32, err));
        LODE_TRY(lode_want_rows(t, i, err));
    }
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, t->src[0]->ne[i] == t->src[1]->ne[i], "the inputs differ in shape", err));
    t->type = LODE_I64;
    return lode_dense(t, err);
}

static void ref_count(const lode_tensor *t, int64_t from, int64_t to) {
    (void)from;
    (void)to;
    const lode_tensor *a = t->src[0];
    int64_t n = 0;
    for (int64_t r = 0; r < lode_n_rows(a); r++) {
        const int32_t *x = (const int32_t *)(const void *)lode_host_nth_row(a, r);
        const int32_t *y = (const int32_t *)(const void *)lode_host_nth_row(t->src[1], r);
        for (int64_t i = 0; i < a->ne[0]; i++) n += x[i] == y[i];
    }
    *(int64_t *)(void *)lode_host(t) = n;
}

static lode_tensor *make_count(lode_graph *g, const lode_case *c) { return lode_count_equal(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_count_equal = {
    .name = "count_equal",
    .doc = "how many elements of two integer tensors are equal",
    .n_src = 2,
    .infer = infer_count,
    .ref = ref_count,
    .units = one,
    .make = make_count,
    .cases = "a=i32[63,3]<3 b=i32[63,3]<2 | a=i32[5]<7 b=i32[5]<7",
};
