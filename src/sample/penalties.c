/* penalties.c - makes tokens of the recent past less likely.
 * repeat: CTRL (Keskar et al. 2019), with the usual repair that a negative logit is multiplied, not divided.
 * frequency and presence: as OpenAI documents them; only the last repeat_last_n tokens count. */
#include "sample/sampler.h"

#include <float.h>

static size_t bytes(const lode_sampler_desc *d) {
    const bool off = d->repeat_penalty == 1 && d->frequency_penalty == 0 && d->presence_penalty == 0;
    return d->repeat_last_n == 0 || off ? 0 : 1;
}

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) { (void)st, (void)d, (void)seed; }

static float penalise(float logit, float count, const void *par) {
    const lode_sampler_desc *d = par;
    float x = logit <= 0 ? logit * d->repeat_penalty : logit / d->repeat_penalty;
    x = x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : x;
    return x - count * d->frequency_penalty - d->presence_penalty;
}

static void apply(lode_sampler *s, void *st, lode_cands *c) {
    (void)st;
    const int n = s->hist.n < s->d.repeat_last_n ? s->hist.n : s->d.repeat_last_n;
    for (int i = 0; i < n; i++) s->tally[i] = (lode_tally){ s->hist.id[lode_history_at(&s->hist, i)], 1 };
    lode_cands_adjust(c, s->tally, lode_tally_sum(s->tally, n), penalise, &s->d);
}

const lode_sample_kind lode_sample_penalties = { "penalties", bytes, init, NULL, apply, NULL };
