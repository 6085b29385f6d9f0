/* kern_bench.c - what the CPU kernels reach: GB/s of weights with one column, GMAC/s with many, beside the machine's
 * read bandwidth, per weight type and row length; then rows of floats and attention.
 * Usage: kern_bench [-isa NAME] [-t THREADS] [-mb MEGABYTES] [-op OP] [TYPE...]   (make bench-op OP=matmul)
 * Figures are medians of 5 rounds. */
#include "base/clock.h"
#include "base/mem.h"
#include "cpu/kern/kern.h"
#include "lode/quant.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, MAX_THREADS = 16 };

typedef struct {
    const lode_kern *kern;
    lode_gemm_fn fn;
    lode_gemm_args args;
    int64_t row0, row1;
    int64_t sum;
} job;

static void *run_gemm(void *p) {
    job *j = p;
    j->fn(&j->args, j->row0, j->row1);
    return NULL;
}

static void *run_read(void *p) {
    job *j = p;
    const int64_t *w = j->args.w;
    int64_t s[8] = { 0 };
    for (int64_t i = j->row0; i + 64 <= j->row1; i += 64) {
        for (int k = 0; k < 64; k += 8) __builtin_prefetch(w + i + k + 512);
        for (int k = 0; k < 64; k++) s[k % 8] += w[i + k];
    }
    for (int i = 0; i < 8; i++) j->sum += s[i];
    return NULL;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds of one pass over [0, rows) cut between the threads; median. */
static double measure(void *(*fn)(void *), const job *proto, int64_t rows, int threads, void **scratch) {
    double t[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        job j[MAX_THREADS];
        pthread_t id[MAX_THREADS];
        const int64_t t0 = lode_clock_ns();
        for (int i = 0; i < threads; i++) {
            j[i] = *proto;
            j[i].row0 = rows / 64 * i / threads * 64;
            j[i].row1 = i + 1 == threads ? rows : rows / 64 * (i + 1) / threads * 64;
            j[i].args.scratch = scratch[i];
            if (i > 0 && pthread_create(&id[i], NULL, fn, &j[i]) != 0) exit(1);
        }
        fn(&j[0]);
        for (int i = 1; i < threads; i++) pthread_join(id[i], NULL);
        t[r] = (double)(lode_clock_ns() - t0) * 1e-9;
    }
    qsort(t, ROUNDS, sizeof *t, by_value);
    return t[ROUNDS / 2];
}

/* 16 encoded rows, again and again: values of the usual size, since subnormal floats would be slow. */
static void fill(lode_type type, int64_t k, uint8_t *w, size_t rows, size_t stride) {
    float *v = lode_calloc((size_t)k, 16 * sizeof(float));
    uint32_t seed = 1;
    for (int64_t i = 0; i < 16 * k; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)(seed >> 8) * 0x1p-24f - 0.5f;
    }
    for (int64_t r = 0; r < 16; r++)
        if (!lode_encode_row(type, v + r * k, w + (size_t)r * stride, k)) exit(1);
    for (size_t r = 16; r < rows; r++) memcpy(w + r * stride, w + r % 16 * stride, stride);
    free(v);
}

