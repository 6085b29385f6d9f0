/* plan_test.c - rules, placement over several devices, memory reuse, counts, failures. */
#include "plan/plan.h"
#include "backend/null/null.h"
#include "base/test.h"

#include <math.h>

typedef struct {
    lode_runtime *rt;
    lode_stream *s[3]; /* CPU, CPU1, NULL0 */
} devices;

static void open_devices(devices *d) {
    lode_err e = { 0 };
    CHECK_OK(lode_runtime_open(&d->rt, &(lode_runtime_desc){ .n_cpu_devices = 2, .n_null_devices = 1 }, &e), &e);
    for (int i = 0; i < 3; i++)
        CHECK_OK(lode_stream_open(&d->s[i], lode_runtime_device(d->rt, i), &(lode_stream_desc){ .n_threads = 2 }, &e),
                 &e);
}

static void close_devices(devices *d) {
    for (int i = 0; i < 3; i++) lode_stream_close(d->s[i]);
    lode_runtime_close(d->rt);
}

/* A weight of [k, n] f32 values in the memory of a stream's device. */
typedef struct {
    lode_tensor t;
    lode_buffer *b; /* own */
} weight;

static void open_weight(weight *w, lode_stream *s, int64_t k, int64_t n, float seed) {
    lode_err e = { 0 };
    *w = (weight){ .t = { .type = LODE_F32, .id = -1, .flags = LODE_T_WEIGHT, .ne = { k, n, 1, 1 }, .name = "w" } };
    CHECK_OK(lode_dense(&w->t, &e), &e);
    lode_tensor *one[1] = { &w->t };
    CHECK_OK(lode_buffer_place(&w->b, lode_device_buffer_type(lode_stream_device(s)), one, 1, &e), &e);
    for (int64_t i = 0; i < k * n; i++) {
        const float v = sinf(seed + (float)i);
        CHECK_OK(lode_buffer_set(w->b, w->t.offset + (size_t)i * 4, &v, 4, &e), &e);
    }
}

/* A small network whose two matrices may lie on different devices. */
typedef struct {
    lode_graph *g;
    lode_tensor *x, *y;
} net;

static void build_net(net *n, weight *norm, weight *a, weight *b, int64_t tokens) {
    lode_err e = { 0 };
    CHECK_OK(lode_graph_open(&n->g, &e), &e);
    n->x = lode_input(n->g, "x", LODE_F32, 2, (int64_t[]){ 64, tokens }, LODE_DYN_TOKENS);
    lode_tensor *h = lode_mul(n->g, lode_rms_norm(n->g, n->x, 0.5f) /* a parameter that shows */, &norm->t);
    lode_tensor *u = lode_matmul(n->g, &a->t, h);
    h = lode_mul(n->g, u,
                 lode_silu(n->g, lode_matmul(n->g, &a->t, lode_scale(n->g, h, 2.0f)))); /* flipped on purpose */
    n->y = lode_add(n->g, lode_matmul(n->g, &b->t, h), n->x);
    lode_output(n->g, n->y);
}

static void count_line(void *user, const char *line) {
    (void)line;
    ++*(int *)user;
}

static void find_fuse(void *user, const char *line) {
    static const char *const names[] = { "norm_mul", "swiglu", "matmul_add" };
    int *found = user;
    for (int i = 0; i < 3; i++)
        if (strncmp(line, "fuse", 4) == 0 && strstr(line, names[i])) found[i]++;
}

static void run_net(const net *n, lode_stream **streams, int n_streams, bool no_fuse, float *out,
                    lode_plan_stats *stats) {
    lode_err e = { 0 };
    lode_plan *p;
    float x[64 * 5];
    const lode_plan_desc d = { .streams = streams, .n_streams = n_streams, .no_fuse = no_fuse };
    CHECK_OK(lode_plan_open(&p, n->g, &d, &e), &e);
    for (int i = 0; i < 64 * 5; i++) x[i] = cosf((float)i);
    for (int round = 0; round < 2; round++) { /* a second run finds nothing left over from the first */
        CHECK_OK(lode_plan_write(p, n->x, x, sizeof x, &e), &e);
        CHECK_OK(lode_plan_run(p, &e), &e);
        CHECK_OK(lode_plan_read(p, n->y, 0, out, sizeof x, &e), &e);
    }
    lode_plan_get_stats(p, stats);
    lode_plan_close(p);
}

