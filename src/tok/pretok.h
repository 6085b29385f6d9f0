/* pretok.h - cuts text into the words inside which BPE merges. The families and their names are pretok.def. */
#ifndef LODE_TOK_PRETOK_H
#define LODE_TOK_PRETOK_H

#include "lode/base.h"

enum { LODE_PRETOK_WHOLE = 1, LODE_PRETOK_BOS = 2 };

/* A row of the table of names. */
typedef struct lode_pretok_name {
    const char *name;
    int family;
    unsigned flags;
} lode_pretok_name;

/* The row of a name; LODE_E_UNSUPPORTED names the nearest known one. */
lode_status lode_pretok_find(const lode_pretok_name **out, lode_slice name, lode_err *err);
/* The i-th row, NULL behind the last. */
const lode_pretok_name *lode_pretok_at(int i);

/* A family made ready to cut: tables and compiled patterns. Immutable; about 1.1 MB. */
typedef struct lode_pretok lode_pretok;
lode_status lode_pretok_open(lode_pretok **out, int family, lode_err *err);
void lode_pretok_close(lode_pretok *p);

/* Room for cutting one text after another; zero-initialise. */
typedef struct lode_pretok_room {
    uint8_t *cls;  /* own; a byte per character */
    uint32_t *at;  /* own; where each character starts, and the end */
    uint32_t *end; /* own; the result: where each piece ends, rising, in bytes */
    uint32_t *old; /* own */
    size_t n_end, cap_cls, cap_at, cap_end, cap_old, n_old;
    void *match, *context, *stack; /* own; PCRE2's */
} lode_pretok_room;
void lode_pretok_room_free(lode_pretok_room *r);

/* Cuts text (under 4 GiB) into r->end[0..r->n_end). */
lode_status lode_pretok_split(const lode_pretok *p, lode_pretok_room *r, const char *text, size_t n, lode_err *err);
#endif
