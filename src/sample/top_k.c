/* top_k.c - keeps the k likeliest tokens (Fan et al. 2018). min_keep does not apply: k says it. */
#include "sample/sampler.h"

static size_t bytes(const lode_sampler_desc *d) { return d->top_k > 0; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    lode_cands_top_k(c, s->d.top_k);
}

const lode_sample_kind lode_sample_top_k = { "top_k", bytes, init, NULL, apply, NULL };
