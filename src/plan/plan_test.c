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
    lode_tensor *h = lode_mul(n->g, lode_rms_norm(n->g, n->x, 1e-5f), &norm->t);
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
        cmocka_unit_test(fused_and_unfused_agree_and_the_log_says_what_fused),
        cmocka_unit_test(a_value_that_somebody_else_reads_is_not_fused_away),
        cmocka_unit_test(live_values_never_share_memory),
        cmocka_unit_test(counts_are_checked_and_shrink_the_work),
        cmocka_unit_test(a_devices_failure_is_a_status_and_the_next_run_works),
        cmocka_unit_test(a_graphs_first_mistake_is_what_planning_reports),
        cmocka_unit_test(a_backend_of_another_interface_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
