/* kern_test.c - every table of kernels that this machine runs against plain sums in double, and against itself: any cut
 * of columns, rows, tokens and cells gives the same bits. */
#include "cpu/kern/kern.h"

#include "base/mem.h"
#include "base/test.h"
#include "lode/quant.h"
#include "quant/random.h"

#include <float.h>
#include <math.h>

static const lode_kern *tables[4];
static int n_tables;

static uint32_t seed = 1;
static float noise(void) { /* -1..1 */
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) * 0x1p-23f - 1.0f;
}
static void fill(float *v, int64_t n, float size) {
    for (int64_t i = 0; i < n; i++) v[i] = size * noise();
}

/* A matrix problem with room for every cut. The weights start at an odd address. */
typedef struct {
    lode_type type;
    int64_t k, rows, cols;
    size_t w_bytes, x_bytes;
    uint8_t *w, *x;
    float *y, *w_f, *x_f; /* results; decoded weights and columns */
} problem;

static bool is_float(lode_type t) { return t == LODE_F32 || t == LODE_F16 || t == LODE_BF16; }

/* Weights start off any alignment but that of their element, and end with their memory. */
static size_t shift_of(lode_type t) { return is_float(t) ? (size_t)lode_type_bytes(t) : 1; }

static problem problem_make(const lode_kern *kern, lode_type type, int64_t k, const int64_t size[2], bool f32) {
    problem p = { .type = type, .k = k, .rows = size[0], .cols = size[1] };
    const lode_type xt = f32 || is_float(type) ? LODE_F32 : LODE_Q8A;
    assert_true(lode_row_bytes(type, k, &p.w_bytes) && lode_row_bytes(xt, k, &p.x_bytes));
    p.w = (uint8_t *)lode_calloc(1, (size_t)p.rows * p.w_bytes + shift_of(type)) + shift_of(type);
    p.x = lode_calloc((size_t)p.cols, p.x_bytes);
    p.y = lode_calloc((size_t)p.cols, (size_t)p.rows * sizeof(float));
    p.w_f = lode_calloc((size_t)(p.rows * k), sizeof(float));
    p.x_f = lode_calloc((size_t)(p.cols * k), sizeof(float));
    fill(p.w_f, p.rows * k, 0.7f);
    fill(p.x_f, p.cols * k, 3.0f);
    for (int64_t r = 0; r < p.rows; r++) {
        assert_true(quant_random_row(type, p.w_f + r * k, p.w + (size_t)r * p.w_bytes, k));
        assert_true(lode_decode_row(type, p.w + (size_t)r * p.w_bytes, p.w_f + r * k, k));
    }
    for (int64_t c = 0; c < p.cols; c++) {
        uint8_t *x = p.x + (size_t)c * p.x_bytes;
        if (xt == LODE_F32) {
            memcpy(x, p.x_f + c * k, p.x_bytes);
        } else {
            kern->quantize_q8a(p.x_f + c * k, x, k);
            assert_true(lode_decode_row(xt, x, p.x_f + c * k, k));
        }
    }
    return p;
}

static void problem_free(problem *p) {
    free(p->w - shift_of(p->type));
    free(p->x);
    free(p->y);
    free(p->w_f);
    free(p->x_f);
}

/* Columns col0.. of the problem, n of them, rows row0..row1, into y. */
static void problem_run(const lode_kern *kern, const problem *p, bool f32, const int64_t cut[4], float *y) {
    const size_t bytes = kern->gemm_scratch(p->type, p->k, cut[1], f32);
    lode_gemm_args a = { p->w,
                         p->w_bytes,
                         p->x + (size_t)cut[0] * p->x_bytes,
                         p->x_bytes,
                         y + cut[0] * p->rows,
                         (size_t)p->rows * sizeof(float),
                         p->k,
                         cut[1],
                         lode_aligned_alloc(bytes + 64, 64) };
    memset(a.scratch, 0xff, bytes);
    (f32 ? kern->gemm_f32 : kern->gemm)[p->type](&a, cut[2], cut[3]);
    lode_aligned_free(a.scratch);
}

/* A length of whole blocks of any type that is `small` at least. */
static int64_t whole_blocks(lode_type t, int64_t small) {
    const int64_t block = lode_type_block(t);
    return (small + block - 1) / block * block;
}

TEST(every_type_of_floats_has_a_kernel_for_f32_columns_and_no_other_type_has_one) {
    (void)state_;
    for (int i = 0; i < n_tables; i++)
        for (int t = 0; t < LODE_N_TYPE; t++)
            assert_int_equal(tables[i]->gemm_f32[t] != NULL, t != LODE_Q8A && lode_type_can_decode((lode_type)t));
}

