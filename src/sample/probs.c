/* probs.c - log-probabilities of the likeliest tokens: over all logits, or after the chain. */
#include "sample/cands.h"
#include "base/need.h"
#include "sample/sampler.h"

#include <float.h>
#include <math.h>

static bool before(const lode_token_prob *a, const lode_token_prob *b) {
    return a->logprob > b->logprob || (a->logprob == b->logprob && a->id < b->id);
}

/* The n_top largest logits into top[], sorted, their logits in `logprob`: insertion from the back. Few are asked for
 * (20 in the usual interfaces), and a vocabulary's rest fails the one comparison. Returns how many there are. */
static int largest(const float *logits, int n, lode_token_prob *top, int n_top) {
    int have = 0;
    for (int i = 0; i < n; i++) {
        const lode_token_prob x = { i, 0, logits[i] };
        if (!(logits[i] >= -FLT_MAX) || (have == n_top && !before(&x, &top[have - 1]))) continue;
        int at = have < n_top ? have++ : have - 1;
        for (; at > 0 && before(&x, &top[at - 1]); at--) top[at] = top[at - 1];
        top[at] = x;
    }
    return have;
}

lode_status lode_logprobs(const float *logits, int n_vocab, int32_t id, lode_token_prob *of_id, lode_token_prob *top,
                          int n_top, lode_err *err) {
    LODE_TRY(lode_need(logits, __func__, err));
    if (n_vocab <= 0 || id >= n_vocab)
        return lode_fail(err, LODE_E_INPUT, "token %d, expected less than %d", id, n_vocab);
    LODE_TRY(lode_logits_check(logits, n_vocab, err));
    float max = -INFINITY;
    for (int i = 0; i < n_vocab; i++) max = logits[i] > max ? logits[i] : max;
    double sum = 0;
    for (int i = 0; i < n_vocab; i++) sum += expf(logits[i] - max);
    const double norm = (double)max + log(sum);
    if (of_id && id >= 0) {
        const double lp = (double)logits[id] - norm;
        *of_id = (lode_token_prob){ id, (float)exp(lp), (float)lp };
    }
    if (!top || n_top <= 0) return LODE_OK;
    const int have = largest(logits, n_vocab, top, n_top);
    for (int i = 0; i < have; i++) {
        const double lp = (double)top[i].logprob - norm;
        top[i].logprob = (float)lp;
        top[i].prob = (float)exp(lp);
    }
    for (int i = have; i < n_top; i++) top[i] = (lode_token_prob){ -1, 0, -INFINITY };
    return LODE_OK;
}

static lode_token_prob prob_of(const lode_cand *c) { return (lode_token_prob){ c->id, c->p, logf(c->p) }; }

int lode_sampler_probs(lode_sampler *s, lode_token_prob *picked, lode_token_prob *top, int n_top) {
    lode_cands *c = &s->c;
    if (c->picked < 0) return 0;
    const int32_t id = c->item[c->picked].id;
    if (picked) *picked = prob_of(&c->item[c->picked]);
    if (!top || n_top <= 0) return 0;
    lode_cands_sort(c, n_top);
    const int n = c->n < n_top ? c->n : n_top;
    for (int i = 0; i < n; i++) top[i] = prob_of(&c->item[i]);
    for (int i = 0; i < c->n; i++)
        if (c->item[i].id == id) c->picked = i;
    return n;
}
