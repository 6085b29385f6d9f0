/* set.c - a with b written, or added, into a region of it that has its own distances. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"
#include "ops/copy.h"

#include <string.h>

lode_tensor *lode_set(lode_graph *g, lode_tensor *a, lode_tensor *b, const lode_region *region) {
    return lode_op_new2(g, LODE_SET, region, sizeof *region, a, b);
}

lode_tensor *lode_acc(lode_graph *g, lode_tensor *a, lode_tensor *b, const lode_region *region) {
    return lode_op_new2(g, LODE_ACC, region, sizeof *region, a, b);
}

/* The region must lie inside a, which must be packed: distances are those of a's memory. */
static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_region *p = LODE_PAR(t, lode_region);
    const lode_tensor *a = t->src[0], *b = t->src[1];
    LODE_TRY(
        lode_want(t, a->type == b->type && lode_type_block(a->type) == 1, "want two tensors of one plain type", err));
    LODE_TRY(lode_want(t, lode_is_contiguous(a), "the first input must be packed", err));
    size_t end = p->offset + (size_t)b->ne[0] * (size_t)lode_type_bytes(b->type);
    for (int i = 1; i < LODE_MAX_DIMS; i++) end += (size_t)(b->ne[i] - 1) * p->nb[i - 1];
    LODE_TRY(lode_want(t, end <= lode_n_bytes(a), "the region ends behind the first input", err));
    return lode_like(t, 0, a->type, err);
}

static lode_status infer_acc(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    return infer(t, err);
}

static int64_t one(const lode_tensor *t) {
    (void)t;
    return 1;
}

/* The row of the region that goes with row r of b. */
static char *region_row(const lode_tensor *t, int64_t r) {
    const lode_region *p = LODE_PAR(t, lode_region);
    const lode_tensor *b = t->src[1];
    const size_t i1 = (size_t)(r % b->ne[1]), i2 = (size_t)(r / b->ne[1] % b->ne[2]),
                 i3 = (size_t)(r / b->ne[1] / b->ne[2]);
    return lode_host(t) + p->offset + i1 * p->nb[0] + i2 * p->nb[1] + i3 * p->nb[2];
}

static void copy_first(const lode_tensor *t) {
    for (int64_t r = 0; r < lode_n_rows(t); r++)
        lode_copy_same(t, lode_host_nth_row(t, r), 0, t->src[0], lode_host_nth_row(t->src[0], r), 0, t->ne[0]);
}

static void ref_set(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *b = t->src[1];
    (void)from;
    (void)to;
    copy_first(t);
    for (int64_t r = 0; r < lode_n_rows(b); r++)
        lode_copy_same(t, region_row(t, r), 0, b, lode_host_nth_row(b, r), 0, b->ne[0]);
}

static void ref_acc(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *b = t->src[1];
    float x[LODE_PIECE];
    (void)from;
    (void)to;
    copy_first(t);
    for (int64_t r = 0; r < lode_n_rows(b); r++) {
        float *y = (float *)(void *)region_row(t, r);
        for (int64_t i = 0, n; i < b->ne[0]; i += n) {
            n = b->ne[0] - i < LODE_PIECE ? b->ne[0] - i : LODE_PIECE;
            lode_load(b, lode_host_nth_row(b, r), i, n, x);
            for (int64_t k = 0; k < n; k++) y[i + k] += x[k];
        }
    }
}

static lode_region region_of(const lode_case *c) {
    return (lode_region){ .nb = { (size_t)lode_case_num(c, "nb1", 0), (size_t)lode_case_num(c, "nb2", 0),
                                  (size_t)lode_case_num(c, "nb3", 0) },
                          .offset = (size_t)lode_case_num(c, "off", 0) };
}

static lode_tensor *make_set(lode_graph *g, const lode_case *c) {
    const lode_region r = region_of(c);
    return lode_set(g, c->src[0], c->src[1], &r);
}

static lode_tensor *make_acc(lode_graph *g, const lode_case *c) {
    const lode_region r = region_of(c);
    return lode_acc(g, c->src[0], c->src[1], &r);
}

#define CASES "a=f32[20,9,4] b=f32[5,3,2] nb1=80 nb2=720 off=84 | a=f32[40,3] b=f32[7,2]+3 nb1=160 off=8"

const lode_op_info lode_op_set = {
    .name = "set",
    .doc = "a with b written into a region of it",
    .n_src = 2,
    .infer = infer,
    .ref = ref_set,
    .units = one,
    .in_place = true,
    .make = make_set,
    .cases = CASES,
};

const lode_op_info lode_op_acc = {
    .name = "acc",
    .doc = "a with b added into a region of it",
    .n_src = 2,
    .infer = infer_acc,
    .ref = ref_acc,
    .units = one,
    .in_place = true,
    .make = make_acc,
    .cases = CASES,
};
