/* cands.c - loading, selecting and normalising candidates. Allocates nothing; see cands.h for the two forms. */
#include "sample/cands.h"
#include "sample/order.h"

#include <float.h>
#include <math.h>
#include <string.h>

lode_status lode_logits_check(const float *logits, int n, lode_err *err) {
    unsigned bad = 0, any = 0;
    for (int i = 0; i < n; i++) { /* without branches: compilers vectorise it */
        bad |= !(logits[i] <= FLT_MAX);
        any |= logits[i] >= -FLT_MAX;
    }
    if (!bad && any) return LODE_OK;
    for (int i = 0; i < n; i++)
        if (!(logits[i] <= FLT_MAX))
            return lode_fail(err, LODE_E_DEVICE,
                             "logits are not finite: token %d has %s (a damaged model file or a failing device)", i,
                             isnan(logits[i]) ? "nan" : "inf");
    return lode_fail(err, LODE_E_DEVICE, "logits are not finite: all %d tokens have -inf, so none can be chosen", n);
}

lode_status lode_cands_load(lode_cands *c, const float *logits, lode_err *err) {
    LODE_TRY(lode_logits_check(logits, c->n_vocab, err));
    memcpy(c->dense, logits, (size_t)c->n_vocab * sizeof *logits);
    c->n = c->n_sorted = 0;
    c->gathered = false;
    c->picked = -1;
    return LODE_OK;
}

void lode_cands_gather(lode_cands *c) {
    if (c->gathered) return;
    int n = 0;
    for (int i = 0; i < c->n_vocab; i++) {
        c->item[n] = (lode_cand){ i, c->dense[i], 0 };
        n += c->dense[i] >= -FLT_MAX;
    }
    c->n = n;
    c->n_sorted = 0;
    c->gathered = true;
}

/* Whether any of x[n] is above t; vectorises, which a search that stops early does not. */
static bool any_above(const float *x, int n, float t) {
    unsigned any = 0;
    for (int i = 0; i < n; i++) any |= x[i] > t;
    return any;
}

/* The k best of the dense logits through a heap of k: nearly all of a vocabulary lies below the worst of the best, so
 * the scan is one comparison per token, 64 at a time. */
static void select_dense(lode_cands *c, int k) {
    enum { STEP = 64 };
    lode_cand *h = c->item;
    int n = 0;
    for (int at = 0; at < c->n_vocab; at += STEP) {
        const int end = at + STEP < c->n_vocab ? at + STEP : c->n_vocab;
        if (n == k && !any_above(c->dense + at, end - at, h[0].logit)) continue;
        for (int i = at; i < end; i++) {
            const float x = c->dense[i];
            if (!(x >= -FLT_MAX)) continue;
            if (n < k) {
                h[n++] = (lode_cand){ i, x, 0 };
                if (n == k) lode_order_heapify(h, n);
            } else if (x > h[0].logit) { /* equal: the ids there are lower, so they stay */
                h[0] = (lode_cand){ i, x, 0 };
                lode_order_sift(h, n, 0);
            }
        }
    }
    c->n = n;
    c->gathered = true;
    lode_order_sort(h, n);
    c->n_sorted = n;
}

void lode_cands_top_k(lode_cands *c, int k) {
    enum { HEAP_MAX = 4096 }; /* above, log k per candidate costs more than gathering; not tuned */
    if (!c->gathered && k <= HEAP_MAX && k < c->n_vocab) {
        select_dense(c, k);
        return;
    }
    lode_cands_gather(c);
    if (k > c->n) k = c->n;
    lode_cands_sort(c, k);
    c->n = k;
    if (c->n_sorted > k) c->n_sorted = k;
}

void lode_cands_sort(lode_cands *c, int k) {
    lode_cands_gather(c);
    if (k > c->n) k = c->n;
    if (k <= c->n_sorted) return;
    lode_cand *rest = c->item + c->n_sorted;
    const int n = c->n - c->n_sorted, want = k - c->n_sorted;
    lode_order_select(rest, n, want);
    lode_order_sort(rest, want);
    c->n_sorted = k;
}

