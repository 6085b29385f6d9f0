/* sampler.c - the chain: opens, clones, runs it, and keeps the history of accepted tokens. */
#include "sample/sampler.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/need.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const lode_sample_kind *const kinds[] = {
#define SAMPLER(id, name, alias, letter, on) &lode_sample_##name,
#include "lode/samplers.def"
#undef SAMPLER
};

static lode_status check_bias(const lode_sampler_desc *d, lode_err *err) {
    for (int i = 0; i < d->n_logit_bias; i++) {
        const lode_logit_bias *b = &d->logit_bias[i];
        if (b->id < 0 || b->id >= d->n_vocab)
            return lode_fail(err, LODE_E_INPUT, "logit_bias: token %d, expected 0 to %d", b->id, d->n_vocab - 1);
        if (isnan(b->bias) || b->bias == INFINITY)
            return lode_fail(err, LODE_E_INPUT, "logit_bias: token %d has %g, expected a number or -inf", b->id,
                             (double)b->bias);
    }
    for (int i = 0; i < d->n_eog; i++)
        if (d->eog[i] < 0 || d->eog[i] >= d->n_vocab)
            return lode_fail(err, LODE_E_INPUT, "end token %d, expected 0 to %d", d->eog[i], d->n_vocab - 1);
    return LODE_OK;
}

static lode_status check_last_n(const char *name, int v, const lode_sampler_desc *d, lode_err *err) {
    if (v == -1 && d->n_ctx <= 0)
        return lode_fail(err, LODE_E_INPUT, "%s is -1, the size of the context, but n_ctx is %d", name, d->n_ctx);
    return LODE_OK;
}

static lode_status check(const lode_sampler_desc *d, lode_err *err) {
    if (d->n_vocab <= 0) return lode_fail(err, LODE_E_INPUT, "n_vocab is %d, expected at least 1", d->n_vocab);
    if (d->chain.n < 0 || d->chain.n > LODE_MAX_CHAIN)
        return lode_fail(err, LODE_E_INPUT, "chain of %d samplers, expected 0 to %d", d->chain.n, LODE_MAX_CHAIN);
    for (int i = 0; i < d->chain.n; i++)
        if (d->chain.kind[i] >= LODE_SAMPLER_LOGIT_BIAS)
            return lode_fail(err, LODE_E_INPUT, "chain: entry %d is no sampler for a chain", i);
    LODE_TRY(lode_sampler_check(d, err));
    LODE_TRY(check_last_n("repeat_last_n", d->repeat_last_n, d, err));
    LODE_TRY(check_last_n("dry_penalty_last_n", d->dry_penalty_last_n, d, err));
    return check_bias(d, err);
}

static void add_link(lode_sampler *s, int kind) {
    const size_t bytes = kinds[kind]->bytes(&s->d);
    if (bytes == 0) return;
    s->link[s->n_link].kind = kinds[kind];
    s->link[s->n_link++].off = s->state_bytes;
    s->state_bytes += (bytes + 15) / 16 * 16;
}

/* Which samplers run, in which order. */
static void lay_out(lode_sampler *s) {
    const lode_sampler_desc *d = &s->d;
    int pick = LODE_SAMPLER_DIST;
    add_link(s, LODE_SAMPLER_LOGIT_BIAS);
    if (d->mirostat != 0) {
        add_link(s, LODE_SAMPLER_TEMPERATURE);
        pick = d->mirostat == 1 ? LODE_SAMPLER_MIROSTAT : LODE_SAMPLER_MIROSTAT_V2;
    } else {
        for (int i = 0; i < d->chain.n; i++)
            if (d->chain.kind[i] == LODE_SAMPLER_ADAPTIVE_P)
                pick = LODE_SAMPLER_ADAPTIVE_P;
            else
                add_link(s, d->chain.kind[i]);
    }
    add_link(s, pick);
}

static void *state_of(lode_sampler *s, int i) { return s->state + s->link[i].off; }

static bool alloc(lode_sampler *s) {
    const size_t n = (size_t)s->d.n_vocab, cap = (size_t)s->hist.cap;
    s->dense = lode_calloc(n, sizeof *s->dense);
    s->item = lode_calloc(n, sizeof *s->item);
    s->state = lode_calloc(s->state_bytes + 1, 1);
    s->hist.id = lode_calloc(cap, sizeof *s->hist.id);
    s->hist.breaks = lode_calloc(cap, 1);
    s->tally = lode_calloc(cap, sizeof *s->tally);
    s->work = lode_calloc(cap, sizeof *s->work);
    s->c = (lode_cands){ .dense = s->dense, .item = s->item, .n_vocab = s->d.n_vocab, .picked = -1 };
    return s->dense && s->item && s->state && s->hist.id && s->hist.breaks && s->tally && s->work;
}