static void near(const float *a, const float *b) {
    for (int i = 0; i < 64 * 5; i++) assert_true(fabsf(a[i] - b[i]) <= 1e-4f * (1 + fabsf(b[i])));
}

TEST(a_graph_gives_the_same_wherever_its_weights_lie) {
    (void)state_;
    devices d;
    float want[64 * 5], got[64 * 5];
    lode_plan_stats stats;
    open_devices(&d);
    for (int where = 0; where < 9; where++) { /* each matrix on each device */
        weight norm, a, b;
        net n;
        open_weight(&norm, d.s[where / 3], 64, 1, 1);
        open_weight(&a, d.s[where / 3], 64, 32, 2);
        open_weight(&b, d.s[where % 3], 32, 64, 3);
        build_net(&n, &norm, &a, &b, 5);
        run_net(&n, d.s, 3, false, got, &stats);
        if (where == 0) memcpy(want, got, sizeof want);
        near(got, want);
        assert_int_equal(stats.n_segments > 1, where != 0 && where != 4); /* the CPUs read each other's memory */
        lode_graph_close(n.g);
        lode_buffer_close(norm.b);
        lode_buffer_close(a.b);
        lode_buffer_close(b.b);
    }
    close_devices(&d);
}

/* Values that several devices read, each of which reads only its own memory: a node never has a source elsewhere, but
 * for the copies at the borders. */
