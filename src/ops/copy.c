/* copy.c - same values in logical order: another type, place, shape or distance. */
#include "ops/copy.h"

#include "graph/graph.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <string.h>

lode_tensor *lode_copy(lode_graph *g, lode_tensor *x, lode_type type) {
    const lode_copy_par par = { .type = (int32_t)type };
    return lode_op_new1(g, LODE_COPY, &par, sizeof par, x);
}

lode_tensor *lode_copy_as(lode_graph *g, lode_tensor *x, lode_type type, const int64_t ne[LODE_MAX_DIMS]) {
    lode_copy_par par = { .type = (int32_t)type, .reshaped = 1 };
    memcpy(par.ne, ne, sizeof par.ne);
    return lode_op_new1(g, LODE_COPY, &par, sizeof par, x);
}

static bool is_whole(lode_type t) { return t == LODE_I32; }

/* Values go through floats, or through whole numbers between f32 and i32; equal types are bytes. */
static lode_status check_types(const lode_tensor *t, lode_type from, lode_type to, lode_err *err) {
    if (from == to) return LODE_OK;
    if (is_whole(from) || is_whole(to))
        return lode_want(t, from == LODE_F32 || to == LODE_F32, "whole numbers become f32 only, and back", err);
    LODE_TRY(lode_want(t, lode_type_can_decode(from), "this type has no values in floats", err));
    return lode_want(t, lode_type_can_encode(to), "no encoder for this type", err);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_copy_par *par = LODE_PAR(t, lode_copy_par);
    const lode_tensor *s = t->src[0];
    LODE_TRY(check_types(t, s->type, (lode_type)par->type, err));
    t->type = (lode_type)par->type;
    memcpy(t->ne, par->reshaped ? par->ne : s->ne, sizeof t->ne);
    LODE_TRY(lode_want(t, lode_n_elements(t) == lode_n_elements(s), "the sizes hold another number of elements", err));
    /* A run ends where a row of either side ends: so both rows are whole blocks of both types. */
    const int block =
        lode_type_block(t->type) > lode_type_block(s->type) ? lode_type_block(t->type) : lode_type_block(s->type);
    LODE_TRY(lode_want(t, block == 1 || t->ne[0] == s->ne[0] || (t->ne[0] % block == 0 && s->ne[0] % block == 0),
                       "rows are not whole blocks", err));
    if (block > 1) LODE_TRY(lode_want_rows(t, 0, err));
    return lode_dense(t, err);
}

void lode_copy_same(const lode_tensor *t, char *row, int64_t d0, const lode_tensor *s, const char *from, int64_t s0,
                    int64_t n) {
    const int64_t block = lode_type_block(t->type);
    const size_t bytes = (size_t)lode_type_bytes(t->type);
    row += (size_t)(d0 / block) * t->nb[0];
    from += (size_t)(s0 / block) * s->nb[0];
    if (t->nb[0] == bytes && s->nb[0] == bytes) {
        memmove(row, from, (size_t)(n / block) * bytes);
        return;
    }
    for (int64_t i = 0; i < n / block; i++) memcpy(row + (size_t)i * t->nb[0], from + (size_t)i * s->nb[0], bytes);
}

/* Cut towards zero; what does not fit becomes the nearest that does, NaN 0. */
static int32_t whole(float x) {
    if (!(x > -2147483648.0f)) return x <= -2147483648.0f ? INT32_MIN : 0;
    return x < 2147483648.0f ? (int32_t)x : INT32_MAX;
}

static void copy_whole(const lode_tensor *t, char *row, const lode_tensor *s, const char *from, int64_t n) {
    for (int64_t i = 0; i < n; i++, row += t->nb[0], from += s->nb[0]) {
        if (is_whole(t->type)) {
            float x;
            memcpy(&x, from, sizeof x);
            const int32_t y = whole(x);
            memcpy(row, &y, sizeof y);
        } else {
            int32_t x;
            memcpy(&x, from, sizeof x);
            const float y = (float)x;
            memcpy(row, &y, sizeof y);
        }
    }
}

void lode_copy_run(const void *ctx, const lode_tensor *t, char *row, int64_t d0, const char *from, int64_t s0,
                   int64_t n) {
    (void)ctx;
    const lode_tensor *s = t->src[0];
    float x[LODE_PIECE];
    if (t->type == s->type) {
        lode_copy_same(t, row, d0, s, from, s0, n);
    } else if (is_whole(t->type) || is_whole(s->type)) {
        copy_whole(t, row + (size_t)d0 * t->nb[0], s, from + (size_t)s0 * s->nb[0], n);
    } else {
        for (int64_t i = 0, m; i < n; i += m) {
            m = n - i < LODE_PIECE ? n - i : LODE_PIECE;
            lode_load(s, from, s0 + i, m, x);
            lode_store(t, row, d0 + i, m, x);
        }
    }
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_copy_walk(t, from, to, lode_copy_run, NULL); }

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    int64_t ne[LODE_MAX_DIMS] = { (int64_t)lode_case_num(c, "n0", 0), (int64_t)lode_case_num(c, "n1", 1),
                                  (int64_t)lode_case_num(c, "n2", 1), 1 };
    const lode_type type = (lode_type)(int)lode_case_num(c, "type", LODE_F32);
    return ne[0] ? lode_copy_as(g, c->src[0], type, ne) : lode_copy(g, c->src[0], type);
}

const lode_op_info lode_op_copy = {
    .name = "copy",
    .doc = "copy in logical order, with conversion of type and change of shape",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .units = lode_copy_units,
    .strided = true,
    .make = make,
    .cases = "x=f32[63,3] | x=f32[64,3,2] type=1 | x=f16[64,3] | x=q4_1[576,4] | x=f32[64,5]+32 type=7"
             " | x=f32[12,7,5]^120 | x=f32[12,7,5]^102 n0=42 n1=10 | x=f16[30,4,3]^210 type=1 | x=bf16[30,4]+3"
             " | x=f32[9000] n0=90 n1=100 | x=f32[64,30]^10 type=2 | x=f32[96,4] type=2 n0=192 n1=2"
             " | x=f32[5000,2] type=1",
};
