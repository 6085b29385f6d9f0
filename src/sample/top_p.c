/* top_p.c - nucleus sampling (Holtzman et al. 2019): the likeliest tokens that together reach probability p. */
#include "sample/sampler.h"

static size_t bytes(const lode_sampler_desc *d) { return d->top_p < 1; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    enum { STEP = 256 }; /* sorted as needed: a nucleus is rarely larger */
    lode_cands_softmax(c);
    double sum = 0;
    for (int i = 0; i < c->n; i++) {
        if (i >= c->n_sorted) lode_cands_sort(c, i < STEP ? STEP : 4 * i);
        sum += c->item[i].p;
        if (sum >= s->d.top_p && i + 1 >= s->d.min_keep) {
            c->n = i + 1;
            break;
        }
    }
    if (c->n_sorted > c->n) c->n_sorted = c->n;
}

const lode_sample_kind lode_sample_top_p = { "top_p", bytes, init, NULL, apply, NULL };
