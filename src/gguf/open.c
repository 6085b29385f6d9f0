/* open.c - opens a model of one or several files and answers where things lie in it.
 *
 * A split model is N files NAME-00001-of-0000N.gguf, each a GGUF file with split.no (from 0) and split.count; the first
 * has the metadata. Only the files of these names are ever opened. */
#include "gguf/gguf.h"

#include "base/mem.h"
#include "base/need.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static lode_status no_memory(const char *path, lode_err *err) {
    return lode_fail(err, LODE_E_NOMEM, "%s: out of memory while opening it", gguf_show_path(path).s);
}

static char *copy_text(const char *s) {
    const size_t n = strlen(s) + 1;
    char *p = malloc(n);
    if (p) memcpy(p, s, n);
    return p;
}

static lode_status map_part(lode_gguf *g, int i, const char *path, lode_err *err) {
    gguf_part *p = &g->parts[i];
    p->path = copy_text(path);
    if (!p->path) return no_memory(path, err);
    LODE_TRY(lode_map_open(&p->map, path, err));
    p->data = p->map.data;
    p->size = p->map.size;
    return LODE_OK;
}

static lode_status index_tensors(lode_gguf *g, lode_err *err) {
    size_t a, b;
    if (!gguf_names_alloc(&g->tensor_names, g->tensors.n)) return no_memory(g->parts[0].path, err);
    for (size_t i = 0; i < g->tensors.n; i++) g->tensor_names.items[i] = (gguf_name){ 0, g->tensors.items[i].name, i };
    if (gguf_names_sort(&g->tensor_names, &a, &b)) return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "%s: tensors %zu and %zu are both '%s', expected each name once",
                     gguf_show_path(g->parts[g->tensors.items[b].part].path).s, a, b,
                     gguf_show(g->tensors.items[a].name).s);
}

/* A split.* number; `def` when the key is absent. */
static lode_status split_number(const gguf_part *p, const gguf_recs *kv, const char *key, int64_t def, int64_t *out,
                                lode_err *err) {
    const lode_gguf_kv *k = gguf_recs_find(kv, key);
    *out = def;
    if (!k) return LODE_OK;
    if (k->kind == LODE_GGUF_ARRAY || !gguf_int_at(k->kind, k->data, out) || *out < 0)
        return lode_fail(err, LODE_E_FORMAT, "%s: %s is of kind %s or negative, expected a number from 0",
                         gguf_show_path(p->path).s, key, gguf_kind_name(k->kind));
    return LODE_OK;
}

/* How many files the model has, from its first; refuses another part than the first. */
static lode_status read_split(lode_gguf *g, int64_t *count, lode_err *err) {
    int64_t no;
    const gguf_part *p = &g->parts[0];
    LODE_TRY(split_number(p, &g->kv, "split.count", 1, count, err));
    LODE_TRY(split_number(p, &g->kv, "split.no", 0, &no, err));
    if (*count < 1 || *count > 65535)
        return lode_fail(err, LODE_E_FORMAT, "%s: split.count is %" PRId64 ", expected 1 to 65535",
                         gguf_show_path(p->path).s, *count);
    if (no != 0)
        return lode_fail(err, LODE_E_INPUT,
                         "%s: split.no is %" PRId64 ", part %" PRId64 " of %" PRId64
                         " of a model, expected the first: open the file ending in -00001-of-%05" PRId64 ".gguf",
                         gguf_show_path(p->path).s, no, no + 1, *count, *count);
    return LODE_OK;
}

/* Other parts repeat some of the metadata at most; where they do, it must be the first's. */
static lode_status check_same_model(const lode_gguf *g, const gguf_part *p, const gguf_recs *kv, lode_err *err) {
    static const char *const keys[] = { "general.architecture", "general.name", "split.tensors.count" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const lode_gguf_kv *a = gguf_recs_find(&g->kv, keys[i]), *b = gguf_recs_find(kv, keys[i]);
        if (!a || !b) continue;
        if (a->kind == b->kind && a->data_bytes == b->data_bytes && memcmp(a->data, b->data, a->data_bytes) == 0)
            continue;
        return lode_fail(err, LODE_E_FORMAT, "%s: %s differs from that of %s, expected parts of one model",
                         gguf_show_path(p->path).s, keys[i], gguf_show_path(g->parts[0].path).s);
    }
    return LODE_OK;
}

static lode_status read_other_part(lode_gguf *g, int i, int64_t count, lode_err *err) {
    gguf_recs kv = { 0 };
    int64_t no = 0, its_count = 0;
    const gguf_part *p = &g->parts[i];
    lode_status s = gguf_read_part(g, i, &kv, err);
    if (s == LODE_OK) s = split_number(p, &kv, "split.no", -1, &no, err);
    if (s == LODE_OK) s = split_number(p, &kv, "split.count", -1, &its_count, err);
    if (s == LODE_OK && (no != i || its_count != count))
        s = lode_fail(err, LODE_E_FORMAT,
                      "%s: split.no is %" PRId64 " and split.count %" PRId64 ", expected %d and %" PRId64
                      " (the files of this model are mixed up)",
                      gguf_show_path(p->path).s, no, its_count, i, count);
    if (s == LODE_OK) s = check_same_model(g, p, &kv, err);
    gguf_recs_free(&kv);
    return s;
}

