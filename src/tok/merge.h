/* merge.h - joins the characters of a word into tokens, best pair first. */
#ifndef LODE_TOK_MERGE_H
#define LODE_TOK_MERGE_H

#include "tok/vocab.h"

/* A stretch of the word: text[at .. at + n). */
typedef struct lode_span {
    uint32_t at, n;
} lode_span;

/* A stretch that can still join its neighbours; it ends where the next begins. */
typedef struct lode_symbol {
    uint32_t at, prev, next;
    uint32_t pair; /* priority of joining it with the next */
} lode_symbol;

/* Pairs waiting to be joined, as priority << 32 | number of the left symbol. One whose priority is no longer that of
 * the symbol's pair is out of date. */
typedef struct lode_pairs {
    uint64_t *items; /* own */
    size_t n, cap;
} lode_pairs;

/* Room for one word after another; zero-initialise. The result of the last word is span[0..n_spans). */
typedef struct lode_merger {
    lode_span *spans; /* own */
    size_t n_spans, cap_spans;
    lode_symbol *symbols; /* own */
    size_t cap_symbols;
    lode_pairs run, heap, later; /* see merge.c */
    size_t run_at;
    bool later_sorted;
} lode_merger;

lode_status lode_merge(lode_merger *m, const lode_vocab *v, const char *text, size_t n, lode_err *err);
void lode_merger_free(lode_merger *m);
#endif