static void bench_type(const lode_kern *kern, lode_type type, int threads, uint8_t *w, size_t mem) {
    static const int64_t ks[] = { 576, 1536, 640, 2048, 4096 };
    static const int64_t cols[] = { 1, 2, 4, 8, 64, 512 };
    const bool f32 = type == LODE_F32 || type == LODE_F16 || type == LODE_BF16;
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        size_t stride, x_stride;
        if (!lode_row_bytes(type, ks[i], &stride) || !lode_row_bytes(f32 ? LODE_F32 : LODE_Q8A, ks[i], &x_stride))
            continue;
        fill(type, ks[i], w, mem / stride, stride);
        printf("%-6s k=%-5lld", lode_type_name(type), (long long)ks[i]);
        for (size_t c = 0; c < sizeof cols / sizeof *cols; c++) {
            int64_t rows = (int64_t)(mem / stride) / 64 * 64;
            if (cols[c] > 8 && rows > 32768) rows = 32768;
            if (cols[c] > 64 && rows > 4096) rows = 4096;
            uint8_t *x = lode_calloc((size_t)cols[c], x_stride);
            float *y = lode_calloc((size_t)cols[c], sizeof(float) * (size_t)rows), *v = lode_calloc((size_t)ks[i], 4);
            for (int64_t k = 0; k < ks[i]; k++) v[k] = (float)(k % 17) - 8.0f;
            for (int64_t n = 0; n < cols[c]; n++) {
                if (f32)
                    memcpy(x + (size_t)n * x_stride, v, x_stride);
                else
                    kern->quantize_q8a(v, x + (size_t)n * x_stride, ks[i]);
            }
            void *scratch[MAX_THREADS];
            for (int t = 0; t < threads; t++)
                scratch[t] = lode_aligned_alloc(kern->gemm_scratch(type, ks[i], cols[c], f32) + 64, 64);
            const job j = { kern,
                            kern->gemm[type],
                            { w, stride, x, x_stride, y, sizeof(float) * (size_t)rows, ks[i], cols[c], NULL },
                            0,
                            0,
                            0 };
            const double s = measure(run_gemm, &j, rows, threads, scratch);
            if (cols[c] <= 4)
                printf("  c%lld %5.1f GB/s", (long long)cols[c], (double)rows * (double)stride / s * 1e-9);
            else
                printf("  c%lld %5.0f GMAC/s", (long long)cols[c], (double)(rows * ks[i] * cols[c]) / s * 1e-9);
            for (int t = 0; t < threads; t++) lode_aligned_free(scratch[t]);
            free(x);
            free(y);
            free(v);
        }
        printf("\n");
    }
}

/* One thread: a prompt of n tokens against itself, or one token against n cells; one KV head, F16. */
static void bench_attention(const lode_kern *kern, int32_t group, int32_t d, int32_t n, int32_t n_tok) {
    enum { UNIT = 16 };
    const int32_t pages = n / LODE_KV_PAGE + 1;
    uint16_t *kv = lode_calloc((size_t)(pages * LODE_KV_PAGE) * 2, (size_t)d * 2);
    float *q = lode_calloc((size_t)(n_tok * group * d), 4), *out = lode_calloc((size_t)(n_tok * group * d), 4);
    int32_t *table = lode_calloc((size_t)pages, 4), *lo = lode_calloc((size_t)n_tok, 4),
            *hi = lode_calloc((size_t)n_tok, 4);
    for (int32_t i = 0; i < pages; i++) table[i] = i;
    for (int32_t i = 0; i < n_tok; i++) hi[i] = n - n_tok + i + 1;
    for (int32_t i = 0; i < n_tok * group * d; i++) q[i] = (float)(i % 13) * 0.1f;
    for (int32_t i = 0; i < pages * LODE_KV_PAGE * 2 * d; i++) kv[i] = (uint16_t)(0x2c00 + i % 511);
    void *scratch = lode_aligned_alloc(kern->attn_scratch(d, d, UNIT, group) + 64, 64);
    double t[ROUNDS], macs = 0;
    for (int32_t i = 0; i < n_tok; i++) macs += 2.0 * hi[i] * group * d;
    const int repeat = (int)(2e8 / macs) + 1;
    for (int r = 0; r < ROUNDS; r++) {
        const int64_t t0 = lode_clock_ns();
        for (int k = 0; k < repeat; k++) {
            for (int32_t i = 0; i < n_tok; i += UNIT) {
                lode_attn_args a = { .q = q + i * group * d,
                                     .q_tok_stride = (size_t)(group * d) * 4,
                                     .q_head_stride = (size_t)d * 4,
                                     .out = out + i * group * d,
                                     .out_tok_stride = (size_t)(group * d) * 4,
                                     .out_head_stride = (size_t)d * 4,
                                     .k = kv,
                                     .v = kv + d,
                                     .k_stride = (size_t)d * 4,
                                     .v_stride = (size_t)d * 4,
                                     .kv_type = LODE_F16,
                                     .pages = table,
                                     .lo = lo + i,
                                     .hi = hi + i,
                                     .scale = 0.1f,
                                     .n_tok = n_tok - i < UNIT ? n_tok - i : UNIT,
                                     .n_head = group,
                                     .d_k = d,
                                     .d_v = d,
                                     .scratch = scratch };
                kern->attn(&a);
            }
        }
        t[r] = (double)(lode_clock_ns() - t0) * 1e-9 / repeat;
    }
    qsort(t, ROUNDS, sizeof *t, by_value);
    printf("attention %d heads of %d, %d tokens on %d cells: %.2f us, %.1f GMAC/s\n", group, d, n_tok, n,
           t[ROUNDS / 2] * 1e6, macs / t[ROUNDS / 2] * 1e-9);
    free(kv), free(q), free(out), free(table), free(lo), free(hi);
    lode_aligned_free(scratch);
}

