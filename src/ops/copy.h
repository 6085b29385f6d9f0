/* copy.h - parameters of copy and the walk that its reference and its kernels share: elements in logical order, in runs
 * that stay in one row of either side. */
#ifndef LODE_OPS_COPY_H
#define LODE_OPS_COPY_H

#include "graph/elem.h"

typedef struct lode_copy_par {
    int32_t type, reshaped; /* reshaped: sizes of the result stand in ne, else they are the source's */
    int64_t ne[LODE_MAX_DIMS];
} lode_copy_par;

/* n elements from element s0 of a row of s to element d0 of a row of t. Whole blocks of either type. */
typedef void lode_copy_run_fn(const void *ctx, const lode_tensor *t, char *row, int64_t d0, const char *from,
                              int64_t s0, int64_t n);

enum { LODE_COPY_CHUNK = 4096 }; /* elements of a unit: a multiple of every block */

static inline int64_t lode_copy_units(const lode_tensor *t) {
    return lode_n_rows(t) * ((t->ne[0] + LODE_COPY_CHUNK - 1) / LODE_COPY_CHUNK);
}

/* Elements [at, end) in logical order of t, which lie in one row of it. */
static inline void lode_copy_piece(const lode_tensor *t, int64_t at, int64_t end, lode_copy_run_fn *run,
                                   const void *ctx) {
    const lode_tensor *s = t->src[0];
    while (at < end) {
        const int64_t s0 = at % s->ne[0], d0 = at % t->ne[0];
        int64_t n = s->ne[0] - s0;
        if (n > end - at) n = end - at;
        run(ctx, t, lode_host_nth_row(t, at / t->ne[0]), d0, lode_host_nth_row(s, at / s->ne[0]), s0, n);
        at += n;
    }
}

static inline void lode_copy_walk(const lode_tensor *t, int64_t from, int64_t to, lode_copy_run_fn *run,
                                  const void *ctx) {
    const int64_t chunks = (t->ne[0] + LODE_COPY_CHUNK - 1) / LODE_COPY_CHUNK;
    for (int64_t u = from; u < to; u++) {
        const int64_t i = u % chunks * LODE_COPY_CHUNK, row = u / chunks * t->ne[0];
        lode_copy_piece(t, row + i, row + (i + LODE_COPY_CHUNK < t->ne[0] ? i + LODE_COPY_CHUNK : t->ne[0]), run, ctx);
    }
}

/* The run of the reference. */
lode_copy_run_fn lode_copy_run;
/* n elements of one type, whole blocks, between rows with any distance of elements. */
void lode_copy_same(const lode_tensor *t, char *row, int64_t d0, const lode_tensor *s, const char *from, int64_t s0,
                    int64_t n);
#endif
