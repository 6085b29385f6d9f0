/* logit_bias.c - adds a number to chosen tokens' logits before anything else; -inf forbids a token. */
#include "sample/sampler.h"

typedef struct state {
    int n;
    lode_tally t[]; /* [n], by id */
} state;

static size_t bytes(const lode_sampler_desc *d) {
    return d->n_logit_bias > 0 ? sizeof(state) + (size_t)d->n_logit_bias * sizeof(lode_tally) : 0;
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)seed;
    state *s = st;
    for (int i = 0; i < d->n_logit_bias; i++) s->t[i] = (lode_tally){ d->logit_bias[i].id, d->logit_bias[i].bias };
    s->n = lode_tally_sum(s->t, d->n_logit_bias);
}

static float add(float logit, float v, const void *par) {
    (void)par;
    return logit + v;
}

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    (void)smp;
    const state *s = st;
    lode_cands_adjust(c, s->t, s->n, add, NULL);
}

const lode_sample_kind lode_sample_logit_bias = { "logit_bias", bytes, init, NULL, apply, NULL };
