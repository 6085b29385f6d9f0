/* safetensors.h - tensors of a folder's *.safetensors files: one file, or several with an index.
 *
 * Files are mapped; opening checks every length, offset and shape of the headers before anything is used. Format: the
 * safetensors README (8 bytes of length, a JSON header, the data). */
#ifndef LODE_CONVERT_SAFETENSORS_H
#define LODE_CONVERT_SAFETENSORS_H

#include "lode/tensor.h"

/* One tensor; shape as in the file: outermost first. */
typedef struct st_tensor {
    const char *name;  /* in the set's memory */
    const char *dtype; /* "BF16" */
    int n_dims;
    int64_t shape[LODE_MAX_DIMS];
    const uint8_t *data; /* in the mapping */
    size_t bytes;
    int file;
    bool used; /* the caller's mark */
} st_tensor;

typedef struct st_set st_set;

lode_status st_open(st_set **out, const char *dir, lode_err *err);
void st_close(st_set *s);
size_t st_count(const st_set *s);
st_tensor *st_at(st_set *s, size_t i); /* by name, ascending */
st_tensor *st_find(st_set *s, const char *name);
const char *st_file(const st_set *s, int file);
/* Decodes n elements from element `at` on; the dtype is one of F64, F32, F16, BF16 (st_is_float). */
bool st_is_float(const st_tensor *t);
void st_decode(const st_tensor *t, int64_t at, int64_t n, float *dst);
#endif
