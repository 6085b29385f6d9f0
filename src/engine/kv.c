/* kv.c - pages, sequences and their cells. */
#include "engine/kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lode_status make_tensors(lode_kv *kv, const lode_kv_desc *d, lode_err *err) {
    const size_t n = (size_t)d->n_layer;
    kv->k = lode_arena_alloc(&kv->arena, n, sizeof *kv->k);
    kv->v = lode_arena_alloc(&kv->arena, n, sizeof *kv->v);
    lode_tensor **all = lode_arena_alloc(&kv->arena, 2 * n, sizeof *all);
    lode_tensor *t = lode_arena_alloc(&kv->arena, 2 * n, sizeof *t);
    if (!kv->k || !kv->v || !all || !t) return lode_fail(err, LODE_E_NOMEM, "kv cache: out of memory");
    for (size_t i = 0; i < 2 * n; i++) {
        all[i] = &t[i];
        t[i].type = d->type;
        t[i].id = -1;
        t[i].layer = (int16_t)(i / 2);
        t[i].flags = LODE_T_STATE;
        t[i].ne[0] = d->d;
        t[i].ne[1] = (int64_t)d->n_pages * LODE_PAGE;
        t[i].ne[2] = t[i].ne[3] = 1;
        snprintf(t[i].name, sizeof t[i].name, "cache_%c-%zu", i % 2 ? 'v' : 'k', i / 2);
        LODE_TRY(lode_dense(&t[i], err));
        (i % 2 ? kv->v : kv->k)[i / 2] = &t[i];
    }
    return lode_buffer_place(&kv->buffer, d->memory, all, (int)(2 * n), err);
}

lode_status lode_kv_open(lode_kv *kv, const lode_kv_desc *d, lode_err *err) {
    *kv = (lode_kv){ .n_layer = d->n_layer, .n_pages = d->n_pages, .n_seq = d->n_seq, .n_free = d->n_pages };
    kv->refs = lode_calloc((size_t)d->n_pages, sizeof *kv->refs);
    kv->free_list = lode_calloc((size_t)d->n_pages, sizeof *kv->free_list);
    kv->seqs = lode_calloc((size_t)d->n_seq, sizeof *kv->seqs);
    bool ok = kv->refs && kv->free_list && kv->seqs;
    for (int i = 0; i < d->n_seq && ok; i++) {
        lode_kv_seq *s = &kv->seqs[i];
        s->pages = lode_calloc((size_t)d->n_pages, sizeof *s->pages);
        s->ids = lode_calloc((size_t)d->n_pages * LODE_PAGE, sizeof *s->ids);
        s->pos = lode_calloc((size_t)d->n_pages * LODE_PAGE, sizeof *s->pos);
        ok = s->pages && s->ids && s->pos;
    }
    const lode_status s = ok ? make_tensors(kv, d, err) : lode_fail(err, LODE_E_NOMEM, "kv cache: out of memory");
    if (s != LODE_OK) {
        lode_kv_close(kv);
        return s;
    }
    for (int i = 0; i < d->n_pages; i++) kv->free_list[i] = d->n_pages - 1 - i; /* page 0 is taken first */
    return LODE_OK;
}

void lode_kv_close(lode_kv *kv) {
    for (int i = 0; kv->seqs && i < kv->n_seq; i++) {
        free(kv->seqs[i].pages);
        free(kv->seqs[i].ids);
        free(kv->seqs[i].pos);
    }
    free(kv->seqs);
    free(kv->refs);
    free(kv->free_list);
    lode_buffer_close(kv->buffer);
    lode_arena_free(&kv->arena);
    *kv = (lode_kv){ 0 };
}

static int pages_of(int n) { return (n + LODE_PAGE - 1) / LODE_PAGE; }

static int32_t take_page(lode_kv *kv) {
    const int32_t page = kv->free_list[--kv->n_free];
    kv->refs[page] = 1;
    return page;
}

static void drop_page(lode_kv *kv, int32_t page) {
    if (--kv->refs[page] == 0) kv->free_list[kv->n_free++] = page;
}

/* Whether the sequence's last page has room but is shared. */
static bool tail_shared(const lode_kv *kv, const lode_kv_seq *s) {
    return s->n % LODE_PAGE != 0 && kv->refs[s->pages[s->n / LODE_PAGE]] > 1;
}

int lode_kv_need(const lode_kv *kv, int seq, int n) {
    const lode_kv_seq *s = &kv->seqs[seq];
    return pages_of(s->n + n) - s->n_held + (n > 0 && tail_shared(kv, s) ? 1 : 0);
}

/* Copies n cells in all layers, keys and values. */
static lode_status copy_cells(lode_kv *kv, int32_t from, int32_t to, int n, lode_err *err) {
    for (int il = 0; il < kv->n_layer; il++) {
        const lode_tensor *t[2] = { kv->k[il], kv->v[il] };
        for (int i = 0; i < 2; i++)
            LODE_TRY(lode_buffer_copy(t[i]->buffer, t[i]->offset + (size_t)from * t[i]->nb[1], t[i]->buffer,
                                      t[i]->offset + (size_t)to * t[i]->nb[1], (size_t)n * t[i]->nb[1], err));
    }
    return LODE_OK;
}

