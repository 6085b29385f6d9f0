/* attend_test.c - attention through plans against plain sums in double: head sizes, shared KV heads, types of cache,
 * windows, soft-caps; prompts and single tokens of several sequences in one step, whose pages lie among each other.
 * Every cell that no token of the step may see is NaN, so that whoever looks at one shows it. */
#include "base/test.h"
#include "cpu/guard.h"
#include "graph/graph.h"
#include "lode/quant.h"

#include <math.h>

enum { N_SEQ = 4, PAGES = 11, POOL = 20, CELLS = POOL * LODE_PAGE, N_KV = 2, WINDOW = 50, MAX_TOKENS = 40 };

/* Tokens first..first+n-1 of a sequence; n = 0: a padding token, which sees nothing. */
typedef struct {
    int seq, first, n;
} run;

static const run mixed[] = { { 0, 50, 20 }, { 1, 199, 1 }, { 2, 0, 5 }, { 1, 0, 0 },
                             { 0, 70, 1 },  { 3, 600, 2 }, { 2, 5, 1 }, { -1, 0, 0 } };
static const run decode[] = { { 1, 63, 1 }, { 3, 640, 1 }, { -1, 0, 0 } }; /* few enough for parts of 512 cells */

typedef struct {
    int d, group;
    lode_type type;
    float cap;
    bool windowed;
} shape;

typedef struct {
    shape s;
    int width, tokens;
    int32_t pages[N_SEQ][PAGES], spans[MAX_TOKENS][LODE_SPAN_N];
    float *q, *k, *v;    /* own: [tokens][group * N_KV][d], [CELLS][width], as the encoded ones decode */
    char *k_raw, *v_raw; /* own: of s.type */
    float *want;         /* own: [tokens][group * N_KV * d] */
} problem;

static uint32_t seed = 1;
static float noise(void) { /* -1..1 */
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) * 0x1p-23f - 1.0f;
}

static size_t row_of(const problem *p, int seq, int cell) {
    return (size_t)p->pages[seq][cell / LODE_PAGE] * LODE_PAGE + (size_t)(cell % LODE_PAGE);
}

/* Pages of the sequences in turn, in a permuted order; entries behind a sequence's end name a page of NaNs. */
static void make_pages(problem *p) {
    static const int used[N_SEQ] = { 2, 4, 1, 11 };
    int n = 0;
    for (int i = 0; i < PAGES; i++)
        for (int s = 0; s < N_SEQ; s++) p->pages[s][i] = (i < used[s] ? n++ : POOL - 1) * 7 % POOL;
}

static void make_spans(problem *p, const run *r) {
    for (p->tokens = 0; r->seq >= 0; r++) {
        for (int i = 0; i < (r->n ? r->n : 1); i++) {
            int32_t *s = p->spans[p->tokens++];
            const int to = r->n ? r->first + i + 1 : 0;
            s[LODE_SPAN_SEQ] = r->seq;
            s[LODE_SPAN_FROM] = 0;
            s[LODE_SPAN_FROM_WINDOW] = to > WINDOW ? to - WINDOW : 0;
            s[LODE_SPAN_TO] = to;
        }
    }
}

static int first_cell(const problem *p, int token) {
    return p->spans[token][p->s.windowed ? LODE_SPAN_FROM_WINDOW : LODE_SPAN_FROM];
}

/* One cell of a cache: random values, as its type keeps them. */
static void make_cell(const problem *p, float *f, char *raw, size_t row) {
    size_t bytes = 0;
    assert_true(lode_row_bytes(p->s.type, p->width, &bytes));
    f += row * (size_t)p->width;
    for (int i = 0; i < p->width; i++) f[i] = noise();
    assert_true(lode_encode_row(p->s.type, f, raw + row * bytes, p->width));
    assert_true(lode_decode_row(p->s.type, raw + row * bytes, f, p->width));
}

/* Row (token, head) in double. */
static void exact(const problem *p, int token, int head, float *out) {
    const int32_t *span = p->spans[token];
    const float *q = p->q + (size_t)((token * p->s.group * N_KV + head) * p->s.d);
    const size_t at = (size_t)(head / p->s.group * p->s.d);
    double weight[PAGES * LODE_PAGE], total = 0;
    for (int c = first_cell(p, token); c < span[LODE_SPAN_TO]; c++) {
        const float *k = p->k + row_of(p, span[LODE_SPAN_SEQ], c) * (size_t)p->width + at;
        double s = 0;
        for (int i = 0; i < p->s.d; i++) s += (double)q[i] * (double)k[i];
        s /= sqrt(p->s.d);
        if (p->s.cap > 0) s = (double)p->s.cap * tanh(s / (double)p->s.cap);
        weight[c] = exp(s); /* scores are of the size of 1: no need of their maximum */
        total += weight[c];
    }
    for (int i = 0; i < p->s.d; i++) {
        double sum = 0;
        for (int c = first_cell(p, token); c < span[LODE_SPAN_TO]; c++)
            sum += weight[c] * (double)p->v[row_of(p, span[LODE_SPAN_SEQ], c) * (size_t)p->width + at + (size_t)i];
        out[i] = total > 0 ? (float)(sum / total) : 0.0f;
    }
}

