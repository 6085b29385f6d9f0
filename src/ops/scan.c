/* scan.c - recurrences over tokens: state-space models, linear attention, delta rules. A state is a matrix per head;
 * all of them fall apart into vectors that go through the tokens by themselves, which is what a unit is. Vectors are
 * kept in double. */
#include "ops/scan.h"

#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

#include <math.h>
#include <string.h>

enum { MAX_STATE = 1024 }; /* elements of a vector: far above any model's */

static const float *row_of(const lode_tensor *s, int64_t i1, int64_t i2, int64_t i3) {
    return (const float *)(const void *)lode_host_row(s, i1, i2, i3);
}

static float *data_of(const lode_tensor *t) { return (float *)(void *)lode_host(t); }

static lode_status all_f32(const lode_tensor *t, int n, lode_err *err) {
    for (int i = 0; i < n; i++) {
        LODE_TRY(lode_want_type(t, i, LODE_F32, err));
        LODE_TRY(lode_want_rows(t, i, err));
    }
    return LODE_OK;
}

/* ---- ssm_conv: a short causal filter per channel (Gu and Dao 2023) ---- */

lode_tensor *lode_ssm_conv(lode_graph *g, lode_tensor *x, lode_tensor *w) {
    return lode_op_new2(g, LODE_SSM_CONV, NULL, 0, x, w);
}

static lode_status infer_conv(lode_tensor *t, lode_err *err) {
    const lode_tensor *x = t->src[0], *w = t->src[1];
    LODE_TRY(all_f32(t, 2, err));
    LODE_TRY(lode_want(t, x->ne[0] >= w->ne[0] && x->ne[1] == w->ne[1] && x->ne[3] == 1,
                       "want [k-1+t, c, s] and [k, c]", err));
    t->type = LODE_F32;
    t->ne[0] = x->ne[1];
    t->ne[1] = x->ne[0] - w->ne[0] + 1;
    t->ne[2] = x->ne[2];
    return lode_dense(t, err);
}

static void ref_conv(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *w = t->src[1];
    for (int64_t r = from; r < to; r++)
        for (int64_t c = 0; c < t->ne[0]; c++) {
            const float *x = row_of(t->src[0], c, r / t->ne[1], 0) + r % t->ne[1], *f = row_of(w, c, 0, 0);
            double sum = 0;
            for (int64_t i = 0; i < w->ne[0]; i++) sum += (double)x[i] * (double)f[i];
            ((float *)(void *)lode_host_nth_row(t, r))[c] = (float)sum;
        }
}

