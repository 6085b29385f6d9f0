/* gguf_walk.h - opens bytes as a GGUF file and touches everything that the header says is there. Shared by the fuzzer
 * and the mutation test: whatever the bytes are, this must neither crash nor read outside them. */
#ifndef LODE_TESTS_GGUF_WALK_H
#define LODE_TESTS_GGUF_WALK_H

#include "lode/gguf.h"

#include <string.h>

/* Adds up the bytes at p, so that a sanitizer sees them read. */
static inline uint64_t gguf_walk_sum(const void *p, size_t n) {
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) s += ((const uint8_t *)p)[i];
    return s;
}

static inline uint64_t gguf_walk_values(const lode_gguf *g, const lode_gguf_kv *kv) {
    uint64_t s = gguf_walk_sum(kv->data, kv->data_bytes);
    for (uint64_t i = 0; i < kv->n; i++) {
        lode_slice text;
        int64_t v = 0;
        float f = 0.0f;
        if (lode_gguf_arr_str(g, kv, i, &text)) s += gguf_walk_sum(text.p, text.n);
        if (lode_gguf_arr_i64(kv, i, &v)) s += (uint64_t)v;
        if (lode_gguf_arr_f32(kv, i, &f)) s += f > 0.0f;
    }
    return s;
}

/* The status of opening; *sum gets a number that depends on all that was read. */
static inline lode_status gguf_walk(const void *data, size_t n, uint64_t *sum, lode_err *err) {
    lode_gguf *g;
    const lode_status s = lode_gguf_open_mem(&g, data, n, "walk.gguf", err);
    if (s != LODE_OK) return s;
    for (uint64_t i = 0; i < lode_gguf_n_kv(g); i++) {
        const lode_gguf_kv *kv = lode_gguf_kv_at(g, i);
        uint32_t u = 0;
        bool found;
        char key[64] = { 0 };
        memcpy(key, kv->key.p, kv->key.n < 63 ? kv->key.n : 63);
        lode_gguf_get_u32(g, key, &u, &found, NULL);
        *sum += gguf_walk_values(g, kv) + u;
    }
    for (uint64_t i = 0; i < lode_gguf_n_tensors(g); i++) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(g, i);
        *sum += gguf_walk_sum(lode_gguf_tensor_data(g, t), (size_t)t->bytes) + gguf_walk_sum(t->name.p, t->name.n);
    }
    lode_gguf_close(g);
    return s;
}
#endif
