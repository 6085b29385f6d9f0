/* copy.c - same values, another type or place. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "ops/copy.h"

#include <string.h>

lode_tensor *lode_copy(lode_graph *g, lode_tensor *x, lode_type type) {
    const lode_copy_par par = { (int32_t)type };
    return lode_op_new1(g, LODE_COPY, &par, sizeof par, x);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_type to = (lode_type)((const lode_copy_par *)(const void *)t->par)->type;
    const lode_type from = t->src[0]->type;
    LODE_TRY(lode_want_rows(t, 0, err));
    if (to != from) LODE_TRY(lode_want_floats(t, 0, err));
    LODE_TRY(lode_want(t, to == from || from == LODE_F32 || to == LODE_F32, "one side must be f32", err));
    LODE_TRY(lode_want(t, to == from || to == LODE_F32 || lode_type_can_encode(to), "no encoder for this type", err));
    return lode_like(t, 0, to, err);
}

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *s = t->src[0];
    size_t bytes = 0;
    lode_row_bytes(t->type, t->ne[0], &bytes);
    for (int64_t r = from; r < to; r++) {
        const char *x = lode_host_nth_row(s, r);
        char *y = lode_host_nth_row(t, r);
        if (t->type == s->type)
            memcpy(y, x, bytes);
        else if (t->type == LODE_F32)
            lode_decode_row(s->type, x, (float *)(void *)y, t->ne[0]);
        else
            lode_encode_row(t->type, (const float *)(const void *)x, y, t->ne[0]);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_copy(g, c->src[0], (lode_type)(int)lode_case_num(c, "type", LODE_F32));
}

const lode_op_info lode_op_copy = {
    .name = "copy",
    .doc = "copy with conversion of type",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .make = make,
    .cases = "x=f32[63,3] | x=f32[64,3,2] type=1 | x=f16[64,3] | x=q4_1[576,4] | x=f32[64,5]+32 type=7",
};