/* Rows of floats: an op of the graph and one call of its kernel. */
enum { ROW = 1536, REPEAT = 2000 };
typedef struct {
    float a[ROW], b[ROW], y[ROW];
    uint8_t q[ROW / 32 * 44];
} row;

static void row_add(const lode_kern *k, row *r) { k->add(r->a, r->b, r->y, ROW); }
static void row_mul(const lode_kern *k, row *r) { k->mul(r->a, r->b, r->y, ROW); }
static void row_scale(const lode_kern *k, row *r) { k->scale(r->a, r->y, ROW, 0.5f, 0.0f); }
static void row_silu(const lode_kern *k, row *r) { k->silu(r->a, r->y, ROW); }
static void row_gelu(const lode_kern *k, row *r) { k->gelu(r->a, r->y, ROW); }
static void row_tanh(const lode_kern *k, row *r) { k->tanh(r->a, r->y, ROW); }
static void row_softcap(const lode_kern *k, row *r) { k->softcap(r->a, r->y, ROW, 30.0f); }
static void row_swiglu(const lode_kern *k, row *r) { k->swiglu(r->a, r->b, r->y, ROW); }
static void row_geglu(const lode_kern *k, row *r) { k->geglu(r->a, r->b, r->y, ROW); }
static void row_rms_norm(const lode_kern *k, row *r) { k->rms_norm(r->a, NULL, r->y, ROW, 1e-5f); }
static void row_norm_mul(const lode_kern *k, row *r) { k->rms_norm(r->a, r->b, r->y, ROW, 1e-5f); }
static void row_layer_norm(const lode_kern *k, row *r) { k->layer_norm(r->a, NULL, NULL, r->y, ROW, 1e-5f); }
static void row_l2_norm(const lode_kern *k, row *r) { k->l2_norm(r->a, r->y, ROW, 1e-5f); }
static void row_quant_act(const lode_kern *k, row *r) { k->quantize_q8a(r->a, r->q, ROW); }
static void row_rope(const lode_kern *k, row *r) {
    k->rope(r->a, 256, r->b, r->y, 256, (const int32_t[]){ ROW / 64, 64, 64 }, LODE_ROPE_HALVES);
}
static void row_rope_pairs(const lode_kern *k, row *r) {
    k->rope(r->a, 256, r->b, r->y, 256, (const int32_t[]){ ROW / 64, 64, 64 }, LODE_ROPE_PAIRS);
}

