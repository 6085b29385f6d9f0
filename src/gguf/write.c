/* write.c - writes GGUF version 3.
 *
 * Keys and tensor headers are collected in memory; the first failure of a set call is kept and reported by begin, so a
 * caller may set many keys and check once. The file appears under its name only when it is whole. */
#include "gguf/gguf.h"

#include "base/mem.h"
#include "base/need.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct out_tensor {
    char *name; /* own */
    lode_type type;
    int n_dims;
    int64_t ne[LODE_MAX_DIMS];
    uint64_t offset;
    size_t bytes;
} out_tensor;

typedef struct out_key {
    size_t at, n; /* in keys.p; the text itself moves while it grows */
} out_key;

struct lode_gguf_writer {
    char *path; /* own */
    lode_out out;
    bool begun;
    lode_str keys; /* all entries as in the file */
    struct {
        out_key *items; /* own */
        size_t n, cap;
    } key;
    struct {
        out_tensor *items; /* own */
        size_t n, cap;
    } tensor;
    size_t next; /* tensor whose bytes come next */
    size_t align;
    lode_err first; /* of the set calls */
};

lode_status lode_gguf_writer_open(lode_gguf_writer **out, const char *path, lode_err *err) {
    LODE_TRY(lode_need(out && path, __func__, err));
    *out = NULL;
    lode_gguf_writer *w = lode_calloc(1, sizeof *w);
    const size_t n = strlen(path) + 1;
    if (w) w->path = malloc(n);
    if (!w || !w->path) {
        free(w);
        return lode_fail(err, LODE_E_NOMEM, "%s: out of memory", gguf_show_path(path).s);
    }
    memcpy(w->path, path, n);
    w->align = GGUF_DEFAULT_ALIGN;
    *out = w;
    return LODE_OK;
}

/* Keeps the first failure. */
static lode_status refuse(lode_gguf_writer *w, lode_status code, const char *key, const char *why) {
    if (w->first.code == LODE_OK)
        lode_fail(&w->first, code, "%s: key '%s': %s", gguf_show_path(w->path).s,
                  gguf_show((lode_slice){ key, strlen(key) }).s, why);
    return code;
}

/* A set call without a pointer that it needs. */
static lode_status need(lode_gguf_writer *w, bool have, const char *fn) {
    return lode_need(w && have, fn, w && w->first.code == LODE_OK ? &w->first : NULL);
}

static void add_u32(lode_str *s, uint32_t v) { lode_str_add(s, (const char *)&v, sizeof v); }
static void add_u64(lode_str *s, uint64_t v) { lode_str_add(s, (const char *)&v, sizeof v); }

/* The start of an entry: its key and kind. */
static lode_status begin_key(lode_gguf_writer *w, const char *key, lode_gguf_kind kind) {
    const size_t n = strlen(key);
    if (w->begun) return refuse(w, LODE_E_INPUT, key, "set after the header was written, expected before");
    if (n == 0 || n > GGUF_MAX_KEY) return refuse(w, LODE_E_INPUT, key, "expected a name of 1 to 65535 bytes");
    const out_key k = { w->keys.n + 8, n };
    add_u64(&w->keys, n);
    lode_str_add(&w->keys, key, n);
    add_u32(&w->keys, kind);
    if (w->keys.failed || !LODE_PUSH(&w->key, k)) return refuse(w, LODE_E_NOMEM, key, "out of memory");
    return LODE_OK;
}

static lode_status end_key(lode_gguf_writer *w, const char *key) {
    return w->keys.failed ? refuse(w, LODE_E_NOMEM, key, "out of memory") : LODE_OK;
}

static lode_status set_raw(lode_gguf_writer *w, const char *key, lode_gguf_kind kind, const void *v, size_t n) {
    LODE_TRY(begin_key(w, key, kind));
    lode_str_add(&w->keys, v, n);
    return end_key(w, key);
}

lode_status lode_gguf_set_u32(lode_gguf_writer *w, const char *key, uint32_t v) {
    LODE_TRY(need(w, key, __func__));
    if (strcmp(key, "general.alignment") == 0) {
        if (v == 0 || (v & (v - 1)) != 0 || v > GGUF_MAX_ALIGN)
            return refuse(w, LODE_E_INPUT, key, "expected a power of two from 1 to 1048576");
        w->align = v;
    }
    return set_raw(w, key, LODE_GGUF_U32, &v, sizeof v);
}

