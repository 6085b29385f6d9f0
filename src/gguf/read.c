/* read.c - checks the header of one GGUF file and records its keys and tensors.
 *
 * Called once per part by open.c. Trusts nothing: a number from the file is compared with what is left of the file
 * before it sizes, moves or indexes anything. Tensor data is not touched. */
#include "gguf/gguf.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "GGUF values are read in place, as little-endian");

/* Smallest entries that a file can hold: a key of 1 byte (8 + 1), its kind (4) and a value of 1; a tensor's name of 1
 * byte (8 + 1), number of dimensions (4), type (4) and offset (8). */
enum { MIN_KV = 14, MIN_TENSOR = 25, MIN_FILE = 24 };

typedef struct reader {
    const uint8_t *p;
    size_t n, at;
    gguf_text file;
    lode_err *err;
} reader;

/* n bytes further; NULL when the file has fewer. */
static const uint8_t *take(reader *r, uint64_t n) {
    if (n > r->n - r->at) return NULL;
    const uint8_t *p = r->p + r->at;
    r->at += (size_t)n;
    return p;
}

static bool take_u32(reader *r, uint32_t *out) {
    const uint8_t *p = take(r, sizeof *out);
    if (p) memcpy(out, p, sizeof *out);
    return p != NULL;
}

static bool take_u64(reader *r, uint64_t *out) {
    const uint8_t *p = take(r, sizeof *out);
    if (p) memcpy(out, p, sizeof *out);
    return p != NULL;
}

/* The file ends inside `what` number i. */
static lode_status cut(const reader *r, const char *what, size_t i) {
    return lode_fail(r->err, LODE_E_FORMAT,
                     "%s: %s %zu ends at byte %zu, expected more: the file is cut or damaged, fetch it again",
                     r->file.s, what, i, r->n);
}

static lode_status no_memory(const reader *r) {
    return lode_fail(r->err, LODE_E_NOMEM, "%s: out of memory while reading the header", r->file.s);
}

static lode_status read_version(reader *r, int *version) {
    uint32_t v = 0;
    if (r->n < MIN_FILE)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: the file has %zu bytes, expected at least %d: it is empty or cut, fetch it again",
                         r->file.s, r->n, MIN_FILE);
    const uint8_t *magic = take(r, 4);
    if (!magic || memcmp(magic, "GGUF", 4) != 0)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: the file starts with bytes %02x %02x %02x %02x, expected \"GGUF\": it is no GGUF model",
                         r->file.s, r->p[0], r->p[1], r->p[2], r->p[3]);
    take_u32(r, &v);
    if (v != 0 && (v & 0xffffu) == 0)
        return lode_fail(r->err, LODE_E_UNSUPPORTED,
                         "%s: version is 0x%08" PRIx32 ", a big-endian file, expected a little-endian one", r->file.s,
                         v);
    if (v == 1)
        return lode_fail(r->err, LODE_E_UNSUPPORTED,
                         "%s: version is 1 (of 2023), expected 2 or 3: fetch or convert the model anew", r->file.s);
    if (v < 2 || v > 3)
        return lode_fail(r->err, v > 3 ? LODE_E_UNSUPPORTED : LODE_E_FORMAT,
                         "%s: version is %" PRIu32 ", expected 2 or 3", r->file.s, v);
    *version = (int)v;
    return LODE_OK;
}

/* A count of entries of at least `min` bytes each. */
static lode_status read_count(reader *r, const char *what, uint64_t limit, size_t min, uint64_t *out) {
    if (!take_u64(r, out)) return cut(r, what, 0);
    if (*out > limit)
        return lode_fail(r->err, LODE_E_FORMAT, "%s: %s is %" PRIu64 ", expected at most %" PRIu64, r->file.s, what,
                         *out, limit);
    if (*out > r->n / min)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: %s is %" PRIu64 ", expected at most %zu in a file of %zu bytes: it is cut or damaged",
                         r->file.s, what, *out, r->n / min, r->n);
    return LODE_OK;
}

/* A name of 1 to `max` bytes without NUL. */
static lode_status read_name(reader *r, const char *what, size_t i, size_t max, lode_slice *out) {
    uint64_t n;
    if (!take_u64(r, &n)) return cut(r, what, i);
    if (n == 0 || n > max)
        return lode_fail(r->err, LODE_E_FORMAT, "%s: the name of %s %zu has %" PRIu64 " bytes, expected 1 to %zu",
                         r->file.s, what, i, n, max);
    const uint8_t *p = take(r, n);
    if (!p) return cut(r, what, i);
    *out = (lode_slice){ (const char *)p, (size_t)n };
    if (memchr(p, 0, (size_t)n))
        return lode_fail(r->err, LODE_E_FORMAT, "%s: the name of %s %zu is '%s', expected no zero byte in it",
                         r->file.s, what, i, gguf_show(*out).s);
    return LODE_OK;
}

