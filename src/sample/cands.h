/* cands.h - the candidates for the next token, and what samplers do with them: select, sort, normalise.
 *
 * Two forms. Dense: all logits [n_vocab] in place, which costs one copy; penalties, biases and top-k work on it. The
 * first sampler that needs more gathers: from then on there is a list of candidates that only shrinks. Masked tokens
 * (-INFINITY) are dropped by gathering. The memory is the sampler's. */
#ifndef LODE_SAMPLE_CANDS_H
#define LODE_SAMPLE_CANDS_H

#include "lode/sample.h"

typedef struct lode_cand {
    int32_t id;
    float logit;
    float p; /* set by lode_cands_softmax */
} lode_cand;

typedef struct lode_cands {
    float *dense;    /* borrowed, [n_vocab]; scratch of n_vocab floats once gathered */
    lode_cand *item; /* borrowed, [n_vocab]; the first n are the candidates */
    int n_vocab, n;  /* n >= 1 once gathered */
    int n_sorted;    /* that many of the best stand first, in order */
    bool gathered;
    int picked; /* index into item, set by the sampler that picks */
} lode_cands;

/* Copies logits in, checking them. LODE_E_DEVICE for NaN, +INFINITY or nothing but -INFINITY. */
lode_status lode_cands_load(lode_cands *c, const float *logits, lode_err *err);
/* The check alone. */
lode_status lode_logits_check(const float *logits, int n, lode_err *err);

void lode_cands_gather(lode_cands *c);
/* Keeps the k best (ties: lower ids), sorted. */
void lode_cands_top_k(lode_cands *c, int k);
/* Sorts until at least the k best stand in order in front. */
void lode_cands_sort(lode_cands *c, int k);
/* Largest logit. */
float lode_cands_max(const lode_cands *c);
/* Fills p; the sum over the candidates is 1. */
void lode_cands_softmax(lode_cands *c);
/* Draws a candidate with probability p, which softmax has set; u in [0, 1). */
int lode_cands_draw(const lode_cands *c, double u);

/* Values that belong to ids. */
typedef struct lode_tally {
    int32_t id;
    float v;
} lode_tally;
/* Sorts by id and joins equal ids: by the sum of v, or by the largest. Returns how many are left. */
int lode_tally_sum(lode_tally *t, int n);
int lode_tally_max(lode_tally *t, int n);
/* logit = f(logit, v, par) for each candidate that stands in t[n], sorted by id. Results are cut to finite values,
 * except -INFINITY, which masks. */
void lode_cands_adjust(lode_cands *c, const lode_tally *t, int n, float (*f)(float logit, float v, const void *par),
                       const void *par);
#endif