static const struct {
    const char *op, *note;
    void (*run)(const lode_kern *k, row *r);
} rows[] = {
    { "add", "", row_add },           { "mul", "", row_mul },
    { "scale", "", row_scale },       { "silu", "", row_silu },
    { "gelu", "", row_gelu },         { "tanh", "", row_tanh },
    { "softcap", "", row_softcap },   { "swiglu", "", row_swiglu },
    { "geglu", "", row_geglu },       { "rms_norm", "", row_rms_norm },
    { "norm_mul", "", row_norm_mul }, { "layer_norm", "", row_layer_norm },
    { "l2_norm", "", row_l2_norm },   { "quant_act", "", row_quant_act },
    { "rope", " halves", row_rope },  { "rope", " pairs", row_rope_pairs },
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Whether an op was asked for; all are without -op. */
static bool wanted(const char *only, const char *op) { return !only || strcmp(only, op) == 0; }

static bool known(const char *op) {
    bool is_row = false;
    for (int i = 0; i < N_ROWS; i++) is_row = is_row || strcmp(rows[i].op, op) == 0;
    return is_row || strcmp(op, "matmul") == 0 || strcmp(op, "attend") == 0;
}

/* Nanoseconds of one call. */
static void bench_rows(const lode_kern *k, const char *only) {
    static row r;
    for (int i = 0; i < ROW; i++) r.a[i] = (float)(i % 37) * 0.1f - 1.5f, r.b[i] = (float)(i % 11);
    for (int i = 0; i < N_ROWS; i++) {
        if (!wanted(only, rows[i].op)) continue;
        double t[ROUNDS];
        for (int n = 0; n < ROUNDS; n++) {
            const int64_t t0 = lode_clock_ns();
            for (int c = 0; c < REPEAT; c++) rows[i].run(k, &r);
            t[n] = (double)(lode_clock_ns() - t0) / (double)REPEAT;
        }
        qsort(t, ROUNDS, sizeof *t, by_value);
        printf("%s%s %.0f ns on %d floats\n", rows[i].op, rows[i].note, t[ROUNDS / 2], ROW);
    }
}

static void bench_matmul(const lode_kern *kern, int threads, size_t mem, const bool *want) {
    uint8_t *w = lode_aligned_alloc(mem, 4096);
    if (!w) exit(1);
    memset(w, 1, mem);
    job j = { .args = { .w = w } };
    void *none[MAX_THREADS] = { NULL };
    const double s = measure(run_read, &j, (int64_t)(mem / 8), threads, none);
    printf("%d threads; read bandwidth %.1f GB/s\n", threads, (double)mem / s * 1e-9);
    for (int t = 0; t < LODE_N_TYPE; t++)
        if (want[t] && kern->gemm[t]) bench_type(kern, (lode_type)t, threads, w, mem);
    lode_aligned_free(w);
}

int main(int argc, char **argv) {
    const lode_kern *kern = lode_kern_best();
    lode_err err = { 0 };
    int threads = 1;
    size_t mem = (size_t)200 << 20;
    const char *only = NULL;
    bool all = true, want[LODE_N_TYPE] = { false };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-isa") == 0 && i + 1 < argc) {
            if (lode_kern_by_name(&kern, argv[++i], &err) != LODE_OK) return fprintf(stderr, "%s\n", err.text), 1;
        } else if (strcmp(argv[i], "-t") == 0 && i + 1 < argc) {
            threads = atoi(argv[++i]);
        } else if (strcmp(argv[i], "-mb") == 0 && i + 1 < argc) {
            mem = (size_t)atoi(argv[++i]) << 20;
        } else if (strcmp(argv[i], "-op") == 0 && i + 1 < argc) {
            only = argv[++i];
            if (!known(only))
                return fprintf(stderr, "kern_bench: no figures of %s (the table in the source)\n", only), 2;
        } else if (lode_type_of_name(argv[i]) != LODE_N_TYPE) {
            want[lode_type_of_name(argv[i])] = true;
            all = false;
        } else {
            return fprintf(stderr, "usage: kern_bench [-isa NAME] [-t THREADS] [-mb MEGABYTES] [-op OP] [TYPE...]\n"),
                   2;
        }
    }
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    for (int t = 0; t < LODE_N_TYPE; t++) want[t] = want[t] || all;
    printf("%s\n", kern->name);
    if (wanted(only, "matmul")) bench_matmul(kern, threads, mem, want);
    bench_rows(kern, only);
    if (!wanted(only, "attend")) return 0;
    bench_attention(kern, 3, 64, 512, 512);
    bench_attention(kern, 4, 256, 512, 512);
    bench_attention(kern, 3, 64, 128, 1);
    bench_attention(kern, 3, 64, 2048, 1);
    bench_attention(kern, 4, 256, 512, 1);
    return 0;
}
