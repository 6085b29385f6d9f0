/* kv_store.c - writes new keys or values into their cells of a cache. The result is the cache itself, so that what
 * reads it comes after. */
#include "graph/graph.h"
#include "graph/host.h"
#include "lode/quant.h"
#include "ops/case.h"

#include <string.h>

lode_tensor *lode_kv_store(lode_graph *g, lode_tensor *cache, lode_tensor *x, lode_tensor *slots) {
    return lode_op_new3(g, LODE_KV_STORE, NULL, 0, cache, x, slots);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    lode_tensor *cache = t->src[0];
    const lode_tensor *x = t->src[1], *slots = t->src[2];
    LODE_TRY(lode_want_type(t, 1, LODE_F32, err));
    LODE_TRY(lode_want_type(t, 2, LODE_I32, err));
    for (int i = 0; i < 3; i++) LODE_TRY(lode_want_rows(t, i, err));
    LODE_TRY(lode_want(t, lode_type_can_encode(cache->type) || cache->type == LODE_F32,
                       "the cache's type has no encoder", err));
    const bool heads = x->ne[0] * x->ne[1] == cache->ne[0]; /* one head is heads, too */
    const int64_t tokens = heads ? x->ne[2] : x->ne[1];
    LODE_TRY(lode_want(t, heads ? x->nb[1] == x->nb[0] * (size_t)x->ne[0] : x->ne[0] == cache->ne[0],
                       "want rows as wide as the cache", err));
    LODE_TRY(lode_want(t, tokens == slots->ne[0] && x->ne[3] == 1, "want one slot per token", err));
    t->type = cache->type;
    memcpy(t->ne, cache->ne, sizeof t->ne);
    memcpy(t->nb, cache->nb, sizeof t->nb);
    t->view_of = cache->view_of ? cache->view_of : cache;
    t->view_off = cache->view_off;
    return LODE_OK;
}

static int64_t units(const lode_tensor *t) { return t->src[2]->ne[0]; }

static void ref(const lode_tensor *t, int64_t from, int64_t to) {
    const lode_tensor *x = t->src[1];
    const int32_t *slots = (const int32_t *)(const void *)lode_host(t->src[2]);
    const bool heads = x->ne[0] * x->ne[1] == t->ne[0];
    for (int64_t i = from; i < to; i++) {
        if (slots[i] < 0 || slots[i] >= t->ne[1]) continue;
        const float *row = (const float *)(const void *)(lode_host(x) + (size_t)i * (heads ? x->nb[2] : x->nb[1]));
        char *cell = lode_host_row(t, slots[i], 0, 0);
        if (t->type == LODE_F32)
            memcpy(cell, row, (size_t)t->ne[0] * sizeof *row);
        else
            lode_encode_row(t->type, row, cell, t->ne[0]);
    }
}

static lode_tensor *make(lode_graph *g, const lode_case *c) {
    return lode_kv_store(g, c->src[0], c->src[1], c->src[2]);
}

const lode_op_info lode_op_kv_store = {
    .name = "kv_store",
    .doc = "rows into given rows of a cache",
    .n_src = 3,
    .infer = infer,
    .ref = ref,
    .units = units,
    .make = make,
    .cases =
        "cache=f16[64,256] x=f32[64,3] slots=i32[3]<256 | cache=f32[64,256] x=f32[64,3] slots=i32[3]<256"
        " | cache=f16[192,128] x=f32[64,3,5] slots=i32[5]<128 | cache=f16[64,128] x=f32[64,1,5] slots=i32[5]<128"
        " | cache=f16[64,9] x=f32[64,11] slots=i32[11]<-1..10 | cache=f32[64,9] x=f32[32,2,11] slots=i32[11]<-1..10",
};
