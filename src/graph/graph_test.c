/* graph_test.c - views: which elements of their owner they show; run-time sizes: who takes them on. */
#include "graph/graph.h"
#include "base/test.h"

typedef struct {
    lode_graph *g;
    lode_tensor *x; /* f32 [48, 6], its rows follow the count of tokens */
} place;

static void open_place(place *p) {
    lode_err e = { 0 };
    CHECK_OK(lode_graph_open(&p->g, &e), &e);
    p->x = lode_input(p->g, "x", LODE_F32, 2, (int64_t[]){ 48, 6 }, LODE_DYN_TOKENS);
}

/* Element [i, h, t] of the view must be element [from + h * d + i, t + first] of x. */
static void check_view(const place *p, const lode_tensor *v, const char *what, const int64_t ne[3],
                       const int64_t from[3]) {
    lode_err e = { 0 };
    CHECK_OK(lode_graph_status(p->g, &e), &e);
    if (v->view_of != p->x || v->op != LODE_OP_NONE) fail_msg("%s: not a view of x", what);
    for (int k = 0; k < 3; k++)
        if (v->ne[k] != ne[k]) fail_msg("%s: size %d is %lld", what, k, (long long)v->ne[k]);
    for (int64_t t = 0; t < ne[2]; t++)
        for (int64_t h = 0; h < ne[1]; h++)
            for (int64_t i = 0; i < ne[0]; i++) {
                const size_t at = v->view_off + (size_t)i * v->nb[0] + (size_t)h * v->nb[1] + (size_t)t * v->nb[2];
                const int64_t column = from[0] + h * from[1] + i, row = from[2] + (from[1] ? t : h);
                if (at != (size_t)(column + row * 48) * sizeof(float))
                    fail_msg("%s: [%lld, %lld, %lld] lies at %zu", what, (long long)i, (long long)h, (long long)t, at);
            }
}

TEST(a_view_of_a_view_shows_the_right_elements_of_the_owner) {
    (void)state_;
    place p;
    open_place(&p);
    lode_graph *g = p.g;
    lode_tensor *part = lode_columns(g, p.x, 8, 32), *heads = lode_heads(g, p.x, 12, 4);
    check_view(&p, part, "columns", (int64_t[]){ 32, 6, 1 }, (int64_t[]){ 8, 0, 0 });
    check_view(&p, lode_columns(g, part, 5, 9), "columns of columns", (int64_t[]){ 9, 6, 1 }, (int64_t[]){ 13, 0, 0 });
    check_view(&p, lode_columns(g, lode_columns(g, part, 5, 9), 2, 7), "and of these", (int64_t[]){ 7, 6, 1 },
               (int64_t[]){ 15, 0, 0 });
    check_view(&p, heads, "heads", (int64_t[]){ 12, 4, 6 }, (int64_t[]){ 0, 12, 0 });
    check_view(&p, lode_heads(g, part, 16, 2), "heads of columns", (int64_t[]){ 16, 2, 6 }, (int64_t[]){ 8, 16, 0 });
    check_view(&p, lode_columns(g, heads, 3, 4), "columns of heads", (int64_t[]){ 4, 4, 6 }, (int64_t[]){ 3, 12, 0 });
    check_view(&p, lode_merge_heads(g, lode_heads(g, part, 16, 2)), "merged heads of columns", (int64_t[]){ 32, 6, 1 },
               (int64_t[]){ 8, 0, 0 });
    const int64_t ne[LODE_MAX_DIMS] = { 4, 3, 1, 1 };
    check_view(&p, lode_view(g, part, ne, part->nb, 2 * part->nb[1] + 12), "a view of columns", (int64_t[]){ 4, 3, 1 },
               (int64_t[]){ 11, 0, 2 });
    lode_graph_close(g);
}

