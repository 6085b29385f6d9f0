/* merge.h - joins the characters of a word into tokens, best pair first. */
#ifndef LODE_TOK_MERGE_H
#define LODE_TOK_MERGE_H

#include "tok/vocab.h"

/* A stretch of the word: text[at .. at + n). */
typedef struct lode_span {
    uint32_t at, n;
} lode_span;

/* One that can still join its neighbours. */
typedef struct lode_symbol {
    uint32_t at, n; /* n 0: taken up by the one before */
    uint32_t prev, next;
} lode_symbol;

/* A pair waiting to be joined: key is priority << 32 | index of the left symbol. */
typedef struct lode_pair {
    uint64_t key;
    uint32_t n; /* bytes of both together; another sum means that the pair is out of date */
} lode_pair;

typedef struct lode_pairs {
    lode_pair *items; /* own */
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
