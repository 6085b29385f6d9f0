/* kv.h - the paged cache of keys and values: which sequence owns which cells. All policy about cells is here.
 *
 * A page has LODE_PAGE cells. A sequence is a list of pages and the ids and positions of its tokens, in order; token i
 * lies in page i / LODE_PAGE. Pages are counted: copies share them, and whoever writes into a shared page gets a page
 * of its own first. */
#ifndef LODE_ENGINE_KV_H
#define LODE_ENGINE_KV_H

#include "base/mem.h"
#include "graph/graph.h"
#include "lode/backend.h"

typedef struct lode_kv_seq {
    int32_t *pages;     /* own: [n_pages of the cache] */
    int32_t *ids, *pos; /* own: [n_cells] each */
    int n;              /* tokens */
    int n_held;         /* pages */
    int next_pos;       /* what the next token gets */
} lode_kv_seq;

typedef struct lode_kv {
    lode_buffer *buffer;  /* own */
    lode_arena arena;     /* own: tensors */
    lode_tensor **k, **v; /* [n_layer], in arena: [d, n_cells] */
    int n_layer, n_pages, n_seq, n_free;
    int32_t *refs;      /* own: [n_pages] sequences that hold the page */
    int32_t *free_list; /* own: [n_pages], the first n_free are free */
    lode_kv_seq *seqs;  /* own: [n_seq] */
} lode_kv;

typedef struct lode_kv_desc {
    lode_buffer_type *memory;
    lode_type type;
    int n_layer, n_pages, n_seq;
    int64_t d; /* elements of a cell in one layer, keys or values */
} lode_kv_desc;

lode_status lode_kv_open(lode_kv *kv, const lode_kv_desc *desc, lode_err *err);
void lode_kv_close(lode_kv *kv);

/* Makes room for n more tokens of a sequence: pages, and a page of its own where the last one is shared. Nothing is
 * changed on failure. Pages needed are counted first by lode_kv_need. */
int lode_kv_need(const lode_kv *kv, int seq, int n);
lode_status lode_kv_reserve(lode_kv *kv, int seq, int n, lode_err *err);
/* Adds a token (room was reserved) and returns its cell. */
int32_t lode_kv_push(lode_kv *kv, int seq, int32_t id);
/* Cell of token i. */
int32_t lode_kv_cell(const lode_kv_seq *s, int i);
/* First token of the sequence that a token at position `pos` sees through a window of `window` positions. */
int lode_kv_window_start(const lode_kv_seq *s, int pos, int window);

/* Keeps the first n tokens. */
void lode_kv_truncate(lode_kv *kv, int seq, int n);
/* Gives back the pages that were reserved and not used. */
void lode_kv_release(lode_kv *kv, int seq);
/* Removes tokens [from, to); what follows moves down in memory and keeps its positions. */
lode_status lode_kv_remove(lode_kv *kv, int seq, int from, int to, lode_err *err);
/* `to` becomes the first n tokens of `from`, sharing pages. */
void lode_kv_copy(lode_kv *kv, int from, int to, int n);
/* A page of its own for every shared page of tokens [from, n) of a sequence: before writing there. */
lode_status lode_kv_unshare(lode_kv *kv, int seq, int from, lode_err *err);
#endif