float lode_cands_max(const lode_cands *c) {
    if (c->gathered && c->n_sorted > 0) return c->item[0].logit;
    float max = -INFINITY;
    if (!c->gathered) {
        for (int i = 0; i < c->n_vocab; i++) max = c->dense[i] > max ? c->dense[i] : max;
        return max;
    }
    for (int i = 0; i < c->n; i++) max = c->item[i].logit > max ? c->item[i].logit : max;
    return max;
}

void lode_cands_softmax(lode_cands *c) {
    lode_cands_gather(c);
    const float max = lode_cands_max(c);
    double sum = 0;
    for (int i = 0; i < c->n; i++) {
        c->item[i].p = expf(c->item[i].logit - max);
        sum += c->item[i].p;
    }
    const double scale = 1 / sum; /* sum >= 1: the largest contributes 1 */
    for (int i = 0; i < c->n; i++) c->item[i].p = (float)(c->item[i].p * scale);
}

int lode_cands_draw(const lode_cands *c, double u) {
    double sum = 0, run = 0;
    for (int i = 0; i < c->n; i++) sum += c->item[i].p;
    int last = 0;
    for (int i = 0; i < c->n; i++) {
        if (!(c->item[i].p > 0)) continue;
        run += c->item[i].p;
        last = i;
        if (run > u * sum) return i;
    }
    return last; /* rounding: u * sum may reach the sum itself */
}

/* ---- Values that belong to ids -------------------------------------------------------------------------------- */

static bool tally_less(const lode_tally *a, const lode_tally *b) {
    return a->id < b->id || (a->id == b->id && a->v < b->v);
}

static void tally_sift(lode_tally *t, int n, int i) {
    const lode_tally x = t[i];
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && tally_less(&t[child], &t[child + 1])) child++;
        if (!tally_less(&x, &t[child])) break;
        t[i] = t[child];
    }
    t[i] = x;
}

static void tally_sort(lode_tally *t, int n) {
    for (int i = n / 2 - 1; i >= 0; i--) tally_sift(t, n, i);
    for (int end = n - 1; end > 0; end--) {
        const lode_tally top = t[0];
        t[0] = t[end];
        t[end] = top;
        tally_sift(t, end, 0);
    }
}

static int tally_join(lode_tally *t, int n, bool sum) {
    tally_sort(t, n);
    int out = 0;
    for (int i = 0; i < n; i++) {
        if (out == 0 || t[out - 1].id != t[i].id)
            t[out++] = t[i];
        else
            t[out - 1].v = sum ? t[out - 1].v + t[i].v : t[i].v; /* sorted: the later is the larger */
    }
    return out;
}

int lode_tally_sum(lode_tally *t, int n) { return tally_join(t, n, true); }
int lode_tally_max(lode_tally *t, int n) { return tally_join(t, n, false); }

/* Finite again where arithmetic left the range; masked only by a mask. */
static float adjusted(float logit, float v, float (*f)(float, float, const void *), const void *par) {
    if (!(logit >= -FLT_MAX)) return logit;
    const float y = f(logit, v, par);
    if (!(y <= FLT_MAX)) return FLT_MAX;
    return y < -FLT_MAX && v >= -FLT_MAX ? -FLT_MAX : y;
}

static const lode_tally *find(const lode_tally *t, int n, int32_t id) {
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (t[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && t[lo].id == id ? &t[lo] : NULL;
}

void lode_cands_adjust(lode_cands *c, const lode_tally *t, int n, float (*f)(float logit, float v, const void *par),
                       const void *par) {
    if (!c->gathered) {
        for (int i = 0; i < n; i++) c->dense[t[i].id] = adjusted(c->dense[t[i].id], t[i].v, f, par);
        return;
    }
    int kept = 0;
    for (int i = 0; i < c->n; i++) {
        lode_cand x = c->item[i];
        const lode_tally *hit = find(t, n, x.id);
        if (hit) x.logit = adjusted(x.logit, hit->v, f, par);
        if (x.logit >= -FLT_MAX) c->item[kept++] = x;
    }
    c->n = kept;
    c->n_sorted = 0;
}