static void check_close(const lode_kern *kern, lode_type type, int64_t k, bool f32) {
    problem p = problem_make(kern, type, k, (int64_t[]){ 37, 11 }, f32);
    problem_run(kern, &p, f32, (int64_t[]){ 0, p.cols, 0, p.rows }, p.y);
    for (int64_t c = 0; c < p.cols; c++) {
        for (int64_t r = 0; r < p.rows; r++) {
            double want = 0, size = 0;
            for (int64_t i = 0; i < k; i++) {
                const double v = (double)p.w_f[r * k + i] * (double)p.x_f[c * k + i];
                want += v;
                size += fabs(v);
            }
            const double got = (double)p.y[c * p.rows + r];
            if (!(fabs(got - want) <= 2e-6 * size))
                fail_msg("%s %s k=%d [%d,%d]: %g, want %g", kern->name, lode_type_name(type), (int)k, (int)r, (int)c,
                         got, want);
        }
    }
    problem_free(&p);
}

TEST(every_product_is_the_sum_over_the_same_quantised_values) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        for (lode_type t = 0; t < LODE_N_TYPE; t++) {
            if (tables[i]->gemm[t]) {
                check_close(tables[i], t, lode_type_block(t), false);
                check_close(tables[i], t, lode_type_block(t) == 1 ? 93 : whole_blocks(t, 576), false);
            }
            if (tables[i]->gemm_f32[t]) check_close(tables[i], t, whole_blocks(t, lode_type_block(t) + 50), true);
        }
    }
}

/* The whole against the same cut by columns and by rows. */
static void check_cuts(const lode_kern *kern, lode_type type, bool f32) {
    const int block = lode_type_block(type);
    problem p = problem_make(kern, type, whole_blocks(type, block == 1 ? 70 : block + 100), (int64_t[]){ 51, 40 }, f32);
    const size_t bytes = (size_t)(p.rows * p.cols) * sizeof(float);
    float *y = lode_calloc(1, bytes);
    problem_run(kern, &p, f32, (int64_t[]){ 0, p.cols, 0, p.rows }, p.y);
    for (int64_t n = 1; n < p.cols; n = n < 9 ? n + 1 : n + 7) {
        memset(y, 0, bytes);
        for (int64_t c = 0; c < p.cols; c += n) {
            const int64_t some = p.cols - c < n ? p.cols - c : n;
            for (int64_t r = 0; r < p.rows; r += 3 * n)
                problem_run(kern, &p, f32, (int64_t[]){ c, some, r, r + 3 * n < p.rows ? r + 3 * n : p.rows }, y);
        }
        if (memcmp(y, p.y, bytes) != 0)
            fail_msg("%s %s: other bits with %d columns", kern->name, lode_type_name(type), (int)n);
    }
    free(y);
    problem_free(&p);
}

TEST(products_have_the_same_bits_in_any_cut_of_columns_and_rows) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        for (lode_type t = 0; t < LODE_N_TYPE; t++) {
            if (tables[i]->gemm[t]) check_cuts(tables[i], t, false);
            if (tables[i]->gemm_f32[t]) check_cuts(tables[i], t, true);
        }
    }
}

/* Encoders write few of the 256 scales. Below the normal floats a product may lose digits. */
TEST(every_scale_of_8_bits_means_the_same_in_products_and_in_decoding) {
    (void)state_;
    static const struct {
        lode_type type;
        int n_scales; /* the first bytes of a block */
    } with[] = { { LODE_MXFP4, 1 }, { LODE_NVFP4, 4 } };
    for (int i = 0; i < n_tables; i++) {
        for (size_t n = 0; n < sizeof with / sizeof *with; n++) {
            const lode_type t = with[n].type;
            problem p = problem_make(tables[i], t, lode_type_block(t), (int64_t[]){ 256, 1 }, false);
            for (int r = 0; r < 256; r++) {
                uint8_t *w = p.w + (size_t)r * p.w_bytes;
                memset(w, r, (size_t)with[n].n_scales);
                memset(w + with[n].n_scales, 0x11, p.w_bytes - (size_t)with[n].n_scales); /* all values 1/2 */
            }
            problem_run(tables[i], &p, false, (int64_t[]){ 0, 1, 0, 256 }, p.y);
            for (int r = 0; r < 256; r++) {
                const double want = (double)(float)lode_dot_row(t, p.w + (size_t)r * p.w_bytes, p.x_f, p.k),
                             got = (double)p.y[r];
                if (got != want && !(fabs(got - want) <= 1e-5 * fabs(want) + (double)FLT_MIN)) /* or both infinite */
                    fail_msg("%s %s scale %d: %g, want %g", tables[i]->name, lode_type_name(t), r, got, want);
            }
            problem_free(&p);
        }
    }
}

