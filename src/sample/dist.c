/* dist.c - picks a token by its probability. */
#include "sample/sampler.h"

static size_t bytes(const lode_sampler_desc *d) {
    (void)d;
    return sizeof(rng);
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)d;
    rng_seed(st, seed, LODE_STREAM_PICK);
}

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)s;
    lode_cands_softmax(c);
    c->picked = lode_cands_draw(c, rng_unit(st));
}

const lode_sample_kind lode_sample_dist = { "dist", bytes, init, init, apply, NULL };