TEST(every_device_gets_its_own_copy_of_what_it_reads) {
    (void)state_;
    enum { N = 16, FAR = 3 };
    lode_err e = { 0 };
    lode_runtime *rt;
    lode_stream *s[1 + FAR];
    lode_graph *g;
    lode_plan *p;
    weight w[FAR];
    float x[N], y[N], want[N] = { 0 };
    CHECK_OK(lode_runtime_open(&rt, &(lode_runtime_desc){ .n_null_devices = FAR }, &e), &e);
    for (int i = 0; i <= FAR; i++) CHECK_OK(lode_stream_open(&s[i], lode_runtime_device(rt, i), NULL, &e), &e);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *in = lode_input(g, "x", LODE_F32, 1, (int64_t[]){ N }, LODE_DYN_NONE), *sum = NULL;
    for (int round = 0; round < 2; round++) /* the second time they are there already */
        for (int i = 0; i < FAR; i++) {
            if (!round) open_weight(&w[i], s[i + 1], N, N, (float)i);
            lode_tensor *one = lode_matmul(g, &w[i].t, in);
            sum = sum ? lode_add(g, sum, one) : one;
        }
    lode_output(g, sum);
    const lode_plan_desc desc = { .streams = s,
                                  .n_streams = 1 + FAR,
                                  .no_fuse = true }; /* products stay with weights */
    CHECK_OK(lode_plan_open(&p, g, &desc, &e), &e);
    int n_copies = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const lode_tensor *t = p->nodes.items[i];
        n_copies += t->op == LODE_COPY && t->src[0] == lode_plan_tensor(p, in);
        const lode_device *d = lode_stream_device(s[p->placed.items[i]]);
        for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++)
            assert_true(t->op == LODE_COPY || lode_device_reads(d, lode_buffer_get_type(t->src[k]->buffer)));
    }
    assert_int_equal(n_copies, FAR);
    for (int i = 0; i < N; i++) x[i] = cosf((float)i);
    for (int i = 0; i < FAR; i++)
        for (int k = 0; k < N * N; k++) want[k / N] += 2 * sinf((float)i + (float)k) * x[k % N];
    CHECK_OK(lode_plan_write(p, in, x, sizeof x, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    CHECK_OK(lode_plan_read(p, sum, 0, y, sizeof y, &e), &e);
    for (int i = 0; i < N; i++) assert_true(fabsf(y[i] - want[i]) < 1e-4f);
    lode_plan_close(p);
    lode_graph_close(g);
    for (int i = 0; i < FAR; i++) lode_buffer_close(w[i].b);
    for (int i = 0; i <= FAR; i++) lode_stream_close(s[i]);
    lode_runtime_close(rt);
}

TEST(fused_and_unfused_agree_and_the_log_says_what_fused) {
    (void)state_;
    devices d;
    weight norm, a, b;
    net n;
    lode_err e = { 0 };
    lode_plan *p;
    float fused[64 * 5], plain[64 * 5];
    int found[3] = { 0 }, lines = 0;
    lode_plan_stats sf, sp;
    open_devices(&d);
    open_weight(&norm, d.s[0], 64, 1, 1);
    open_weight(&a, d.s[0], 64, 32, 2);
    open_weight(&b, d.s[0], 32, 64, 3);
    build_net(&n, &norm, &a, &b, 5);
    run_net(&n, d.s, 1, false, fused, &sf);
    run_net(&n, d.s, 1, true, plain, &sp);
    near(fused, plain);
    assert_int_equal(sp.n_nodes - sf.n_nodes, 3);
    CHECK_OK(lode_plan_open(&p, n.g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1 }, &e), &e);
    lode_plan_print(p, LODE_PRINT_FUSED, false, find_fuse, found);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 1);
    assert_int_equal(found[2], 1);
    assert_int_equal(p->n_fired[LODE_RULE_NORM_MUL], 1);
    assert_int_equal(p->n_fired[LODE_RULE_SWIGLU], 1);
    assert_int_equal(p->n_fired[LODE_RULE_MATMUL_ADD], 1);
    for (int stage = 0; stage < LODE_N_PRINT; stage++) {
        lines = 0;
        lode_plan_print(p, (lode_print_stage)stage, true, count_line, &lines);
        assert_true(lines > 0);
    }
    lode_plan_close(p);
    lode_graph_close(n.g);
    lode_buffer_close(norm.b);
    lode_buffer_close(a.b);
    lode_buffer_close(b.b);
    close_devices(&d);
}

TEST(a_value_that_somebody_else_reads_is_not_fused_away) {
    (void)state_;
    devices d;
    lode_err e = { 0 };
    lode_graph *g;
    lode_plan *p;
    int found[3] = { 0 };
    open_devices(&d);
    for (int marked = 0; marked < 2; marked++) {
        CHECK_OK(lode_graph_open(&g, &e), &e);
        lode_tensor *x = lode_input(g, "x", LODE_F32, 2, (int64_t[]){ 64, 2 }, LODE_DYN_NONE);
        lode_tensor *s = lode_silu(g, x);
        lode_tensor *y = lode_mul(g, s, x);
        if (marked) lode_output(g, s);
        lode_output(g, marked ? y : lode_add(g, y, s));
        CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1 }, &e), &e);
        lode_plan_print(p, LODE_PRINT_FUSED, false, find_fuse, found);
        assert_int_equal(found[1], 0);
        lode_plan_close(p);
        lode_graph_close(g);
    }
    close_devices(&d);
}

/* Tables of angles of two rows of positions, with none or one of two lists of factors, forwards and back: each twice,
 * with values that two other nodes turn by them. */