TEST(a_run_time_size_is_taken_on_where_a_result_has_it_and_nowhere_else) {
    (void)state_;
    place p;
    open_place(&p);
    lode_graph *g = p.g;
    lode_tensor *ids = lode_input(g, "ids", LODE_I32, 1, (int64_t[]){ 6 }, LODE_DYN_TOKENS);
    lode_tensor *out_ids = lode_input(g, "out_ids", LODE_I32, 1, (int64_t[]){ 5 }, LODE_DYN_OUTPUTS);
    lode_tensor *fixed = lode_input(g, "fixed", LODE_F32, 2, (int64_t[]){ 48, 20 }, LODE_DYN_NONE);
    lode_tensor *heads = lode_heads(g, p.x, 12, 4);
    const struct {
        const char *what;
        const lode_tensor *t;
        int dyn, dim;
    } rows[] = {
        { "scale", lode_scale(g, p.x, 2), LODE_DYN_TOKENS, 1 },
        { "add", lode_add(g, p.x, lode_scale(g, p.x, 3)), LODE_DYN_TOKENS, 1 },
        { "columns", lode_columns(g, p.x, 1, 7), LODE_DYN_TOKENS, 1 },
        { "heads", heads, LODE_DYN_TOKENS, 2 },
        { "scaled heads", lode_scale(g, heads, 2), LODE_DYN_TOKENS, 2 },
        { "merged heads", lode_merge_heads(g, heads), LODE_DYN_TOKENS, 1 },
        { "product", lode_matmul(g, fixed, p.x), LODE_DYN_TOKENS, 1 },
        { "rows by index", lode_get_rows(g, p.x, out_ids), LODE_DYN_OUTPUTS, 1 },
        { "rows of a table", lode_get_rows(g, fixed, ids), LODE_DYN_TOKENS, 1 },
        { "a target of rows", lode_set_rows(g, fixed, p.x, ids), LODE_DYN_NONE, 0 },
        { "a cache", lode_kv_store(g, fixed, heads, ids), LODE_DYN_NONE, 0 },
        { "what has no such size", lode_scale(g, fixed, 2), LODE_DYN_NONE, 0 },
        { "any view", lode_view(g, p.x, p.x->ne, p.x->nb, 0), LODE_DYN_NONE, 0 },
    };
    lode_err e = { 0 };
    CHECK_OK(lode_graph_status(g, &e), &e);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].t->dyn != rows[i].dyn || (rows[i].dyn && rows[i].t->dyn_dim != rows[i].dim))
            fail_msg("%s: follows %d in size %d", rows[i].what, rows[i].t->dyn, rows[i].t->dyn_dim);
    lode_graph_close(g);
}

/* Builders are sticky: what is missing or makes no sense is kept for the end. */
TEST(what_a_builder_lacks_is_told_at_the_end) {
    (void)state_;
    enum { N = 14 };
    for (int k = 0; k < N; k++) {
        lode_err e = { 0 };
        place p;
        open_place(&p);
        lode_tensor *y = lode_scale(p.g, p.x, 2);
        const int64_t ne[4] = { 1, 1, 1, 1 };
        if (k == 0) lode_input(p.g, NULL, LODE_F32, 1, ne, LODE_DYN_NONE);
        if (k == 1) lode_input(p.g, "x", LODE_F32, 1, NULL, LODE_DYN_NONE);
        if (k == 2) lode_input(p.g, "x", LODE_F32, 5, ne, LODE_DYN_NONE);
        if (k == 3) lode_input(p.g, "x", LODE_F32, 0, ne, LODE_DYN_NONE);
        if (k == 4) lode_input(p.g, "x", LODE_F32, 1, ne, LODE_N_DYN);
        if (k == 5) lode_heads(p.g, NULL, 1, 1);
        if (k == 6) lode_merge_heads(p.g, NULL);
        if (k == 7) lode_columns(p.g, NULL, 0, 1);
        if (k == 8) lode_view(p.g, NULL, p.x->ne, p.x->nb, 0);
        if (k == 9) lode_extern(p.g, NULL);
        if (k == 10) lode_into(p.g, NULL, p.x);
        if (k == 11) lode_into(p.g, y, NULL);
        if (k == 12) lode_output(p.g, NULL);
        if (k == 13) lode_rms_norm(p.g, NULL, 1);
        const lode_status s = lode_graph_status(p.g, &e);
        if (s != LODE_E_INPUT || !e.text[0]) fail_msg("case %d: %s '%s'", k, lode_status_name(s), e.text);
        assert_null(lode_graph_node(p.g, lode_graph_n_nodes(p.g)));
        assert_null(lode_graph_node(p.g, -1));
        lode_graph_close(p.g);
    }
}