static lode_status cut_value(const reader *r, const lode_gguf_kv *kv) {
    return lode_fail(r->err, LODE_E_FORMAT,
                     "%s: the value of key '%s' goes past the end at byte %zu, expected it inside the file: it is cut "
                     "or damaged, fetch it again",
                     r->file.s, gguf_show(kv->key).s, r->n);
}

/* Walks the strings of an array and remembers where each starts. */
static lode_status read_strings(reader *r, gguf_rec *rec) {
    lode_gguf_kv *kv = &rec->kv;
    rec->starts = malloc(kv->n ? (size_t)kv->n * sizeof *rec->starts : 1); /* kv->n was held against the file's size */
    if (!rec->starts) return no_memory(r);
    const size_t base = r->at;
    for (uint64_t i = 0; i < kv->n; i++) {
        uint64_t n;
        rec->starts[i] = r->at - base;
        if (take_u64(r, &n) && take(r, n)) continue;
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: string %" PRIu64
                         " of key '%s' goes past the end at byte %zu, expected it inside the file: "
                         "it is cut or damaged, fetch it again",
                         r->file.s, i, gguf_show(kv->key).s, r->n);
    }
    kv->data_bytes = r->at - base;
    return LODE_OK;
}

static lode_status read_array(reader *r, gguf_rec *rec) {
    lode_gguf_kv *kv = &rec->kv;
    uint32_t item;
    if (!take_u32(r, &item) || !take_u64(r, &kv->n)) return cut_value(r, kv);
    if (item >= LODE_GGUF_N_KIND || item == LODE_GGUF_ARRAY)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: key '%s' is an array of kind %" PRIu32 " (%s), expected a scalar kind or string, 0 to %d",
                         r->file.s, gguf_show(kv->key).s, item, gguf_kind_name(item), LODE_GGUF_N_KIND - 1);
    kv->item = (lode_gguf_kind)item;
    const size_t size = item == LODE_GGUF_STRING ? sizeof(uint64_t) : gguf_kind_bytes(item), left = r->n - r->at;
    if (kv->n > left / size)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: key '%s' is an array of %" PRIu64 " values, expected at most %zu in the %zu bytes left: "
                         "the file is cut or damaged",
                         r->file.s, gguf_show(kv->key).s, kv->n, left / size, left);
    kv->data = r->p + r->at;
    if (item == LODE_GGUF_STRING) return read_strings(r, rec);
    kv->data_bytes = (size_t)kv->n * size;
    r->at += kv->data_bytes;
    return LODE_OK;
}

static lode_status read_value(reader *r, gguf_rec *rec) {
    lode_gguf_kv *kv = &rec->kv;
    uint32_t kind;
    if (!take_u32(r, &kind)) return cut_value(r, kv);
    if (kind >= LODE_GGUF_N_KIND)
        return lode_fail(r->err, LODE_E_FORMAT, "%s: key '%s' has value kind %" PRIu32 ", expected 0 to %d", r->file.s,
                         gguf_show(kv->key).s, kind, LODE_GGUF_N_KIND - 1);
    kv->kind = kv->item = (lode_gguf_kind)kind;
    kv->n = 1;
    if (kind == LODE_GGUF_ARRAY) return read_array(r, rec);
    uint64_t bytes = gguf_kind_bytes(kind);
    if (kind == LODE_GGUF_STRING && !take_u64(r, &bytes)) return cut_value(r, kv);
    kv->data = take(r, bytes);
    if (!kv->data) return cut_value(r, kv);
    kv->data_bytes = (size_t)bytes;
    return LODE_OK;
}

static lode_status check_bools(const reader *r, const lode_gguf_kv *kv) {
    if (kv->item != LODE_GGUF_BOOL) return LODE_OK;
    for (uint64_t i = 0; i < kv->n; i++)
        if (kv->data[i] > 1)
            return lode_fail(r->err, LODE_E_FORMAT, "%s: key '%s' holds a bool of %d, expected 0 or 1", r->file.s,
                             gguf_show(kv->key).s, kv->data[i]);
    return LODE_OK;
}

static lode_status index_keys(const reader *r, gguf_recs *kv) {
    size_t a, b;
    if (!gguf_names_alloc(&kv->names, kv->n)) return no_memory(r);
    for (size_t i = 0; i < kv->n; i++) kv->names.items[i] = (gguf_name){ 0, kv->items[i].kv.key, i };
    if (gguf_names_sort(&kv->names, &a, &b)) return LODE_OK;
    return lode_fail(r->err, LODE_E_FORMAT, "%s: keys %zu and %zu are both '%s', expected each key once", r->file.s, a,
                     b, gguf_show(kv->items[a].kv.key).s);
}