TEST(equal_nodes_become_one_and_nodes_that_differ_in_any_input_or_parameter_stay) {
    (void)state_;
    enum { N = 2 * 3 * 2 };
    devices d;
    lode_err e = { 0 };
    lode_graph *g;
    lode_plan *p;
    lode_tensor *y[2 * N];
    float f[8], turned[2 * N][16 * 4];
    open_devices(&d);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *x = lode_input(g, "x", LODE_F32, 3, (int64_t[]){ 16, 1, 4 }, LODE_DYN_NONE);
    lode_tensor *pos[2], *factors[3] = { NULL };
    for (int i = 0; i < 2; i++) pos[i] = lode_input(g, "pos", LODE_I32, 1, (int64_t[]){ 4 }, LODE_DYN_NONE);
    for (int i = 1; i < 3; i++) factors[i] = lode_input(g, "f", LODE_F32, 1, (int64_t[]){ 8 }, LODE_DYN_NONE);
    for (int i = 0; i < 2 * N; i++) {
        const lode_rope_desc r = { .n_rot = 16, .base = 100, .scale = 1, .inverse = i / 6 % 2 };
        y[i] = lode_rope(g, x, lode_rope_table(g, pos[i % 2], factors[i / 2 % 3], &r), LODE_ROPE_NEOX);
        lode_output(g, y[i]);
    }
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1 }, &e), &e);
    int tables = 0;
    for (size_t i = 0; i < p->nodes.n; i++) tables += p->nodes.items[i]->op == LODE_ROPE_TABLE;
    assert_int_equal(tables, N);
    for (int i = 0; i < 64; i++) turned[0][i] = sinf((float)i);
    CHECK_OK(lode_plan_write(p, x, turned[0], sizeof turned[0], &e), &e);
    CHECK_OK(lode_plan_write(p, pos[0], (int32_t[]){ 1, 2, 3, 4 }, 16, &e), &e);
    CHECK_OK(lode_plan_write(p, pos[1], (int32_t[]){ 11, 12, 13, 14 }, 16, &e), &e);
    for (int i = 1; i < 3; i++) {
        for (int k = 0; k < 8; k++) f[k] = (float)(i + 1);
        CHECK_OK(lode_plan_write(p, factors[i], f, sizeof f, &e), &e);
    }
    CHECK_OK(lode_plan_run(p, &e), &e);
    for (int i = 0; i < 2 * N; i++) CHECK_OK(lode_plan_read(p, y[i], 0, turned[i], sizeof turned[i], &e), &e);
    for (int i = 0; i < 2 * N; i++)
        for (int k = 0; k < i; k++) assert_int_equal(memcmp(turned[i], turned[k], sizeof turned[i]) == 0, i - k == N);
    lode_plan_close(p);
    lode_graph_close(g);
    close_devices(&d);
}

/* Floats of the caller's: a row of 64 at `at` of its buffer. */
static lode_tensor row_at(lode_buffer *b, size_t at) {
    lode_err e = { 0 };
    lode_tensor t = { .type = LODE_F32, .ne = { 64, 1, 1, 1 }, .buffer = b, .offset = at };
    CHECK_OK(lode_dense(&t, &e), &e);
    return t;
}

/* norm(x) w with every value in the caller's memory. `between` overwrites x after the norm, which a fused node would
 * read too late; `out` is where the product goes. Returns how often it was fused, and checks the values. */
static int norm_in_callers_memory(lode_stream *s, bool between, size_t out) {
    enum { X = 0, W = 1024, NORM = 2048, OTHER = 3072, BYTES = 8192 };
    lode_err e = { 0 };
    lode_buffer *b;
    lode_graph *g;
    lode_plan *p;
    float v[64], x[64], sum = 0;
    int found[3] = { 0 };
    CHECK_OK(lode_buffer_open(&b, lode_device_buffer_type(lode_stream_device(s)), BYTES, &e), &e);
    for (int i = 0; i < 64; i++) {
        x[i] = sinf((float)i);
        sum += x[i] * x[i];
    }
    CHECK_OK(lode_buffer_set(b, X, x, sizeof x, &e), &e);
    for (int i = 0; i < 64; i++) v[i] = 3.0f;
    CHECK_OK(lode_buffer_set(b, W, v, sizeof v, &e), &e);
    CHECK_OK(lode_buffer_set(b, OTHER, v, sizeof v, &e), &e);
    const lode_tensor at[] = { row_at(b, X), row_at(b, W), row_at(b, NORM), row_at(b, OTHER), row_at(b, out) };
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *norm = lode_into(g, lode_rms_norm(g, lode_extern(g, &at[0]), 0), &at[2]);
    if (between) lode_output(g, lode_into(g, lode_scale(g, lode_extern(g, &at[3]), 2.0f), &at[0]));
    lode_output(g, lode_into(g, lode_mul(g, norm, lode_extern(g, &at[1])), &at[4]));
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = &s, .n_streams = 1 }, &e), &e);
    lode_graph_close(g);
    lode_plan_print(p, LODE_PRINT_FUSED, false, find_fuse, found);
    CHECK_OK(lode_plan_run(p, &e), &e);
    CHECK_OK(lode_buffer_get(b, out, v, sizeof v, &e), &e);
    for (int i = 0; i < 64; i++) assert_true(fabsf(v[i] - 3.0f * x[i] / sqrtf(sum / 64.0f)) < 1e-5f);
    lode_plan_close(p);
    lode_buffer_close(b);
    return found[0];
}

