/* gate.c - gated activations without a pattern of smaller ops (Shazeer 2020): act(gate) * value, rounded once. */
#include "ops/binary.h"
#include "ops/case.h"
#include "ops/scale.h"

#include <math.h>

static double sigma(double x) { return 1.0 / (1.0 + exp(-x)); }
static const lode_gate_par *par_of(const void *p) { return p; }

static double value_reglu(double x, double g, const void *p) {
    (void)p;
    return x > 0 ? x * g : 0.0;
}

static double value_geglu_erf(double x, double g, const void *p) {
    (void)p;
    return 0.5 * x * (1.0 + erf(x * 0.70710678118654752)) * g;
}

static double value_geglu_quick(double x, double g, const void *p) {
    (void)p;
    return x * sigma(1.702 * x) * g;
}

static double value_swiglu_oai(double x, double g, const void *p) {
    const double limit = (double)par_of(p)->limit, u = fmin(x, limit), w = fmax(-limit, fmin(g, limit));
    return u * sigma((double)par_of(p)->alpha * u) * (w + 1.0);
}

static double value_swiglu_clamp(double x, double g, const void *p) {
    const double limit = (double)par_of(p)->limit, u = fmin(x, limit), w = fmax(-limit, fmin(g, limit));
    return u * sigma(u) * w;
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_infer_binary(t, err));
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        LODE_TRY(lode_want(t, t->src[0]->ne[i] == t->src[1]->ne[i], "gate and value differ in shape", err));
    return LODE_OK;
}

lode_tensor *lode_reglu(lode_graph *g, lode_tensor *gate, lode_tensor *up) {
    return lode_op_new2(g, LODE_REGLU, NULL, 0, gate, up);
}

lode_tensor *lode_geglu_erf(lode_graph *g, lode_tensor *gate, lode_tensor *up) {
    return lode_op_new2(g, LODE_GEGLU_ERF, NULL, 0, gate, up);
}

lode_tensor *lode_geglu_quick(lode_graph *g, lode_tensor *gate, lode_tensor *up) {
    return lode_op_new2(g, LODE_GEGLU_QUICK, NULL, 0, gate, up);
}

lode_tensor *lode_swiglu_oai(lode_graph *g, lode_tensor *gate, lode_tensor *up, float alpha, float limit) {
    const lode_gate_par par = { alpha, limit };
    return lode_op_new2(g, LODE_SWIGLU_OAI, &par, sizeof par, gate, up);
}

lode_tensor *lode_swiglu_clamp(lode_graph *g, lode_tensor *gate, lode_tensor *up, float limit) {
    const lode_gate_par par = { 1.0f, limit };
    return lode_op_new2(g, LODE_SWIGLU_CLAMP, &par, sizeof par, gate, up);
}

#define GATE(ID, lower, text)                                                                                        \
    static void ref_##lower(const lode_tensor *t, int64_t a, int64_t b) { lode_ref_binary(t, a, b, value_##lower); } \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) {                                            \
        const lode_gate_par par = { (float)lode_case_num(c, "alpha", 1.702), (float)lode_case_num(c, "limit", 1) };  \
        return lode_op_new2(g, LODE_##ID, &par, sizeof par, c->src[0], c->src[1]);                                   \
    }                                                                                                                \
    const lode_op_info lode_op_##lower = {                                                                           \
        .name = #lower,                                                                                              \
        .doc = text,                                                                                                 \
        .n_src = 2,                                                                                                  \
        .infer = infer,                                                                                              \
        .ref = ref_##lower,                                                                                          \
        .in_place = true,                                                                                            \
        .make = make_##lower,                                                                                        \
        .cases = "g=f32[63,3] u=f32[63,3] | g=f16[300,2]+4 u=f16[300,2] | g=bf16[20,3] u=bf16[20,3]+4 limit=0.5",    \
    };

GATE(REGLU, reglu, "relu(gate) * value")
GATE(GEGLU_ERF, geglu_erf, "gelu_erf(gate) * value")
GATE(GEGLU_QUICK, geglu_quick, "gelu_quick(gate) * value")
GATE(SWIGLU_OAI, swiglu_oai, "u sigmoid(alpha u) (w + 1), u = min(gate, limit), w = clamp(value, -limit, limit)")
GATE(SWIGLU_CLAMP, swiglu_clamp, "silu(min(gate, limit)) clamp(value, -limit, limit)")