static void problem_make(problem *p, const shape *s, const run *runs) {
    *p = (problem){ .s = *s, .width = s->d * N_KV };
    make_pages(p);
    make_spans(p, runs);
    const int heads = s->group * N_KV;
    const size_t cache = (size_t)CELLS * (size_t)p->width * sizeof(float), n = (size_t)(p->tokens * heads * s->d);
    p->k_raw = lode_calloc(cache, 1), p->v_raw = lode_calloc(cache, 1);
    p->k = lode_calloc(cache, 1), p->v = lode_calloc(cache, 1);
    p->q = lode_calloc(n, sizeof *p->q), p->want = lode_calloc(n, sizeof *p->want);
    memset(p->k_raw, 0xFF, cache); /* NaNs of any type */
    memset(p->v_raw, 0xFF, cache);
    bool seen[CELLS] = { false };
    for (int t = 0; t < p->tokens; t++)
        for (int c = first_cell(p, t); c < p->spans[t][LODE_SPAN_TO]; c++) {
            const size_t row = row_of(p, p->spans[t][LODE_SPAN_SEQ], c);
            if (seen[row]) continue;
            seen[row] = true;
            make_cell(p, p->k, p->k_raw, row);
            make_cell(p, p->v, p->v_raw, row);
        }
    for (size_t i = 0; i < n; i++) p->q[i] = 4.0f * noise();
    for (int t = 0; t < p->tokens; t++)
        for (int h = 0; h < heads; h++) exact(p, t, h, p->want + (size_t)((t * heads + h) * s->d));
}

static void problem_free(problem *p) {
    free(p->q);
    free(p->k);
    free(p->v);
    free(p->k_raw);
    free(p->v_raw);
    free(p->want);
}

typedef struct {
    const char *isa;
    int threads;
    lode_runtime *rt;
    lode_stream *stream; /* NULL: this machine lacks the instructions */
} machine;

static machine machines[] = {
    { "portable", 1, NULL, NULL }, { "portable", 3, NULL, NULL }, { "avx2", 1, NULL, NULL },
    { "avx2", 3, NULL, NULL },     { "avx512", 1, NULL, NULL },   { "avx512", 3, NULL, NULL }
};
enum { N_MACHINES = sizeof machines / sizeof *machines };

static void note_kernel(void *user, const char *line) {
    if (strstr(line, "attend_paged")) *(bool *)user = true;
}

/* What the machine's kernel makes of the problem, into out. */
static void compute(const machine *m, const problem *p, float *out) {
    lode_err e = { 0 };
    lode_graph *g;
    lode_plan *plan;
    guard bands;
    char what[200];
    bool has_kernel = false;
    const int64_t tokens = p->tokens;
    size_t row = 0;
    assert_true(lode_row_bytes(p->s.type, p->width, &row));
    CHECK_OK(lode_graph_open(&g, &e), &e);
    const int64_t cache[] = { p->width, CELLS };
    const lode_attend_src src = {
        .q = lode_input(g, "q", LODE_F32, 3, (int64_t[]){ p->s.d, p->s.group * N_KV, tokens }, LODE_DYN_NONE),
        .k = lode_input(g, "k", p->s.type, 2, cache, LODE_DYN_NONE),
        .v = lode_input(g, "v", p->s.type, 2, cache, LODE_DYN_NONE),
        .pages = lode_input(g, "pages", LODE_I32, 2, (int64_t[]){ PAGES, N_SEQ }, LODE_DYN_NONE),
        .spans = lode_input(g, "spans", LODE_I32, 2, (int64_t[]){ LODE_SPAN_N, tokens }, LODE_DYN_NONE),
    };
    const lode_attend_desc d = {
        .scale = 1.0f / sqrtf((float)p->s.d), .softcap = p->s.cap, .windowed = p->s.windowed, .n_kv_head = N_KV
    };
    lode_tensor *t = lode_attend(g, &src, &d);
    lode_output(g, t);
    CHECK_OK(lode_plan_open(&plan, g, &(lode_plan_desc){ .streams = &m->stream, .n_streams = 1 }, &e), &e);
    lode_plan_print(plan, LODE_PRINT_KERNELS, false, note_kernel, &has_kernel);
    assert_true(has_kernel);
    CHECK_OK(guard_open(&bands, plan, 0xFF, &e), &e);
    CHECK_OK(lode_plan_write(plan, src.q, p->q, lode_n_bytes(src.q), &e), &e);
    CHECK_OK(lode_plan_write(plan, src.k, p->k_raw, CELLS * row, &e), &e);
    CHECK_OK(lode_plan_write(plan, src.v, p->v_raw, CELLS * row, &e), &e);
    CHECK_OK(lode_plan_write(plan, src.pages, p->pages, sizeof p->pages, &e), &e);
    CHECK_OK(lode_plan_write(plan, src.spans, p->spans, lode_n_bytes(src.spans), &e), &e);
    CHECK_OK(guard_arm(&bands, &e), &e);
    CHECK_OK(lode_plan_run(plan, &e), &e);
    if (!guard_check(&bands, what, sizeof what)) fail_msg("attend on %s: %s", m->isa, what);
    CHECK_OK(lode_plan_read(plan, t, 0, out, lode_n_bytes(t), &e), &e);
    guard_close(&bands);
    lode_plan_close(plan);
    lode_graph_close(g);
}

