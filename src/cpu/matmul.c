/* matmul.c - matrix products: threads claim runs of weight rows. */
#include "cpu/kernels.h"

#include <string.h>

/* Runs of rows per thread: enough to even out threads of different speed, few enough to keep each run's weights one
 * long read. */
enum { RUNS_PER_THREAD = 6 };

const char *lode_cpu_accepts_gemm_q8a(const lode_kern *k, const lode_tensor *t) {
    if (t->src[1]->type != LODE_Q8A) return "activations are not quantised";
    return lode_type_block(t->src[0]->type) > 1 && k->gemm[t->src[0]->type] ? NULL : "no integer kernel for this type";
}

const char *lode_cpu_accepts_gemm_plain(const lode_kern *k, const lode_tensor *t) {
    if (t->src[1]->type != LODE_F32) return "activations are quantised";
    return lode_type_block(t->src[0]->type) == 1 && k->gemm[t->src[0]->type] ? NULL : "weights are quantised";
}

const char *lode_cpu_accepts_gemm_f32(const lode_kern *k, const lode_tensor *t) {
    if (t->src[1]->type != LODE_F32) return "activations are quantised";
    return k->gemm_f32[t->src[0]->type] ? NULL : "weights of this type are not decoded";
}

size_t lode_cpu_size_gemm(const lode_kern *k, const lode_tensor *t) {
    return k->gemm_scratch(t->src[0]->type, t->src[0]->ne[0], t->src[1]->ne[1], false);
}

size_t lode_cpu_size_gemm_f32(const lode_kern *k, const lode_tensor *t) {
    return k->gemm_scratch(t->src[0]->type, t->src[0]->ne[0], t->src[1]->ne[1], true);
}

/* Adds rows [from, to) of c, one row of it per column or one for all. */
static void add_rows(const lode_cpu_work *w, int64_t from, int64_t to) {
    const lode_tensor *t = w->t;
    for (int64_t c = 0; c < t->ne[1]; c++) {
        const float *add = (const float *)(const void *)lode_host_row(t->src[2], t->src[2]->ne[1] == 1 ? 0 : c, 0, 0);
        float *y = (float *)(void *)lode_host_row(t, c, 0, 0);
        w->k->add(y + from, add + from, y + from, to - from);
    }
}

/* Matrix b of a batch. */
static lode_gemm_args args_of(const lode_cpu_work *w, int64_t b) {
    const lode_tensor *t = w->t, *a = t->src[0], *x = t->src[1];
    const int64_t i2 = b % t->ne[2], i3 = b / t->ne[2];
    return (lode_gemm_args){
        .w = lode_host_row(a, 0, i2 / (x->ne[2] / a->ne[2]), i3 / (x->ne[3] / a->ne[3])),
        .w_stride = a->nb[1],
        .x = lode_host_row(x, 0, i2, i3),
        .x_stride = x->nb[1],
        .y = (float *)(void *)lode_host_row(t, 0, i2, i3),
        .y_stride = t->nb[1],
        .k = a->ne[0],
        .n_cols = t->ne[1],
        .scratch = w->scratch,
    };
}

/* Into how many runs of whole tiles the rows of one of n products are cut; 0 where there is nothing to do. */
static int64_t runs_of(const lode_cpu_work *w, int64_t rows, int64_t n) {
    if (n == 0) return 0;
    const int64_t tile = w->k->row_tile, tiles = (rows + tile - 1) / tile;
    const int64_t want = ((int64_t)w->n_tasks * RUNS_PER_THREAD + n - 1) / n;
    return tiles < want ? tiles : want;
}

/* Rows [*from, *to) of run i. */
static void run_rows(const lode_cpu_work *w, int64_t rows, int64_t i, int64_t runs, int64_t *from, int64_t *to) {
    const int64_t tile = w->k->row_tile, tiles = (rows + tile - 1) / tile;
    *from = tiles * i / runs * tile;
    *to = tiles * (i + 1) / runs * tile;
    if (*to > rows) *to = rows;
}

static void run(const lode_cpu_work *w, lode_gemm_fn gemm) {
    const lode_tensor *t = w->t;
    const int64_t batches = t->ne[2] * t->ne[3], rows = t->ne[0];
    if (t->ne[1] == 0) return;
    const int64_t runs = runs_of(w, rows, batches);
    for (int64_t i; (i = lode_cpu_claim(w)) < runs * batches;) {
        int64_t from, to;
        const lode_gemm_args args = args_of(w, i / runs);
        run_rows(w, rows, i % runs, runs, &from, &to);
        gemm(&args, from, to);
        if (t->src[2]) add_rows(w, from, to);
    }
}

void lode_cpu_run_matmul(const lode_cpu_work *w) { run(w, w->k->gemm[w->t->src[0]->type]); }
void lode_cpu_run_matmul_f32(const lode_cpu_work *w) { run(w, w->k->gemm_f32[w->t->src[0]->type]); }

/* ---- Each column times the matrix that its id names -----------------------------------------------------------------
 *
 * Threads claim runs of rows of experts. The columns of an expert are gathered, multiplied together, and scattered.
 * Behind the last expert stands one more, with the columns whose id names none: they become zeros. */

enum { GATHER = 64 }; /* columns at once */

typedef struct {
    int32_t *columns; /* all columns of the expert at hand: e + t * n_used */
    char *x;          /* GATHER rows of activations */
    float *y;         /* GATHER columns of results */
    void *gemm;
} id_scratch;

