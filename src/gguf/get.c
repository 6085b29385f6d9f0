/* get.c - metadata by key, converted and checked. */
#include "gguf/gguf.h"
#include "base/need.h"

#include <inttypes.h>
#include <string.h>

uint64_t lode_gguf_n_kv(const lode_gguf *g) { return g->kv.n; }

const lode_gguf_kv *lode_gguf_kv_at(const lode_gguf *g, uint64_t i) { return i < g->kv.n ? &g->kv.items[i].kv : NULL; }

const lode_gguf_kv *lode_gguf_find(const lode_gguf *g, const char *key) { return gguf_recs_find(&g->kv, key); }

/* One row per kind: loads a value of it from unaligned bytes as an int64. */
#define INT_LOADER(name, type)                                \
    static bool load_##name(const uint8_t *p, int64_t *out) { \
        type v;                                               \
        memcpy(&v, p, sizeof v);                              \
        *out = (int64_t)v;                                    \
        return true;                                          \
    }
INT_LOADER(u8, uint8_t)
INT_LOADER(i8, int8_t)
INT_LOADER(u16, uint16_t)
INT_LOADER(i16, int16_t)
INT_LOADER(u32, uint32_t)
INT_LOADER(i32, int32_t)
INT_LOADER(i64, int64_t)
#undef INT_LOADER

static bool load_u64(const uint8_t *p, int64_t *out) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    if (v > INT64_MAX) return false;
    *out = (int64_t)v;
    return true;
}

bool gguf_int_at(lode_gguf_kind kind, const uint8_t *p, int64_t *out) {
    static bool (*const loaders[LODE_GGUF_N_KIND])(const uint8_t *, int64_t *) = {
        [LODE_GGUF_U8] = load_u8,   [LODE_GGUF_I8] = load_i8,   [LODE_GGUF_U16] = load_u16,
        [LODE_GGUF_I16] = load_i16, [LODE_GGUF_U32] = load_u32, [LODE_GGUF_I32] = load_i32,
        [LODE_GGUF_U64] = load_u64, [LODE_GGUF_I64] = load_i64, [LODE_GGUF_BOOL] = load_u8,
    };
    return (unsigned)kind < LODE_GGUF_N_KIND && loaders[kind] && loaders[kind](p, out);
}

static bool float_at(lode_gguf_kind kind, const uint8_t *p, float *out) {
    if (kind == LODE_GGUF_F32) {
        memcpy(out, p, sizeof *out);
        return true;
    }
    if (kind != LODE_GGUF_F64) return false;
    double d;
    memcpy(&d, p, sizeof d);
    /* a double beyond float's range becomes an infinity; the cast alone would be undefined */
    *out = d > 3.4028234663852886e38    ? (float)__builtin_inf()
           : d < -3.4028234663852886e38 ? (float)-__builtin_inf()
                                        : (float)d;
    return true;
}

static lode_status wrong(const lode_gguf *g, const lode_gguf_kv *kv, const char *want, lode_err *err) {
    int64_t v = 0;
    const bool number = kv->kind != LODE_GGUF_ARRAY && gguf_int_at(kv->kind, kv->data, &v);
    char value[32] = "";
    if (number) snprintf(value, sizeof value, " %" PRId64, v);
    return lode_fail(err, LODE_E_FORMAT, "%s: key '%s' is of kind %s%s, expected %s",
                     gguf_show_path(lode_gguf_path(g)).s, gguf_show(kv->key).s, gguf_kind_name(kv->kind), value, want);
}

/* Finds a key for a getter. *kv is NULL and the status LODE_OK when it is absent and may be. */
static lode_status look_up(const lode_gguf *g, const char *key, const lode_gguf_kv **kv, bool *found, lode_err *err) {
    *kv = lode_gguf_find(g, key);
    if (found) *found = *kv != NULL;
    if (*kv || found) return LODE_OK;
    return lode_fail(err, LODE_E_NOT_FOUND, "%s: key '%s' is missing, expected it in this model",
                     gguf_show_path(lode_gguf_path(g)).s, gguf_show((lode_slice){ key, strlen(key) }).s);
}