TEST(a_pattern_is_not_joined_where_the_callers_memory_changes_under_it) {
    (void)state_;
    devices d;
    open_devices(&d);
    assert_int_equal(norm_in_callers_memory(d.s[0], false, 4096), 1);
    assert_int_equal(norm_in_callers_memory(d.s[0], false, 0), 1);  /* exactly where x lies */
    assert_int_equal(norm_in_callers_memory(d.s[0], false, 64), 0); /* across x */
    assert_int_equal(norm_in_callers_memory(d.s[0], true, 4096), 0);
    close_devices(&d);
}

/* The largest numbers that a parameter holds, on both sides. */
TEST(sizes_of_huge_paddings_do_not_wrap) {
    (void)state_;
    lode_err e = { 0 };
    lode_graph *g;
    const int64_t two = 2 * (int64_t)INT32_MAX;
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *x = lode_input(g, "x", LODE_F32, 1, (int64_t[]){ 4 }, LODE_DYN_NONE);
    const lode_pad_desc pad = { .lo = { INT32_MAX }, .hi = { INT32_MAX } };
    const lode_pool_desc pool = { LODE_POOL_MAX, { 2, 1 }, { 1, 1 }, { INT32_MAX, 0 } };
    assert_true(lode_pad(g, x, &pad)->ne[0] == two + 4);
    assert_true(lode_pool_1d(g, x, &pool)->ne[0] == two + 3);
    CHECK_OK(lode_graph_status(g, &e), &e);
    lode_col2im_1d(g, x, 1, 1, INT32_MAX);
    CHECK_FAILS(lode_graph_status(g, &e), &e, LODE_E_SHAPE, "padding");
    lode_graph_close(g);
}

/* Live values must not share bytes: checked pair by pair from the nodes' order. */
TEST(live_values_never_share_memory) {
    (void)state_;
    devices d;
    weight norm, a, b;
    net n;
    lode_err e = { 0 };
    lode_plan *p;
    open_devices(&d);
    open_weight(&norm, d.s[0], 64, 1, 1);
    open_weight(&a, d.s[0], 64, 32, 2);
    open_weight(&b, d.s[0], 32, 64, 3);
    build_net(&n, &norm, &a, &b, 5);
    CHECK_OK(lode_plan_open(&p, n.g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1, .no_fuse = true }, &e), &e);
    int shared = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        size_t last = i;
        for (size_t k = i; k < p->nodes.n; k++)
            for (int q = 0; q < LODE_MAX_SRC && p->nodes.items[k]->src[q]; q++)
                if (p->nodes.items[k]->src[q] == p->nodes.items[i]) last = k;
        const lode_tensor *t = p->nodes.items[i];
        for (size_t k = i + 1; k < p->nodes.n; k++) {
            const lode_tensor *u = p->nodes.items[k];
            const bool overlap = t->offset < u->offset + lode_n_bytes(u) && u->offset < t->offset + lode_n_bytes(t);
            if (k <= last) assert_false(overlap);
            shared += overlap;
        }
    }
    assert_true(shared > 0); /* and memory is reused at all */
    lode_plan_close(p);
    lode_graph_close(n.g);
    lode_buffer_close(norm.b);
    lode_buffer_close(a.b);
    lode_buffer_close(b.b);
    close_devices(&d);
}