static lode_tensor *make_conv(lode_graph *g, const lode_case *c) { return lode_ssm_conv(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_ssm_conv = {
    .name = "ssm_conv",
    .doc = "causal filter of each channel",
    .n_src = 2,
    .infer = infer_conv,
    .ref = ref_conv,
    .make = make_conv,
    .cases = "x=f32[4,60,3] w=f32[4,60] | x=f32[11,30,2]+3 w=f32[3,30]",
};

/* ---- ssm_scan: selective state space (Mamba, Gu and Dao 2023; Mamba-2, Dao and Gu 2024) ---- */

lode_tensor *lode_ssm_scan(lode_graph *g, const lode_ssm_scan_src *s, int n_states) {
    const scan_par par = { .n_states = n_states };
    return lode_op_new(g, LODE_SSM_SCAN, &par, sizeof par,
                       (lode_tensor *[]){ s->state, s->x, s->dt, s->a, s->b, s->c, s->ids }, 7);
}

static lode_status infer_ssm(lode_tensor *t, lode_err *err) {
    lode_tensor *const *s = t->src;
    LODE_TRY(all_f32(t, 6, err));
    LODE_TRY(lode_want_type(t, 6, LODE_I32, err));
    const int64_t n = s[0]->ne[0], d = s[1]->ne[0], h = s[1]->ne[1], tokens = s[1]->ne[2], seqs = s[1]->ne[3];
    LODE_TRY(lode_want(
        t,
        n <= MAX_STATE && lode_has_sizes(s[0], n, d, h, s[0]->ne[3]) && lode_has_sizes(s[2], h, tokens, seqs, 1) &&
            (s[3]->ne[0] == 1 || s[3]->ne[0] == n) && lode_has_sizes(s[3], s[3]->ne[0], h, 1, 1) &&
            lode_is_multiple(h, s[4]->ne[1]) && lode_has_sizes(s[4], n, s[4]->ne[1], tokens, seqs) &&
            lode_has_sizes(s[5], n, s[4]->ne[1], tokens, seqs) && lode_has_sizes(s[6], seqs, 1, 1, 1),
        "want state [n, d, h, any], x [d, h, t, s], dt [h, t, s], a [1 or n, h], b and c [n, g, t, s], ids [s]", err));
    LODE_TRY(lode_want_rows(t, 6, err));
    LODE_TRY(lode_want(t, LODE_PAR(t, scan_par)->n_states > 0, "want at least one state", err));
    t->type = LODE_F32;
    t->ne[0] =
        lode_n_elements(s[1]) + LODE_PAR(t, scan_par)->n_states * s[0]->ne[0] * s[0]->ne[1] * s[0]->ne[2] * s[1]->ne[3];
    return lode_dense(t, err);
}

static int64_t units_ssm(const lode_tensor *t) { return t->src[1]->ne[0] * t->src[1]->ne[1] * t->src[1]->ne[3]; }

static double softplus(double x) { return x > 20 ? x : log1p(exp(x)); }

/* Writes a vector as the state after token `at`, if that is one of the last n_states. */
static void keep_state(const lode_tensor *t, float *slot0, int64_t slot_size, const double *v, const int64_t at[3]) {
    const int64_t slot = at[1] - 1 - at[0];
    if (slot >= LODE_PAR(t, scan_par)->n_states) return;
    for (int64_t i = 0; i < at[2]; i++) slot0[slot * slot_size + i] = (float)v[i];
}

static void ssm_unit(const lode_tensor *t, int64_t d, int64_t h, int64_t s) {
    lode_tensor *const *src = t->src;
    const lode_tensor *x = src[1];
    const int64_t n = src[0]->ne[0], dims = x->ne[0], heads = x->ne[1], tokens = x->ne[2],
                  g = h / (heads / src[4]->ne[1]);
    const int32_t id = ((const int32_t *)(const void *)lode_host(src[6]))[s];
    const float *state = id >= 0 && id < src[0]->ne[3] ? row_of(src[0], d, h, id) : NULL, *a = row_of(src[3], h, 0, 0);
    double v[MAX_STATE];
    for (int64_t i = 0; i < n; i++) v[i] = state ? (double)state[i] : 0; /* an id outside starts from nothing */
    float *slots = data_of(t) + lode_n_elements(x) + ((s * heads + h) * dims + d) * n;
    for (int64_t k = 0; k < tokens; k++) {
        const double dt = softplus((double)row_of(src[2], k, s, 0)[h]), in = (double)row_of(x, h, k, s)[d] * dt;
        const float *b = row_of(src[4], g, k, s), *c = row_of(src[5], g, k, s);
        double y = 0;
        for (int64_t i = 0; i < n; i++) {
            v[i] = v[i] * exp(dt * (double)a[src[3]->ne[0] == 1 ? 0 : i]) + (double)b[i] * in;
            y += v[i] * (double)c[i];
        }
        data_of(t)[((s * tokens + k) * heads + h) * dims + d] = (float)y;
        keep_state(t, slots, n * dims * heads * x->ne[3], v, (const int64_t[]){ k, tokens, n });
    }
}

static void ref_ssm(const lode_tensor *t, int64_t from, int64_t to) {
    const int64_t dims = t->src[1]->ne[0], heads = t->src[1]->ne[1];
    for (int64_t u = from; u < to; u++) ssm_unit(t, u % dims, u / dims % heads, u / dims / heads);
}

static lode_tensor *make_ssm(lode_graph *g, const lode_case *c) {
    return lode_ssm_scan(
        g, &(lode_ssm_scan_src){ c->src[0], c->src[1], c->src[2], c->src[3], c->src[4], c->src[5], c->src[6] },
        (int)lode_case_num(c, "states", 1));
}

const lode_op_info lode_op_ssm_scan = {
    .name = "ssm_scan",
    .doc = "selective state space over tokens, and the last states",
    .n_src = 7,
    .infer = infer_ssm,
    .ref = ref_ssm,
    .units = units_ssm,
    .make = make_ssm,
    .cases = "s=f32[16,4,2,3] x=f32[4,2,5,3] dt=f32[2,5,3] a=f32[1,2] b=f32[16,1,5,3] c=f32[16,1,5,3] ids=i32[3]<3"
             " | s=f32[16,1,6,2] x=f32[1,6,4,2] dt=f32[6,4,2] a=f32[16,6] b=f32[16,1,4,2] c=f32[16,1,4,2] ids=i32[2]<2"
             " | s=f32[8,4,4,2] x=f32[4,4,6,2] dt=f32[4,6,2] a=f32[1,4] b=f32[8,2,6,2] c=f32[8,2,6,2] ids=i32[2]<2"
             " states=2",
};

/* ---- Linear attention with a matrix as state: S values by S keys per head; y rows first, then the states ---- */

/* One token for one vector of a state: updates v and returns y. */
typedef double step_fn(const lode_tensor *t, double *v, const int64_t at[4]); /* at: line, head, token, size */

static lode_status infer_wkv(lode_tensor *t, lode_err *err) {
    const lode_tensor *k = t->src[0], *state = t->src[LODE_PAR(t, scan_par)->state_src];
    const int64_t s = k->ne[0], h = k->ne[1], tokens = k->ne[2];
    LODE_TRY(all_f32(t, LODE_PAR(t, scan_par)->state_src + 1, err));
    LODE_TRY(lode_want(t,
                       s <= MAX_STATE && lode_is_multiple(lode_n_elements(state), s * s * h) &&
                           lode_is_multiple(tokens, lode_n_elements(state) / (s * s * h)),
                       "the state does not fit heads and sequences", err));
    LODE_TRY(lode_want(t, lode_is_contiguous(state), "the state must be packed", err));
    for (int i = 0; i < LODE_PAR(t, scan_par)->state_src; i++)
        LODE_TRY(lode_want(t,
                           lode_has_sizes(t->src[i], s, h, i && i == LODE_PAR(t, scan_par)->once_src ? 1 : tokens, 1),
                           "the inputs differ in shape", err));
    t->type = LODE_F32;
    t->ne[0] = s * h;
    t->ne[1] = tokens + lode_n_elements(state) / (s * h);
    return lode_dense(t, err);
}

static int64_t sequences(const lode_tensor *t) {
    const lode_tensor *k = t->src[0], *state = t->src[LODE_PAR(t, scan_par)->state_src];
    return lode_n_elements(state) / (k->ne[0] * k->ne[0] * k->ne[1]);
}

static int64_t units_wkv(const lode_tensor *t) { return t->src[0]->ne[0] * t->src[0]->ne[1] * sequences(t); }

/* Vectors lie along the state's lines (step 1) or across them (step S). */
static void run_wkv(const lode_tensor *t, int64_t from, int64_t to, bool across, step_fn *step) {
    const lode_tensor *k = t->src[0], *state = t->src[LODE_PAR(t, scan_par)->state_src];
    const int64_t s = k->ne[0], heads = k->ne[1], per_seq = k->ne[2] / sequences(t);
    for (int64_t u = from; u < to; u++) {
        const int64_t line = u % s, h = u / s % heads, q = u / s / heads;
        const int64_t at = (q * heads + h) * s * s + (across ? line : line * s), gap = across ? s : 1;
        const float *old = data_of(state) + at;
        double v[MAX_STATE];
        for (int64_t i = 0; i < s; i++) v[i] = (double)old[i * gap];
        for (int64_t n = q * per_seq; n < (q + 1) * per_seq; n++)
            data_of(t)[n * s * heads + h * s + line] = (float)step(t, v, (const int64_t[]){ line, h, n, s });
        float *new = data_of(t) + k->ne[2] * s *heads + at;
        for (int64_t i = 0; i < s; i++) new[i * gap] = (float)v[i];
    }
}

static double step_wkv6(const lode_tensor *t, double *v, const int64_t at[4]) {
    const float *k = row_of(t->src[0], at[1], at[2], 0), *r = row_of(t->src[2], at[1], at[2], 0);
    const float *u = row_of(t->src[3], at[1], 0, 0), *w = row_of(t->src[4], at[1], at[2], 0);
    const double value = (double)row_of(t->src[1], at[1], at[2], 0)[at[0]];
    double y = 0;
    for (int64_t i = 0; i < at[3]; i++) {
        const double kv = (double)k[i] * value;
        y += (double)r[i] * ((double)u[i] * kv + v[i]);
        v[i] = (double)w[i] * v[i] + kv;
    }
    return y;
}

static double step_gla(const lode_tensor *t, double *v, const int64_t at[4]) {
    const float *k = row_of(t->src[0], at[1], at[2], 0), *q = row_of(t->src[2], at[1], at[2], 0);
    const float *g = row_of(t->src[3], at[1], at[2], 0);
    const double value = (double)row_of(t->src[1], at[1], at[2], 0)[at[0]];
    double y = 0;
    for (int64_t i = 0; i < at[3]; i++) {
        v[i] = (double)g[i] * v[i] + (double)k[i] * value;
        y += (double)q[i] * v[i];
    }
    return y * (double)LODE_PAR(t, scan_par)->scale;
}

static double step_wkv7(const lode_tensor *t, double *v, const int64_t at[4]) {
    const float *in[6];
    for (int i = 0; i < 6; i++) in[i] = row_of(t->src[i], at[1], at[2], 0);
    const float *r = in[0], *w = in[1], *k = in[2], *a = in[4], *b = in[5];
    const double value = (double)in[3][at[0]];
    double u = 0, y = 0;
    for (int64_t j = 0; j < at[3]; j++) u += (double)a[j] * v[j];
    for (int64_t j = 0; j < at[3]; j++) {
        v[j] = (double)w[j] * v[j] + value * (double)k[j] + u * (double)b[j];
        y += v[j] * (double)r[j];
    }
    return y;
}

#define WKV(ID, lower, n_state_src, across, sources, text, case_list)                                               \
    static void ref_##lower(const lode_tensor *t, int64_t a, int64_t b) { run_wkv(t, a, b, across, step_##lower); } \
    static lode_tensor *make_##lower(lode_graph *g, const lode_case *c) {                                           \
        return scan_node(g, LODE_##ID, c->src, sources, (float)lode_case_num(c, "scale", 1));                       \
    }                                                                                                               \
    const lode_op_info lode_op_##lower = {                                                                          \
        .name = #lower,                                                                                             \
        .doc = text,                                                                                                \
        .n_src = sources,                                                                                           \
        .infer = infer_wkv,                                                                                         \
        .ref = ref_##lower,                                                                                         \
        .units = units_wkv,                                                                                         \
        .make = make_##lower,                                                                                       \
        .cases = case_list,                                                                                         \
    };

static lode_tensor *scan_node(lode_graph *g, lode_op op, lode_tensor *const *src, int n, float scale) {
    const scan_par par = { .state_src = n - 1, .once_src = op == LODE_WKV6 ? 3 : 0, .scale = scale };
    return lode_op_new(g, op, &par, sizeof par, src, n);
}

lode_tensor *lode_wkv6(lode_graph *g, lode_tensor *const src[6]) { return scan_node(g, LODE_WKV6, src, 6, 1); }
lode_tensor *lode_wkv7(lode_graph *g, lode_tensor *const src[7]) { return scan_node(g, LODE_WKV7, src, 7, 1); }
lode_tensor *lode_gla(lode_graph *g, lode_tensor *const src[5], float scale) {
    return scan_node(g, LODE_GLA, src, 5, scale);
}

#define X "=f32[16,3,8] "
WKV(WKV6, wkv6, 5, true, 6, "RWKV-6 (Peng et al. 2024)",
    "k" X "v" X "r" X "u=f32[16,3] w" X "s=f32[768,2] | k=f32[8,2,5] v=f32[8,2,5] r=f32[8,2,5] u=f32[8,2] w=f32[8,2,5] "
    "s=f32[128]")
WKV(GLA, gla, 4, true, 5, "gated linear attention (Yang et al. 2023)",
    "k" X "v" X "q" X "g" X "s=f32[768,2] scale=0.25")
WKV(WKV7, wkv7, 6, false, 7, "RWKV-7 (Peng et al. 2025)", "r" X "w" X "k" X "v" X "a" X "b" X "s=f32[768,2]")
#undef X

/* ---- gated_delta_net (Yang et al. 2024) ---- */

lode_tensor *lode_gated_delta_net(lode_graph *g, lode_tensor *const src[6], int n_states) {
    const scan_par par = { .n_states = n_states };
    return lode_op_new(g, LODE_GATED_DELTA_NET, &par, sizeof par, src, 6);
}

static lode_status infer_gdn(lode_tensor *t, lode_err *err) {
    const lode_tensor *q = t->src[0], *v = t->src[2], *g = t->src[3], *state = t->src[5];
    const int64_t s = v->ne[0], h = v->ne[1];
    LODE_TRY(all_f32(t, 6, err));
    LODE_TRY(lode_want(
        t,
        s <= MAX_STATE && lode_is_multiple(h, q->ne[1]) && (g->ne[0] == 1 || g->ne[0] == s) &&
            lode_has_sizes(q, s, q->ne[1], v->ne[2], v->ne[3]) &&
            lode_has_sizes(t->src[1], s, q->ne[1], v->ne[2], v->ne[3]) &&
            lode_has_sizes(g, g->ne[0], h, v->ne[2], v->ne[3]) && lode_has_sizes(t->src[4], 1, h, v->ne[2], v->ne[3]) &&
            lode_n_elements(state) == s * s * h * v->ne[3] && lode_is_contiguous(state),
        "want q, k [s, hq, t, n], v [s, h, t, n], g [1 or s, h, t, n], beta [1, h, t, n], state [s, s, h, n]", err));
    LODE_TRY(lode_want(t, LODE_PAR(t, scan_par)->n_states > 0, "want at least one state", err));
    t->type = LODE_F32;
    t->ne[0] = s * h;
    t->ne[1] = v->ne[2] * v->ne[3] + LODE_PAR(t, scan_par)->n_states * s * v->ne[3];
    return lode_dense(t, err);
}

static int64_t units_gdn(const lode_tensor *t) { return t->src[2]->ne[0] * t->src[2]->ne[1] * t->src[2]->ne[3]; }

static void gdn_unit(const lode_tensor *t, int64_t line, int64_t h, int64_t seq) {
    lode_tensor *const *src = t->src;
    const lode_tensor *val = src[2];
    const int64_t s = val->ne[0], heads = val->ne[1], tokens = val->ne[2], hq = h % src[0]->ne[1];
    const int64_t at = ((seq * heads + h) * s + line) * s;
    const float *old = data_of(src[5]) + at;
    float *slots = data_of(t) + lode_n_elements(val) + at;
    double m[MAX_STATE];
    for (int64_t i = 0; i < s; i++) m[i] = (double)old[i];
    for (int64_t n = 0; n < tokens; n++) {
        const float *q = row_of(src[0], hq, n, seq), *k = row_of(src[1], hq, n, seq), *g = row_of(src[3], h, n, seq);
        const double beta = (double)row_of(src[4], h, n, seq)[0], value = (double)row_of(val, h, n, seq)[line];
        double seen = 0, y = 0;
        for (int64_t i = 0; i < s; i++) {
            m[i] *= exp((double)g[src[3]->ne[0] == 1 ? 0 : i]);
            seen += m[i] * (double)k[i];
        }
        const double delta = beta * (value - seen);
        for (int64_t i = 0; i < s; i++) {
            m[i] += delta * (double)k[i];
            y += m[i] * (double)q[i];
        }
        data_of(t)[((seq * tokens + n) * heads + h) * s + line] = (float)(y / sqrt((double)s));
        keep_state(t, slots, s * s * heads * val->ne[3], m, (const int64_t[]){ n, tokens, s });
    }
}

static void ref_gdn(const lode_tensor *t, int64_t from, int64_t to) {
    const int64_t s = t->src[2]->ne[0], heads = t->src[2]->ne[1];
    for (int64_t u = from; u < to; u++) gdn_unit(t, u % s, u / s % heads, u / s / heads);
}

static lode_tensor *make_gdn(lode_graph *g, const lode_case *c) {
    return lode_gated_delta_net(g, c->src, (int)lode_case_num(c, "states", 1));
}

const lode_op_info lode_op_gated_delta_net = {
    .name = "gated_delta_net",
    .doc = "delta rule with a gate, and the last states",
    .n_src = 6,
    .infer = infer_gdn,
    .ref = ref_gdn,
    .units = units_gdn,
    .make = make_gdn,
    .cases = "q=f32[16,2,5,2] k=f32[16,2,5,2] v=f32[16,4,5,2] g=f32[1,4,5,2] b=f32[1,4,5,2] s=f32[16,16,4,2]"
             " | q=f32[8,3,4] k=f32[8,3,4] v=f32[8,3,4] g=f32[8,3,4] b=f32[1,3,4] s=f32[8,8,3] states=3",
};

/* ---- solve_tri: forward substitution, A lower triangular ---- */

lode_tensor *lode_solve_tri(lode_graph *g, lode_tensor *a, lode_tensor *b) {
    return lode_op_new2(g, LODE_SOLVE_TRI, NULL, 0, a, b);
}

static lode_status infer_tri(lode_tensor *t, lode_err *err) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    LODE_TRY(all_f32(t, 2, err));
    LODE_TRY(lode_want(t,
                       a->ne[0] == a->ne[1] && a->ne[0] <= MAX_STATE && b->ne[1] == a->ne[0] && a->ne[2] == b->ne[2] &&
                           a->ne[3] == b->ne[3],
                       "want [n, n, ...] and [k, n, ...]", err));
    return lode_like(t, 1, LODE_F32, err);
}

