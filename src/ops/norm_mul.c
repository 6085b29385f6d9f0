/* norm_mul.c - rms_norm times a weight, and the same into q8a rows. rule.def is the meaning. */
#include "ops/binary.h"
#include "ops/case.h"
#include "ops/rms_norm.h"

lode_tensor *lode_norm_mul(lode_graph *g, lode_tensor *x, lode_tensor *w, float eps) {
    const lode_rms_norm_par par = { eps };
    return lode_op_new2(g, LODE_NORM_MUL, &par, sizeof par, x, w);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    for (int i = 0; i < 2; i++) LODE_TRY(lode_want_type(t, i, LODE_F32, err));
    return lode_infer_binary(t, err);
}

static lode_status infer_quant(lode_tensor *t, lode_err *err) {
    LODE_TRY(infer(t, err));
    return lode_like(t, 0, LODE_Q8A, err);
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_norm_mul(g, c->src[0], c->src[1], (float)lode_case_num(c, "eps", 1e-5));
}

static lode_tensor *make_quant(lode_graph *g, const lode_case *c) {
    const lode_rms_norm_par par = { (float)lode_case_num(c, "eps", 1e-5) };
    return lode_op_new2(g, LODE_NORM_MUL_QUANT, &par, sizeof par, c->src[0], c->src[1]);
}

const lode_op_info lode_op_norm_mul = {
    .name = "norm_mul",
    .doc = "rms_norm times a weight",
    .n_src = 2,
    .infer = infer,
    .in_place = true,
    .make = make,
    .cases = "x=f32[1] w=f32[1] | x=f32[63,3] w=f32[63] | x=f32[576,5] w=f32[576] eps=1e-6 | x=f32[64,9,7] w=f32[64]"
             " | x=f32[64,3]+32 w=f32[64]",
};

const lode_op_info lode_op_norm_mul_quant = {
    .name = "norm_mul_quant",
    .doc = "rms_norm times a weight, as q8a rows",
    .n_src = 2,
    .infer = infer_quant,
    .make = make_quant,
    .cases = "x=f32[32] w=f32[32] | x=f32[576,5] w=f32[576] | x=f32[640,70] w=f32[640] eps=1e-6",
};