TEST(a_product_touches_only_its_rows) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        problem p = problem_make(tables[i], LODE_Q8_0, 64, (int64_t[]){ 40, 9 }, false);
        for (int64_t n = 0; n < p.rows * p.cols; n++) p.y[n] = 7.0f;
        problem_run(tables[i], &p, false, (int64_t[]){ 0, p.cols, 5, 29 }, p.y);
        for (int64_t n = 0; n < p.rows * p.cols; n++)
            assert_int_equal(p.y[n] == 7.0f, n % p.rows < 5 || n % p.rows >= 29);
        problem_free(&p);
    }
}

TEST(an_infinity_in_a_column_shows_in_every_row_of_it_alone) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        problem p = problem_make(tables[i], LODE_Q4_0, 64, (int64_t[]){ 20, 6 }, false);
        p.x_f[2 * 64 + 40] = INFINITY;
        tables[i]->quantize_q8a(p.x_f + 2 * 64, p.x + 2 * p.x_bytes, 64);
        problem_run(tables[i], &p, false, (int64_t[]){ 0, p.cols, 0, p.rows }, p.y);
        for (int64_t n = 0; n < p.rows * p.cols; n++) assert_int_equal(isnan(p.y[n]) != 0, n / p.rows == 2);
        problem_free(&p);
    }
}

TEST(quantising_activations_gives_the_bytes_of_the_definition) {
    (void)state_;
    enum { N = 32 * 64 };
    static float x[N];
    static uint8_t want[N / 32 * 44], got[N / 32 * 44];
    for (int i = 0; i < N; i++) x[i] = noise() * expf(30.0f * noise());
    for (int i = 0; i < 32; i++)
        x[i] = 0.0f, x[32 + i] = -0.0f, x[64 + i] = 1e-41f * noise(), x[96 + i] = 0.5f * (float)(i - 15);
    for (int i = 0; i < 32; i++) x[128 + i] = 2e-38f * noise();
    x[130] = 2e-38f;
    x[96] = 127.0f; /* halves: to even */
    x[170] = NAN;
    x[200] = -INFINITY;
    x[230] = FLT_MAX;
    assert_true(lode_encode_row(LODE_Q8A, x, want, N));
    for (int i = 0; i < n_tables; i++) {
        memset(got, 0xff, sizeof got);
        tables[i]->quantize_q8a(x, got, N);
        assert_memory_equal(got, want, sizeof want);
    }
}

/* ---- Attention ---- */

enum { CELLS = 1300, PAGES = CELLS / LODE_KV_PAGE + 2, TOKENS = 19, HEADS = 3, KV_HEADS = 2 };

typedef struct {
    lode_attn_args a;
    void *kv;
    float *kv_f, *q, *out;
    int32_t pages[PAGES], lo[TOKENS], hi[TOKENS];
    float sinks[HEADS];
} attention;

static void attention_make(const lode_kern *kern, attention *t, lode_type type, int d_k, int d_v, int window) {
    const size_t cell = (size_t)((d_k + d_v) * KV_HEADS), n = PAGES * LODE_KV_PAGE * cell;
    t->kv_f = lode_calloc(n, sizeof(float));
    t->kv = lode_calloc(n, type == LODE_F16 ? 2 : 4);
    fill(t->kv_f, (int64_t)n, 2.0f);
    assert_true(lode_encode_row(type, t->kv_f, t->kv, (int64_t)n));
    assert_true(lode_decode_row(type, t->kv, t->kv_f, (int64_t)n));
    t->q = lode_calloc((size_t)(TOKENS * HEADS * d_k), sizeof(float));
    t->out = lode_calloc((size_t)(TOKENS * HEADS * d_v), sizeof(float));
    fill(t->q, TOKENS * HEADS * d_k, 1.0f);
    for (int i = 0; i < PAGES; i++) t->pages[i] = (i * 5 + 3) % PAGES;
    for (int i = 0; i < TOKENS; i++) {
        t->hi[i] = CELLS - TOKENS + i + 1;
        t->lo[i] = window > 0 && t->hi[i] > window ? t->hi[i] - window : 0;
    }
    for (int i = 0; i < HEADS; i++) t->sinks[i] = 2.0f * noise();
    const size_t each = type == LODE_F16 ? 2 : 4, kv_head = 1;
    t->a = (lode_attn_args){ .q = t->q,
                             .q_tok_stride = sizeof(float) * (size_t)(HEADS * d_k),
                             .q_head_stride = sizeof(float) * (size_t)d_k,
                             .out = t->out,
                             .out_tok_stride = sizeof(float) * (size_t)(HEADS * d_v),
                             .out_head_stride = sizeof(float) * (size_t)d_v,
                             .k = (uint8_t *)t->kv + kv_head * (size_t)(d_k + d_v) * each,
                             .v = (uint8_t *)t->kv + (kv_head * (size_t)(d_k + d_v) + (size_t)d_k) * each,
                             .k_stride = cell * each,
                             .v_stride = cell * each,
                             .kv_type = type,
                             .pages = t->pages,
                             .lo = t->lo,
                             .hi = t->hi,
                             .scale = 1.0f / sqrtf((float)d_k),
                             .n_tok = TOKENS,
                             .n_head = HEADS,
                             .d_k = d_k,
                             .d_v = d_v };
    t->a.scratch = lode_aligned_alloc(kern->attn_scratch(d_k, d_v, TOKENS, HEADS) + 64, 64);
    memset(t->a.scratch, 0xff, kern->attn_scratch(d_k, d_v, TOKENS, HEADS));
}

