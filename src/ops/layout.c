/* layout.c - ops whose result elements each are one source element or a constant: padding, rolling, masks, diagonals.
 * f32 only. Each op says where an element comes from. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

#include <math.h>
#include <string.h>

/* Turns an index of the result into one of the source; false: the element is `other` (0 unless set). */
typedef bool from_fn(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other);

static void gather(const lode_tensor *t, int64_t first, int64_t last, from_fn *from) {
    const lode_tensor *x = t->src[0];
    for (int64_t r = first; r < last; r++) {
        float *y = (float *)(void *)lode_host_nth_row(t, r);
        for (int64_t i0 = 0; i0 < t->ne[0]; i0++) {
            int64_t i[LODE_MAX_DIMS] = { i0, r % t->ne[1], r / t->ne[1] % t->ne[2], r / t->ne[1] / t->ne[2] };
            float v = 0;
            if (from(t, i, &v)) memcpy(&v, lode_host_row(x, i[1], i[2], i[3]) + (size_t)i[0] * x->nb[0], sizeof v);
            y[i0] = v;
        }
    }
}

static int64_t mod(int64_t a, int64_t n) { return (a % n + n) % n; }

static lode_status infer_same(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    return lode_like(t, 0, LODE_F32, err);
}

/* ---- pad: lo and hi elements around each dimension, zeros or the other end ---- */

lode_tensor *lode_pad(lode_graph *g, lode_tensor *x, const lode_pad_desc *desc) {
    return lode_op_new1(g, LODE_PAD, desc, sizeof *desc, x);
}

static lode_status infer_pad(lode_tensor *t, lode_err *err) {
    const lode_pad_desc *d = LODE_PAR(t, lode_pad_desc);
    LODE_TRY(infer_same(t, err));
    LODE_TRY(lode_want(t, !d->circular || lode_n_elements(t) > 0, "nothing lies at the other end", err));
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        LODE_TRY(lode_want(t, d->lo[i] >= 0 && d->hi[i] >= 0, "want padding of at least 0", err));
        t->ne[i] += (int64_t)d->lo[i] + d->hi[i];
    }
    return lode_dense(t, err);
}

static bool from_pad(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    const lode_pad_desc *d = LODE_PAR(t, lode_pad_desc);
    (void)other;
    for (int k = 0; k < LODE_MAX_DIMS; k++) {
        const int64_t n = t->src[0]->ne[k];
        i[k] -= d->lo[k];
        if (d->circular)
            i[k] = mod(i[k], n);
        else if (i[k] < 0 || i[k] >= n)
            return false;
    }
    return true;
}

static void ref_pad(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_pad); }

static lode_tensor *make_pad(lode_graph *g, const lode_case *c) {
    const lode_pad_desc d = {
        .lo = { (int32_t)lode_case_num(c, "l0", 0), (int32_t)lode_case_num(c, "l1", 0) },
        .hi = { (int32_t)lode_case_num(c, "h0", 0), (int32_t)lode_case_num(c, "h1", 0),
                (int32_t)lode_case_num(c, "h2", 0) },
        .circular = (int32_t)lode_case_num(c, "circular", 0),
    };
    return lode_pad(g, c->src[0], &d);
}

const lode_op_info lode_op_pad = {
    .name = "pad",
    .doc = "zeros, or the other end, around each dimension",
    .n_src = 1,
    .infer = infer_pad,
    .ref = ref_pad,
    .make = make_pad,
    .cases = "x=f32[7,5,3] l0=1 h0=2 h1=3 h2=1 | x=f32[7,5,3] l0=3 l1=2 h1=4 circular=1 | x=f32[5,7,2]^102 h0=1 l1=1",
};

/* ---- pad_reflect: mirrors along rows without doubling the edge ---- */

typedef struct {
    int32_t left, right;
} reflect_par;

lode_tensor *lode_pad_reflect(lode_graph *g, lode_tensor *x, int left, int right) {
    const reflect_par par = { left, right };
    return lode_op_new1(g, LODE_PAD_REFLECT, &par, sizeof par, x);
}

static lode_status infer_reflect(lode_tensor *t, lode_err *err) {
    const reflect_par *p = LODE_PAR(t, reflect_par);
    LODE_TRY(infer_same(t, err));
    LODE_TRY(lode_want(t, p->left >= 0 && p->right >= 0 && p->left < t->ne[0] && p->right < t->ne[0],
                       "want padding shorter than a row", err));
    t->ne[0] += (int64_t)p->left + p->right;
    return lode_dense(t, err);
}

static bool from_reflect(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    const int64_t last = t->src[0]->ne[0] - 1;
    (void)other;
    i[0] -= LODE_PAR(t, reflect_par)->left;
    if (i[0] < 0) i[0] = -i[0];
    if (i[0] > last) i[0] = 2 * last - i[0];
    return true;
}

static void ref_reflect(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_reflect); }

static lode_tensor *make_reflect(lode_graph *g, const lode_case *c) {
    return lode_pad_reflect(g, c->src[0], (int)lode_case_num(c, "l", 0), (int)lode_case_num(c, "r", 0));
}

const lode_op_info lode_op_pad_reflect = {
    .name = "pad_reflect",
    .doc = "mirrors each row at its ends",
    .n_src = 1,
    .infer = infer_reflect,
    .ref = ref_reflect,
    .make = make_reflect,
    .cases = "x=f32[7,5,3] l=6 r=2 | x=f32[2] l=1 r=1",
};

