/* safetensors.c - opens and checks safetensors files. */
#include "convert/safetensors.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "convert/json.h"
#include "lode/quant.h"

#include <stdlib.h>
#include <string.h>

/* The largest header that the reference implementation takes. */
enum { HEADER_MAX = 100000000, FILES_MAX = 10000, INDEX_MAX = 64 << 20 };

typedef struct st_part {
    char *path; /* own */
    lode_map map;
} st_part;

struct st_set {
    lode_arena arena; /* names */
    struct {
        st_part *items; /* own */
        size_t n, cap;
    } part;
    struct {
        st_tensor *items; /* own, by name */
        size_t n, cap;
    } tensor;
};

static const struct {
    const char *name;
    size_t bytes;
} dtypes[] = {
#define DTYPE(name, bytes) { name, bytes },
#include "convert/dtype.def"
#undef DTYPE
};

static lode_status oom(lode_err *err, const char *path) {
    return lode_fail(err, LODE_E_NOMEM, "%s: out of memory", path);
}

/* "tensor NAME" for messages, cut. */
typedef struct label {
    char s[160];
} label;

static label label_of(const char *name) {
    label l;
    snprintf(l.s, sizeof l.s, "tensor '%.120s'", name);
    return l;
}

static lode_status read_shape(st_tensor *t, const json_t *shape, size_t item, size_t *bytes, const char *path,
                              lode_err *err) {
    const label who = label_of(t->name);
    if (!json_is_array(shape)) return lode_fail(err, LODE_E_FORMAT, "%s: %s: shape is not a list", path, who.s);
    size_t n = 1;
    t->n_dims = (int)json_array_size(shape);
    if (json_array_size(shape) > LODE_MAX_DIMS)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: %s has %zu dimensions, at most %d are supported", path, who.s,
                         json_array_size(shape), LODE_MAX_DIMS);
    for (int i = 0; i < t->n_dims; i++) {
        const json_t *v = json_array_get(shape, (size_t)i);
        const double x = json_is_number(v) ? json_number_value(v) : -1;
        if (!(x >= 0 && x <= 9007199254740992.0) || x != (double)(int64_t)x)
            return lode_fail(err, LODE_E_FORMAT, "%s: %s: shape[%d] is not a size", path, who.s, i);
        t->shape[i] = (int64_t)x;
        if (!lode_mul_ok(n, (size_t)x, &n))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s: the shape's product does not fit 64 bits", path, who.s);
    }
    if (!lode_mul_ok(n, item, bytes))
        return lode_fail(err, LODE_E_FORMAT, "%s: %s: the shape's product does not fit 64 bits", path, who.s);
    return LODE_OK;
}

static lode_status read_range(st_tensor *t, const json_t *entry, size_t want, const uint8_t *data, size_t size,
                              const char *path, lode_err *err) {
    const label who = label_of(t->name);
    const json_t *off = json_object_get(entry, "data_offsets");
    if (!json_is_array(off) || json_array_size(off) != 2)
        return lode_fail(err, LODE_E_FORMAT, "%s: %s: data_offsets is not a pair", path, who.s);
    double v[2];
    for (size_t i = 0; i < 2; i++) {
        const json_t *x = json_array_get(off, i);
        if (!json_is_number(x))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s: data_offsets are not numbers", path, who.s);
        v[i] = json_number_value(x);
        if (!(v[i] >= 0 && v[i] <= (double)size) || v[i] != (double)(uint64_t)v[i])
            return lode_fail(err, LODE_E_FORMAT, "%s: %s: data_offsets has %.17g, but the file has %zu bytes of data",
                             path, who.s, v[i], size);
    }
    if (v[0] > v[1] || (want != SIZE_MAX && (size_t)(v[1] - v[0]) != want))
        return lode_fail(err, LODE_E_FORMAT, "%s: %s: data_offsets %.17g to %.17g, but its shape needs %zu bytes", path,
                         who.s, v[0], v[1], want);
    t->data = data + (size_t)v[0];
    t->bytes = (size_t)(v[1] - v[0]);
    return LODE_OK;
}