static void attention_free(attention *t) {
    free(t->kv_f);
    free(t->kv);
    free(t->q);
    free(t->out);
    lode_aligned_free(t->a.scratch);
}

/* Row (tok, h) in double. */
static void attention_exact(const attention *t, int tok, int h, double *out) {
    const lode_attn_args *a = &t->a;
    static double s[CELLS];
    const size_t cell = (size_t)((a->d_k + a->d_v) * KV_HEADS);
    double top = a->sinks ? (double)a->sinks[h] : -INFINITY, sum = 0;
    for (int i = t->lo[tok]; i < t->hi[tok]; i++) {
        const size_t at = (size_t)(t->pages[i / LODE_KV_PAGE] * LODE_KV_PAGE + i % LODE_KV_PAGE);
        const float *k = t->kv_f + at * cell + (a->d_k + a->d_v);
        s[i] = 0;
        for (int d = 0; d < a->d_k; d++) s[i] += (double)k[d] * (double)t->q[(tok * HEADS + h) * a->d_k + d];
        s[i] *= (double)a->scale;
        if (a->softcap > 0) s[i] = (double)a->softcap * tanh(s[i] / (double)a->softcap);
        top = s[i] > top ? s[i] : top;
    }
    for (int d = 0; d < a->d_v; d++) out[d] = 0;
    if (a->sinks) sum = exp((double)a->sinks[h] - top);
    for (int i = t->lo[tok]; i < t->hi[tok]; i++) {
        const size_t at = (size_t)(t->pages[i / LODE_KV_PAGE] * LODE_KV_PAGE + i % LODE_KV_PAGE);
        const float *v = t->kv_f + at * cell + (a->d_k + a->d_v) + a->d_k;
        const double p = exp(s[i] - top);
        sum += p;
        for (int d = 0; d < a->d_v; d++) out[d] += p * (double)v[d];
    }
    for (int d = 0; d < a->d_v; d++) out[d] /= sum;
}

static void check_attention(const lode_kern *kern, attention *t) {
    kern->attn(&t->a);
    for (int tok = 0; tok < TOKENS; tok += 6) {
        for (int h = 0; h < HEADS; h++) {
            double want[256];
            attention_exact(t, tok, h, want);
            for (int d = 0; d < t->a.d_v; d++) {
                const double got = (double)t->out[(tok * HEADS + h) * t->a.d_v + d];
                if (!(fabs(got - want[d]) < 3e-6))
                    fail_msg("%s d=%d tok %d head %d [%d]: %g, want %g", kern->name, t->a.d_k, tok, h, d, got, want[d]);
            }
        }
    }
}

TEST(attention_is_the_softmax_weighted_mean_of_the_values) {
    (void)state_;
    static const int dims[][2] = { { 64, 64 }, { 256, 256 }, { 16, 24 }, { 72, 40 }, { 8, 8 }, { 128, 96 } };
    for (int i = 0; i < n_tables; i++) {
        for (size_t n = 0; n < sizeof dims / sizeof *dims; n++) {
            attention t;
            attention_make(tables[i], &t, n % 2 ? LODE_F32 : LODE_F16, dims[n][0], dims[n][1], n == 2 ? 100 : 0);
            check_attention(tables[i], &t);
            t.a.sinks = t.sinks;
            check_attention(tables[i], &t);
            t.a.softcap = 1.5f;
            check_attention(tables[i], &t);
            attention_free(&t);
        }
    }
}