/* `n` columns from `from` on of a row of 48; heads of 48 elements. */
TEST(views_outside_a_tensor_are_refused_and_the_first_mistake_is_kept) {
    (void)state_;
    static const struct {
        int64_t from, n;
        bool good;
    } rows[] = {
        { 0, 48, true },  { 47, 1, true }, { 1, 48, false }, { 48, 1, false },        { 0, 49, false },
        { -1, 4, false }, { 0, 0, false }, { 4, -1, false }, { INT64_MAX, 2, false }, { 2, INT64_MAX, false }
    };
    lode_err e = { 0 };
    place p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_place(&p);
        const lode_tensor *t = lode_columns(p.g, p.x, rows[i].from, rows[i].n);
        if (rows[i].good)
            CHECK_OK(lode_graph_status(p.g, &e), &e);
        else
            CHECK_FAILS(lode_graph_status(p.g, &e), &e, LODE_E_SHAPE, "columns");
        if (!rows[i].good) assert_ptr_equal(t, p.g->nowhere);
        lode_heads(p.g, p.x, 7, 7); /* a second mistake, or the first */
        CHECK_FAILS(lode_graph_status(p.g, &e), &e, LODE_E_SHAPE, rows[i].good ? "heads" : "columns");
        lode_graph_close(p.g);
    }
}

TEST(heads_are_merged_only_where_they_lie_side_by_side) {
    (void)state_;
    static const struct {
        int64_t from, n;
        bool good;
    } rows[] = { { 0, 12, true }, { 0, 11, false }, { 1, 11, false }, { 3, 4, false } }; /* of heads of 12 */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lode_err e = { 0 };
        place p;
        open_place(&p);
        lode_merge_heads(p.g, lode_columns(p.g, lode_heads(p.g, p.x, 12, 4), rows[i].from, rows[i].n));
        if (rows[i].good)
            CHECK_OK(lode_graph_status(p.g, &e), &e);
        else
            CHECK_FAILS(lode_graph_status(p.g, &e), &e, LODE_E_SHAPE, "side by side");
        lode_graph_close(p.g);
        open_place(&p);
        lode_heads(p.g, p.x, 12, i ? 4 + (int64_t)i : 4); /* and heads only where they are whole */
        assert_int_equal(lode_graph_status(p.g, &e), i ? LODE_E_SHAPE : LODE_OK);
        lode_graph_close(p.g);
    }
}

/* A result of [48, 6] into memory of the caller's. */
TEST(results_go_into_memory_that_fits_them_and_nowhere_else) {
    (void)state_;
    const size_t row = 48 * sizeof(float);
    const struct {
        lode_tensor where;
        bool scale, copy; /* who takes it: an op that writes dense rows, one that writes any */
    } rows[] = {
        { { .type = LODE_F32, .ne = { 48, 6, 1, 1 }, .nb = { 4, row, 6 * row, 6 * row } }, true, true },
        { { .type = LODE_F32, .ne = { 48, 6, 1, 1 }, .nb = { 4, row + 64, 7 * row, 7 * row } }, true, true },
        { { .type = LODE_F32, .ne = { 48, 6, 1, 1 }, .nb = { 8, 2 * row, 12 * row, 12 * row } }, false, true },
        { { .type = LODE_F16, .ne = { 48, 6, 1, 1 }, .nb = { 2, row, 6 * row, 6 * row } }, false, false },
        { { .type = LODE_F32, .ne = { 48, 5, 1, 1 }, .nb = { 4, row, 5 * row, 5 * row } }, false, false },
        { { .type = LODE_F32, .ne = { 6, 48, 1, 1 }, .nb = { 4, 24, 6 * row, 6 * row } }, false, false },
        { { .type = LODE_F32, .ne = { 48, 1, 6, 1 }, .nb = { 4, row, row, 6 * row } }, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int copy = 0; copy < 2; copy++) {
            lode_err e = { 0 };
            place p;
            open_place(&p);
            lode_tensor *t = copy ? lode_copy(p.g, p.x, LODE_F32) : lode_scale(p.g, p.x, 2);
            lode_into(p.g, t, &rows[i].where);
            if (copy ? rows[i].copy : rows[i].scale) {
                CHECK_OK(lode_graph_status(p.g, &e), &e);
                assert_memory_equal(t->nb, rows[i].where.nb, sizeof t->nb);
            } else {
                CHECK_FAILS(lode_graph_status(p.g, &e), &e, LODE_E_SHAPE, "cannot go into");
            }
            lode_graph_close(p.g);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_of_a_view_shows_the_right_elements_of_the_owner),
        cmocka_unit_test(a_run_time_size_is_taken_on_where_a_result_has_it_and_nowhere_else),
        cmocka_unit_test(what_a_builder_lacks_is_told_at_the_end),
        cmocka_unit_test(views_outside_a_tensor_are_refused_and_the_first_mistake_is_kept),
        cmocka_unit_test(heads_are_merged_only_where_they_lie_side_by_side),
        cmocka_unit_test(results_go_into_memory_that_fits_them_and_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
