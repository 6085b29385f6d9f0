/* top_n_sigma.c - keeps the logits within n standard deviations of the largest one (Tang et al. 2024). */
#include "sample/sampler.h"

#include <math.h>

static size_t bytes(const lode_sampler_desc *d) { return d->top_n_sigma > 0; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    lode_cands_gather(c);
    double sum = 0, dev = 0;
    for (int i = 0; i < c->n; i++) sum += c->item[i].logit;
    const double mean = sum / c->n;
    for (int i = 0; i < c->n; i++) {
        const double x = c->item[i].logit - mean;
        dev += x * x;
    }
    const double least = (double)lode_cands_max(c) - s->d.top_n_sigma * sqrt(dev / c->n);
    int kept = 0, sorted = 0;
    for (int i = 0; i < c->n; i++) {
        if (!(c->item[i].logit >= least)) continue;
        sorted += i < c->n_sorted;
        c->item[kept++] = c->item[i];
    }
    c->n = kept;
    c->n_sorted = sorted;
}

const lode_sample_kind lode_sample_top_n_sigma = { "top_n_sigma", bytes, init, NULL, apply, NULL };