/* A score's sum of d products below 4 reaches about 4/3 sqrt(d), each of its d roundings in f32 errs by up to 2^-25 of
 * that: together, as a random walk and divided by sqrt(d), sqrt(d) * 4/3 * 2^-25 = 6e-7 for 256. A mean of values below
 * 1 errs by about as much; the extreme of all values lies several times as far. */
static const double TOLERANCE = 4e-6;

static void check_shape(const shape *s, const run *runs) {
    problem p;
    problem_make(&p, s, runs);
    const int row = s->group * N_KV * s->d, n = p.tokens * row;
    float *got = lode_calloc((size_t)n, sizeof *got), *alone = lode_calloc((size_t)n, sizeof *alone);
    for (int i = 0; i < N_MACHINES; i++) {
        const machine *m = &machines[i];
        if (!m->stream) continue;
        compute(m, &p, got);
        for (int k = 0; k < n; k++)
            if (!(fabs((double)got[k] - (double)p.want[k]) <= TOLERANCE))
                fail_msg("%s, %d threads, %d heads of %d on each of %d, %s, cap %g%s: token %d [%d] is %g, want %g",
                         m->isa, m->threads, s->group, s->d, N_KV, lode_type_name(s->type), (double)s->cap,
                         s->windowed ? ", window" : "", k / row, k % row, (double)got[k], (double)p.want[k]);
        if (m->threads == 1) memcpy(alone, got, (size_t)n * sizeof *got);
        assert_memory_equal(got, alone, (size_t)n * sizeof *got);
    }
    free(got);
    free(alone);
    problem_free(&p);
}

static void check_steps(const run *runs) {
    static const int sizes[] = { 64, 80, 96, 128, 256 }, groups[] = { 1, 2, 3, 4, 8 };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            for (int f32 = 0; f32 < 2; f32++) {
                const int way = (i + k + f32) % 4; /* each head size and each group meets all four with both types */
                check_shape(&(shape){ .d = sizes[i],
                                      .group = groups[k],
                                      .type = f32 ? LODE_F32 : LODE_F16,
                                      .cap = way & 1 ? 0.5f : 0.0f,
                                      .windowed = way & 2 },
                            runs);
            }
}

TEST(a_step_of_prompts_and_single_tokens_of_several_sequences_is_the_weighted_mean_of_what_each_sees) {
    (void)state_;
    check_steps(mixed);
}

TEST(single_tokens_in_parts_on_several_threads_are_the_weighted_mean_of_what_each_sees) {
    (void)state_;
    check_steps(decode);
}

static int open_machines(void **state_) {
    (void)state_;
    for (int i = 0; i < N_MACHINES; i++) {
        machine *m = &machines[i];
        lode_err e = { 0 };
        if (lode_runtime_open(&m->rt, &(lode_runtime_desc){ .isa = m->isa }, &e) != LODE_OK) {
            print_message("%s\n", e.text);
            continue;
        }
        const lode_stream_desc d = { .n_threads = m->threads };
        if (lode_stream_open(&m->stream, lode_runtime_device(m->rt, 0), &d, &e) != LODE_OK) return 1;
    }
    return machines[0].stream ? 0 : 1; /* portable kernels are everywhere */
}

static int close_machines(void **state_) {
    (void)state_;
    for (int i = 0; i < N_MACHINES; i++) {
        lode_stream_close(machines[i].stream);
        lode_runtime_close(machines[i].rt);
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_step_of_prompts_and_single_tokens_of_several_sequences_is_the_weighted_mean_of_what_each_sees),
        cmocka_unit_test(single_tokens_in_parts_on_several_threads_are_the_weighted_mean_of_what_each_sees),
    };
    return cmocka_run_group_tests(tests, open_machines, close_machines);
}
