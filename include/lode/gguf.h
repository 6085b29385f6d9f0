/* lode/gguf.h - GGUF files: metadata and tensors, read (versions 2 and 3, little-endian, split files) and written.
 *
 * Reading maps the file and checks everything that stands in its header before it is used; tensor data is never
 * touched. Strings are slices of the mapping (not NUL-terminated) unless said otherwise. A lode_gguf is immutable after
 * opening and may be shared between threads. Format: the GGUF specification in the ggml project's docs. */
#ifndef LODE_GGUF_H
#define LODE_GGUF_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_gguf lode_gguf;

/* Value types, numbered as in the file. */
typedef enum {
    LODE_GGUF_U8,
    LODE_GGUF_I8,
    LODE_GGUF_U16,
    LODE_GGUF_I16,
    LODE_GGUF_U32,
    LODE_GGUF_I32,
    LODE_GGUF_F32,
    LODE_GGUF_BOOL,
    LODE_GGUF_STRING,
    LODE_GGUF_ARRAY,
    LODE_GGUF_U64,
    LODE_GGUF_I64,
    LODE_GGUF_F64,
    LODE_GGUF_N_KIND
} lode_gguf_kind;

/* One metadata entry. For arrays `kind` is LODE_GGUF_ARRAY, `item` the kind of its elements and `n` their number; for
 * scalars `item` equals `kind`. `data` is the value without the lengths before it: a string's characters, an array's
 * elements (strings in it as in the file, each behind its u64 length). */
typedef struct lode_gguf_kv {
    lode_slice key;
    lode_gguf_kind kind, item;
    uint64_t n;          /* 1 for a scalar */
    const uint8_t *data; /* little-endian, unaligned, inside the mapping */
    size_t data_bytes;
} lode_gguf_kv;

/* One tensor. `file_type` is the number in the file; `type` is LODE_N_TYPE when this library does not know it. */
typedef struct lode_gguf_tensor {
    lode_slice name;
    uint32_t file_type;
    lode_type type;
    int n_dims;
    int64_t ne[LODE_MAX_DIMS]; /* 1 beyond n_dims */
    int part;                  /* which file of a split model, from 0 */
    uint64_t offset;           /* bytes from the start of that file */
    uint64_t bytes;
} lode_gguf_tensor;

/* Opens `path` and, when its metadata says that it is the first of a split model, the other parts beside it.
 * Errors name the file, the field, what it holds and what was expected. */
LODE_API lode_status lode_gguf_open(lode_gguf **out, const char *path, lode_err *err);
/* The same from memory that outlives the object (tests, fuzzing); `name` stands in errors. No split files. */
LODE_API lode_status lode_gguf_open_mem(lode_gguf **out, const void *data, size_t n, const char *name, lode_err *err);
LODE_API void lode_gguf_close(lode_gguf *g);

LODE_API int lode_gguf_version(const lode_gguf *g);
LODE_API const char *lode_gguf_path(const lode_gguf *g);
LODE_API int lode_gguf_n_parts(const lode_gguf *g);
/* The mapped bytes of part i. */
LODE_API const uint8_t *lode_gguf_part_data(const lode_gguf *g, int i, size_t *bytes);

LODE_API uint64_t lode_gguf_n_kv(const lode_gguf *g);
LODE_API const lode_gguf_kv *lode_gguf_kv_at(const lode_gguf *g, uint64_t i);
LODE_API const lode_gguf_kv *lode_gguf_find(const lode_gguf *g, const char *key); /* NULL when absent; hashed */

/* Typed look-ups. An absent key leaves *out alone and returns LODE_OK with *found = false (found may be NULL, then
 * absence is LODE_E_NOT_FOUND). A value of the wrong kind or out of range is LODE_E_FORMAT with a text that names the
 * key. Any integer kind converts to any other when the value fits. */
