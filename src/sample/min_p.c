/* min_p.c - keeps tokens at least min_p times as likely as the likeliest (Nguyen et al. 2024). */
#include "sample/sampler.h"

#include <math.h>

static size_t bytes(const lode_sampler_desc *d) { return d->min_p > 0; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    lode_cands_gather(c);
    const float least = lode_cands_max(c) + logf(s->d.min_p); /* p_i >= min_p * p_max, without the softmax */
    if (s->d.min_keep > 1) lode_cands_sort(c, s->d.min_keep);
    int kept = 0, sorted = 0;
    for (int i = 0; i < c->n; i++) {
        if (!(c->item[i].logit >= least) && i >= s->d.min_keep) continue;
        sorted += i < c->n_sorted;
        c->item[kept++] = c->item[i];
    }
    c->n = kept;
    c->n_sorted = sorted;
}

const lode_sample_kind lode_sample_min_p = { "min_p", bytes, init, NULL, apply, NULL };
