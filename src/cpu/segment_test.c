/* segment_test.c - runs that the caller stops. */
#include "base/test.h"
#include "lode/graph.h"
#include "lode/plan.h"

#include <unistd.h>

enum { N_NODES = 30, N_ROUNDS = 8, N_THREADS = 8, WATCHDOG_S = 60 };

/* Says yes when asked for the n-th time. */
typedef struct {
    int asked, yes_at;
} stopper;

static bool ask(void *user) {
    stopper *s = user;
    return ++s->asked == s->yes_at;
}

/* More threads than processors are descheduled anywhere, also between a barrier and what they look at behind it: a
 * thread that decides by what a later launch left there never ends, and nor does this test but for its alarm. */
TEST(a_run_stopped_before_any_launch_ends_on_all_threads_and_the_next_one_runs) {
    (void)state_;
    lode_err e = { 0 };
    lode_runtime *rt;
    lode_stream *stream;
    lode_graph *g;
    lode_plan *p;
    stopper stop = { 0, 0 };
    CHECK_OK(lode_runtime_open(&rt, NULL, &e), &e);
    const lode_stream_desc d = { .n_threads = N_THREADS, .abort = ask, .abort_user = &stop };
    CHECK_OK(lode_stream_open(&stream, lode_runtime_device(rt, 0), &d, &e), &e);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    lode_tensor *x = lode_input(g, "x", LODE_F32, 1, (int64_t[]){ 4 }, LODE_DYN_NONE), *t = x;
    for (int i = 0; i < N_NODES; i++) t = lode_scale(g, t, 2.0f);
    lode_output(g, t);
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = &stream, .n_streams = 1 }, &e), &e);
    CHECK_OK(lode_plan_write(p, x, (float[]){ 1, 2, 3, 4 }, 4 * sizeof(float), &e), &e);
    alarm(WATCHDOG_S);
    for (int round = 0; round < N_ROUNDS; round++)
        for (int at = 1; at < N_NODES; at++) {
            stop = (stopper){ 0, at };
            CHECK_FAILS(lode_plan_run(p, &e), &e, LODE_E_ABORTED, "stopped");
            assert_int_equal(stop.asked, at);
        }
    stop.yes_at = 0;
    float y[4];
    CHECK_OK(lode_plan_run(p, &e), &e);
    CHECK_OK(lode_plan_read(p, t, 0, y, sizeof y, &e), &e);
    for (int i = 0; i < 4; i++) assert_true(y[i] == (float)(i + 1) * 1073741824.0f); /* 2^30 */
    alarm(0);
    lode_plan_close(p);
    lode_graph_close(g);
    lode_stream_close(stream);
    lode_runtime_close(rt);
}

/* How many barriers a run has of: read source `k` of an optimiser step, the step, read it again. All its memory is
 * flagged as weights, as a program that trains may have it. The stream asks whether to stop at each barrier. */
static int barriers_around(int k) {
    enum { N = 256, N_SRC = 5 };
    lode_err e = { 0 };
    lode_runtime *rt;
    lode_stream *stream;
    lode_graph *g;
    lode_plan *p;
    lode_buffer *b[N_SRC];
    lode_tensor *src[N_SRC];
    stopper never = { 0, -1 };
    CHECK_OK(lode_runtime_open(&rt, NULL, &e), &e);
    const lode_stream_desc d = { .n_threads = 2, .abort = ask, .abort_user = &never };
    CHECK_OK(lode_stream_open(&stream, lode_runtime_device(rt, 0), &d, &e), &e);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    for (int i = 0; i < N_SRC; i++) {
        const int64_t n = i == N_SRC - 1 ? 7 : N;
        const size_t row = (size_t)n * sizeof(float);
        const lode_tensor t = {
            .type = LODE_F32, .flags = LODE_T_WEIGHT, .ne = { n, 1, 1, 1 }, .nb = { 4, row, row, row }
        };
        CHECK_OK(lode_buffer_open(&b[i], lode_device_buffer_type(lode_runtime_device(rt, 0)), row, &e), &e);
        CHECK_OK(lode_buffer_clear(b[i], 0, &e), &e);
        src[i] = lode_extern(g, &t);
        src[i]->buffer = b[i];
    }
    lode_output(g, lode_scale(g, src[k], 2.0f));
    lode_adamw_step(g, src[0], src[1], src + 2, src[4]);
    lode_output(g, lode_scale(g, src[k], 3.0f));
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = &stream, .n_streams = 1 }, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    lode_plan_close(p);
    lode_graph_close(g);
    for (int i = 0; i < N_SRC; i++) lode_buffer_close(b[i]);
    lode_stream_close(stream);
    lode_runtime_close(rt);
    return never.asked;
}

TEST(what_a_node_writes_has_a_barrier_on_both_sides_also_where_it_is_a_weight) {
    (void)state_;
    enum { WEIGHTS, GRADIENT, MOMENT1, MOMENT2 };
    assert_int_equal(barriers_around(WEIGHTS), 2);
    assert_int_equal(barriers_around(MOMENT1), 2);
    assert_int_equal(barriers_around(MOMENT2), 2);
    assert_int_equal(barriers_around(GRADIENT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_stopped_before_any_launch_ends_on_all_threads_and_the_next_one_runs),
        cmocka_unit_test(what_a_node_writes_has_a_barrier_on_both_sides_also_where_it_is_a_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
