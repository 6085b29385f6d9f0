/* dry.c - DRY ("don't repeat yourself", p-e-w 2024): a token that would extend a repetition of L tokens loses
 * multiplier * base^(L - allowed_length). Breakers end repetitions: nothing before the last token in which a breaker
 * ends counts, and tokens that hold a whole breaker are never penalised. Breakers may stretch over tokens. */
#include "sample/sampler.h"

#include <math.h>
#include <string.h>

enum { BREAKER_MAX = 64, PIECE_MAX = 512 }; /* bytes looked at; longer breakers are cut, longer tokens end in them */

/* Behind the struct: n_breaker texts, each a length byte and its bytes; then a bit per token: holds a breaker. */
typedef struct state {
    int n_breaker;
    int tail_max;      /* longest breaker less one */
    int n_tail;        /* bytes of the text before, of which a breaker may have started */
    size_t text_bytes; /* of the breakers' texts */
    char tail[BREAKER_MAX];
    unsigned char data[];
} state;

static size_t text_bytes(const lode_sampler_desc *d) {
    size_t n = 0;
    for (int i = 0; i < d->n_dry_breakers; i++)
        n += 1 + (d->dry_breakers[i].n < BREAKER_MAX ? d->dry_breakers[i].n : BREAKER_MAX);
    return n;
}

static size_t bytes(const lode_sampler_desc *d) {
    if (d->dry_multiplier == 0 || d->dry_base < 1 || d->dry_penalty_last_n == 0) return 0;
    return sizeof(state) + text_bytes(d) + ((size_t)d->n_vocab + 7) / 8;
}

/* Whether a breaker lies in text[0..n) and ends behind `from`. */
static bool has_breaker(const state *s, const char *text, size_t n, size_t from) {
    const unsigned char *b = s->data;
    for (int i = 0; i < s->n_breaker; i++, b += 1 + *b) {
        const size_t len = *b;
        for (size_t at = 0; len > 0 && at + len <= n; at++)
            if (at + len > from && !memcmp(text + at, b + 1, len)) return true;
    }
    return false;
}

/* The token's text; of a long one its end, where it joins the next. */
static size_t piece(const lode_sampler_desc *d, int32_t id, char buf[PIECE_MAX]) {
    const size_t n = d->piece ? d->piece(d->piece_user, id, buf, PIECE_MAX) : 0;
    return n < PIECE_MAX ? n : PIECE_MAX;
}

static unsigned char *bits(state *s) { return s->data + s->text_bytes; }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)seed;
    state *s = st;
    unsigned char *to = s->data;
    size_t longest = 0;
    for (int i = 0; i < d->n_dry_breakers; i++) {
        const size_t n = d->dry_breakers[i].n < BREAKER_MAX ? d->dry_breakers[i].n : BREAKER_MAX;
        *to++ = (unsigned char)n;
        memcpy(to, d->dry_breakers[i].p, n);
        to += n;
        if (n > longest) longest = n;
    }
    s->n_breaker = d->n_dry_breakers;
    s->tail_max = longest > 0 ? (int)longest - 1 : 0;
    s->text_bytes = text_bytes(d);
    char buf[PIECE_MAX];
    for (int id = 0; id < d->n_vocab && d->piece; id++)
        if (has_breaker(s, buf, piece(d, id, buf), 0)) bits(s)[id / 8] |= (unsigned char)(1u << (id % 8));
}

static void reset(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)d, (void)seed;
    ((state *)st)->n_tail = 0;
}

static void accept(lode_sampler *smp, void *st, int32_t id) {
    state *s = st;
    char text[BREAKER_MAX + PIECE_MAX];
    memcpy(text, s->tail, (size_t)s->n_tail);
    const size_t n = (size_t)s->n_tail + piece(&smp->d, id, text + s->n_tail);
    if (has_breaker(s, text, n, (size_t)s->n_tail)) smp->hist.breaks[lode_history_at(&smp->hist, 0)] = 1;
    s->n_tail = n < (size_t)s->tail_max ? (int)n : s->tail_max;
    memcpy(s->tail, text + n - s->n_tail, (size_t)s->n_tail);
}

/* z[k] = how many tokens the text that ends k tokens back has in common, from its end, with the whole text: the
 * Z-function of the reversed history, O(n). */
static void common_ends(const lode_history *h, int n, int *z) {
    int left = 0, right = 0; /* the box [left, right) that reaches furthest */
    for (int k = 1; k < n; k++) {
        int len = 0;
        if (k < right) len = z[k - left] < right - k ? z[k - left] : right - k;
        while (k + len < n && h->id[lode_history_at(h, len)] == h->id[lode_history_at(h, k + len)]) len++;
        z[k] = len;
        if (k + len > right) {
            left = k;
            right = k + len;
        }
    }
}

static float subtract(float logit, float v, const void *par) {
    (void)par;
    return logit - v;
}

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    state *s = st;
    const lode_sampler_desc *d = &smp->d;
    const lode_history *h = &smp->hist;
    const int n = h->n < d->dry_penalty_last_n ? h->n : d->dry_penalty_last_n;
    int limit = 0; /* tokens behind the last breaker */
    while (limit < n && !h->breaks[lode_history_at(h, limit)]) limit++;
    if (n <= d->dry_allowed_length || limit < d->dry_allowed_length) return;
    int *z = smp->work, n_hit = 0;
    common_ends(h, n, z);
    for (int k = 1; k < n; k++) {
        const int len = z[k] < limit ? z[k] : limit;
        const int32_t next = h->id[lode_history_at(h, k - 1)]; /* what followed there */
        if (len < d->dry_allowed_length || (bits(s)[next / 8] >> (next % 8) & 1)) continue;
        const double penalty = (double)d->dry_multiplier * pow((double)d->dry_base, len - d->dry_allowed_length);
        smp->tally[n_hit++] = (lode_tally){ next, penalty < 1e38 ? (float)penalty : 1e38f };
    }
    lode_cands_adjust(c, smp->tally, lode_tally_max(smp->tally, n_hit), subtract, NULL);
}

const lode_sample_kind lode_sample_dry = { "dry", bytes, init, reset, apply, accept };