/* Where the part number stands in the first file's name, NULL when it is not named as a first part of `count`. */
static char *part_number(char *path, int64_t count) {
    char tail[40];
    snprintf(tail, sizeof tail, "-00001-of-%05" PRId64 ".gguf", count);
    const size_t n = strlen(path), m = strlen(tail);
    return n > m && strcmp(path + n - m, tail) == 0 ? path + n - m + 1 : NULL;
}

static lode_status read_other_parts(lode_gguf *g, const char *path, int64_t count, lode_err *err) {
    char *name = copy_text(path);
    gguf_part *parts = lode_calloc((size_t)count, sizeof *parts);
    if (!name || !parts) {
        free(name);
        free(parts);
        return no_memory(path, err);
    }
    parts[0] = g->parts[0];
    free(g->parts);
    g->parts = parts;
    lode_status s = LODE_OK;
    char *number = part_number(name, count);
    if (!number)
        s = lode_fail(err, LODE_E_INPUT,
                      "%s: the first of %" PRId64 " parts has this name, expected one that ends in -00001-of-%05" PRId64
                      ".gguf, with the other parts beside it",
                      gguf_show_path(path).s, count, count);
    for (int i = 1; i < count && s == LODE_OK; i++) {
        char digits[12];
        snprintf(digits, sizeof digits, "%05d", i + 1);
        memcpy(number, digits, 5);
        g->n_parts = i + 1;
        s = map_part(g, i, name, err);
        if (s == LODE_E_NOT_FOUND)
            s = lode_fail(err, s, "%s: part %d of %" PRId64 " is missing, expected it beside the first",
                          gguf_show_path(name).s, i + 1, count);
        if (s == LODE_OK) s = read_other_part(g, i, count, err);
    }
    free(name);
    return s;
}

static lode_status check_split_total(const lode_gguf *g, lode_err *err) {
    int64_t total;
    LODE_TRY(split_number(&g->parts[0], &g->kv, "split.tensors.count", (int64_t)g->tensors.n, &total, err));
    if ((uint64_t)total == g->tensors.n) return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "%s: the parts have %zu tensors, expected %" PRId64 " (split.tensors.count)",
                     gguf_show_path(g->parts[0].path).s, g->tensors.n, total);
}

static lode_status read_all(lode_gguf *g, const char *path, bool may_split, lode_err *err) {
    int64_t count;
    LODE_TRY(gguf_read_part(g, 0, &g->kv, err));
    if (may_split) {
        LODE_TRY(read_split(g, &count, err));
        if (count > 1) LODE_TRY(read_other_parts(g, path, count, err));
        LODE_TRY(check_split_total(g, err));
    }
    return index_tensors(g, err);
}

static lode_gguf *new_gguf(void) {
    lode_gguf *g = lode_calloc(1, sizeof *g);
    if (g) g->parts = lode_calloc(1, sizeof *g->parts);
    if (g && g->parts) {
        g->n_parts = 1;
        return g;
    }
    free(g);
    return NULL;
}

lode_status lode_gguf_open(lode_gguf **out, const char *path, lode_err *err) {
    LODE_TRY(lode_need(out && path, __func__, err));
    *out = NULL;
    lode_gguf *g = new_gguf();
    if (!g) return no_memory(path, err);
    lode_status s = map_part(g, 0, path, err);
    if (s == LODE_OK) s = read_all(g, path, true, err);
    if (s == LODE_OK)
        *out = g;
    else
        lode_gguf_close(g);
    return s;
}

lode_status lode_gguf_open_mem(lode_gguf **out, const void *data, size_t n, const char *name, lode_err *err) {
    LODE_TRY(lode_need(out && name && LODE_HAS(data, n), __func__, err));
    *out = NULL;
    lode_gguf *g = new_gguf();
    if (!g) return no_memory(name, err);
    g->parts[0] = (gguf_part){ .path = copy_text(name), .data = data, .size = n };
    lode_status s = g->parts[0].path ? read_all(g, name, false, err) : no_memory(name, err);
    if (s == LODE_OK)
        *out = g;
    else
        lode_gguf_close(g);
    return s;
}

void lode_gguf_close(lode_gguf *g) {
    if (!g) return;
    gguf_recs_free(&g->kv);
    gguf_names_free(&g->tensor_names);
    free(g->tensors.items);
    for (int i = 0; i < g->n_parts; i++) {
        lode_map_close(&g->parts[i].map);
        free(g->parts[i].path);
    }
    free(g->parts);
    free(g);
}

int lode_gguf_version(const lode_gguf *g) { return g->version; }
const char *lode_gguf_path(const lode_gguf *g) { return g->parts[0].path; }
int lode_gguf_n_parts(const lode_gguf *g) { return g->n_parts; }

const uint8_t *lode_gguf_part_data(const lode_gguf *g, int i, size_t *bytes) {
    if (i < 0 || i >= g->n_parts) return NULL;
    if (bytes) *bytes = g->parts[i].size;
    return g->parts[i].data;
}

uint64_t lode_gguf_n_tensors(const lode_gguf *g) { return g->tensors.n; }

const lode_gguf_tensor *lode_gguf_tensor_at(const lode_gguf *g, uint64_t i) {
    return i < g->tensors.n ? &g->tensors.items[i] : NULL;
}

const lode_gguf_tensor *lode_gguf_find_tensor(const lode_gguf *g, const char *name) {
    const size_t i = gguf_names_find(&g->tensor_names, name, strlen(name));
    return i == SIZE_MAX ? NULL : &g->tensors.items[i];
}

const void *lode_gguf_tensor_data(const lode_gguf *g, const lode_gguf_tensor *t) {
    return g->parts[t->part].data + t->offset;
}
