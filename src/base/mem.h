/* mem.h - allocation: plain blocks, checked size arithmetic, arenas and growing arrays.
 *
 * Every size is computed with the checked functions before anything is allocated. A function that returns memory
 * returns NULL when there is none; it never ends the process. Not thread-safe per object. */
#ifndef LODE_BASE_MEM_H
#define LODE_BASE_MEM_H

#include "lode/base.h"

/* a*b and a+b into *out; false (and *out untouched) when the result does not fit. */
bool lode_mul_ok(size_t a, size_t b, size_t *out);
bool lode_add_ok(size_t a, size_t b, size_t *out);
/* n rounded up to a multiple of `align` (a power of two); false when it does not fit. */
bool lode_align_ok(size_t n, size_t align, size_t *out);

/* Zeroed memory for n elements of `size` bytes; NULL when there is none or the product overflows. Free with free(). */
void *lode_calloc(size_t n, size_t size);
/* Memory aligned to `align` (a power of two, at least sizeof(void *)), not zeroed; free with lode_aligned_free(). */
void *lode_aligned_alloc(size_t size, size_t align);
void lode_aligned_free(void *p);

/* Arena: many small blocks with one lifetime. Zero-initialise; blocks are zeroed and aligned to 16 bytes. */
typedef struct lode_arena {
    struct lode_arena_block *head; /* own */
    size_t total;                  /* bytes handed out */
} lode_arena;

void *lode_arena_alloc(lode_arena *a, size_t n, size_t size);    /* n*size zeroed bytes, NULL when there is none */
char *lode_arena_strdup(lode_arena *a, const char *s, size_t n); /* n bytes of s and a NUL */
void lode_arena_reset(lode_arena *a);                            /* keeps the first block for reuse */
void lode_arena_free(lode_arena *a);

/* Growing array: makes room for one more of `size` bytes in *items; false when there is no memory (array unchanged).
 * Use through LODE_PUSH. */
bool lode_grow(void **items, size_t *cap, size_t need, size_t size);

/* Appends v to an array {T *items; size_t n, cap;}; an expression, false when out of memory. */
#define LODE_PUSH(arr, v)                                                               \
    (lode_grow((void **)&(arr)->items, &(arr)->cap, (arr)->n + 1, sizeof *(arr)->items) \
         ? ((arr)->items[(arr)->n++] = (v), true)                                       \
         : false)
#endif