static lode_status read_entry(st_set *s, const char *name, const json_t *entry, size_t header, lode_err *err) {
    const st_part *part = &s->part.items[s->part.n - 1];
    const label who = label_of(name);
    st_tensor t = { .file = (int)s->part.n - 1 };
    const char *dtype = convert_json_text(entry, "dtype", NULL);
    size_t k = 0;
    const size_t n_dtype = sizeof dtypes / sizeof *dtypes;
    if (!dtype) return lode_fail(err, LODE_E_FORMAT, "%s: %s has no dtype", part->path, who.s);
    while (k < n_dtype && strcmp(dtypes[k].name, dtype) != 0) k++;
    if (k == n_dtype)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: %s has dtype '%.20s', which is not known", part->path, who.s,
                         dtype);
    t.dtype = dtypes[k].name;
    t.name = lode_arena_strdup(&s->arena, name, strlen(name));
    if (!t.name) return oom(err, part->path);
    size_t want = 0;
    LODE_TRY(read_shape(&t, json_object_get(entry, "shape"), dtypes[k].bytes, &want, part->path, err));
    if (dtypes[k].bytes == 0) want = SIZE_MAX;
    LODE_TRY(read_range(&t, entry, want, part->map.data + header, part->map.size - header, part->path, err));
    return LODE_PUSH(&s->tensor, t) ? LODE_OK : oom(err, part->path);
}

/* The JSON header of the file mapped last. Names of __metadata__ aside, every entry is a tensor. */
static lode_status read_part(st_set *s, lode_err *err) {
    const st_part *part = &s->part.items[s->part.n - 1];
    const uint8_t *p = part->map.data;
    if (part->map.size < 8)
        return lode_fail(err, LODE_E_FORMAT, "%s: %zu bytes are no safetensors file, expected at least 8", part->path,
                         part->map.size);
    uint64_t len = 0;
    for (int i = 7; i >= 0; i--) len = len << 8 | p[i];
    if (len > HEADER_MAX || len > part->map.size - 8)
        return lode_fail(err, LODE_E_FORMAT, "%s: the header should have %llu bytes, but the file has %zu (limit %d)",
                         part->path, (unsigned long long)len, part->map.size, HEADER_MAX);
    json_t *head = NULL;
    LODE_TRY(convert_json_parse((const char *)p + 8, (size_t)len, part->path, true, &head, err));
    lode_status st = LODE_OK;
    const char *name;
    json_t *entry;
    json_object_foreach(head, name, entry) {
        if (!strcmp(name, "__metadata__")) continue;
        st = read_entry(s, name, entry, (size_t)len + 8, err);
        if (st != LODE_OK) break;
    }
    json_decref(head);
    return st;
}

static lode_status open_part(st_set *s, const char *dir, const char *file, lode_err *err) {
    st_part part = { 0 };
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/%s", dir, file);
    if (path.failed || s->part.n == FILES_MAX || !LODE_PUSH(&s->part, part)) {
        lode_str_free(&path);
        return oom(err, dir);
    }
    st_part *p = &s->part.items[s->part.n - 1];
    p->path = path.p;
    LODE_TRY(lode_map_open(&p->map, p->path, err));
    return read_part(s, err);
}

/* Whether a file of an index stays in the folder. */
static bool plain_name(const char *file, size_t n) {
    return n > 0 && n < 256 && strlen(file) == n && !strchr(file, '/') && !strchr(file, '\\') && file[0] != '.';
}

static lode_status open_index(st_set *s, const char *dir, const json_t *index, const char *path, lode_err *err) {
    const json_t *map = json_object_get(index, "weight_map");
    if (!json_is_object(map)) return lode_fail(err, LODE_E_FORMAT, "%s: weight_map is missing", path);
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)map, name, v) {
        const char *file = json_string_value(v);
        if (!file || !plain_name(file, json_string_length(v)))
            return lode_fail(err, LODE_E_FORMAT, "%s: weight_map of '%.100s' is no file name", path, name);
        bool open = false;
        for (size_t i = 0; i < s->part.n && !open; i++) open = !strcmp(s->part.items[i].path + strlen(dir) + 1, file);
        if (!open) LODE_TRY(open_part(s, dir, file, err));
    }
    return LODE_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

static int by_place(const void *a_, const void *b_) {
    const st_tensor *a = a_, *b = b_;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->data < b->data ? -1 : a->data > b->data;
}

