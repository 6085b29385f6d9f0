/* glu.c - gated activations (Shazeer 2020): act(gate) * up, and the same into q8a rows. rule.def is the meaning. */
#include "ops/binary.h"
#include "ops/case.h"

lode_tensor *lode_swiglu(lode_graph *g, lode_tensor *gate, lode_tensor *up) {
    return lode_op_new2(g, LODE_SWIGLU, NULL, 0, gate, up);
}

lode_tensor *lode_geglu(lode_graph *g, lode_tensor *gate, lode_tensor *up) {
    return lode_op_new2(g, LODE_GEGLU, NULL, 0, gate, up);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_infer_binary(t, err));
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, t->src[0]->ne[i] == t->src[1]->ne[i], "gate and up differ in shape", err));
    return LODE_OK;
}

static lode_status infer_quant(lode_tensor *t, lode_err *err) {
    LODE_TRY(infer(t, err));
    return lode_like(t, 0, LODE_Q8A, err);
}

#define GLU(ID, lower, infer_fn, in_place_, text, case_list)              \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) { \
        return lode_op_new2(g, LODE_##ID, NULL, 0, c->src[0], c->src[1]); \
    }                                                                     \
    const lode_op_info lode_op_##lower = {                                \
        .name = #lower,                                                   \
        .doc = text,                                                      \
        .n_src = 2,                                                       \
        .infer = infer_fn,                                                \
        .in_place = in_place_,                                            \
        .make = make_##lower,                                             \
        .cases = case_list,                                               \
    };

#define PLAIN \
    "g=f32[1] u=f32[1] | g=f32[63,3] u=f32[63,3] | g=f32[1536,5] u=f32[1536,5] | g=f32[64,3]+32 u=f32[64,3]+32"
#define WHOLE "g=f32[32] u=f32[32] | g=f32[1536,5] u=f32[1536,5] | g=f32[64,3]+32 u=f32[64,3]+32"

GLU(SWIGLU, swiglu, infer, true, "silu(gate) * up", PLAIN)
GLU(GEGLU, geglu, infer, true, "gelu(gate) * up", PLAIN)
GLU(SWIGLU_QUANT, swiglu_quant, infer_quant, false, "silu(gate) * up, as q8a rows", WHOLE)
GLU(GEGLU_QUANT, geglu_quant, infer_quant, false, "gelu(gate) * up, as q8a rows", WHOLE)
