/* rope_table.c - angles of rotary embeddings, with linear, YaRN and per-pair frequency scaling. */
#include "graph/graph.h"
#include "graph/host.h"
#include "ops/case.h"
#include "ops/rope.h"

#include <math.h>

lode_tensor *lode_rope_table(lode_graph *g, lode_tensor *pos, lode_tensor *factors, const lode_rope_desc *desc) {
    return lode_op_new2(g, LODE_ROPE_TABLE, desc, sizeof *desc, pos, factors);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    const lode_tensor *pos = t->src[0], *f = t->src[1];
    const lode_rope_desc *d = (const lode_rope_desc *)(const void *)t->par;
    LODE_TRY(lode_want_type(t, 0, LODE_I32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(t, lode_n_rows(pos) == 1, "want a row of positions", err));
    LODE_TRY(lode_want(t, d->n_rot > 0 && d->n_rot % 2 == 0, "the number of turned elements must be even", err));
    LODE_TRY(lode_want(t, d->multi == LODE_ROPE_ONE || pos->ne[0] % 4 == 0, "want four positions per token", err));
    LODE_TRY(lode_want(t, d->base > 0 && d->scale > 0, "base and scale of the frequencies must be above 0", err));
    if (f) {
        LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
        LODE_TRY(lode_want_rows(t, 1, err));
        LODE_TRY(lode_want(t, f->ne[0] >= d->n_rot / 2, "want one factor per pair", err));
    }
    t->type = LODE_F32;
    t->ne[0] = d->n_rot;
    t->ne[1] = d->multi == LODE_ROPE_ONE ? pos->ne[0] : pos->ne[0] / 4;
    t->dyn = pos->dyn;
    t->dyn_dim = 1;
    return lode_dense(t, err);
}

double lode_rope_magnitude(const lode_rope_desc *d) {
    const double attn = d->attn_factor != 0 ? (double)d->attn_factor : 1.0;
    return d->ext_factor != 0 ? attn * (1.0 + 0.1 * log(1.0 / (double)d->scale)) : attn;
}

/* Dimensions that the frequencies are spread over. */
static int dims_of(const lode_rope_desc *d) { return d->multi == LODE_ROPE_VISION ? d->n_rot / 2 : d->n_rot; }

/* The pair whose wave turns `turns` times within the context of training (YaRN, equation 17). */
static double pair_of_turns(const lode_rope_desc *d, double turns) {
    return dims_of(d) * log(d->n_ctx_orig / (turns * 6.283185307179586)) / (2.0 * log((double)d->base));
}

/* Which position a pair follows, and its index among the pairs whose frequencies start with it. */
typedef struct {
    int axis, index;
} place;

static place place_of(const lode_rope_desc *d, int pair) {
    const int32_t *n = d->sections;
    const int sum = n[0] + n[1] + n[2] + n[3];
    place p = { 0, pair };
    if (d->multi == LODE_ROPE_ONE || sum <= 0) return p;
    const int s = pair % sum;
    if (d->multi == LODE_ROPE_INTERLEAVED) {
        p.axis = s < 3 * n[s % 3] ? s % 3 : 3;
        return p;
    }
    int start = 0;
    while (p.axis < 3 && s >= start + n[p.axis]) start += n[p.axis++];
    if (d->multi == LODE_ROPE_VISION) p.index = s - start;
    return p;
}

double lode_rope_frequency(const lode_rope_desc *d, int pair, double factor) {
    const double full = pow((double)d->base, -2.0 * place_of(d, pair).index / dims_of(d)) / factor;
    const double scaled = full * (double)d->scale;
    if (d->ext_factor == 0) return scaled;
    const double low = fmax(0, floor(pair_of_turns(d, (double)d->beta_fast)));
    const double high = fmin(dims_of(d) - 1, ceil(pair_of_turns(d, (double)d->beta_slow)));
    const double ramp = (pair - low) / fmax(0.001, high - low);
    const double mix = (1.0 - fmin(1.0, fmax(0.0, ramp))) * (double)d->ext_factor;
    return scaled * (1.0 - mix) + full * mix;
}

/* Pair by pair, so that each frequency is computed once for all tokens. */
void lode_rope_table_fill(const lode_tensor *t, int pair_from, int pair_to) {
    const lode_rope_desc *d = LODE_PAR(t, lode_rope_desc);
    const int32_t *pos = (const int32_t *)(const void *)lode_host(t->src[0]);
    const float *factors = t->src[1] ? (const float *)(const void *)lode_host(t->src[1]) : NULL;
    const double magnitude = lode_rope_magnitude(d), sign = d->inverse ? -1.0 : 1.0;
    for (int p = pair_from; p < pair_to; p++) {
        const double frequency = lode_rope_frequency(d, p, factors ? (double)factors[p] : 1.0);
        const int32_t *at = pos + place_of(d, p).axis * t->ne[1];
        for (int64_t i = 0; i < t->ne[1]; i++) {
            float *cs = (float *)(void *)lode_host_row(t, i, 0, 0) + 2 * p;
            cs[0] = (float)(cos(at[i] * frequency) * magnitude);
            cs[1] = (float)(sin(at[i] * frequency) * magnitude * sign);
        }
    }
}

static int64_t units(const lode_tensor *t) { return t->ne[0] / 2; }
static void ref(const lode_tensor *t, int64_t from, int64_t to) { lode_rope_table_fill(t, (int)from, (int)to); }

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    const lode_rope_desc d = {
        .n_rot = (int32_t)lode_case_num(c, "rot", 64),
        .base = (float)lode_case_num(c, "base", 10000),
        .scale = (float)lode_case_num(c, "scale", 1),
        .ext_factor = (float)lode_case_num(c, "ext", 0),
        .beta_fast = 32,
        .beta_slow = 1,
        .n_ctx_orig = 4096,
        .multi = (lode_rope_multi)(int)lode_case_num(c, "multi", 0),
        .sections = { 10, 6, 8, 2 },
        .inverse = (int32_t)lode_case_num(c, "inverse", 0),
    };
    return lode_rope_table(g, c->src[0], c->src[1], &d);
}

const lode_op_info lode_op_rope_table = {
    .name = "rope_table",
    .doc = "cos and sin of positions times frequencies",
    .n_src = 1,
    .infer = infer,
    .ref = ref,
    .units = units,
    .make = make,
    .cases = "pos=i32[3]<2000 | pos=i32[5]<9000 rot=256 base=1e6 | pos=i32[4]<9000 ext=1 scale=0.25"
             " | pos=i32[4]<500 f=f32[32] | pos=i32[4]<500 rot=18 inverse=1 | pos=i32[12]<500 multi=1"
             " | pos=i32[12]<500 multi=2 | pos=i32[12]<500 rot=48 multi=3",
};
