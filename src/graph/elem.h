/* elem.h - values of a tensor as floats, whatever its type and strides: what references and the general kernels read
 * and write through, in pieces of a row that fit the cache. */
#ifndef LODE_GRAPH_ELEM_H
#define LODE_GRAPH_ELEM_H

#include "graph/host.h"

enum { LODE_PIECE = 256 }; /* a multiple of every block */

/* Elements i0 .. i0+n-1 of the row of t that starts at `row` (lode_host_row) as floats. i0 and n are whole blocks. A
 * type without values in floats (integers have them) gives NaN. */
void lode_load(const lode_tensor *t, const char *row, int64_t i0, int64_t n, float *out);
/* The other way; a type without an encoder is not written. */
void lode_store(const lode_tensor *t, char *row, int64_t i0, int64_t n, const float *x);
/* The same without copying rows that are dense f32: the address of the elements, or `buf` with them. */
const float *lode_peek(const lode_tensor *t, const char *row, int64_t i0, int64_t n, float *buf);

/* The row of a source that goes with row r of the result when smaller sizes repeat: index modulo size. */
static inline char *lode_host_repeated_row(const lode_tensor *s, const lode_tensor *t, int64_t r) {
    const int64_t i1 = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
    return lode_host_row(s, i1 % s->ne[1], i2 % s->ne[2], i3 % s->ne[3]);
}
#endif