TEST(attention_has_the_same_bits_alone_in_a_batch_and_in_parts) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        for (int kind = 0; kind < 4; kind++) {
            attention t;
            attention_make(tables[i], &t, kind % 2 ? LODE_F32 : LODE_F16, 64, kind == 3 ? 40 : 64, kind == 2 ? 530 : 0);
            if (kind == 1) t.a.sinks = t.sinks;
            const size_t row = (size_t)(HEADS * t.a.d_v), bytes = TOKENS * row * sizeof(float);
            float *want = lode_calloc(1, bytes);
            tables[i]->attn(&t.a);
            memcpy(want, t.out, bytes);
            memset(t.out, 0, bytes);
            for (int tok = 0; tok < TOKENS; tok++) { /* alone */
                lode_attn_args a = t.a;
                a.n_tok = 1;
                a.lo += tok;
                a.hi += tok;
                a.q += (size_t)tok * (size_t)(HEADS * a.d_k);
                a.out += (size_t)tok * row;
                tables[i]->attn(&a);
            }
            assert_memory_equal(t.out, want, bytes);
            memset(t.out, 0, bytes);
            const int32_t n = lode_attn_n_parts(&t.a);
            assert_true(n > 1);
            t.a.part = lode_calloc((size_t)n * TOKENS * HEADS, sizeof(float) * (size_t)(t.a.d_v + 2));
            for (int32_t p = n; p-- > 0;) tables[i]->attn_part(&t.a, p);
            tables[i]->attn_merge(&t.a);
            assert_memory_equal(t.out, want, bytes);
            free(t.a.part);
            free(want);
            attention_free(&t);
        }
    }
}

TEST(attention_does_not_see_cells_outside_its_range) {
    (void)state_;
    for (int i = 0; i < n_tables; i++) {
        attention t;
        attention_make(tables[i], &t, LODE_F32, 64, 64, 70);
        float *kv = t.kv;
        const size_t cell = 128 * KV_HEADS;
        for (int c = 0; c < PAGES * LODE_KV_PAGE; c++) {
            if (c >= t.lo[0] && c < t.hi[TOKENS - 1]) continue;
            const size_t at = (size_t)(t.pages[c / LODE_KV_PAGE] * LODE_KV_PAGE + c % LODE_KV_PAGE);
            for (size_t d = 0; d < cell; d++) kv[at * cell + d] = NAN;
        }
        check_attention(tables[i], &t);
        attention_free(&t);
    }
}

static void all_tables(void) {
    const lode_kern *all[] = { lode_kern_portable(), NULL, NULL, NULL };
    lode_kern_by_name(&all[1], "avx2", NULL);
    lode_kern_by_name(&all[2], "avx512", NULL);
    lode_kern_by_name(&all[3], "amx", NULL);
    for (int i = 0; i < 4; i++)
        if (all[i]) tables[n_tables++] = all[i];
}

TEST(an_unknown_instruction_set_is_refused_by_name) {
    (void)state_;
    const lode_kern *k = NULL;
    lode_err e = { 0 };
    CHECK_FAILS(lode_kern_by_name(&k, "sse9", &e), &e, LODE_E_INPUT, "sse9");
    assert_null(k);
    CHECK_OK(lode_kern_by_name(&k, "portable", &e), &e);
    assert_string_equal(k->name, "portable");
    CHECK_OK(lode_kern_by_name(&k, NULL, &e), &e);
    assert_ptr_equal(k, lode_kern_best());
}

int main(void) {
    all_tables();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_floats_has_a_kernel_for_f32_columns_and_no_other_type_has_one),
        cmocka_unit_test(every_product_is_the_sum_over_the_same_quantised_values),
        cmocka_unit_test(products_have_the_same_bits_in_any_cut_of_columns_and_rows),
        cmocka_unit_test(every_scale_of_8_bits_means_the_same_in_products_and_in_decoding),
        cmocka_unit_test(a_product_touches_only_its_rows),
        cmocka_unit_test(an_infinity_in_a_column_shows_in_every_row_of_it_alone),
        cmocka_unit_test(quantising_activations_gives_the_bytes_of_the_definition),
        cmocka_unit_test(attention_is_the_softmax_weighted_mean_of_the_values),
        cmocka_unit_test(attention_has_the_same_bits_alone_in_a_batch_and_in_parts),
        cmocka_unit_test(attention_does_not_see_cells_outside_its_range),
        cmocka_unit_test(an_unknown_instruction_set_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