lode_status lode_sampler_open(lode_sampler **out, const lode_sampler_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out && desc && LODE_HAS(desc->dry_breakers, desc->n_dry_breakers) &&
                           LODE_HAS(desc->logit_bias, desc->n_logit_bias) && LODE_HAS(desc->eog, desc->n_eog),
                       __func__, err));
    *out = NULL;
    LODE_TRY(check(desc, err));
    lode_sampler *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    s->d = *desc;
    if (s->d.repeat_last_n < 0) s->d.repeat_last_n = s->d.n_ctx;
    if (s->d.dry_penalty_last_n < 0) s->d.dry_penalty_last_n = s->d.n_ctx;
    s->seed = desc->seed >= 0 ? (uint64_t)desc->seed : desc->entropy ? desc->entropy : (uint64_t)lode_clock_ns();
    const int last = s->d.repeat_last_n, dry = s->d.dry_penalty_last_n;
    s->hist.cap = last > dry ? last : dry;
    if (s->hist.cap < 1) s->hist.cap = 1;
    lay_out(s);
    if (!alloc(s)) {
        lode_sampler_close(s);
        return lode_fail(err, LODE_E_NOMEM, "out of memory for a sampler of %d tokens", desc->n_vocab);
    }
    for (int i = 0; i < s->n_link; i++) s->link[i].kind->init(state_of(s, i), &s->d, s->seed);
    s->d.dry_breakers = NULL;
    s->d.logit_bias = NULL;
    s->d.eog = NULL;
    *out = s;
    return LODE_OK;
}

void lode_sampler_close(lode_sampler *s) {
    if (!s) return;
    free(s->dense);
    free(s->item);
    free(s->state);
    free(s->hist.id);
    free(s->hist.breaks);
    free(s->tally);
    free(s->work);
    free(s);
}

lode_status lode_sampler_clone(lode_sampler **out, const lode_sampler *from, lode_err *err) {
    LODE_TRY(lode_need(out && from, __func__, err));
    *out = NULL;
    lode_sampler *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    *s = *from;
    if (!alloc(s)) {
        lode_sampler_close(s);
        return lode_fail(err, LODE_E_NOMEM, "out of memory for a sampler of %d tokens", from->d.n_vocab);
    }
    memcpy(s->state, from->state, from->state_bytes);
    memcpy(s->hist.id, from->hist.id, (size_t)s->hist.cap * sizeof *s->hist.id);
    memcpy(s->hist.breaks, from->hist.breaks, (size_t)s->hist.cap);
    *out = s;
    return LODE_OK;
}

void lode_sampler_reset(lode_sampler *s) {
    s->hist.n = s->hist.next = 0;
    s->c.picked = -1;
    for (int i = 0; i < s->n_link; i++)
        if (s->link[i].kind->reset) s->link[i].kind->reset(state_of(s, i), &s->d, s->seed);
}

uint64_t lode_sampler_seed(const lode_sampler *s) { return s->seed; }

lode_status lode_sampler_sample(lode_sampler *s, const float *logits, int32_t *id, lode_err *err) {
    LODE_TRY(lode_need(s && logits && id, __func__, err));
    LODE_TRY(lode_cands_load(&s->c, logits, err));
    for (int i = 0; i < s->n_link; i++) {
        s->link[i].kind->apply(s, state_of(s, i), &s->c);
        if (s->link[i].kind != &lode_sample_logit_bias) continue;
        if (!(lode_cands_max(&s->c) >= -FLT_MAX))
            return lode_fail(err, LODE_E_INPUT, "logit_bias forbids every token that the model offers");
    }
    *id = s->c.item[s->c.picked].id;
    return LODE_OK;
}

lode_status lode_sampler_accept(lode_sampler *s, int32_t id, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    if (id < 0 || id >= s->d.n_vocab)
        return lode_fail(err, LODE_E_INPUT, "token %d, expected 0 to %d", id, s->d.n_vocab - 1);
    lode_history *h = &s->hist;
    h->id[h->next] = id;
    h->breaks[h->next] = 0;
    h->next = h->next + 1 == h->cap ? 0 : h->next + 1;
    if (h->n < h->cap) h->n++;
    for (int i = 0; i < s->n_link; i++)
        if (s->link[i].kind->accept) s->link[i].kind->accept(s, state_of(s, i), id);
    return LODE_OK;
}