/* Gives page number i of the sequence a copy of its own; a free page is there. */
static lode_status own_page(lode_kv *kv, lode_kv_seq *s, int i, lode_err *err) {
    const int32_t old = s->pages[i];
    const int32_t page = take_page(kv);
    const lode_status st = copy_cells(kv, old * LODE_PAGE, page * LODE_PAGE, LODE_PAGE, err);
    if (st != LODE_OK) {
        drop_page(kv, page);
        return st;
    }
    drop_page(kv, old);
    s->pages[i] = page;
    return LODE_OK;
}

static lode_status no_room(const lode_kv *kv, int need, lode_err *err) {
    return lode_fail(
        err, LODE_E_FULL,
        "the context is full: %d more cells needed, %d of %d free; use a larger context (-c) or remove tokens",
        need * LODE_PAGE, kv->n_free * LODE_PAGE, kv->n_pages * LODE_PAGE);
}

lode_status lode_kv_reserve(lode_kv *kv, int seq, int n, lode_err *err) {
    lode_kv_seq *s = &kv->seqs[seq];
    const int need = lode_kv_need(kv, seq, n);
    if (need > kv->n_free) return no_room(kv, need, err);
    if (n > 0 && tail_shared(kv, s)) LODE_TRY(own_page(kv, s, s->n / LODE_PAGE, err));
    while (s->n_held < pages_of(s->n + n)) s->pages[s->n_held++] = take_page(kv);
    return LODE_OK;
}

int32_t lode_kv_cell(const lode_kv_seq *s, int i) { return s->pages[i / LODE_PAGE] * LODE_PAGE + i % LODE_PAGE; }

int32_t lode_kv_push(lode_kv *kv, int seq, int32_t id) {
    lode_kv_seq *s = &kv->seqs[seq];
    s->ids[s->n] = id;
    s->pos[s->n] = s->next_pos++;
    return lode_kv_cell(s, s->n++);
}

int lode_kv_window_start(const lode_kv_seq *s, int pos, int window) {
    int lo = 0, hi = s->n;
    while (lo < hi) { /* positions rise along a sequence */
        const int mid = lo + (hi - lo) / 2;
        if (s->pos[mid] > pos - window)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

void lode_kv_truncate(lode_kv *kv, int seq, int n) {
    lode_kv_seq *s = &kv->seqs[seq];
    if (n >= s->n) return;
    s->next_pos = n ? s->pos[n - 1] + 1 : 0;
    s->n = n;
    lode_kv_release(kv, seq);
}

void lode_kv_release(lode_kv *kv, int seq) {
    lode_kv_seq *s = &kv->seqs[seq];
    while (s->n_held > pages_of(s->n)) drop_page(kv, s->pages[--s->n_held]);
}

lode_status lode_kv_unshare(lode_kv *kv, int seq, int from, lode_err *err) {
    lode_kv_seq *s = &kv->seqs[seq];
    int need = 0;
    for (int i = from / LODE_PAGE; i < pages_of(s->n); i++) need += kv->refs[s->pages[i]] > 1;
    if (need > kv->n_free) return no_room(kv, need, err);
    for (int i = from / LODE_PAGE; i < pages_of(s->n); i++)
        if (kv->refs[s->pages[i]] > 1) LODE_TRY(own_page(kv, s, i, err));
    return LODE_OK;
}

lode_status lode_kv_remove(lode_kv *kv, int seq, int from, int to, lode_err *err) {
    lode_kv_seq *s = &kv->seqs[seq];
    if (to >= s->n) {
        lode_kv_truncate(kv, seq, from);
        return LODE_OK;
    }
    LODE_TRY(lode_kv_unshare(kv, seq, from, err));
    const int gap = to - from, next_pos = s->next_pos;
    for (int i = to, n; i < s->n; i += n) { /* runs that lie in one page on both sides */
        const int src_left = LODE_PAGE - i % LODE_PAGE, dst_left = LODE_PAGE - (i - gap) % LODE_PAGE;
        n = src_left < dst_left ? src_left : dst_left;
        if (n > s->n - i) n = s->n - i;
        LODE_TRY(copy_cells(kv, lode_kv_cell(s, i), lode_kv_cell(s, i - gap), n, err));
    }
    memmove(s->ids + from, s->ids + to, (size_t)(s->n - to) * sizeof *s->ids);
    memmove(s->pos + from, s->pos + to, (size_t)(s->n - to) * sizeof *s->pos);
    lode_kv_truncate(kv, seq, s->n - gap);
    s->next_pos = next_pos;
    return LODE_OK;
}

void lode_kv_copy(lode_kv *kv, int from, int to, int n) {
    const lode_kv_seq *a = &kv->seqs[from];
    lode_kv_seq *b = &kv->seqs[to];
    if (from == to) {
        lode_kv_truncate(kv, to, n);
        return;
    }
    lode_kv_truncate(kv, to, 0);
    for (int i = 0; i < pages_of(n); i++) kv->refs[b->pages[i] = a->pages[i]]++;
    memcpy(b->ids, a->ids, (size_t)n * sizeof *b->ids);
    memcpy(b->pos, a->pos, (size_t)n * sizeof *b->pos);
    b->n = n;
    b->n_held = pages_of(n);
    b->next_pos = n ? b->pos[n - 1] + 1 : 0;
}