LODE_API lode_status lode_gguf_get_u32(const lode_gguf *g, const char *key, uint32_t *out, bool *found, lode_err *err);
LODE_API lode_status lode_gguf_get_f32(const lode_gguf *g, const char *key, float *out, bool *found, lode_err *err);
LODE_API lode_status lode_gguf_get_bool(const lode_gguf *g, const char *key, bool *out, bool *found, lode_err *err);
LODE_API lode_status lode_gguf_get_str(const lode_gguf *g, const char *key, lode_slice *out, bool *found,
                                       lode_err *err);
/* Element i of an array of strings; of integers, bools or floats, converted (floats never to integers). A scalar counts
 * as an array of one. False when i is out of range or the kind another. O(1): opening indexes string arrays. `kv` of
 * lode_gguf_arr_str must come from g. */
LODE_API bool lode_gguf_arr_str(const lode_gguf *g, const lode_gguf_kv *kv, uint64_t i, lode_slice *out);
LODE_API bool lode_gguf_arr_f32(const lode_gguf_kv *kv, uint64_t i, float *out);
LODE_API bool lode_gguf_arr_i64(const lode_gguf_kv *kv, uint64_t i, int64_t *out);

LODE_API uint64_t lode_gguf_n_tensors(const lode_gguf *g);
LODE_API const lode_gguf_tensor *lode_gguf_tensor_at(const lode_gguf *g, uint64_t i);
LODE_API const lode_gguf_tensor *lode_gguf_find_tensor(const lode_gguf *g, const char *name); /* hashed */
/* The data of a tensor inside the mapping. */
LODE_API const void *lode_gguf_tensor_data(const lode_gguf *g, const lode_gguf_tensor *t);

/* Writing, in this order: set keys, declare all tensors, begin (writes the header to PATH.part), give each tensor's
 * bytes in the declared order, finish (renames to PATH). Discarding, or any failure, leaves no file behind. A key or
 * tensor set twice is refused by begin, which also reports the first set call that failed, so that those need no check
 * one by one. "general.alignment" set as u32 is followed; otherwise it is 32. */
typedef struct lode_gguf_writer lode_gguf_writer;
LODE_API lode_status lode_gguf_writer_open(lode_gguf_writer **out, const char *path, lode_err *err);
LODE_API lode_status lode_gguf_set_u32(lode_gguf_writer *w, const char *key, uint32_t v);
LODE_API lode_status lode_gguf_set_i32(lode_gguf_writer *w, const char *key, int32_t v);
LODE_API lode_status lode_gguf_set_f32(lode_gguf_writer *w, const char *key, float v);
LODE_API lode_status lode_gguf_set_bool(lode_gguf_writer *w, const char *key, bool v);
LODE_API lode_status lode_gguf_set_str(lode_gguf_writer *w, const char *key, const char *v, size_t n);
/* `kind` is a scalar kind; `data` n native values of it. */
LODE_API lode_status lode_gguf_set_arr(lode_gguf_writer *w, const char *key, lode_gguf_kind kind, const void *data,
                                       uint64_t n);
LODE_API lode_status lode_gguf_set_arr_str(lode_gguf_writer *w, const char *key, const lode_slice *v, uint64_t n);
LODE_API lode_status lode_gguf_set_kv(lode_gguf_writer *w, const lode_gguf_kv *kv); /* copied from another file */
LODE_API lode_status lode_gguf_add_tensor(lode_gguf_writer *w, const char *name, lode_type t, int n_dims,
                                          const int64_t *ne, lode_err *err);
LODE_API lode_status lode_gguf_begin(lode_gguf_writer *w, lode_err *err);
LODE_API lode_status lode_gguf_write_tensor(lode_gguf_writer *w, const void *data, size_t bytes, lode_err *err);
LODE_API lode_status lode_gguf_finish(lode_gguf_writer *w, lode_err *err); /* frees w, whatever it returns */
LODE_API void lode_gguf_discard(lode_gguf_writer *w);

#ifdef __cplusplus
}
#endif
#endif
