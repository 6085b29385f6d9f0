/* hash.c - tokens by text and merges by their halves.
 *
 * A vocabulary file is not to be trusted: a repeated text keeps its first index, and a table whose texts collide by the
 * thousand (only made on purpose) is refused instead of searched for minutes. */
#include "tok/vocab.h"

#include "base/mem.h"

#include <stdlib.h>

/* Hashes are computed this many at a time, so that the slots are fetched before they are looked at. */
enum { BATCH = 16, MAX_PROBES = 4096 };

/* Odd numbers with evenly spread bits (fractions of the golden ratio and of the square root of 3). */
#define MIX_A UINT64_C(0x9E3779B97F4A7C15)
#define MIX_B UINT64_C(0xBB67AE8584CAA73B)

static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * MIX_A;
    return h ^ (h >> 32);
}

/* Up to 7 bytes as a number, by loads of fixed size. */
static uint64_t tail(const char *p, size_t n) {
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return (uint64_t)first << 32 | last;
    }
    if (n == 0) return 0;
    return (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1];
}

uint64_t lode_hash_bytes(const char *p, size_t n) {
    uint64_t h = mix(MIX_B, n), word;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        h = mix(h, word);
    }
    return mix(h, tail(p, n));
}

/* The hash of a merge: depends on where the halves meet. */
static uint64_t hash_halves(const char *left, size_t n_left, const char *right, size_t n_right) {
    return mix(lode_hash_bytes(left, n_left) * MIX_B, lode_hash_bytes(right, n_right));
}

static uint64_t hash_merge(const lode_vocab *v, uint32_t i) {
    const char *p = v->texts + v->merge_at[i];
    const size_t n = v->merge_at[i + 1] - v->merge_at[i];
    const char *space = n > 1 ? memchr(p + 1, ' ', n - 1) : NULL;
    if (!space) return 0; /* no merge at all: never looked up */
    return hash_halves(p, (size_t)(space - p), space + 1, n - (size_t)(space - p) - 1);
}

static uint64_t hash_token(const lode_vocab *v, uint32_t i) {
    const lode_slice t = lode_token_text(v, i);
    return t.n ? lode_hash_bytes(t.p, t.n) : 0;
}

static lode_slice merge_text(const lode_vocab *v, uint32_t i) {
    return (lode_slice){ v->texts + v->merge_at[i], v->merge_at[i + 1] - v->merge_at[i] };
}

typedef struct {
    uint64_t (*hash)(const lode_vocab *v, uint32_t i);
    lode_slice (*text)(const lode_vocab *v, uint32_t i);
} key_kind;

static bool insert(const lode_vocab *v, lode_hash *h, const key_kind *kind, uint64_t hash, uint32_t index) {
    const uint32_t tag = (uint32_t)(hash >> 32);
    uint32_t at = (uint32_t)hash & h->mask;
    for (int probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) & h->mask) {
        if (!h->slots[at].index1) {
            h->slots[at].tag = tag;
            h->slots[at].index1 = index + 1;
            return true;
        }
        if (h->slots[at].tag != tag) continue;
        const lode_slice a = kind->text(v, h->slots[at].index1 - 1), b = kind->text(v, index);
        if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0) return true;
    }
    return false;
}

static lode_status fill(const lode_vocab *v, lode_hash *h, const key_kind *kind, uint32_t n, lode_err *err) {
    size_t size = 16;
    while (size < (size_t)n + n / 3) size *= 2;
    h->slots = lode_calloc(size, sizeof *h->slots);
    if (!h->slots) return lode_fail(err, LODE_E_NOMEM, "vocabulary: no memory for %u entries", n);
    h->mask = (uint32_t)(size - 1);
    for (uint32_t from = 0; from < n; from += BATCH) {
        const uint32_t m = n - from < BATCH ? n - from : BATCH;
        uint64_t hashes[BATCH];
        for (uint32_t i = 0; i < m; i++) {
            hashes[i] = kind->hash(v, from + i);
            __builtin_prefetch(&h->slots[(uint32_t)hashes[i] & h->mask], 1);
        }
        for (uint32_t i = 0; i < m; i++)
            if (hashes[i] && !insert(v, h, kind, hashes[i], from + i))
                return lode_fail(err, LODE_E_FORMAT,
                                 "vocabulary: entry %u collides with thousands of others; the file was made to do so",
                                 from + i);
    }
    return LODE_OK;
}

lode_status lode_hash_tokens(lode_vocab *v, lode_err *err) {
    static const key_kind kind = { hash_token, lode_token_text };
    return fill(v, &v->by_text, &kind, (uint32_t)v->n_tokens, err);
}

lode_status lode_hash_merges(lode_vocab *v, lode_err *err) {
    static const key_kind kind = { hash_merge, merge_text };
    return fill(v, &v->by_halves, &kind, v->n_merges, err);
}

lode_token lode_token_find(const lode_vocab *v, const char *p, size_t n) {
    if (n == 0 || n > v->longest) return LODE_NO_TOKEN;
    const uint64_t hash = lode_hash_bytes(p, n);
    uint32_t at = (uint32_t)hash & v->by_text.mask;
    for (; v->by_text.slots[at].index1; at = (at + 1) & v->by_text.mask) {
        if (v->by_text.slots[at].tag != (uint32_t)(hash >> 32)) continue;
        const uint32_t id = v->by_text.slots[at].index1 - 1;
        const lode_slice t = lode_token_text(v, id);
        if (t.n == n && memcmp(t.p, p, n) == 0) return (lode_token)id;
    }
    return LODE_NO_TOKEN;
}

uint32_t lode_merge_find(const lode_vocab *v, const char *left, size_t n_left, size_t n_right) {
    if (!v->n_merges) return LODE_NO_PRIORITY;
    const uint64_t hash = hash_halves(left, n_left, left + n_left, n_right);
    uint32_t at = (uint32_t)hash & v->by_halves.mask;
    for (; v->by_halves.slots[at].index1; at = (at + 1) & v->by_halves.mask) {
        if (v->by_halves.slots[at].tag != (uint32_t)(hash >> 32)) continue;
        const uint32_t rank = v->by_halves.slots[at].index1 - 1;
        const lode_slice t = merge_text(v, rank);
        if (t.n == n_left + n_right + 1 && t.p[n_left] == ' ' && memcmp(t.p, left, n_left) == 0 &&
            memcmp(t.p + n_left + 1, left + n_left, n_right) == 0)
            return rank;
    }
    return LODE_NO_PRIORITY;
}
