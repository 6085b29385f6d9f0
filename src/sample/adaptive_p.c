/* adaptive_p.c - picks tokens near a probability aimed at, and moves the aim so that the average of what was picked
 * comes to it. The curve: 5 at the aim, falling quadratically near it and linearly far away. */
#include "sample/sampler.h"

#include <math.h>

/* The constants of the published definition. */
static const float peak = 5, sharpness = 10, width = 0.3f;

typedef struct state {
    rng r;
    float sum, weight; /* decaying sums of the picked tokens' probabilities and of ones */
    int32_t pending;
    float p; /* of the pending token before the transformation */
} state;

static size_t bytes(const lode_sampler_desc *d) {
    (void)d;
    return sizeof(state);
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    state *s = st;
    rng_seed(&s->r, seed, LODE_STREAM_PICK);
    s->weight = 1 / (1 - d->adaptive_decay); /* as if all of the past had hit the aim */
    s->sum = d->adaptive_target * s->weight;
    s->pending = -1;
}

static float unit(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    state *s = st;
    lode_cands_softmax(c);
    s->pending = -1;
    if (smp->d.adaptive_target < 0) {
        c->picked = lode_cands_draw(c, rng_unit(&s->r));
        return;
    }
    const float aim = unit(2 * smp->d.adaptive_target - s->sum / s->weight);
    float *before = c->dense; /* free since gathering */
    for (int i = 0; i < c->n; i++) {
        before[i] = c->item[i].p;
        const float dist = fabsf(c->item[i].p - aim) / width;
        c->item[i].logit = peak - sharpness * dist * dist / (1 + dist);
    }
    c->n_sorted = 0;
    lode_cands_softmax(c);
    c->picked = lode_cands_draw(c, rng_unit(&s->r));
    s->pending = c->item[c->picked].id;
    s->p = before[c->picked];
}

static void accept(lode_sampler *smp, void *st, int32_t id) {
    state *s = st;
    if (s->pending == id) {
        s->sum = s->p + smp->d.adaptive_decay * s->sum;
        s->weight = 1 + smp->d.adaptive_decay * s->weight;
    }
    s->pending = -1;
}

const lode_sample_kind lode_sample_adaptive_p = { "adaptive_p", bytes, init, init, apply, accept };
