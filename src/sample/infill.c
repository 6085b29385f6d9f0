/* infill.c - for filling in the middle of code, behind top-k and top-p: ends early rather than wander off.
 * 1. When ending is likelier than a third of an average text token, only end tokens stay.
 * 2. A candidate whose text starts another's is joined with it, probability to the likelier one.
 * 3. Text below 0.2 goes; when none is left the answer ends. Then text below 1 / (1 + those left) goes. */
#include "sample/sampler.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 256, PIECE_MAX = 128 }; /* step 2 is quadratic: only the likeliest are compared */

typedef struct state {
    int n;
    int32_t eog[];
} state;

static size_t bytes(const lode_sampler_desc *d) { return sizeof(state) + (size_t)d->n_eog * sizeof(int32_t); }

static void init(void *st, const lode_sampler_desc *d, uint64_t seed) {
    (void)seed;
    state *s = st;
    s->n = d->n_eog;
    if (d->n_eog > 0) memcpy(s->eog, d->eog, (size_t)d->n_eog * sizeof *s->eog);
}

static bool ends(const state *s, int32_t id) {
    for (int i = 0; i < s->n; i++)
        if (s->eog[i] == id) return true;
    return false;
}

/* Keeps end tokens, and text tokens of probability at least `least`; returns how much text stays. */
static int keep(const state *s, lode_cands *c, float least) {
    int kept = 0, n_text = 0;
    for (int i = 0; i < c->n; i++) {
        const bool end = ends(s, c->item[i].id);
        if (!end && !(c->item[i].p >= least)) continue;
        n_text += !end;
        c->item[kept++] = c->item[i];
    }
    c->n = kept;
    return n_text;
}

static void join(const lode_sampler_desc *d, lode_cands *c) {
    char a[PIECE_MAX], b[PIECE_MAX];
    const int n = c->n < PAIRS ? c->n : PAIRS;
    for (int i = 0; i < n; i++) {
        const size_t na = d->piece(d->piece_user, c->item[i].id, a, PIECE_MAX);
        if (na == 0 || na > PIECE_MAX) continue;
        for (int k = 0; k < n && c->item[i].p > 0; k++) {
            if (i == k || !(c->item[k].p > 0)) continue;
            const size_t nb = d->piece(d->piece_user, c->item[k].id, b, PIECE_MAX);
            if (nb < na || memcmp(a, b, na) != 0) continue;
            const int to = c->item[k].p > c->item[i].p ? k : i, from = to == i ? k : i;
            c->item[to].p += c->item[from].p;
            c->item[from].p = 0;
        }
    }
}

/* Logits follow the joined probabilities, so that later samplers see them; the sum is free. */
static void relog(lode_cands *c) {
    int kept = 0;
    for (int i = 0; i < c->n; i++) {
        if (!(c->item[i].p > 0)) continue;
        c->item[kept] = c->item[i];
        c->item[kept].logit = logf(c->item[kept].p);
        kept++;
    }
    c->n = kept;
    c->n_sorted = 0;
}

static void apply(lode_sampler *smp, void *st, lode_cands *c) {
    const state *s = st;
    lode_cands_softmax(c);
    lode_cands_sort(c, PAIRS);
    double end = 0, text = 0;
    for (int i = 0; i < c->n; i++) *(ends(s, c->item[i].id) ? &end : &text) += (double)c->item[i].p;
    if (3 * end * c->n > text) {
        keep(s, c, 2);
        c->n_sorted = 0;
        return;
    }
    if (smp->d.piece) join(&smp->d, c);
    const lode_cand best = c->item[0];
    const int n_text = keep(s, c, 0.2f);
    if (n_text == 0) {
        c->item[0] = s->n > 0 ? (lode_cand){ s->eog[0], 0, 1 } : best;
        c->n = c->n_sorted = 1;
        return;
    }
    double sum = 0;
    for (int i = 0; i < c->n; i++) sum += (double)c->item[i].p;
    for (int i = 0; i < c->n; i++) c->item[i].p = (float)(c->item[i].p / sum);
    keep(s, c, 1.0f / (float)(n_text + 1));
    relog(c);
}

const lode_sample_kind lode_sample_infill = { "infill", bytes, init, NULL, apply, NULL };