static lode_status read_keys(reader *r, uint64_t n, gguf_recs *kv) {
    for (uint64_t i = 0; i < n; i++) {
        if (!LODE_PUSH(kv, (gguf_rec){ 0 })) return no_memory(r);
        gguf_rec *rec = &kv->items[kv->n - 1];
        LODE_TRY(read_name(r, "key", (size_t)i, GGUF_MAX_KEY, &rec->kv.key));
        LODE_TRY(read_value(r, rec));
        LODE_TRY(check_bools(r, &rec->kv));
    }
    return index_keys(r, kv);
}

static lode_status read_alignment(const reader *r, const gguf_recs *kv, size_t *align) {
    const lode_gguf_kv *k = gguf_recs_find(kv, "general.alignment");
    *align = GGUF_DEFAULT_ALIGN;
    if (!k) return LODE_OK;
    if (k->kind != LODE_GGUF_U32)
        return lode_fail(r->err, LODE_E_FORMAT, "%s: general.alignment is of kind %s, expected u32", r->file.s,
                         gguf_kind_name(k->kind));
    uint32_t v;
    memcpy(&v, k->data, sizeof v);
    if (v == 0 || (v & (v - 1)) != 0 || v > GGUF_MAX_ALIGN)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: general.alignment is %" PRIu32 ", expected a power of two from 1 to %d", r->file.s, v,
                         GGUF_MAX_ALIGN);
    *align = v;
    return LODE_OK;
}

/* Elements and bytes per block of a type number; false when it is unknown or withdrawn. */
static bool file_type_size(uint32_t id, size_t *elements, size_t *bytes) {
    static const struct {
        uint32_t id;
        uint16_t elements, bytes;
    } sizes[] = {
#define FILE_TYPE(number, name, n, size) { number, n, size },
#include "lode/file_types.def"
#undef FILE_TYPE
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].id != id) continue;
        *elements = sizes[i].elements;
        *bytes = sizes[i].bytes;
        return *elements != 0;
    }
    return false;
}

/* Bytes of a tensor from its dimensions and type. A dimension of zero makes an empty tensor; the others must still not
 * wrap, because strides are made of them. */
static lode_status size_tensor(const reader *r, lode_gguf_tensor *t) {
    size_t elements, block, bytes, all = 1;
    bool empty = false;
    if (!file_type_size(t->file_type, &elements, &block))
        return lode_fail(r->err, LODE_E_UNSUPPORTED,
                         "%s: tensor '%s' has type %" PRIu32 " (%s), expected a type number of a current GGUF file",
                         r->file.s, gguf_show(t->name).s, t->file_type, lode_file_type_name(t->file_type));
    bool fits = true;
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        if (t->ne[i] < 0)
            return lode_fail(r->err, LODE_E_FORMAT,
                             "%s: tensor '%s' has dimension %d of %" PRId64 ", expected 0 or more", r->file.s,
                             gguf_show(t->name).s, i, t->ne[i]);
        empty = empty || t->ne[i] == 0;
        fits = fits && lode_mul_ok(all, t->ne[i] ? (size_t)t->ne[i] : 1, &all);
    }
    if (t->ne[0] % (int64_t)elements != 0)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: tensor '%s' has rows of %" PRId64 " values, expected a multiple of %zu (type %s)",
                         r->file.s, gguf_show(t->name).s, t->ne[0], elements, lode_file_type_name(t->file_type));
    fits = fits && lode_mul_ok(all / elements + 1, block, &bytes) && all <= INT64_MAX && bytes <= INT64_MAX;
    if (!fits)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: tensor '%s' has dimensions [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                         "], expected a product below 2^63 bytes",
                         r->file.s, gguf_show(t->name).s, t->ne[0], t->ne[1], t->ne[2], t->ne[3]);
    t->bytes = empty ? 0 : all / elements * block;
    return LODE_OK;
}

static lode_status read_tensor(reader *r, size_t i, lode_gguf_tensor *t) {
    uint32_t dims;
    LODE_TRY(read_name(r, "tensor", i, LODE_MAX_NAME - 1, &t->name));
    if (!take_u32(r, &dims)) return cut(r, "tensor", i);
    if (dims > LODE_MAX_DIMS)
        return lode_fail(r->err, LODE_E_FORMAT, "%s: tensor '%s' has %" PRIu32 " dimensions, expected at most %d",
                         r->file.s, gguf_show(t->name).s, dims, LODE_MAX_DIMS);
    t->n_dims = (int)dims;
    for (int k = 0; k < LODE_MAX_DIMS; k++) {
        uint64_t ne = 1;
        if (k < t->n_dims && !take_u64(r, &ne)) return cut(r, "tensor", i);
        memcpy(&t->ne[k], &ne, sizeof ne);
    }
    if (!take_u32(r, &t->file_type) || !take_u64(r, &t->offset)) return cut(r, "tensor", i);
    t->type = lode_type_of_file_id(t->file_type);
    return size_tensor(r, t);
}