static size_t round64(size_t n) { return (n + 63) / 64 * 64; }

static size_t x_row_bytes(const lode_tensor *t) {
    size_t bytes = 0;
    lode_row_bytes(t->src[1]->type, t->src[1]->ne[0], &bytes);
    return round64(bytes);
}

static size_t id_size(const lode_kern *k, const lode_tensor *t, bool f32) {
    return round64((size_t)(t->ne[1] * t->ne[2]) * sizeof(int32_t)) + GATHER * x_row_bytes(t) +
           round64(GATHER * (size_t)t->ne[0] * sizeof(float)) +
           k->gemm_scratch(t->src[0]->type, t->src[0]->ne[0], GATHER, f32);
}

size_t lode_cpu_size_gemm_id(const lode_kern *k, const lode_tensor *t) { return id_size(k, t, false); }
size_t lode_cpu_size_gemm_id_f32(const lode_kern *k, const lode_tensor *t) { return id_size(k, t, true); }

static id_scratch cut_scratch(const lode_cpu_work *w) {
    const lode_tensor *t = w->t;
    id_scratch s = { .columns = w->scratch };
    s.x = (char *)w->scratch + round64((size_t)(t->ne[1] * t->ne[2]) * sizeof(int32_t));
    s.y = (float *)(void *)(s.x + GATHER * x_row_bytes(t));
    s.gemm = (char *)(void *)s.y + round64(GATHER * (size_t)t->ne[0] * sizeof(float));
    return s;
}

static int64_t columns_of(const lode_tensor *t, int64_t expert, int32_t *out) {
    const int64_t none = t->src[0]->ne[2];
    int64_t n = 0;
    for (int64_t c = 0; c < t->ne[2]; c++) {
        const int32_t *ids = (const int32_t *)(const void *)lode_host_row(t->src[2], c, 0, 0);
        for (int64_t e = 0; e < t->ne[1]; e++)
            if ((ids[e] >= 0 && ids[e] < none ? ids[e] : none) == expert) out[n++] = (int32_t)(e + c * t->ne[1]);
    }
    return n;
}

static const char *x_row(const lode_tensor *t, int32_t column) {
    const lode_tensor *x = t->src[1];
    return lode_host_row(x, column % t->ne[1] % x->ne[1], column / t->ne[1], 0);
}

static float *y_row(const lode_tensor *t, int32_t column) {
    return (float *)(void *)lode_host_row(t, column % t->ne[1], column / t->ne[1], 0);
}

/* n of an expert's columns times its rows [from, to). */
static void some_columns(const lode_cpu_work *w, lode_gemm_fn gemm, const id_scratch *s, int64_t expert,
                         const int32_t *columns, const int64_t part[3]) {
    const lode_tensor *t = w->t, *a = t->src[0];
    const int64_t n = part[0], from = part[1], rows = part[2] - from;
    const size_t stride = x_row_bytes(t);
    lode_gemm_args args = {
        .w = lode_host_row(a, from, expert, 0),
        .w_stride = a->nb[1],
        .x = n == 1 ? x_row(t, columns[0]) : s->x,
        .x_stride = stride,
        .y = n == 1 ? y_row(t, columns[0]) + from : s->y,
        .y_stride = (size_t)rows * sizeof(float),
        .k = a->ne[0],
        .n_cols = n,
        .scratch = s->gemm,
    };
    size_t bytes = 0;
    lode_row_bytes(t->src[1]->type, a->ne[0], &bytes);
    for (int64_t i = 0; i < n && n > 1; i++) memcpy(s->x + (size_t)i * stride, x_row(t, columns[i]), bytes);
    gemm(&args, 0, rows);
    for (int64_t i = 0; i < n && n > 1; i++)
        memcpy(y_row(t, columns[i]) + from, s->y + i * rows, (size_t)rows * sizeof(float));
}

static void run_id(const lode_cpu_work *w, lode_gemm_fn gemm) {
    const lode_tensor *t = w->t;
    const int64_t experts = t->src[0]->ne[2], n_columns = t->ne[1] * t->ne[2];
    const int64_t runs = runs_of(w, t->ne[0], experts < n_columns ? experts + 1 : n_columns);
    const id_scratch s = cut_scratch(w);
    int64_t at = -1, n = 0;
    for (int64_t i; (i = lode_cpu_claim(w)) < runs * (experts + 1);) {
        if (i / runs != at) n = columns_of(t, at = i / runs, s.columns);
        int64_t from, to;
        run_rows(w, t->ne[0], i % runs, runs, &from, &to);
        for (int64_t c = 0; c < n && at == experts; c++)
            memset(y_row(t, s.columns[c]) + from, 0, (size_t)(to - from) * sizeof(float));
        for (int64_t c = 0; c < n && at < experts; c += GATHER)
            some_columns(w, gemm, &s, at, s.columns + c,
                         (const int64_t[]){ n - c < GATHER ? n - c : GATHER, from, to });
    }
}

void lode_cpu_run_matmul_id(const lode_cpu_work *w) { run_id(w, w->k->gemm[w->t->src[0]->type]); }
void lode_cpu_run_matmul_id_f32(const lode_cpu_work *w) { run_id(w, w->k->gemm_f32[w->t->src[0]->type]); }