lode_status lode_gguf_set_i32(lode_gguf_writer *w, const char *key, int32_t v) {
    LODE_TRY(need(w, key, __func__));
    return set_raw(w, key, LODE_GGUF_I32, &v, sizeof v);
}

lode_status lode_gguf_set_f32(lode_gguf_writer *w, const char *key, float v) {
    LODE_TRY(need(w, key, __func__));
    return set_raw(w, key, LODE_GGUF_F32, &v, sizeof v);
}

lode_status lode_gguf_set_bool(lode_gguf_writer *w, const char *key, bool v) {
    LODE_TRY(need(w, key, __func__));
    const uint8_t b = v ? 1 : 0;
    return set_raw(w, key, LODE_GGUF_BOOL, &b, sizeof b);
}

lode_status lode_gguf_set_str(lode_gguf_writer *w, const char *key, const char *v, size_t n) {
    LODE_TRY(need(w, key && LODE_HAS(v, n), __func__));
    LODE_TRY(begin_key(w, key, LODE_GGUF_STRING));
    add_u64(&w->keys, n);
    lode_str_add(&w->keys, v, n);
    return end_key(w, key);
}

lode_status lode_gguf_set_arr(lode_gguf_writer *w, const char *key, lode_gguf_kind kind, const void *data, uint64_t n) {
    LODE_TRY(need(w, key && LODE_HAS(data, n), __func__));
    size_t bytes;
    const size_t size = gguf_kind_bytes(kind);
    if (size == 0 || !lode_mul_ok((size_t)n, size, &bytes))
        return refuse(w, LODE_E_INPUT, key, "expected an array of a scalar kind");
    LODE_TRY(begin_key(w, key, LODE_GGUF_ARRAY));
    add_u32(&w->keys, kind);
    add_u64(&w->keys, n);
    if (bytes) lode_str_add(&w->keys, data, bytes);
    return end_key(w, key);
}

lode_status lode_gguf_set_arr_str(lode_gguf_writer *w, const char *key, const lode_slice *v, uint64_t n) {
    LODE_TRY(need(w, key && LODE_HAS(v, n), __func__));
    LODE_TRY(begin_key(w, key, LODE_GGUF_ARRAY));
    add_u32(&w->keys, LODE_GGUF_STRING);
    add_u64(&w->keys, n);
    for (uint64_t i = 0; i < n; i++) {
        add_u64(&w->keys, v[i].n);
        if (v[i].n) lode_str_add(&w->keys, v[i].p, v[i].n);
    }
    return end_key(w, key);
}

lode_status lode_gguf_set_kv(lode_gguf_writer *w, const lode_gguf_kv *kv) {
    LODE_TRY(need(w, kv, __func__));
    char *key = malloc(kv->key.n + 1);
    if (!key) return refuse(w, LODE_E_NOMEM, "copied", "out of memory");
    memcpy(key, kv->key.p, kv->key.n);
    key[kv->key.n] = '\0';
    lode_status s;
    if (kv->kind == LODE_GGUF_U32) {
        uint32_t v;
        memcpy(&v, kv->data, sizeof v);
        s = lode_gguf_set_u32(w, key, v); /* which also notices the alignment */
    } else if (kv->kind == LODE_GGUF_STRING) {
        s = lode_gguf_set_str(w, key, (const char *)kv->data, kv->data_bytes);
    } else {
        s = begin_key(w, key, kv->kind);
        if (s == LODE_OK && kv->kind == LODE_GGUF_ARRAY) {
            add_u32(&w->keys, kv->item);
            add_u64(&w->keys, kv->n);
        }
        if (s == LODE_OK) {
            if (kv->data_bytes) lode_str_add(&w->keys, (const char *)kv->data, kv->data_bytes);
            s = end_key(w, key);
        }
    }
    free(key);
    return s;
}

