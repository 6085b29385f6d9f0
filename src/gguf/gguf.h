/* gguf.h - what the files of this folder share: the opened file, its index of names, reading one part.
 *
 * Rules that hold after a part was read: every slice and every range lies inside its mapping, every count was checked
 * against what is left of the file before anything of its size was allocated, names are unique. */
#ifndef LODE_GGUF_PRIVATE_H
#define LODE_GGUF_PRIVATE_H

#include "base/file.h"
#include "lode/gguf.h"

/* Limits of our own. A file may not make us allocate more than a small multiple of its size: 2^20 entries are some 90
 * MB of records, and the largest models published by 2025 have about 20,000 tensors and 1,000 keys. The key's length
 * is the format's limit, the name's is LODE_MAX_NAME with its NUL. */
enum {
    GGUF_MAX_KV = 1 << 20,
    GGUF_MAX_TENSORS = 1 << 20,
    GGUF_MAX_KEY = 65535,
    GGUF_MAX_ALIGN = 1 << 20,
    GGUF_DEFAULT_ALIGN = 32,
};

/* Names sorted by hash, then length, then bytes: a hostile file cannot make it slower than n log n. */
typedef struct gguf_name {
    uint64_t hash;
    lode_slice s; /* borrowed */
    size_t i;     /* index of the key or tensor */
} gguf_name;

typedef struct gguf_names {
    gguf_name *items; /* own */
    size_t n;
} gguf_names;

/* Room for n names; the caller fills s and i, then sorts. False when out of memory. */
bool gguf_names_alloc(gguf_names *x, size_t n);
/* Sorts; false when two names are equal, their indices (lower first) in a and b. */
bool gguf_names_sort(gguf_names *x, size_t *a, size_t *b);
/* Index of a name, SIZE_MAX when absent. */
size_t gguf_names_find(const gguf_names *x, const char *s, size_t n);
void gguf_names_free(gguf_names *x);

/* A key with, for an array of strings, where each string's length field starts, in bytes from kv.data. */
typedef struct gguf_rec {
    lode_gguf_kv kv;  /* first: lode_gguf_arr_str goes from it to the record */
    uint64_t *starts; /* own; kv.n of them */
} gguf_rec;

typedef struct gguf_recs {
    gguf_rec *items; /* own */
    size_t n, cap;
    gguf_names names;
} gguf_recs;

typedef struct gguf_tensors {
    lode_gguf_tensor *items; /* own */
    size_t n, cap;
} gguf_tensors;

typedef struct gguf_part {
    char *path;          /* own */
    lode_map map;        /* zeroed when the memory is the caller's */
    const uint8_t *data; /* borrowed from map or the caller */
    size_t size;
} gguf_part;

struct lode_gguf {
    int version;
    gguf_part *parts; /* own */
    int n_parts;
    gguf_recs kv;         /* of the first part */
    gguf_tensors tensors; /* of all parts, in file order */
    gguf_names tensor_names;
};

/* Checks one part and appends its keys to *kv and its tensors to g->tensors. */
lode_status gguf_read_part(lode_gguf *g, int part, gguf_recs *kv, lode_err *err);
void gguf_recs_free(gguf_recs *kv);
const lode_gguf_kv *gguf_recs_find(const gguf_recs *kv, const char *key);

/* Text for messages: a name with odd bytes escaped and its middle of more than 60 bytes left out; the end of a path. */
typedef struct gguf_text {
    char s[168];
} gguf_text;
gguf_text gguf_show(lode_slice name);
gguf_text gguf_show_path(const char *path);

/* "u32", "string"... of a kind; "unknown" outside the list. Bytes of a scalar kind, 0 for strings, arrays, others. */
const char *gguf_kind_name(uint32_t kind);
size_t gguf_kind_bytes(uint32_t kind);

/* The integer in a scalar or element of any integer kind or bool at p; false for other kinds or beyond int64. */
bool gguf_int_at(lode_gguf_kind kind, const uint8_t *p, int64_t *out);

#endif