/* Three values of equal size that die at one node, in whatever order they lie: what follows takes the place of all. */
TEST(memory_that_becomes_free_side_by_side_is_one_gap) {
    (void)state_;
    enum { N = 64, U = N * N * sizeof(float) };
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    devices d;
    lode_err e = { 0 };
    open_devices(&d);
    for (int o = 0; o < 6; o++) {
        lode_graph *g;
        lode_plan *p;
        lode_tensor *t[3];
        CHECK_OK(lode_graph_open(&g, &e), &e);
        lode_tensor *x = lode_input(g, "x", LODE_F32, 2, (int64_t[]){ N, N }, LODE_DYN_NONE);
        for (int i = 0; i < 3; i++) t[orders[o][i]] = lode_scale(g, x, (float)i);
        lode_tensor *y = lode_matmul_add(g, t[0], t[1], t[2]);
        lode_output(g, lode_sum(g, lode_repeat(g, y, (int64_t[]){ N, 3 * N, 1, 1 })));
        const lode_plan_desc desc = { .streams = d.s, .n_streams = 1, .no_fuse = true };
        CHECK_OK(lode_plan_open(&p, g, &desc, &e), &e);
        assert_int_equal(p->nodes.n, 6);
        /* the input, the three, the product; the sum finds the place of nothing that is still read */
        assert_in_range(p->scratch_bytes[0], 5 * U, 5 * U + 256);
        lode_plan_close(p);
        lode_graph_close(g);
    }
    close_devices(&d);
}

