/* rows.h - indices of rows, i32 or i64, with any distances. */
#ifndef LODE_OPS_ROWS_H
#define LODE_OPS_ROWS_H

#include "graph/host.h"

static inline int64_t lode_row_id(const lode_tensor *ids, int64_t i, int64_t j, int64_t k) {
    const char *p = lode_host(ids) + (size_t)i * ids->nb[0] + (size_t)j * ids->nb[1] + (size_t)k * ids->nb[2];
    return ids->type == LODE_I64 ? *(const int64_t *)(const void *)p : *(const int32_t *)(const void *)p;
}

/* get_rows: the row that row r of the result comes from; NULL for an index outside. */
const char *lode_get_rows_at(const lode_tensor *t, int64_t r);
/* set_rows: the row of the target that row r of the values goes to; NULL for an index outside. */
char *lode_set_rows_at(const lode_tensor *t, int64_t r);
#endif