lode_status lode_gguf_add_tensor(lode_gguf_writer *w, const char *name, lode_type t, int n_dims, const int64_t *ne,
                                 lode_err *err) {
    LODE_TRY(lode_need(w && name && LODE_HAS(ne, n_dims), __func__, err));
    const gguf_text file = gguf_show_path(w->path), shown = gguf_show((lode_slice){ name, strlen(name) });
    const size_t n = strlen(name);
    out_tensor x = { .type = t, .n_dims = n_dims, .ne = { 1, 1, 1, 1 } };
    if (w->begun) return lode_fail(err, LODE_E_INPUT, "%s: tensor '%s' comes after the header", file.s, shown.s);
    if (n == 0 || n >= LODE_MAX_NAME)
        return lode_fail(err, LODE_E_INPUT, "%s: the name of tensor '%s' has %zu bytes, expected 1 to %d", file.s,
                         shown.s, n, LODE_MAX_NAME - 1);
    if (n_dims < 0 || n_dims > LODE_MAX_DIMS)
        return lode_fail(err, LODE_E_SHAPE, "%s: tensor '%s' has %d dimensions, expected at most %d", file.s, shown.s,
                         n_dims, LODE_MAX_DIMS);
    if (lode_type_file_id(t) < 0)
        return lode_fail(err, LODE_E_TYPE, "%s: tensor '%s' is of type %s, expected one that stands in files", file.s,
                         shown.s, lode_type_name(t));
    for (int i = 0; i < n_dims; i++) x.ne[i] = ne[i];
    bool ok = lode_row_bytes(t, x.ne[0], &x.bytes);
    for (int i = 1; i < LODE_MAX_DIMS; i++) ok = ok && x.ne[i] >= 0 && lode_mul_ok(x.bytes, (size_t)x.ne[i], &x.bytes);
    if (!ok)
        return lode_fail(err, LODE_E_SHAPE,
                         "%s: tensor '%s' is [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "], expected rows of whole blocks of %d and a size that fits",
                         file.s, shown.s, x.ne[0], x.ne[1], x.ne[2], x.ne[3], lode_type_block(t));
    x.name = malloc(n + 1);
    if (x.name) memcpy(x.name, name, n + 1);
    if (x.name && LODE_PUSH(&w->tensor, x)) return LODE_OK;
    free(x.name);
    return lode_fail(err, LODE_E_NOMEM, "%s: out of memory", file.s);
}

/* Each key and each tensor once. */
static lode_status check_names(lode_gguf_writer *w, lode_err *err) {
    gguf_names k = { 0 }, t = { 0 };
    size_t a, b;
    const gguf_text file = gguf_show_path(w->path);
    lode_status s = LODE_OK;
    if (!gguf_names_alloc(&k, w->key.n) || !gguf_names_alloc(&t, w->tensor.n)) {
        s = lode_fail(err, LODE_E_NOMEM, "%s: out of memory", file.s);
        goto done;
    }
    for (size_t i = 0; i < k.n; i++)
        k.items[i] = (gguf_name){ 0, { w->keys.p + w->key.items[i].at, w->key.items[i].n }, i };
    for (size_t i = 0; i < t.n; i++)
        t.items[i] = (gguf_name){ 0, { w->tensor.items[i].name, strlen(w->tensor.items[i].name) }, i };
    if (!gguf_names_sort(&k, &a, &b)) {
        const lode_slice name = { w->keys.p + w->key.items[a].at, w->key.items[a].n };
        s = lode_fail(err, LODE_E_INPUT, "%s: key '%s' is set twice, expected once", file.s, gguf_show(name).s);
    } else if (!gguf_names_sort(&t, &a, &b)) {
        s = lode_fail(err, LODE_E_INPUT, "%s: tensor '%s' is added twice, expected once", file.s,
                      w->tensor.items[a].name);
    }
done:
    gguf_names_free(&k);
    gguf_names_free(&t);
    return s;
}

static lode_status write_zeros(lode_gguf_writer *w, size_t n, lode_err *err) {
    static const char zeros[4096];
    for (; n > sizeof zeros; n -= sizeof zeros) LODE_TRY(lode_out_write(&w->out, zeros, sizeof zeros, err));
    return lode_out_write(&w->out, zeros, n, err);
}

/* From n to the next multiple of the alignment. */
static size_t padding(const lode_gguf_writer *w, size_t n) { return (w->align - n % w->align) % w->align; }

