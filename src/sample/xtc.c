/* xtc.c - exclude top choices: with some probability, of the tokens at or above the threshold only the least likely
 * one stays, with everything below it. */
#include "sample/sampler.h"

#include <string.h>

static size_t bytes(const lode_sampler_desc *d) {
    return d->xtc_probability > 0 && d->xtc_threshold <= 0.5f ? sizeof(rng) : 0; /* above 1/2 only one can reach it */
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)d;
    rng_seed(st, seed, LODE_STREAM_XTC);
}

/* One draw per token, whatever is left to choose from: so the stream stays in step. */
static void apply(lode_sampler *s, void *st, lode_cands *c) {
    const bool act = rng_unit(st) < (double)s->d.xtc_probability;
    if (!act) return;
    lode_cands_softmax(c);
    int n_top = 0;
    for (int i = 0; i < c->n; i++) n_top += c->item[i].p >= s->d.xtc_threshold;
    const int drop = n_top - 1;
    if (drop < 1 || c->n - drop < s->d.min_keep) return;
    lode_cands_sort(c, n_top);
    c->n -= drop;
    c->n_sorted -= drop;
    memmove(c->item, c->item + drop, (size_t)c->n * sizeof *c->item);
}

const lode_sample_kind lode_sample_xtc = { "xtc", bytes, init, init, apply, NULL };
