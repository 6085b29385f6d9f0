/* concat.c - tensors side by side, and one tensor again and again. Elements are bytes here: any type. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"
#include "ops/copy.h"

#include <string.h>

typedef struct {
    int32_t dim;
} concat_par;

lode_tensor *lode_concat(lode_graph *g, lode_tensor *a, lode_tensor *b, int dim) {
    const concat_par par = { dim };
    return lode_op_new2(g, LODE_CONCAT, &par, sizeof par, a, b);
}

static lode_status infer_concat(lode_tensor *t, lode_err *err) {
    const int dim = LODE_PAR(t, concat_par)->dim;
    const lode_tensor *a = t->src[0], *b = t->src[1];
    LODE_TRY(lode_want(t, dim >= 0 && dim < LODE_MAX_DIMS, "there are dimensions 0 to 3", err));
    LODE_TRY(lode_want(t, a->type == b->type, "the inputs differ in type", err));
    LODE_TRY(lode_want(t,
                       lode_type_block(a->type) == 1 ||
                           (a->ne[0] % lode_type_block(a->type) == 0 && b->ne[0] % lode_type_block(a->type) == 0),
                       "rows are not whole blocks", err));
    t->type = a->type;
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        LODE_TRY(lode_want(t, i == dim || a->ne[i] == b->ne[i], "the other sizes differ", err));
        t->ne[i] = a->ne[i] + (i == dim ? b->ne[i] : 0);
    }
    return lode_dense(t, err);
}

static void ref_concat(const lode_tensor *t, int64_t from, int64_t to) {
    const int dim = LODE_PAR(t, concat_par)->dim;
    const lode_tensor *a = t->src[0], *b = t->src[1];
    for (int64_t r = from; r < to; r++) {
        int64_t i[LODE_MAX_DIMS] = { 0, r % t->ne[1], r / t->ne[1] % t->ne[2], r / t->ne[1] / t->ne[2] };
        char *row = lode_host_nth_row(t, r);
        const bool second = dim > 0 && i[dim] >= a->ne[dim];
        if (second) i[dim] -= a->ne[dim];
        const lode_tensor *s = second ? b : a;
        lode_copy_same(t, row, 0, s, lode_host_row(s, i[1], i[2], i[3]), 0, s->ne[0]);
        if (dim == 0) lode_copy_same(t, row, a->ne[0], b, lode_host_row(b, i[1], i[2], i[3]), 0, b->ne[0]);
    }
}

static lode_tensor *make_concat(lode_graph *g, const lode_case *c) {
    return lode_concat(g, c->src[0], c->src[1], (int)lode_case_num(c, "dim", 0));
}

const lode_op_info lode_op_concat = {
    .name = "concat",
    .doc = "the second input behind the first along one dimension",
    .n_src = 2,
    .infer = infer_concat,
    .ref = ref_concat,
    .make = make_concat,
    .cases = "a=f32[7,3,2] b=f32[5,3,2] | a=f32[7,3,2] b=f32[7,5,2] dim=1 | a=f16[7,3,2]+1 b=f16[7,3,4] dim=2"
             " | a=f32[7,3,2,2] b=f32[7,3,2,3] dim=3 | a=q8_0[64,3] b=q8_0[32,3] | a=f32[3,7]^10 b=f32[5,3]",
};

typedef struct {
    int64_t ne[LODE_MAX_DIMS];
} repeat_par;

lode_tensor *lode_repeat(lode_graph *g, lode_tensor *x, const int64_t ne[LODE_MAX_DIMS]) {
    repeat_par par;
    memcpy(par.ne, ne, sizeof par.ne);
    return lode_op_new1(g, LODE_REPEAT, &par, sizeof par, x);
}

static lode_status infer_repeat(lode_tensor *t, lode_err *err) {
    const repeat_par *par = LODE_PAR(t, repeat_par);
    const lode_tensor *x = t->src[0];
    LODE_TRY(lode_want(t, lode_type_block(x->type) == 1, "want a plain type", err));
    t->type = x->type;
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        LODE_TRY(lode_want(t, lode_is_multiple(par->ne[i], x->ne[i]), "sizes are not multiples of the input's", err));
        t->ne[i] = par->ne[i];
    }
    return lode_dense(t, err);
}

static void ref_repeat(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *x = t->src[0];
    for (int64_t r = from; r < to; r++)
        for (int64_t i = 0; i < t->ne[0]; i += x->ne[0])
            lode_copy_same(t, lode_host_nth_row(t, r), i, x, lode_host_repeated_row(x, t, r), 0, x->ne[0]);
}

static lode_tensor *make_repeat(lode_graph *g, const lode_case *c) {
    const int64_t ne[LODE_MAX_DIMS] = { (int64_t)lode_case_num(c, "n0", 1), (int64_t)lode_case_num(c, "n1", 1),
                                        (int64_t)lode_case_num(c, "n2", 1), (int64_t)lode_case_num(c, "n3", 1) };
    return lode_repeat(g, c->src[0], ne);
}

const lode_op_info lode_op_repeat = {
    .name = "repeat",
    .doc = "the input again and again along each dimension",
    .n_src = 1,
    .infer = infer_repeat,
    .ref = ref_repeat,
    .make = make_repeat,
    .cases = "x=f32[7,3,2] n0=14 n1=9 n2=2 n3=3 | x=f16[5]+2 n0=5 n1=4 | x=f32[1,4] n0=300 n1=4",
};
