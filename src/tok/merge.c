/* merge.c - the merge loop that SPM and BPE share: of all neighbours that form a known pair join the best, the leftmost
 * of equals, until none is left. SPM's pairs are tokens and the best has the highest score; BPE's stand in the list of
 * merges and the best is the earliest.
 *
 * Short words keep their pairs in an array and look for the best one. Long ones use a queue of three parts:
 *   run    sorted pairs, consumed from the front,
 *   heap   pairs found since that come before the end of the run,
 *   later  pairs found since that come behind it; sorted when run and heap are empty, and the next run.
 * On a long row of one character each round of merges only feeds the next one, in order: no sorting, no heap, linear
 * time. On any text it is O(n log n). */
#include "tok/merge.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

enum { SHORT_WORD = 40 }; /* symbols; about where the queue becomes faster */

/* Maps floats to integers that sort the other way: the highest score gets the lowest number. NaN comes last. */
static uint32_t priority_of_score(float score) {
    uint32_t bits;
    if (!(score == score)) return LODE_NO_PRIORITY - 1;
    memcpy(&bits, &score, 4);
    const uint32_t rising = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    const uint32_t falling = ~rising;
    return falling < LODE_NO_PRIORITY - 1 ? falling : LODE_NO_PRIORITY - 1;
}

static uint32_t priority(const lode_vocab *v, const char *text, uint32_t n_left, uint32_t n_right) {
    if (v->kind == LODE_VOCAB_BPE) return lode_merge_find(v, text, n_left, n_right);
    const lode_token id = lode_token_find(v, text, (size_t)n_left + n_right);
    if (id < 0 || !lode_token_is_plain(v, id)) return LODE_NO_PRIORITY;
    return priority_of_score(v->scores ? v->scores[id] : 0.0f);
}

static lode_status no_memory(lode_err *err) {
    return lode_fail(err, LODE_E_NOMEM, "tokenizer: no memory for a long word");
}

/* Cuts the text into characters (stray bytes alone): m->spans. */
static lode_status cut(lode_merger *m, const char *text, size_t n, lode_err *err) {
    m->n_spans = 0;
    if (!lode_grow((void **)&m->spans, &m->cap_spans, n, sizeof *m->spans)) return no_memory(err);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        const int len = (uint8_t)text[i] < 0x80 ? 1 : lode_utf8_next(text + i, n - i, &cp);
        const uint32_t step = len ? (uint32_t)len : 1;
        m->spans[m->n_spans++] = (lode_span){ (uint32_t)i, step };
        i += step;
    }
    return LODE_OK;
}

static void merge_short(lode_merger *m, const lode_vocab *v, const char *text) {
    lode_span *s = m->spans;
    uint32_t pair[SHORT_WORD];
    size_t n = m->n_spans;
    for (size_t i = 0; i + 1 < n; i++) pair[i] = priority(v, text + s[i].at, s[i].n, s[i + 1].n);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (pair[i] < pair[best]) best = i;
        if (pair[best] == LODE_NO_PRIORITY) break;
        s[best].n += s[best + 1].n;
        n--;
        memmove(s + best + 1, s + best + 2, (n - best - 1) * sizeof *s);
        memmove(pair + best, pair + best + 1, (n - best) * sizeof *pair);
        if (best + 1 < n) pair[best] = priority(v, text + s[best].at, s[best].n, s[best + 1].n);
        if (best > 0) pair[best - 1] = priority(v, text + s[best - 1].at, s[best - 1].n, s[best].n);
    }
    m->n_spans = n;
}

static void sift_up(lode_pairs *h) {
    size_t at = h->n - 1;
    while (at > 0 && h->items[at].key < h->items[(at - 1) / 2].key) {
        const lode_pair t = h->items[at];
        h->items[at] = h->items[(at - 1) / 2];
        at = (at - 1) / 2;
        h->items[at] = t;
    }
}

static void heap_pop(lode_pairs *h) {
    const lode_pair last = h->items[--h->n];
    size_t at = 0;
    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && h->items[child + 1].key < h->items[child].key) child++;
        if (last.key <= h->items[child].key) break;
        h->items[at] = h->items[child];
        at = child;
    }
    if (h->n) h->items[at] = last;
}