static int64_t units_tri(const lode_tensor *t) { return t->ne[0] * t->ne[2] * t->ne[3]; }

static void ref_tri(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *a = t->src[0], *b = t->src[1];
    double x[MAX_STATE];
    for (int64_t u = from; u < to; u++) {
        const int64_t c = u % t->ne[0], i2 = u / t->ne[0] % t->ne[2], i3 = u / t->ne[0] / t->ne[2];
        for (int64_t i = 0; i < t->ne[1]; i++) {
            const float *line = row_of(a, i, i2, i3);
            double sum = (double)row_of(b, i, i2, i3)[c];
            for (int64_t k = 0; k < i; k++) sum -= (double)line[k] * x[k];
            x[i] = sum / (double)line[i];
            ((float *)(void *)lode_host_row(t, i, i2, i3))[c] = (float)x[i];
        }
    }
}

static lode_tensor *make_tri(lode_graph *g, const lode_case *c) { return lode_solve_tri(g, c->src[0], c->src[1]); }

const lode_op_info lode_op_solve_tri = {
    .name = "solve_tri",
    .doc = "x with a x = b, a lower triangular",
    .n_src = 2,
    .infer = infer_tri,
    .ref = ref_tri,
    .units = units_tri,
    .make = make_tri,
    .cases = "a=f32[1,1] b=f32[3,1] | a=f32[4,4,2] b=f32[7,4,2] | a=f32[6,6,2,3]+1 b=f32[2,6,2,3]+1",
};
