/* host.h - addresses of tensors in host memory, for references and CPU kernels. `base` of the buffer comes first in
 * struct lode_buffer, see backend/iface.h. */
#ifndef LODE_GRAPH_HOST_H
#define LODE_GRAPH_HOST_H

#include "lode/tensor.h"

/* The head of every buffer: where its memory starts. */
typedef struct lode_buffer_head {
    char *base;
} lode_buffer_head;

static inline char *lode_host(const lode_tensor *t) {
    return ((const lode_buffer_head *)(const void *)t->buffer)->base + t->offset;
}

static inline char *lode_host_row(const lode_tensor *t, int64_t i1, int64_t i2, int64_t i3) {
    return lode_host(t) + (size_t)i1 * t->nb[1] + (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
}

/* Row r of all rows counted in order of dimensions 1, 2, 3. */
static inline char *lode_host_nth_row(const lode_tensor *t, int64_t r) {
    const int64_t i1 = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
    return lode_host_row(t, i1, i2, i3);
}
#endif