lode_status lode_gguf_get_u32(const lode_gguf *g, const char *key, uint32_t *out, bool *found, lode_err *err) {
    LODE_TRY(lode_need(g && key && out, __func__, err));
    const lode_gguf_kv *kv;
    int64_t v;
    LODE_TRY(look_up(g, key, &kv, found, err));
    if (!kv) return LODE_OK;
    if (kv->kind == LODE_GGUF_ARRAY || kv->kind == LODE_GGUF_BOOL || !gguf_int_at(kv->kind, kv->data, &v) || v < 0 ||
        v > UINT32_MAX)
        return wrong(g, kv, "an integer from 0 to 4294967295", err);
    *out = (uint32_t)v;
    return LODE_OK;
}

lode_status lode_gguf_get_f32(const lode_gguf *g, const char *key, float *out, bool *found, lode_err *err) {
    LODE_TRY(lode_need(g && key && out, __func__, err));
    const lode_gguf_kv *kv;
    LODE_TRY(look_up(g, key, &kv, found, err));
    if (kv && !float_at(kv->kind, kv->data, out)) return wrong(g, kv, "f32 or f64", err);
    return LODE_OK;
}

lode_status lode_gguf_get_bool(const lode_gguf *g, const char *key, bool *out, bool *found, lode_err *err) {
    LODE_TRY(lode_need(g && key && out, __func__, err));
    const lode_gguf_kv *kv;
    LODE_TRY(look_up(g, key, &kv, found, err));
    if (!kv) return LODE_OK;
    if (kv->kind != LODE_GGUF_BOOL) return wrong(g, kv, "bool", err);
    *out = kv->data[0] != 0;
    return LODE_OK;
}

lode_status lode_gguf_get_str(const lode_gguf *g, const char *key, lode_slice *out, bool *found, lode_err *err) {
    LODE_TRY(lode_need(g && key && out, __func__, err));
    const lode_gguf_kv *kv;
    LODE_TRY(look_up(g, key, &kv, found, err));
    if (!kv) return LODE_OK;
    if (kv->kind != LODE_GGUF_STRING) return wrong(g, kv, "string", err);
    *out = (lode_slice){ (const char *)kv->data, kv->data_bytes };
    return LODE_OK;
}

bool lode_gguf_arr_str(const lode_gguf *g, const lode_gguf_kv *kv, uint64_t i, lode_slice *out) {
    /* The record behind kv exists only for entries of g itself. */
    const uintptr_t at = (uintptr_t)kv, first = (uintptr_t)g->kv.items;
    if (!kv || at < first || (at - first) / sizeof(gguf_rec) >= g->kv.n) return false;
    const gguf_rec *rec = &g->kv.items[(at - first) / sizeof(gguf_rec)];
    if (!rec->starts || i >= kv->n) return false;
    const uint8_t *p = kv->data + rec->starts[i];
    uint64_t n;
    memcpy(&n, p, sizeof n);
    *out = (lode_slice){ (const char *)p + sizeof n, (size_t)n };
    return true;
}

bool lode_gguf_arr_i64(const lode_gguf_kv *kv, uint64_t i, int64_t *out) {
    return i < kv->n && gguf_int_at(kv->item, kv->data + i * gguf_kind_bytes(kv->item), out);
}

bool lode_gguf_arr_f32(const lode_gguf_kv *kv, uint64_t i, float *out) {
    if (i >= kv->n) return false;
    const uint8_t *p = kv->data + i * gguf_kind_bytes(kv->item);
    int64_t v;
    if (float_at(kv->item, p, out)) return true;
    if (!gguf_int_at(kv->item, p, &v)) return false;
    *out = (float)v;
    return true;
}