/* Offsets of all tensors, then the header as text. */
static lode_status make_header(lode_gguf_writer *w, lode_str *h, lode_err *err) {
    size_t at = 0;
    lode_str_add(h, "GGUF", 4);
    add_u32(h, 3);
    add_u64(h, w->tensor.n);
    add_u64(h, w->key.n);
    if (w->keys.n) lode_str_add(h, w->keys.p, w->keys.n);
    for (size_t i = 0; i < w->tensor.n; i++) {
        out_tensor *t = &w->tensor.items[i];
        t->offset = at;
        if (!lode_add_ok(at, t->bytes, &at) || !lode_align_ok(at, w->align, &at))
            return lode_fail(err, LODE_E_SHAPE, "%s: the tensors are together larger than any file",
                             gguf_show_path(w->path).s);
        add_u64(h, strlen(t->name));
        lode_str_puts(h, t->name);
        add_u32(h, (uint32_t)t->n_dims);
        for (int k = 0; k < t->n_dims; k++) add_u64(h, (uint64_t)t->ne[k]);
        add_u32(h, (uint32_t)lode_type_file_id(t->type));
        add_u64(h, t->offset);
    }
    if (h->failed) return lode_fail(err, LODE_E_NOMEM, "%s: out of memory", gguf_show_path(w->path).s);
    return LODE_OK;
}

lode_status lode_gguf_begin(lode_gguf_writer *w, lode_err *err) {
    LODE_TRY(lode_need(w, __func__, err));
    if (w->first.code != LODE_OK) return lode_fail(err, w->first.code, "%s", w->first.text);
    if (w->begun) return lode_fail(err, LODE_E_INPUT, "%s: begun twice", gguf_show_path(w->path).s);
    lode_str h = { 0 };
    lode_status s = check_names(w, err);
    if (s == LODE_OK) s = make_header(w, &h, err);
    if (s == LODE_OK) s = lode_out_open(&w->out, w->path, err);
    w->begun = s == LODE_OK;
    if (s == LODE_OK) s = lode_out_write(&w->out, h.p, h.n, err);
    if (s == LODE_OK) s = write_zeros(w, padding(w, h.n), err);
    lode_str_free(&h);
    return s;
}

lode_status lode_gguf_write_tensor(lode_gguf_writer *w, const void *data, size_t bytes, lode_err *err) {
    LODE_TRY(lode_need(w && LODE_HAS(data, bytes), __func__, err));
    const gguf_text file = gguf_show_path(w->path);
    if (!w->begun)
        return lode_fail(err, LODE_E_INPUT, "%s: tensor data before the header, expected begin first", file.s);
    if (w->next >= w->tensor.n)
        return lode_fail(err, LODE_E_INPUT, "%s: more tensor data than the %zu tensors added", file.s, w->tensor.n);
    const out_tensor *t = &w->tensor.items[w->next];
    if (bytes != t->bytes)
        return lode_fail(err, LODE_E_INPUT, "%s: tensor '%s' gets %zu bytes, expected %zu", file.s, t->name, bytes,
                         t->bytes);
    LODE_TRY(lode_out_write(&w->out, data, bytes, err));
    LODE_TRY(write_zeros(w, padding(w, bytes), err));
    w->next++;
    return LODE_OK;
}

lode_status lode_gguf_finish(lode_gguf_writer *w, lode_err *err) {
    LODE_TRY(lode_need(w, __func__, err));
    lode_status s = LODE_OK;
    if (!w->begun)
        s = lode_fail(err, LODE_E_INPUT, "%s: finished before it was begun", gguf_show_path(w->path).s);
    else if (w->next != w->tensor.n)
        s = lode_fail(err, LODE_E_INPUT, "%s: %zu of %zu tensors were written, expected all", gguf_show_path(w->path).s,
                      w->next, w->tensor.n);
    else
        s = lode_out_commit(&w->out, err);
    lode_gguf_discard(w);
    return s;
}

void lode_gguf_discard(lode_gguf_writer *w) {
    if (!w) return;
    lode_out_discard(&w->out);
    for (size_t i = 0; i < w->tensor.n; i++) free(w->tensor.items[i].name);
    free(w->tensor.items);
    free(w->key.items);
    lode_str_free(&w->keys);
    free(w->path);
    free(w);
}
