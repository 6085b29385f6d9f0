/* matmul.c - matrix products: threads claim runs of weight rows. */
#include "cpu/kernels.h"

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

static void run(const lode_cpu_work *w, lode_gemm_fn gemm) {
    const lode_tensor *t = w->t, *a = t->src[0], *x = t->src[1];
    if (t->ne[1] == 0) return;
    const int64_t tile = w->k->row_tile, tiles = (a->ne[1] + tile - 1) / tile;
    const int64_t runs = tiles < (int64_t)w->n_tasks * RUNS_PER_THREAD ? tiles : (int64_t)w->n_tasks * RUNS_PER_THREAD;
    const lode_gemm_args args = {
        .w = lode_host(a),
        .w_stride = a->nb[1],
        .x = lode_host(x),
        .x_stride = x->nb[1],
        .y = (float *)(void *)lode_host(t),
        .y_stride = t->nb[1],
        .k = a->ne[0],
        .n_cols = t->ne[1],
        .scratch = w->scratch,
    };
    for (int64_t i; (i = lode_cpu_claim(w)) < runs;) {
        const int64_t from = tiles * i / runs * tile;
        int64_t to = tiles * (i + 1) / runs * tile;
        if (to > a->ne[1]) to = a->ne[1];
        gemm(&args, from, to);
        if (t->src[2]) add_rows(w, from, to);
    }
}

void lode_cpu_run_matmul(const lode_cpu_work *w) { run(w, w->k->gemm[w->t->src[0]->type]); }
void lode_cpu_run_matmul_f32(const lode_cpu_work *w) { run(w, w->k->gemm_f32[w->t->src[0]->type]); }
