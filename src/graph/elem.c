/* elem.c - loads and stores of row pieces. */
#include "graph/elem.h"

#include "lode/quant.h"

#include <math.h>
#include <string.h>

static bool dense(const lode_tensor *t) { return t->nb[0] == (size_t)lode_type_bytes(t->type); }

static size_t bytes_before(const lode_tensor *t, int64_t i0) {
    return (size_t)(i0 / lode_type_block(t->type)) * t->nb[0];
}

void lode_load(const lode_tensor *t, const char *row, int64_t i0, int64_t n, float *out) {
    row += bytes_before(t, i0);
    bool ok = true;
    if (dense(t) && t->type == LODE_F32)
        memcpy(out, row, (size_t)n * sizeof *out);
    else if (dense(t))
        ok = lode_decode_row(t->type, row, out, n);
    else
        for (int64_t i = 0; i < n && ok; i++) ok = lode_decode_row(t->type, row + (size_t)i * t->nb[0], out + i, 1);
    for (int64_t i = 0; i < n && !ok; i++) out[i] = NAN;
}

void lode_store(const lode_tensor *t, char *row, int64_t i0, int64_t n, const float *x) {
    row += bytes_before(t, i0);
    if (dense(t) && t->type == LODE_F32)
        memcpy(row, x, (size_t)n * sizeof *x);
    else if (dense(t))
        lode_encode_row(t->type, x, row, n);
    else
        for (int64_t i = 0; i < n; i++) lode_encode_row(t->type, x + i, row + (size_t)i * t->nb[0], 1);
}

const float *lode_peek(const lode_tensor *t, const char *row, int64_t i0, int64_t n, float *buf) {
    if (t->type == LODE_F32 && dense(t)) return (const float *)(const void *)(row + bytes_before(t, i0));
    lode_load(t, row, i0, n, buf);
    return buf;
}
