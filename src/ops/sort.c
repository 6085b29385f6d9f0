/* sort.c - order of the elements of each row: all of them, or the k largest. Indices are sorted where they are written,
 * by heaps (Williams 1964), so nothing else is needed. */
#include "graph/elem.h"
#include "graph/graph.h"
#include "ops/case.h"

typedef struct {
    int32_t descending;
    int64_t k;
} sort_par;

/* A heap of indices whose root comes last in the order; equal values keep the order of their indices. */
typedef struct {
    const float *x;
    int32_t *heap;
    bool descending;
} heap;

static bool comes_later(const heap *h, int32_t a, int32_t b) {
    const float x = h->x[a], y = h->x[b];
    if (x == y) return a > b;
    return h->descending ? x < y : x > y;
}

static void sink(const heap *h, int64_t i, int64_t n) {
    const int32_t moved = h->heap[i];
    for (int64_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && comes_later(h, h->heap[c + 1], h->heap[c])) c++;
        if (!comes_later(h, h->heap[c], moved)) break;
        h->heap[i] = h->heap[c];
    }
    h->heap[i] = moved;
}

static void make_heap(const heap *h, int64_t n) {
    for (int64_t i = 0; i < n; i++) h->heap[i] = (int32_t)i;
    for (int64_t i = n / 2; i-- > 0;) sink(h, i, n);
}

static void sort_heap(const heap *h, int64_t n) {
    for (int64_t last = n - 1; last > 0; last--) {
        const int32_t root = h->heap[0];
        h->heap[0] = h->heap[last];
        h->heap[last] = root;
        sink(h, 0, last);
    }
}

static heap heap_of(const lode_tensor *t, int64_t r) {
    return (heap){ .x = (const float *)(const void *)lode_host_nth_row(t->src[0], r),
                   .heap = (int32_t *)(void *)lode_host_nth_row(t, r),
                   .descending = LODE_PAR(t, sort_par)->descending };
}

lode_tensor *lode_argsort(lode_graph *g, lode_tensor *x, bool descending) {
    const sort_par par = { .descending = descending };
    return lode_op_new1(g, LODE_ARGSORT, &par, sizeof par, x);
}

static lode_status infer(lode_tensor *t, lode_err *err) {
    LODE_TRY(lode_want_type(t, 0, LODE_F32, err));
    LODE_TRY(lode_want_rows(t, 0, err));
    LODE_TRY(lode_want(t, t->src[0]->ne[0] <= INT32_MAX, "rows are too long for 32-bit indices", err));
    return lode_like(t, 0, LODE_I32, err);
}

static void ref_argsort(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        const heap h = heap_of(t, r);
        make_heap(&h, t->ne[0]);
        sort_heap(&h, t->ne[0]);
    }
}

static lode_tensor *make_argsort(lode_graph *g, const lode_case *c) {
    return lode_argsort(g, c->src[0], lode_case_num(c, "down", 0) != 0);
}

const lode_op_info lode_op_argsort = {
    .name = "argsort",
    .doc = "indices of each row's elements in order",
    .n_src = 1,
    .infer = infer,
    .ref = ref_argsort,
    .make = make_argsort,
    .cases = "x=f32[1] | x=f32[63,3] | x=f32[1000,2]+3 down=1 | x=f32[2,5,3] down=1",
};

lode_tensor *lode_top_k(lode_graph *g, lode_tensor *x, int64_t k) {
    const sort_par par = { .descending = 1, .k = k };
    return lode_op_new1(g, LODE_TOP_K, &par, sizeof par, x);
}

static lode_status infer_top(lode_tensor *t, lode_err *err) {
    const int64_t k = LODE_PAR(t, sort_par)->k;
    LODE_TRY(infer(t, err));
    LODE_TRY(lode_want(t, k > 0 && k <= t->ne[0], "want 1 to all elements of a row", err));
    t->ne[0] = k;
    return lode_dense(t, err);
}

static void ref_top(const lode_tensor *t, int64_t from, int64_t to) {
    for (int64_t r = from; r < to; r++) {
        const heap h = heap_of(t, r);
        make_heap(&h, t->ne[0]);
        for (int64_t i = t->ne[0]; i < t->src[0]->ne[0]; i++) {
            if (!comes_later(&h, h.heap[0], (int32_t)i)) continue;
            h.heap[0] = (int32_t)i;
            sink(&h, 0, t->ne[0]);
        }
        sort_heap(&h, t->ne[0]);
    }
}

static lode_tensor *make_top(lode_graph *g, const lode_case *c) {
    return lode_top_k(g, c->src[0], (int64_t)lode_case_num(c, "k", 1));
}

const lode_op_info lode_op_top_k = {
    .name = "top_k",
    .doc = "indices of the k largest elements of each row, largest first",
    .n_src = 1,
    .infer = infer_top,
    .ref = ref_top,
    .make = make_top,
    .cases = "x=f32[1] | x=f32[63,3] k=5 | x=f32[1000,2]+3 k=100 | x=f32[7,5,3] k=7",
};