/* No two tensors share bytes or a name. */
static lode_status check_set(st_set *s, lode_err *err) {
    st_tensor *t = s->tensor.items;
    if (s->tensor.n == 0) return lode_fail(err, LODE_E_FORMAT, "%s: holds no tensors", s->part.items[0].path);
    qsort(t, s->tensor.n, sizeof *t, by_place);
    const st_tensor *last = NULL; /* with bytes */
    for (size_t i = 0; i < s->tensor.n; i++) {
        if (t[i].bytes == 0) continue;
        if (last && last->file == t[i].file && last->data + last->bytes > t[i].data)
            return lode_fail(err, LODE_E_FORMAT, "%s: %s overlaps %s", s->part.items[t[i].file].path,
                             label_of(t[i].name).s, label_of(last->name).s);
        last = &t[i];
    }
    qsort(t, s->tensor.n, sizeof *t, by_name);
    for (size_t i = 1; i < s->tensor.n; i++)
        if (!strcmp(t[i - 1].name, t[i].name))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s stands also in %s", s->part.items[t[i].file].path,
                             label_of(t[i].name).s, s->part.items[t[i - 1].file].path);
    return LODE_OK;
}

static lode_status open_all(st_set *s, const char *dir, lode_err *err) {
    lode_str index = { 0 }, single = { 0 };
    lode_str_printf(&index, "%s/model.safetensors.index.json", dir);
    lode_str_printf(&single, "%s/model.safetensors", dir);
    lode_status st = LODE_OK;
    if (index.failed || single.failed) {
        st = oom(err, dir);
    } else if (lode_is_file(index.p)) {
        json_t *j = NULL;
        st = convert_json_read(index.p, INDEX_MAX, &j, err);
        if (st == LODE_OK) st = open_index(s, dir, j, index.p, err);
        json_decref(j);
    } else if (lode_is_file(single.p)) {
        st = open_part(s, dir, "model.safetensors", err);
    } else {
        st = lode_fail(err, LODE_E_NOT_FOUND,
                       "%s: neither model.safetensors nor model.safetensors.index.json is there; weights in other "
                       "formats (pytorch_model.bin) cannot be converted",
                       dir);
    }
    lode_str_free(&index);
    lode_str_free(&single);
    return st;
}

lode_status st_open(st_set **out, const char *dir, lode_err *err) {
    *out = NULL;
    st_set *s = lode_calloc(1, sizeof *s);
    if (!s) return oom(err, dir);
    lode_status st = open_all(s, dir, err);
    if (st == LODE_OK) st = check_set(s, err);
    if (st == LODE_OK)
        *out = s;
    else
        st_close(s);
    return st;
}

void st_close(st_set *s) {
    if (!s) return;
    for (size_t i = 0; i < s->part.n; i++) {
        lode_map_close(&s->part.items[i].map);
        free(s->part.items[i].path);
    }
    free(s->part.items);
    free(s->tensor.items);
    lode_arena_free(&s->arena);
    free(s);
}

size_t st_count(const st_set *s) { return s->tensor.n; }
st_tensor *st_at(st_set *s, size_t i) { return &s->tensor.items[i]; }
const char *st_file(const st_set *s, int file) { return s->part.items[file].path; }

st_tensor *st_find(st_set *s, const char *name) {
    const st_tensor key = { .name = name };
    return bsearch(&key, s->tensor.items, s->tensor.n, sizeof key, by_name);
}

static void decode_f64(const uint8_t *p, int64_t n, float *dst) {
    for (int64_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, p + 8 * i, 8);
        dst[i] = (float)v;
    }
}

static void decode_f32(const uint8_t *p, int64_t n, float *dst) { memcpy(dst, p, (size_t)n * 4); }

static void decode_f16(const uint8_t *p, int64_t n, float *dst) {
    for (int64_t i = 0; i < n; i++) dst[i] = lode_f16_to_f32((uint16_t)(p[2 * i] | p[2 * i + 1] << 8));
}

static void decode_bf16(const uint8_t *p, int64_t n, float *dst) {
    for (int64_t i = 0; i < n; i++) dst[i] = lode_bf16_to_f32((uint16_t)(p[2 * i] | p[2 * i + 1] << 8));
}

static const struct {
    const char *dtype;
    int64_t bytes;
    void (*decode)(const uint8_t *p, int64_t n, float *dst);
} floats[] = {
    { "F64", 8, decode_f64 }, { "F32", 4, decode_f32 }, { "F16", 2, decode_f16 }, { "BF16", 2, decode_bf16 }
};
enum { N_FLOAT = sizeof floats / sizeof *floats };

static int float_of(const st_tensor *t) {
    int i = 0;
    while (i < N_FLOAT && strcmp(floats[i].dtype, t->dtype) != 0) i++;
    return i;
}

bool st_is_float(const st_tensor *t) { return float_of(t) < N_FLOAT; }

void st_decode(const st_tensor *t, int64_t at, int64_t n, float *dst) {
    const int k = float_of(t);
    if (k < N_FLOAT) floats[k].decode(t->data + at * floats[k].bytes, n, dst);
}
