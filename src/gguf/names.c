/* names.c - finding keys and tensors by name, and seeing the same name twice. */
#include "gguf/gguf.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bits. Collisions cost only a comparison of bytes. */
static uint64_t hash_of(const char *s, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

/* Order of two names without their indices. */
static int order(const gguf_name *a, const gguf_name *b) {
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->s.n != b->s.n) return a->s.n < b->s.n ? -1 : 1;
    return a->s.n ? memcmp(a->s.p, b->s.p, a->s.n) : 0;
}

static int by_name(const void *a, const void *b) {
    const gguf_name *x = a, *y = b;
    const int o = order(x, y);
    if (o) return o;
    return x->i < y->i ? -1 : x->i > y->i;
}

bool gguf_names_alloc(gguf_names *x, size_t n) {
    x->n = n;
    x->items = lode_calloc(n, sizeof *x->items);
    return x->items != NULL;
}

bool gguf_names_sort(gguf_names *x, size_t *a, size_t *b) {
    for (size_t i = 0; i < x->n; i++) x->items[i].hash = hash_of(x->items[i].s.p, x->items[i].s.n);
    qsort(x->items, x->n, sizeof *x->items, by_name);
    for (size_t i = 1; i < x->n; i++) {
        if (order(&x->items[i - 1], &x->items[i]) != 0) continue;
        *a = x->items[i - 1].i;
        *b = x->items[i].i;
        return false;
    }
    return true;
}

size_t gguf_names_find(const gguf_names *x, const char *s, size_t n) {
    const gguf_name want = { hash_of(s, n), { s, n }, 0 };
    size_t lo = 0, hi = x->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int o = order(&x->items[mid], &want);
        if (o == 0) return x->items[mid].i;
        if (o < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return SIZE_MAX;
}

void gguf_names_free(gguf_names *x) {
    free(x->items);
    *x = (gguf_names){ 0 };
}
