/* tensor.c - counting what a tensor holds. Sizes were checked when the tensor was made. */
#include "lode/tensor.h"

int64_t lode_n_elements(const lode_tensor *t) { return t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3]; }

int64_t lode_n_rows(const lode_tensor *t) { return t->ne[1] * t->ne[2] * t->ne[3]; }

size_t lode_n_bytes(const lode_tensor *t) {
    if (lode_n_elements(t) == 0) return 0;
    size_t n = (size_t)lode_type_bytes(t->type) + (size_t)(t->ne[0] / lode_type_block(t->type) - 1) * t->nb[0];
    for (int i = 1; i < LODE_MAX_DIMS; i++) n += (size_t)(t->ne[i] - 1) * t->nb[i];
    return n;
}

/* The distance along a dimension of one element never matters. */
bool lode_is_contiguous(const lode_tensor *t) {
    const int64_t blocks = t->ne[0] / lode_type_block(t->type);
    size_t want = (size_t)lode_type_bytes(t->type);
    if (blocks > 1 && t->nb[0] != want) return false;
    want *= (size_t)blocks;
    for (int i = 1; i < LODE_MAX_DIMS; i++) {
        if (t->ne[i] > 1 && t->nb[i] != want) return false;
        want *= (size_t)t->ne[i];
    }
    return true;
}