/* Turns an offset inside the data section into one in the file. */
static lode_status place_tensor(const reader *r, lode_gguf_tensor *t, size_t start, size_t align) {
    if (t->offset % align != 0)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: tensor '%s' has offset %" PRIu64 ", expected a multiple of the alignment %zu", r->file.s,
                         gguf_show(t->name).s, t->offset, align);
    const size_t room = start < r->n ? r->n - start : 0;
    if (t->offset > room || t->bytes > room - t->offset)
        return lode_fail(r->err, LODE_E_FORMAT,
                         "%s: tensor '%s' has offset %" PRIu64 " and %" PRIu64 " bytes, expected an end within the %zu "
                         "bytes of data in the file: it is cut or damaged, fetch it again",
                         r->file.s, gguf_show(t->name).s, t->offset, t->bytes, room);
    t->offset = t->bytes ? t->offset + start : 0; /* an empty tensor at the end may have no place in the file */
    return LODE_OK;
}

static int by_offset(const void *a, const void *b) {
    const lode_gguf_tensor *x = *(const lode_gguf_tensor *const *)a, *y = *(const lode_gguf_tensor *const *)b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* No two tensors of the part share a byte. */
static lode_status check_overlap(const reader *r, const lode_gguf_tensor *t, size_t n) {
    const lode_gguf_tensor **order = lode_calloc(n, sizeof *order);
    if (!order) return no_memory(r);
    for (size_t i = 0; i < n; i++) order[i] = &t[i];
    qsort(order, n, sizeof *order, by_offset);
    lode_status s = LODE_OK;
    for (size_t i = 1; i < n && s == LODE_OK; i++) {
        const lode_gguf_tensor *a = order[i - 1], *b = order[i];
        if (a->offset + a->bytes > b->offset) /* both ends are inside the file: no wrap */
            s = lode_fail(r->err, LODE_E_FORMAT,
                          "%s: tensors '%s' and '%s' overlap at byte %" PRIu64 ", expected each to have its own bytes",
                          r->file.s, gguf_show(a->name).s, gguf_show(b->name).s, b->offset);
    }
    free(order);
    return s;
}

static lode_status read_tensors(reader *r, lode_gguf *g, int part, uint64_t n, size_t align) {
    const size_t first = g->tensors.n;
    for (uint64_t i = 0; i < n; i++) {
        lode_gguf_tensor t = { .part = part };
        LODE_TRY(read_tensor(r, (size_t)i, &t));
        if (!LODE_PUSH(&g->tensors, t)) return no_memory(r);
    }
    size_t start;
    if (!lode_align_ok(r->at, align, &start)) return cut(r, "tensor", (size_t)n);
    for (size_t i = first; i < g->tensors.n; i++) LODE_TRY(place_tensor(r, &g->tensors.items[i], start, align));
    return n ? check_overlap(r, g->tensors.items + first, (size_t)n) : LODE_OK;
}

lode_status gguf_read_part(lode_gguf *g, int part, gguf_recs *kv, lode_err *err) {
    const gguf_part *p = &g->parts[part];
    reader r = { .p = p->data, .n = p->size, .file = gguf_show_path(p->path), .err = err };
    uint64_t n_tensors, n_kv;
    size_t align;
    LODE_TRY(read_version(&r, &g->version));
    LODE_TRY(read_count(&r, "the number of tensors", GGUF_MAX_TENSORS, MIN_TENSOR, &n_tensors));
    LODE_TRY(read_count(&r, "the number of keys", GGUF_MAX_KV, MIN_KV, &n_kv));
    LODE_TRY(read_keys(&r, n_kv, kv));
    LODE_TRY(read_alignment(&r, kv, &align));
    return read_tensors(&r, g, part, n_tensors, align);
}

void gguf_recs_free(gguf_recs *kv) {
    for (size_t i = 0; i < kv->n; i++) free(kv->items[i].starts);
    free(kv->items);
    gguf_names_free(&kv->names);
    *kv = (gguf_recs){ 0 };
}

const lode_gguf_kv *gguf_recs_find(const gguf_recs *kv, const char *key) {
    const size_t i = gguf_names_find(&kv->names, key, strlen(key));
    return i == SIZE_MAX ? NULL : &kv->items[i].kv;
}
