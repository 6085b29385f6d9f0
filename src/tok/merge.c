/* merge.c - the merge loop that SPM and BPE share: of all neighbours that form a known pair join the best, the leftmost
 * of equals, until none is left. SPM's pairs are tokens and the best has the highest score; BPE's stand in the list of
 * merges and the best is the earliest.
 *
 * Short words keep their pairs in an array and look for the best one. Long ones use a queue of three parts:
 *   run    sorted pairs, consumed from the front,
 *   heap   pairs found since that come before the end of the run,
 *   later  pairs found since that come behind it; sorted when run and heap are empty, and the next run.
 * On a long row of one character each round of merges only feeds the next one: no heap, linear time. On any text it is
 * O(n log n). */
#include "tok/merge.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>

#define NO_SYMBOL UINT32_MAX

enum {
    SHORT_WORD = 40, /* symbols; about where the queue becomes faster */
    SMALL_SORT = 256 /* pairs; below, counting 256 values eight times is not worth it */
};

/* Maps floats to integers that sort the other way: the highest score gets the lowest number. NaN comes last. */
static uint32_t priority_of_score(float score) {
    uint32_t bits;
    if (!(score == score)) return LODE_NO_PRIORITY - 1;
    if (score == 0) score = 0; /* and not -0, whose bits differ */
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

static uint32_t char_len(const char *text, size_t n) {
    uint32_t cp;
    const int len = (uint8_t)text[0] < 0x80 ? 1 : lode_utf8_next(text, n, &cp);
    return len ? (uint32_t)len : 1; /* a stray byte stands alone */
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
    const uint64_t key = h->items[at];
    for (; at > 0 && key < h->items[(at - 1) / 2]; at = (at - 1) / 2) h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = key;
}

static void heap_pop(lode_pairs *h) {
    const uint64_t last = h->items[--h->n];
    size_t at = 0;
    for (size_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && h->items[child + 1] < h->items[child]) child++;
        if (last <= h->items[child]) break;
        h->items[at] = h->items[child];
        at = child;
    }
    if (h->n) h->items[at] = last;
}

static int by_key(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One stable pass of the sort below, by the byte of the key at `shift`. `count` says how often each value occurs. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, size_t n, int shift, const uint32_t count[256]) {
    uint32_t at[256], sum = 0;
    for (int b = 0; b < 256; b++) {
        at[b] = sum;
        sum += count[b];
    }
    for (size_t i = 0; i < n; i++) to[at[from[i] >> shift & 255]++] = from[i];
}

/* Sorts the pairs in linear time, by bytes of the key from the lowest up. Bytes that are equal in all keys cost
 * nothing, nor do the left symbols' numbers where they are in order, as they mostly are. False when there is no memory.
 */
static bool sort_pairs(lode_pairs *p, lode_pairs *scratch) {
    if (p->n < SMALL_SORT) {
        qsort(p->items, p->n, sizeof *p->items, by_key);
        return true;
    }
    if (!lode_grow((void **)&scratch->items, &scratch->cap, p->n, sizeof *p->items)) return false;
    uint32_t count[8][256] = { { 0 } };
    bool in_order = true;
    for (size_t i = 0; i < p->n; i++) {
        if (i && (uint32_t)p->items[i] < (uint32_t)p->items[i - 1]) in_order = false;
        for (int b = 0; b < 8; b++) count[b][p->items[i] >> 8 * b & 255]++;
    }
    for (int b = in_order ? 4 : 0; b < 8; b++) {
        if (count[b][p->items[0] >> 8 * b & 255] == p->n) continue;
        sort_by_byte(p->items, scratch->items, p->n, 8 * b, count[b]);
        const lode_pairs t = *p;
        p->items = scratch->items;
        p->cap = scratch->cap;
        scratch->items = t.items;
        scratch->cap = t.cap;
    }
    return true;
}

static bool push(lode_merger *m, uint64_t key) {
    const bool in_run = m->run_at < m->run.n && key < m->run.items[m->run.n - 1];
    if (in_run) {
        if (!LODE_PUSH(&m->heap, key)) return false;
        sift_up(&m->heap);
        return true;
    }
    if (m->later.n && key < m->later.items[m->later.n - 1]) m->later_sorted = false;
    return LODE_PUSH(&m->later, key);
}

/* Makes the next run when run and heap are used up. False when there is no memory. */
static bool refill(lode_merger *m) {
    if (m->run_at == m->run.n && m->heap.n == 0) {
        const lode_pairs used = m->run;
        m->run = m->later;
        m->later = used;
        m->later.n = 0;
        m->run_at = 0;
        if (!m->later_sorted && !sort_pairs(&m->run, &m->heap)) return false;
        m->later_sorted = true;
    }
    return true;
}

