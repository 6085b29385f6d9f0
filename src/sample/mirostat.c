/* mirostat.c - Mirostat 1 (Basu et al. 2020): estimates the exponent of Zipf's law from the 100 likeliest tokens, takes
 * the k tokens that give the surprise aimed at, and corrects the aim by what came out. */
#include "sample/sampler.h"

#include <math.h>

enum { M = 100 }; /* tokens of the estimate: the paper's value */

typedef struct state {
    rng r;
    float mu;
    int32_t pending;
    float surprise; /* of the pending token, bits */
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

/* Least squares of log(p_i / p_i+1) = s log((i + 2) / (i + 1)) over sorted candidates. */
static double zipf(const lode_cands *c) {
    double tb = 0, tt = 0;
    for (int i = 0; i + 1 < M && i + 1 < c->n; i++) {
        const double t = log((i + 2.0) / (i + 1.0));
        tb += t * (double)(c->item[i].logit - c->item[i + 1].logit);
        tt += t * t;
    }
    return tt > 0 ? tb / tt : 1;
}

static int k_of(double s, double mu, int n_vocab) {
    if (!(s > 1e-6)) return n_vocab; /* flat: nothing to cut */
    const double e = s - 1;
    /* (e 2^mu) / (1 - N^-e), whose limit at e = 0 is 2^mu / log N */
    const double ratio =
        fabs(e) < 1e-9 ? exp2(mu) / log(n_vocab > 1 ? n_vocab : 2) : e * exp2(mu) / (1 - pow(n_vocab, -e));
    const double k = pow(ratio, 1 / s);
    if (!(k < n_vocab)) return n_vocab;
    return k < 1 ? 1 : (int)k;
}

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    state *s = st;
    lode_cands_sort(c, M);
    lode_cands_top_k(c, k_of(zipf(c), (double)s->mu, c->n_vocab));
    lode_cands_softmax(c);
    c->picked = lode_cands_draw(c, rng_unit(&s->r));
    s->pending = c->item[c->picked].id;
    s->surprise = -log2f(c->item[c->picked].p);
    (void)smp;
}

static void accept(lode_sampler *smp, void *st, int32_t id) {
    state *s = st;
    if (s->pending == id) s->mu -= smp->d.mirostat_eta * (s->surprise - smp->d.mirostat_tau);
    s->pending = -1;
}

const lode_sample_kind lode_sample_mirostat = { "mirostat", bytes, init, init, apply, accept };