/* ---- roll ---- */

typedef struct {
    int32_t shift[LODE_MAX_DIMS];
} roll_par;

lode_tensor *lode_roll(lode_graph *g, lode_tensor *x, const int32_t shift[LODE_MAX_DIMS]) {
    roll_par par;
    memcpy(par.shift, shift, sizeof par.shift);
    return lode_op_new1(g, LODE_ROLL, &par, sizeof par, x);
}

static bool from_roll(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    (void)other;
    for (int k = 0; k < LODE_MAX_DIMS; k++) i[k] = mod(i[k] - LODE_PAR(t, roll_par)->shift[k], t->ne[k]);
    return true;
}

static void ref_roll(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_roll); }

static lode_tensor *make_roll(lode_graph *g, const lode_case *c) {
    const int32_t shift[LODE_MAX_DIMS] = { (int32_t)lode_case_num(c, "s0", 0), (int32_t)lode_case_num(c, "s1", 0),
                                           (int32_t)lode_case_num(c, "s2", 0), 0 };
    return lode_roll(g, c->src[0], shift);
}

const lode_op_info lode_op_roll = {
    .name = "roll",
    .doc = "moves elements along each dimension; what leaves at one end comes in at the other",
    .n_src = 1,
    .infer = infer_same,
    .ref = ref_roll,
    .make = make_roll,
    .cases = "x=f32[7,5,3] s0=2 s1=-1 s2=4 | x=f32[5,7]^10 s0=-9",
};

/* ---- diag, masks ---- */

lode_tensor *lode_diag(lode_graph *g, lode_tensor *x) { return lode_op_new1(g, LODE_DIAG, NULL, 0, x); }

static lode_status infer_diag(lode_tensor *t, lode_err *err) {
    LODE_TRY(infer_same(t, err));
    LODE_TRY(lode_want(t, t->ne[1] == 1, "want one row per matrix", err));
    t->ne[1] = t->ne[0];
    return lode_dense(t, err);
}

static bool from_diag(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    (void)t;
    (void)other;
    if (i[0] != i[1]) return false;
    i[1] = 0;
    return true;
}

static void ref_diag(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_diag); }
static lode_tensor *make_diag(lode_graph *g, const lode_case *c) { return lode_diag(g, c->src[0]); }

const lode_op_info lode_op_diag = {
    .name = "diag",
    .doc = "a row as the diagonal of a matrix of zeros",
    .n_src = 1,
    .infer = infer_diag,
    .ref = ref_diag,
    .make = make_diag,
    .cases = "x=f32[7,1,3,2] | x=f32[1]",
};

typedef struct {
    int32_t past;
    float value;
} mask_par;

lode_tensor *lode_diag_mask(lode_graph *g, lode_tensor *x, int past, float value) {
    const mask_par par = { past, value };
    return lode_op_new1(g, LODE_DIAG_MASK, &par, sizeof par, x);
}

static bool from_mask(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    const mask_par *p = LODE_PAR(t, mask_par);
    *other = p->value;
    return i[0] <= p->past + i[1];
}

static void ref_mask(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_mask); }

static lode_tensor *make_mask(lode_graph *g, const lode_case *c) {
    return lode_diag_mask(g, c->src[0], (int)lode_case_num(c, "past", 0), (float)lode_case_num(c, "value", -INFINITY));
}

const lode_op_info lode_op_diag_mask = {
    .name = "diag_mask",
    .doc = "a value where column > past + row",
    .n_src = 1,
    .infer = infer_same,
    .ref = ref_mask,
    .in_place = true,
    .make = make_mask,
    .cases = "x=f32[7,5,3] past=2 | x=f32[7,7] value=0",
};

typedef struct {
    int32_t kind;
} tri_par;

lode_tensor *lode_tri(lode_graph *g, lode_tensor *x, lode_tri_kind kind) {
    const tri_par par = { (int32_t)kind };
    return lode_op_new1(g, LODE_TRI, &par, sizeof par, x);
}

static bool from_tri(const lode_tensor *t, int64_t i[LODE_MAX_DIMS], float *other) {
    (void)other;
    const int32_t kind = LODE_PAR(t, tri_par)->kind;
    if (kind == LODE_TRI_UPPER_DIAG) return i[0] >= i[1];
    if (kind == LODE_TRI_UPPER) return i[0] > i[1];
    return kind == LODE_TRI_LOWER_DIAG ? i[0] <= i[1] : i[0] < i[1];
}

static void ref_tri(const lode_tensor *t, int64_t a, int64_t b) { gather(t, a, b, from_tri); }

static lode_tensor *make_tri(lode_graph *g, const lode_case *c) {
    return lode_tri(g, c->src[0], (lode_tri_kind)(int)lode_case_num(c, "kind", 0));
}

const lode_op_info lode_op_tri = {
    .name = "tri",
    .doc = "one triangle of each matrix, zeros elsewhere",
    .n_src = 1,
    .infer = infer_same,
    .ref = ref_tri,
    .in_place = true,
    .make = make_tri,
    .cases = "x=f32[7,7,3] | x=f32[7,7] kind=1 | x=f32[7,7] kind=2 | x=f32[7,7] kind=3",
};
