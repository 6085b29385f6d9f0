/* temperature.c - divides logits by the temperature; 0 and below leave only the best token. With dynatemp_range the
 * temperature follows the entropy of the candidates (dynamic temperature). */
#include "sample/sampler.h"

#include <float.h>
#include <math.h>

static size_t bytes(const lode_sampler_desc *d) { return d->temp != 1 || d->dynatemp_range > 0; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

/* temp - range .. temp + range, by the entropy's share of its maximum to the power of the exponent. */
static float dynamic(const lode_sampler_desc *d, lode_cands *c) {
    const float lo = d->temp - d->dynatemp_range > 0 ? d->temp - d->dynatemp_range : 0;
    const float hi = d->temp + d->dynatemp_range;
    lode_cands_softmax(c);
    double h = 0;
    for (int i = 0; i < c->n; i++)
        if (c->item[i].p > 0) h -= (double)c->item[i].p * log((double)c->item[i].p);
    return lo + (hi - lo) * (float)pow(h / log(c->n), (double)d->dynatemp_exponent);
}

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    float temp = s->d.temp;
    if (s->d.dynatemp_range > 0) {
        lode_cands_gather(c);
        if (c->n < 2) return;
        temp = dynamic(&s->d, c);
    }
    if (!(temp > 0)) {
        lode_cands_top_k(c, 1);
        return;
    }
    /* Logits near the end of the range would overflow: then distances to the best are scaled instead, which the
     * softmax cannot tell apart. */
    const float max = lode_cands_max(c);
    const float shift = fabsf(max / temp) <= FLT_MAX ? 0 : max;
    float *dense = c->dense;
    if (!c->gathered) {
        for (int i = 0; i < c->n_vocab; i++) dense[i] = (dense[i] - shift) / temp;
        return;
    }
    for (int i = 0; i < c->n; i++) {
        const float x = (c->item[i].logit - shift) / temp;
        c->item[i].logit = x < -FLT_MAX ? -FLT_MAX : x;
    }
}

const lode_sample_kind lode_sample_temperature = { "temperature", bytes, init, NULL, apply, NULL };