static int by_key(const void *a, const void *b) {
    const uint64_t x = ((const lode_pair *)a)->key, y = ((const lode_pair *)b)->key;
    return (x > y) - (x < y);
}

static bool push(lode_merger *m, lode_pair p) {
    const bool in_run = m->run_at < m->run.n && p.key < m->run.items[m->run.n - 1].key;
    if (in_run) {
        if (!LODE_PUSH(&m->heap, p)) return false;
        sift_up(&m->heap);
        return true;
    }
    if (m->later.n && p.key < m->later.items[m->later.n - 1].key) m->later_sorted = false;
    return LODE_PUSH(&m->later, p);
}

/* The best waiting pair; false when there is none. */
static bool pop(lode_merger *m, lode_pair *out) {
    if (m->run_at == m->run.n && m->heap.n == 0) {
        const lode_pairs used = m->run;
        m->run = m->later;
        m->later = used;
        m->later.n = 0;
        m->run_at = 0;
        if (!m->later_sorted) qsort(m->run.items, m->run.n, sizeof *m->run.items, by_key);
        m->later_sorted = true;
        if (m->run.n == 0) return false;
    }
    if (m->heap.n && (m->run_at == m->run.n || m->heap.items[0].key < m->run.items[m->run_at].key)) {
        *out = m->heap.items[0];
        heap_pop(&m->heap);
    } else {
        *out = m->run.items[m->run_at++];
    }
    return true;
}

static bool push_pair(lode_merger *m, const lode_vocab *v, const char *text, uint32_t left, uint32_t right) {
    const lode_symbol *a = &m->symbols[left], *b = &m->symbols[right];
    const uint32_t p = priority(v, text + a->at, a->n, b->n);
    if (p == LODE_NO_PRIORITY) return true;
    return push(m, (lode_pair){ (uint64_t)p << 32 | left, a->n + b->n });
}

static lode_status merge_long(lode_merger *m, const lode_vocab *v, const char *text, lode_err *err) {
    const uint32_t n = (uint32_t)m->n_spans, none = UINT32_MAX;
    if (!lode_grow((void **)&m->symbols, &m->cap_symbols, n, sizeof *m->symbols)) return no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        m->symbols[i] = (lode_symbol){ m->spans[i].at, m->spans[i].n, i ? i - 1 : none, i + 1 < n ? i + 1 : none };
    m->run.n = m->heap.n = m->later.n = m->run_at = 0;
    m->later_sorted = true;
    for (uint32_t i = 0; i + 1 < n; i++)
        if (!push_pair(m, v, text, i, i + 1)) return no_memory(err);
    lode_pair p;
    while (pop(m, &p)) {
        const uint32_t left = (uint32_t)p.key;
        lode_symbol *a = &m->symbols[left];
        if (a->n == 0 || a->next == none || a->n + m->symbols[a->next].n != p.n) continue;
        a->n = p.n;
        m->symbols[a->next].n = 0;
        a->next = m->symbols[a->next].next;
        if (a->next != none) m->symbols[a->next].prev = left;
        if (a->prev != none && !push_pair(m, v, text, a->prev, left)) return no_memory(err);
        if (a->next != none && !push_pair(m, v, text, left, a->next)) return no_memory(err);
    }
    m->n_spans = 0;
    for (uint32_t i = 0; i != none; i = m->symbols[i].next)
        m->spans[m->n_spans++] = (lode_span){ m->symbols[i].at, m->symbols[i].n };
    return LODE_OK;
}

lode_status lode_merge(lode_merger *m, const lode_vocab *v, const char *text, size_t n, lode_err *err) {
    LODE_TRY(cut(m, text, n, err));
    if (m->n_spans > SHORT_WORD) return merge_long(m, v, text, err);
    if (m->n_spans) merge_short(m, v, text);
    return LODE_OK;
}

void lode_merger_free(lode_merger *m) {
    free(m->spans);
    free(m->symbols);
    free(m->run.items);
    free(m->heap.items);
    free(m->later.items);
    *m = (lode_merger){ 0 };
}