TEST(counts_are_checked_and_shrink_the_work) {
    (void)state_;
    devices d;
    lode_err e = { 0 };
    lode_graph *g;
    lode_plan *p;
    float x[64 * 4], y[64 * 4];
    open_devices(&d);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *in = lode_input(g, "x", LODE_F32, 2, (int64_t[]){ 64, 4 }, LODE_DYN_TOKENS);
    lode_tensor *out = lode_scale(g, in, 2.0f);
    lode_output(g, out);
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1 }, &e), &e);
    CHECK_FAILS(lode_plan_set_count(p, LODE_DYN_TOKENS, 5, &e), &e, LODE_E_INPUT, "0..4");
    CHECK_FAILS(lode_plan_set_count(p, LODE_DYN_TOKENS, -1, &e), &e, LODE_E_INPUT, "0..4");
    for (int i = 0; i < 64 * 4; i++) x[i] = 1;
    CHECK_OK(lode_plan_write(p, in, x, sizeof x, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    for (int i = 0; i < 64 * 4; i++) x[i] = 3;
    CHECK_OK(lode_plan_write(p, in, x, sizeof x, &e), &e);
    CHECK_OK(lode_plan_set_count(p, LODE_DYN_TOKENS, 1, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    CHECK_OK(lode_plan_read(p, out, 0, y, sizeof y, &e), &e);
    assert_true(y[0] == 6.0f && y[63] == 6.0f);   /* computed */
    assert_true(y[64] == 2.0f && y[255] == 2.0f); /* left from before */
    CHECK_OK(lode_plan_set_count(p, LODE_DYN_TOKENS, 0, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    lode_plan_close(p);
    lode_graph_close(g);
    close_devices(&d);
}

TEST(a_devices_failure_is_a_status_and_the_next_run_works) {
    (void)state_;
    devices d;
    weight norm, a, b;
    net n;
    lode_err e = { 0 };
    lode_plan *p;
    float x[64 * 5] = { 1 };
    open_devices(&d);
    lode_device *null_device = lode_runtime_device(d.rt, 2);
    open_weight(&norm, d.s[2], 64, 1, 1);
    open_weight(&a, d.s[2], 64, 32, 2);
    open_weight(&b, d.s[0], 32, 64, 3);
    build_net(&n, &norm, &a, &b, 5);
    const lode_plan_desc pd = { .streams = d.s, .n_streams = 3 };
    {
        lode_null_set_faults(null_device, &(lode_null_faults){ .fail_alloc = 1 });
        CHECK_FAILS(lode_plan_open(&p, n.g, &pd, &e), &e, LODE_E_NOMEM, "NULL0");
    }
    lode_null_set_faults(null_device, &(lode_null_faults){ .fail_run = 1 });
    CHECK_OK(lode_plan_open(&p, n.g, &pd, &e), &e);
    CHECK_OK(lode_plan_write(p, n.x, x, sizeof x, &e), &e);
    CHECK_FAILS(lode_plan_run(p, &e), &e, LODE_E_DEVICE, "NULL0");
    CHECK_OK(lode_plan_run(p, &e), &e);
    lode_plan_close(p);
    lode_graph_close(n.g);
    lode_buffer_close(norm.b);
    lode_buffer_close(a.b);
    lode_buffer_close(b.b);
    close_devices(&d);
}

TEST(a_graphs_first_mistake_is_what_planning_reports) {
    (void)state_;
    devices d;
    lode_err e = { 0 };
    lode_graph *g;
    lode_plan *p;
    open_devices(&d);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *x = lode_input(g, "x", LODE_F32, 2, (int64_t[]){ 64, 4 }, LODE_DYN_NONE);
    lode_tensor *w = lode_input(g, "w", LODE_F32, 2, (int64_t[]){ 63, 4 }, LODE_DYN_NONE);
    lode_tensor *first = lode_matmul(g, w, x);
    lode_add(g, first, lode_columns(g, x, 60, 60));
    CHECK_FAILS(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = d.s, .n_streams = 1 }, &e), &e, LODE_E_SHAPE,
                "matmul");
    lode_graph_close(g);
    close_devices(&d);
}

TEST(a_backend_of_another_interface_is_refused_by_name) {
    (void)state_;
    lode_err e = { 0 };
    lode_runtime *rt;
    lode_device *dev;
    CHECK_OK(lode_runtime_open(&rt, NULL, &e), &e);
    CHECK_FAILS(lode_runtime_load(rt, "/nowhere/libx.so", &e), &e, LODE_E_NOT_FOUND, "libx.so");
    CHECK_FAILS(lode_runtime_load(rt, "libm.so.6", &e), &e, LODE_E_UNSUPPORTED, "lode_backend_entry");
    CHECK_FAILS(lode_runtime_find(rt, "GPU7", &dev, &e), &e, LODE_E_NOT_FOUND, "there are: CPU");
    CHECK_OK(lode_runtime_find(rt, "cpu", &dev, &e), &e);
    lode_runtime_close(rt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_gives_the_same_wherever_its_weights_lie),
        cmocka_unit_test(every_device_gets_its_own_copy_of_what_it_reads),
        cmocka_unit_test(fused_and_unfused_agree_and_the_log_says_what_fused),
        cmocka_unit_test(a_value_that_somebody_else_reads_is_not_fused_away),
        cmocka_unit_test(equal_nodes_become_one_and_nodes_that_differ_in_any_input_or_parameter_stay),
        cmocka_unit_test(a_pattern_is_not_joined_where_the_callers_memory_changes_under_it),
        cmocka_unit_test(sizes_of_huge_paddings_do_not_wrap),
        cmocka_unit_test(live_values_never_share_memory),
        cmocka_unit_test(memory_that_becomes_free_side_by_side_is_one_gap),
        cmocka_unit_test(counts_are_checked_and_shrink_the_work),
        cmocka_unit_test(a_devices_failure_is_a_status_and_the_next_run_works),
        cmocka_unit_test(a_graphs_first_mistake_is_what_planning_reports),
        cmocka_unit_test(a_backend_of_another_interface_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
