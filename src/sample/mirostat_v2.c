/* mirostat_v2.c - Mirostat 2 (Basu et al. 2020, appendix): drops tokens whose surprise exceeds mu, and corrects mu by
 * the surprise of what was picked. */
#include "sample/sampler.h"

#include <math.h>

typedef struct state {
    rng r;
    float mu;
    int32_t pending;
    float surprise; /* of the pending token among those kept, bits */
} state;

static size_t bytes(const lode_sampler_desc *d) {
    (void)d;
    return sizeof(state);
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    state *s = st;
    rng_seed(&s->r, seed, LODE_STREAM_PICK);
    s->mu = 2 * d->mirostat_tau;
    s->pending = -1;
}

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    (void)smp;
    state *s = st;
    lode_cands_softmax(c);
    lode_cands_sort(c, 1);
    int kept = 1; /* the likeliest stays whatever its surprise */
    for (int i = 1; i < c->n; i++)
        if (-log2f(c->item[i].p) <= s->mu) c->item[kept++] = c->item[i];
    c->n = kept;
    c->n_sorted = 1;
    lode_cands_softmax(c);
    c->picked = lode_cands_draw(c, rng_unit(&s->r));
    s->pending = c->item[c->picked].id;
    s->surprise = -log2f(c->item[c->picked].p);
}

static void accept(lode_sampler *smp, void *st, int32_t id) {
    state *s = st;
    if (s->pending == id) s->mu -= smp->d.mirostat_eta * (s->surprise - smp->d.mirostat_tau);
    s->pending = -1;
}

const lode_sample_kind lode_sample_mirostat_v2 = { "mirostat_v2", bytes, init, init, apply, accept };
