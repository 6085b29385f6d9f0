/* typ_p.c - locally typical sampling (Meister et al. 2022): the tokens whose surprise is nearest to the entropy, until
 * together they exceed probability p. */
#include "sample/order.h"
#include "sample/sampler.h"

#include <math.h>

static size_t bytes(const lode_sampler_desc *d) { return d->typical_p < 1; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static double entropy_of(const lode_cands *c) {
    double h = 0;
    for (int i = 0; i < c->n; i++)
        if (c->item[i].p > 0) h -= (double)c->item[i].p * log((double)c->item[i].p);
    return h;
}

/* The sort goes by logit, so the distance from the entropy stands there for its duration and the logit in p. */
static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    lode_cands_softmax(c);
    const double h = entropy_of(c);
    const float max = lode_cands_max(c);
    double total = 0;
    for (int i = 0; i < c->n; i++) total += expf(c->item[i].logit - max);
    for (int i = 0; i < c->n; i++) {
        lode_cand *x = &c->item[i];
        const double surprise = log(total) - (double)(x->logit - max);
        x->p = x->logit;
        x->logit = (float)-fabs(surprise - h);
    }
    lode_order_sort(c->item, c->n);
    double sum = 0;
    int n = c->n;
    for (int i = 0; i < c->n; i++) {
        sum += (double)expf(c->item[i].p - max) / total;
        if (sum > s->d.typical_p && i + 1 >= s->d.min_keep) {
            n = i + 1;
            break;
        }
    }
    c->n = n;
    c->n_sorted = 0;
    for (int i = 0; i < n; i++) c->item[i].logit = c->item[i].p;
}

const lode_sample_kind lode_sample_typ_p = { "typ_p", bytes, init, NULL, apply, NULL };
