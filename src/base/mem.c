/* mem.c - checked arithmetic, arenas, growing arrays. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

bool lode_mul_ok(size_t a, size_t b, size_t *out) {
    if (b != 0 && a > SIZE_MAX / b) return false;
    *out = a * b;
    return true;
}

bool lode_add_ok(size_t a, size_t b, size_t *out) {
    if (a > SIZE_MAX - b) return false;
    *out = a + b;
    return true;
}

bool lode_align_ok(size_t n, size_t align, size_t *out) {
    size_t sum;
    if (!lode_add_ok(n, align - 1, &sum)) return false;
    *out = sum & ~(align - 1);
    return true;
}

void *lode_calloc(size_t n, size_t size) {
    size_t bytes;
    if (!lode_mul_ok(n, size, &bytes)) return NULL;
    return calloc(bytes ? bytes : 1, 1);
}

void *lode_aligned_alloc(size_t size, size_t align) {
    size_t padded;
    if (!lode_align_ok(size ? size : 1, align, &padded)) return NULL;
    void *p = NULL;
    return posix_memalign(&p, align, padded) == 0 ? p : NULL;
}

void lode_aligned_free(void *p) { free(p); }

/* 64 KiB holds a graph of a small model in one block. */
enum { ARENA_BLOCK = 64 * 1024, ARENA_ALIGN = 16 };

struct lode_arena_block {
    struct lode_arena_block *next; /* own */
    size_t cap, used;
    _Alignas(16) unsigned char data[];
};

void *lode_arena_alloc(lode_arena *a, size_t n, size_t size) {
    size_t bytes;
    if (!lode_mul_ok(n, size, &bytes) || !lode_align_ok(bytes ? bytes : 1, ARENA_ALIGN, &bytes)) return NULL;
    struct lode_arena_block *b = a->head;
    if (!b || b->cap - b->used < bytes) {
        size_t cap = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK, total;
        if (!lode_add_ok(cap, sizeof *b, &total)) return NULL;
        b = malloc(total);
        if (!b) return NULL;
        b->next = a->head;
        b->cap = cap;
        b->used = 0;
        a->head = b;
    }
    void *p = b->data + b->used;
    b->used += bytes;
    a->total += bytes;
    memset(p, 0, bytes);
    return p;
}

char *lode_arena_strdup(lode_arena *a, const char *s, size_t n) {
    size_t room;
    if (!lode_add_ok(n, 1, &room)) return NULL;
    char *p = lode_arena_alloc(a, room, 1);
    if (p && n) memcpy(p, s, n);
    return p;
}

void lode_arena_reset(lode_arena *a) {
    while (a->head && a->head->next) {
        struct lode_arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    if (a->head) a->head->used = 0;
    a->total = 0;
}

void lode_arena_free(lode_arena *a) {
    while (a->head) {
        struct lode_arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
    a->total = 0;
}

bool lode_grow(void **items, size_t *cap, size_t need, size_t size) {
    if (need <= *cap) return true;
    size_t want = *cap < 8 ? 8 : *cap, bytes;
    while (want < need) {
        if (want > SIZE_MAX / 2) return false;
        want *= 2;
    }
    if (!lode_mul_ok(want, size, &bytes)) return false;
    void *p = realloc(*items, bytes);
    if (!p) return false;
    *items = p;
    *cap = want;
    return true;
}