/* The best waiting pair; false when there is none. */
static bool pop(lode_merger *m, uint64_t *out) {
    if (m->run_at == m->run.n && m->heap.n == 0) return false;
    if (m->heap.n && (m->run_at == m->run.n || m->heap.items[0] < m->run.items[m->run_at])) {
        *out = m->heap.items[0];
        heap_pop(&m->heap);
    } else {
        *out = m->run.items[m->run_at++];
    }
    return true;
}

/* Looks the pair of a symbol and its next one up anew. */
static bool push_pair(lode_merger *m, const lode_vocab *v, const char *text, uint32_t left) {
    lode_symbol *a = &m->symbols[left];
    const lode_symbol *b = &m->symbols[a->next];
    if (b->next == NO_SYMBOL) { /* b is the end of the text */
        a->pair = LODE_NO_PRIORITY;
        return true;
    }
    a->pair = priority(v, text + a->at, b->at - a->at, m->symbols[b->next].at - b->at);
    return a->pair == LODE_NO_PRIORITY || push(m, (uint64_t)a->pair << 32 | left);
}

/* Symbols for the characters of the text, and one behind the last that marks the end. */
static lode_status make_symbols(lode_merger *m, const char *text, size_t n, uint32_t n_chars, lode_err *err) {
    if (!lode_grow((void **)&m->symbols, &m->cap_symbols, (size_t)n_chars + 1, sizeof *m->symbols))
        return no_memory(err);
    uint32_t at = 0;
    for (uint32_t i = 0; i <= n_chars; i++) {
        m->symbols[i] = (lode_symbol){ at, i - 1, i + 1, LODE_NO_PRIORITY };
        if (at < n) at += char_len(text + at, n - at);
    }
    m->symbols[0].prev = NO_SYMBOL;
    m->symbols[n_chars].next = NO_SYMBOL;
    m->run.n = m->heap.n = m->later.n = m->run_at = 0;
    m->later_sorted = true;
    return LODE_OK;
}

/* The symbols that are left: m->spans. */
static lode_status give_spans(lode_merger *m, size_t n_spans, lode_err *err) {
    m->n_spans = 0;
    if (!lode_grow((void **)&m->spans, &m->cap_spans, n_spans, sizeof *m->spans)) return no_memory(err);
    for (const lode_symbol *s = m->symbols; s->next != NO_SYMBOL; s = &m->symbols[s->next])
        m->spans[m->n_spans++] = (lode_span){ s->at, m->symbols[s->next].at - s->at };
    return LODE_OK;
}

static lode_status merge_long(lode_merger *m, const lode_vocab *v, const char *text, size_t n, uint32_t n_chars,
                              lode_err *err) {
    LODE_TRY(make_symbols(m, text, n, n_chars, err));
    for (uint32_t i = 0; i < n_chars; i++)
        if (!push_pair(m, v, text, i)) return no_memory(err);
    uint64_t key;
    size_t n_left = n_chars;
    for (;;) {
        if (!refill(m)) return no_memory(err);
        if (!pop(m, &key)) break;
        const uint32_t left = (uint32_t)key;
        lode_symbol *a = &m->symbols[left];
        if (a->pair != key >> 32) continue;
        m->symbols[a->next].pair = LODE_NO_PRIORITY; /* taken up: whatever waits for it is out of date */
        a->next = m->symbols[a->next].next;
        m->symbols[a->next].prev = left;
        n_left--;
        if (a->prev != NO_SYMBOL && !push_pair(m, v, text, a->prev)) return no_memory(err);
        if (!push_pair(m, v, text, left)) return no_memory(err);
    }
    return give_spans(m, n_left, err);
}

lode_status lode_merge(lode_merger *m, const lode_vocab *v, const char *text, size_t n, lode_err *err) {
    size_t n_chars = 0;
    m->n_spans = 0;
    if (!lode_grow((void **)&m->spans, &m->cap_spans, SHORT_WORD, sizeof *m->spans)) return no_memory(err);
    for (size_t at = 0; at < n; n_chars++) {
        const uint32_t len = char_len(text + at, n - at);
        if (n_chars < SHORT_WORD) m->spans[m->n_spans++] = (lode_span){ (uint32_t)at, len };
        at += len;
    }
    if (n_chars > SHORT_WORD) return merge_long(m, v, text, n, (uint32_t)n_chars, err);
    if (n_chars) merge_short(m, v, text);
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
