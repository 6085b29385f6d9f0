/* op_test.c - every case of every op: the CPU's kernels, of each instruction set and with 1 to 3 threads, against the
 * references, which the null device runs (fused ops expanded by their rule). All tensors lie between guard bands. The
 * references themselves against tests/golden/ops.txt (tools/golden_ops.py).
 *
 * usage: op_test [OP]: the cases of one op (make check-op OP=rope). */
#include "backend/iface.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/test.h"
#include "cpu/guard.h"
#include "graph/graph.h"
#include "lode/plan.h"
#include "lode/quant.h"
#include "ops/case.h"
#include "quant/random.h"

#include <math.h>

typedef struct {
    lode_runtime *rt;
    lode_stream *stream;
    const char *name;
    int fill; /* byte of unwritten results: another one for the reference, so that no two agree by lack of a write */
    bool counted; /* inputs are those of the golden file: */
    bool in_view; /* what is counted are the elements of the source, not those of the memory behind it */
} machine;

static int only; /* the op asked for; LODE_OP_NONE: all */

static uint64_t rng_state;
static float draw(void) { /* SplitMix64, to [-1, 1) */
    uint64_t z = (rng_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (float)((z ^ (z >> 31)) >> 40) / 8388608.0f - 1.0f;
}

static size_t bytes_of(const lode_tensor *t) {
    size_t row = 0;
    lode_row_bytes(t->type, t->ne[0], &row);
    return row * (size_t)lode_n_rows(t);
}

/* Random contents of an input: floats, encoded rows, or integers from `least` on and below the case's bound, without
 * repetition of slots. */
static unsigned char *contents(const lode_tensor *t, int64_t least, int64_t below) {
    unsigned char *p = lode_calloc(bytes_of(t) + 64, 1);
    const int64_t rows = lode_n_rows(t), range = below - least;
    size_t row = 0;
    lode_row_bytes(t->type, t->ne[0], &row);
    for (int64_t r = 0; r < rows; r++) {
        float *x = lode_calloc((size_t)t->ne[0], sizeof *x);
        for (int64_t i = 0; i < t->ne[0]; i++) x[i] = draw() * 2.0f;
        if (t->type == LODE_I32)
            for (int64_t i = 0; i < t->ne[0]; i++)
                ((int32_t *)(void *)p)[r * t->ne[0] + i] = (int32_t)((i * 7 + 3) % range + least);
        else if (t->type == LODE_F32)
            memcpy(p + (size_t)r * row, x, row);
        else if (t->type == LODE_I64)
            for (int64_t i = 0; i < t->ne[0]; i++)
                ((int64_t *)(void *)p)[r * t->ne[0] + i] = (i * 7 + 3) % range + least;
        else
            assert_true(quant_random_row(t->type, x, p + (size_t)r * row, t->ne[0]));
        free(x);
    }
    return p;
}

/* Inputs as tools/golden_ops.py counts them out: source `s`, element k. Memory that is not counted is NaN. */
static unsigned char *counted(const lode_case *c, int s, bool in_view) {
    const lode_tensor *leaf = c->leaf[s], *t = in_view ? c->src[s] : leaf;
    unsigned char *p = malloc(bytes_of(leaf) + 64);
    assert_non_null(p);
    memset(p, 0xFF, bytes_of(leaf) + 64);
    for (int64_t k = 0; k < lode_n_elements(t); k++) {
        const int64_t i0 = k % t->ne[0], r = k / t->ne[0],
                      whole = (k * 7 + 3) % (c->below[s] - c->least[s]) + c->least[s];
        char *at = (char *)p + t->view_off + (size_t)i0 * t->nb[0] + (size_t)(r % t->ne[1]) * t->nb[1] +
                   (size_t)(r / t->ne[1] % t->ne[2]) * t->nb[2] + (size_t)(r / t->ne[1] / t->ne[2]) * t->nb[3];
        float v = (float)((k * 37 + s * 11 + k * k * 5) % 29 - 14) / 8;
        if (strncmp(leaf->name, "unit", 4) == 0) v = (fabsf(v) + 0.125f) / 2;
        if (strncmp(leaf->name, "hide", 4) == 0 && (k % 3 == 0 || r % 4 == 1)) v = -INFINITY;
        if (t->type == LODE_I32)
            *(int32_t *)(void *)at = (int32_t)whole;
        else if (t->type == LODE_I64)
            *(int64_t *)(void *)at = whole;
        else if (t->type == LODE_F32)
            *(float *)(void *)at = v;
        else
            assert_true(lode_encode_row(t->type, &v, at, 1));
    }
    return p;
}

typedef struct {
    float *values;
    int64_t n;
    lode_type type;
    bool has_kernel, quantised; /* a source is of a block type */
} result;

static void note_kernel(void *user, const char *line) {
    if (strstr(line, " ref ")) *(bool *)user = false;
}

static void values_of(lode_type type, const unsigned char *raw, float *out, int64_t n) {
    for (int64_t i = 0; i < n && (type == LODE_I32 || type == LODE_I64); i++)
        out[i] = type == LODE_I32 ? (float)((const int32_t *)(const void *)raw)[i]
                                  : (float)((const int64_t *)(const void *)raw)[i];
    assert_true(type == LODE_I32 || type == LODE_I64 || lode_decode_row(type, raw, out, n));
}

/* Pages in a permuted order, no page twice; spans of two sequences, some tokens of each in turn, that end anywhere. */
static void fill_pages(int32_t *p, int64_t n) {
    for (int64_t i = 0; i < n; i++) p[i] = (int32_t)((i * 7 + 3) % n);
}

static void fill_spans(int32_t *p, int64_t tokens, int64_t below) {
    enum { WINDOW = 100 };
    for (int64_t t = 0; t < tokens; t++) {
        const int32_t to = tokens == 1 ? (int32_t)below : (int32_t)((t * t * 37 + 11 * t + 1) % below + 1);
        p[LODE_SPAN_SEQ] = (int32_t)(t / 5 % 2);
        p[LODE_SPAN_FROM] = 0;
        p[LODE_SPAN_FROM_WINDOW] = to > WINDOW ? to - WINDOW : 0;
        p[LODE_SPAN_TO] = to;
        p += LODE_SPAN_N;
    }
}

static void fill_leaf(lode_plan *p, const lode_case *c, int i, const machine *m) {
    lode_err e = { 0 };
    const lode_tensor *leaf = c->leaf[i];
    unsigned char *data = m->counted ? counted(c, i, m->in_view) : contents(leaf, c->least[i], c->below[i]);
    if (strcmp(leaf->name, "pages") == 0) fill_pages((int32_t *)(void *)data, lode_n_elements(leaf));
    if (strcmp(leaf->name, "spans") == 0) fill_spans((int32_t *)(void *)data, leaf->ne[1], c->below[i]);
    CHECK_OK(lode_plan_write(p, leaf, data, bytes_of(leaf), &e), &e);
    free(data);
}

/* The case at `text` computed on a machine. Same seed, same inputs. A refusal is *e and no values. */
static result try_compute(const machine *m, int op, const char *text, bool act_f32, lode_err *refused) {
    lode_err e = { 0 };
    lode_graph *g;
    lode_case c;
    lode_plan *p;
    guard bands;
    char what[200];
    const char *const begin = text;
    CHECK_OK(lode_graph_open(&g, &e), &e);
    assert_true(lode_case_next(&c, g, &text));
    lode_tensor *t = lode_op_info_of(op)->make(g, &c);
    const lode_plan_desc d = { .streams = &m->stream, .n_streams = 1, .act_f32 = act_f32 };
    lode_output(g, t);
    if (lode_graph_status(g, refused) != LODE_OK || lode_plan_open(&p, g, &d, refused) != LODE_OK) {
        lode_graph_close(g);
        return (result){ 0 };
    }
    CHECK_OK(guard_open(&bands, p, m->fill, &e), &e);
    rng_state = 42;
    for (int i = 0; i < c.n_src; i++) fill_leaf(p, &c, i, m);
    const lode_tensor *out = lode_plan_tensor(p, t);
    assert_non_null(out);
    CHECK_OK(guard_arm(&bands, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    if (!guard_check(&bands, what, sizeof what))
        fail_msg("%s on %s, %.*s: %s", lode_op_name(op), m->name, (int)strcspn(begin, "|"), begin, what);
    result r = { .n = lode_n_elements(out), .type = out->type, .has_kernel = true };
    for (int i = 0; i < c.n_src; i++) r.quantised = r.quantised || lode_type_block(c.src[i]->type) > 1;
    unsigned char *raw = lode_calloc(lode_n_bytes(out) + 64, 1);
    r.values = lode_calloc((size_t)r.n, sizeof *r.values);
    CHECK_OK(lode_plan_read(p, t, 0, raw, lode_n_bytes(out), &e), &e);
    const bool dense = out->nb[0] == (size_t)lode_type_bytes(out->type); /* a target of the caller's may not be */
    for (int64_t i = 0, n = dense ? out->ne[0] : 1; i < r.n; i += n) {
        const int64_t i0 = i % out->ne[0], row = i / out->ne[0];
        values_of(out->type,
                  raw + (size_t)i0 * out->nb[0] + (size_t)(row % out->ne[1]) * out->nb[1] +
                      (size_t)(row / out->ne[1] % out->ne[2]) * out->nb[2] +
                      (size_t)(row / out->ne[1] / out->ne[2]) * out->nb[3],
                  r.values + i, n);
    }
    lode_plan_print(p, LODE_PRINT_KERNELS, false, note_kernel, &r.has_kernel);
    free(raw);
    guard_close(&bands);
    lode_plan_close(p);
    lode_graph_close(g);
    return r;
}

static result compute(const machine *m, int op, const char *text, bool act_f32) {
    lode_err e = { 0 };
    const result r = try_compute(m, op, text, act_f32, &e);
    if (e.code) fail_msg("%s on %s, %.*s: %s", lode_op_name(op), m->name, (int)strcspn(text, "|"), text, e.text);
    return r;
}

/* NaN and infinities must stand where the reference has them; then they carry no error. */
static bool same_special(double x, double y) { return (isnan(x) && isnan(y)) || (isinf(x) && x == y); }

static double nmse(const result *a, const result *b) {
    double err = 0, norm = 0;
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < a->n; i++) {
        if (same_special((double)a->values[i], (double)b->values[i])) continue;
        const double d = (double)a->values[i] - (double)b->values[i];
        err += d * d;
        norm += (double)b->values[i] * (double)b->values[i];
    }
    return norm > 0 ? err / norm : err;
}

/* Values that are rounded to 8 bits on the way carry that error; a result of a short type may be rounded the other way
 * where f32 and double differ; everything else is arithmetic in f32. */
static double bound(int op, bool act_f32, const result *got) {
    if (got->type == LODE_F16) return 1e-7;
    if (got->type == LODE_BF16) return 1e-5;
    const bool quantised = got->quantised && !act_f32;
    const bool rounds = quantised || op == LODE_QUANT_ACT || op == LODE_NORM_MUL_QUANT || op == LODE_SWIGLU_QUANT ||
                        op == LODE_GEGLU_QUANT;
    return rounds ? 1e-4 : 1e-9;
}

/* An op without a line in kernels.def is run by its reference, shared out among the threads; so are permuted inputs. */
static bool has_line(int op) {
    static const int ops[] = {
#define KERNEL(op_, name, accepts, runs, scratch, shared) LODE_##op_,
#include "cpu/kernels.def"
#undef KERNEL
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i] == op) return true;
    return false;
}

static void check_case(const machine *m, const machine *ref, int op, const char *text, bool act_f32) {
    const result want = compute(ref, op, text, true), got = compute(m, op, text, act_f32);
    const double err = nmse(&got, &want);
    const size_t len = strcspn(text, "|");
    if (!(err <= bound(op, act_f32, &got)))
        fail_msg("%s on %s, %.*s: error %g", lode_op_name(op), m->name, (int)len, text, err);
    if (!got.has_kernel && has_line(op) && !memchr(text, '^', len))
        fail_msg("%s on %s, %.*s: only the reference", lode_op_name(op), m->name, (int)len, text);
    free(want.values);
    free(got.values);
}

static void check_all(const char *isa, int n_threads) {
    lode_err e = { 0 };
    machine m = { .name = isa, .fill = 0xFF }, ref = { .name = "reference", .fill = 0x55 };
    lode_device *null_device;
    if (lode_runtime_open(&m.rt, &(lode_runtime_desc){ .isa = isa, .n_null_devices = 1 }, &e) == LODE_E_UNSUPPORTED) {
        print_message("this machine has no %s\n", isa);
        return;
    }
    CHECK_OK(lode_runtime_find(m.rt, "NULL0", &null_device, &e), &e);
    CHECK_OK(lode_stream_open(&ref.stream, null_device, NULL, &e), &e);
    CHECK_OK(
        lode_stream_open(&m.stream, lode_runtime_device(m.rt, 0), &(lode_stream_desc){ .n_threads = n_threads }, &e),
        &e);
    for (int op = 1; op < LODE_N_OP; op++) {
        if (only && op != only) continue;
        const char *text = lode_op_info_of(op)->cases;
        while (text && *text) {
            check_case(&m, &ref, op, text, false);
            check_case(&m, &ref, op, text, true);
            text += strcspn(text, "|");
            text += strspn(text, "| ");
        }
    }
    lode_stream_close(m.stream);
    lode_stream_close(ref.stream);
    lode_runtime_close(m.rt);
}

TEST(portable_kernels_agree_with_the_references) {
    (void)state_;
    check_all("portable", 1);
    check_all("portable", 3);
}

TEST(avx2_kernels_agree_with_the_references) {
    (void)state_;
    check_all("avx2", 1);
    check_all("avx2", 2);
}

TEST(avx512_kernels_agree_with_the_references) {
    (void)state_;
    check_all("avx512", 1);
    check_all("avx512", 3);
}

TEST(amx_kernels_agree_with_the_references) {
    (void)state_;
    check_all("amx", 1);
    check_all("amx", 2);
}

/* Values of a line of the golden file against those of a case, unless that is refused; how far off they may be. */
static const char *check_golden(const machine *m, int op, const char *text, const char *values, double tolerance,
                                lode_err *refused) {
    const result got = try_compute(m, op, text, true, refused);
    if (refused->code) return values + strcspn(values, "\n") + 1;
    char *end = (char *)(uintptr_t)values;
    for (int64_t i = 0; i < got.n; i++) {
        const double want = strtod(end, &end), have = (double)got.values[i];
        if (!same_special(have, want) && !(fabs(have - want) <= tolerance * (1 + fabs(want))))
            fail_msg("%s on %s, %s: element %lld is %.9g, want %.9g", lode_op_name(op), m->name, text, (long long)i,
                     have, want);
    }
    if (*end != '\n') fail_msg("%s %s: %lld values, want more", lode_op_name(op), text, (long long)got.n);
    free(got.values);
    return end + 1;
}

/* Ops that the file has no case for: their results are bytes of a type (quant_test.c) or of a paged cache
 * (attend_test.c); quantised forms are fused ones. */
static bool judged_elsewhere(int op) {
    static const int ops[] = { LODE_ATTEND, LODE_QUANT_ACT, LODE_NORM_MUL_QUANT, LODE_SWIGLU_QUANT, LODE_GEGLU_QUANT };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i] == op) return true;
    return false;
}

/* References round to f32 once, and so are their parameters and places in images; kernels sum in f32. */
#define ROUNDING 2e-6
#define SUMS 1e-4

TEST(references_give_what_the_definitions_say) {
    (void)state_;
    lode_err e = { 0 };
    machine m = { .name = "reference", .fill = 0x55, .counted = true };
    lode_device *null_device;
    char *file;
    size_t n;
    bool seen[LODE_N_OP] = { false };
    CHECK_OK(lode_file_read("tests/golden/ops.txt", 1 << 20, &file, &n, &e), &e);
    CHECK_OK(lode_runtime_open(&m.rt, &(lode_runtime_desc){ .n_null_devices = 1 }, &e), &e);
    CHECK_OK(lode_runtime_find(m.rt, "NULL0", &null_device, &e), &e);
    CHECK_OK(lode_stream_open(&m.stream, null_device, NULL, &e), &e);
    for (const char *at = file; *at;) {
        char text[200];
        const size_t name = strcspn(at, " "), line = strcspn(at, "\n");
        const int op = lode_op_of_name(at, name);
        if (op == LODE_OP_NONE || line - name > sizeof text) fail_msg("no op or too long: %.80s", at);
        snprintf(text, sizeof text, "%.*s", (int)(line - name - 1), at + name + 1);
        seen[op] = true;
        at += line + 1;
        at = only && op != only ? at + strcspn(at, "\n") + 1 : check_golden(&m, op, text, at, ROUNDING, &e);
        if (e.code) fail_msg("%s %s: %s", lode_op_name(op), text, e.text);
    }
    for (int op = 1; op < LODE_N_OP; op++)
        if (!seen[op] && !judged_elsewhere(op)) fail_msg("%s has no case", lode_op_name(op));
    lode_stream_close(m.stream);
    lode_runtime_close(m.rt);
    free(file);
}

/* Elements that an op leaves as they were: states before the first token. */
static bool leaves_out(int op, float a, float b) {
    static const unsigned char bytes[2][4] = { { 0x55, 0x55, 0x55, 0x55 }, { 0xFF, 0xFF, 0xFF, 0xFF } };
    return (op == LODE_SSM_SCAN || op == LODE_GATED_DELTA_NET) && memcmp(&a, bytes[0], 4) == 0 &&
           memcmp(&b, bytes[1], 4) == 0;
}

/* A case of other sizes: refused with a line, or else the same on all machines, whose bands and unwritten results
 * differ. Returns whether it was refused. */
static bool check_sizes(const machine *m, int n_machines, int op, const char *text) {
    result r[3] = { { 0 } };
    lode_err e[3] = { { 0 } };
    for (int i = 0; i < n_machines; i++) r[i] = try_compute(&m[i], op, text, true, &e[i]);
    for (int i = 1; i < n_machines; i++) {
        if ((e[i].code != 0) != (e[0].code != 0) || r[i].n != r[0].n)
            fail_msg("%s %s: %s '%s', %s '%s'", lode_op_name(op), text, m[0].name, e[0].text, m[i].name, e[i].text);
        for (int64_t k = 0; k < r[0].n; k++) {
            const float a = r[0].values[k], b = r[i].values[k];
            if (same_special((double)a, (double)b) || leaves_out(op, a, b)) continue;
            if (!(fabs((double)a - (double)b) <= 1e-4 * (1 + fabs((double)a))))
                fail_msg("%s %s: element %lld is %g on %s and %g on %s", lode_op_name(op), text, (long long)k,
                         (double)a, m[0].name, (double)b, m[i].name);
        }
    }
    if (e[0].code) assert_true(e[0].text[0] != '\0' && !strchr(e[0].text, '\n'));
    for (int i = 0; i < n_machines; i++) free(r[i].values);
    return e[0].code != 0;
}

/* The case with other numbers at text[i], a '[' or ','. count: refused, taken. */
static void other_sizes(const machine *m, int op, const char *text, size_t i, int count[2]) {
    char *end, other[200];
    const long old = strtol(text + i + 1, &end, 10), sizes[] = { 0, 1, old - 1, old + 1, 2 * old, 3 * old };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        snprintf(other, sizeof other, "%.*s%ld%s", (int)i + 1, text, sizes[k], end);
        count[!check_sizes(m, 3, op, other)]++;
    }
}

/* The case with other distances of the source whose shape begins at text[open], unused elements behind its rows or
 * axes exchanged: the values are the same ones, on the reference and on the CPU. */
static void other_distances(machine *m, int op, const char *text, size_t open, const char *values, int count[2]) {
    const size_t end = open + strcspn(text + open, " ");
    char *p, other[2][200];
    if (strpbrk(text, "+^")) return; /* the values are those of a case that has some itself */
    const long n0 = strtol(text + open + 1, &p, 10), n1 = *p == ',' ? strtol(p + 1, &p, 10) : 1;
    snprintf(other[0], sizeof other[0], "%.*s+2%s", (int)end, text, text + end);
    snprintf(other[1], sizeof other[1], "%.*s[%ld,%ld%.*s^10%s", (int)open, text, n1, n0, (int)(text + end - p), p,
             text + end);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i += 2) {
            lode_err e = { 0 };
            m[i].in_view = true;
            check_golden(&m[i], op, other[k], values, i ? SUMS : ROUNDING, &e);
            m[i].in_view = false;
            count[e.code == 0]++;
        }
}

/* Every case of the golden file with each number of each shape replaced, and with other distances: what is not refused
 * must not touch anything beside its tensors. */
TEST(shapes_that_do_not_fit_are_refused_and_what_is_taken_stays_within_its_tensors) {
    (void)state_;
    lode_err e = { 0 };
    machine m[] = { { .name = "reference", .fill = 0x55, .counted = true },
                    { .name = "reference again", .fill = 0xFF, .counted = true },
                    { .name = "cpu", .fill = 0xFF, .counted = true } };
    lode_runtime *rt;
    char *file;
    size_t n;
    int count[2] = { 0 };
    CHECK_OK(lode_file_read("tests/golden/ops.txt", 1 << 20, &file, &n, &e), &e);
    CHECK_OK(lode_runtime_open(&rt, &(lode_runtime_desc){ .n_null_devices = 2 }, &e), &e);
    for (int i = 0; i < 3; i++) {
        lode_device *d;
        CHECK_OK(lode_runtime_find(rt, i == 2 ? "CPU" : i ? "NULL1" : "NULL0", &d, &e), &e);
        CHECK_OK(lode_stream_open(&m[i].stream, d, &(lode_stream_desc){ .n_threads = 2 }, &e), &e);
    }
    for (const char *at = file; *at; at += strcspn(at, "\n") + 1, at += strcspn(at, "\n") + 1) {
        char text[200];
        const size_t name = strcspn(at, " "), line = strcspn(at, "\n");
        const int op = lode_op_of_name(at, name);
        if (only && op != only) continue;
        snprintf(text, sizeof text, "%.*s", (int)(line - name - 1), at + name + 1);
        for (size_t i = 0; text[i]; i++) {
            if (text[i] == '[') other_distances(m, op, text, i, at + line + 1, count);
            if (text[i] == '[' || text[i] == ',') other_sizes(m, op, text, i, count);
        }
    }
    if (!only) assert_true(count[0] > 1000 && count[1] > 1000); /* both happen */
    for (int i = 0; i < 3; i++) lode_stream_close(m[i].stream);
    lode_runtime_close(rt);
    free(file);
}

TEST(every_op_has_cases) {
    (void)state_;
    for (int op = 1; op < LODE_N_OP; op++) assert_true(lode_op_info_of(op)->cases && lode_op_info_of(op)->make);
}

/* Writes one byte where a node may not, after a run of ADD. */
static void check_guard(size_t owner, int64_t at, const char *want) {
    lode_err e = { 0 };
    lode_runtime *rt;
    lode_stream *stream;
    lode_graph *g;
    lode_case c;
    lode_plan *p;
    guard bands;
    char what[200] = "";
    const char *text = "a=f32[5,3] b=f32[5,3]";
    CHECK_OK(lode_runtime_open(&rt, &(lode_runtime_desc){ 0 }, &e), &e);
    CHECK_OK(lode_stream_open(&stream, lode_runtime_device(rt, 0), &(lode_stream_desc){ .n_threads = 1 }, &e), &e);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    assert_true(lode_case_next(&c, g, &text));
    lode_tensor *t = lode_op_info_of(LODE_ADD)->make(g, &c);
    lode_output(g, t);
    CHECK_OK(lode_plan_open(&p, g, &(lode_plan_desc){ .streams = &stream, .n_streams = 1 }, &e), &e);
    CHECK_OK(guard_open(&bands, p, 0xFF, &e), &e);
    CHECK_OK(guard_arm(&bands, &e), &e);
    CHECK_OK(lode_plan_run(p, &e), &e);
    assert_true(guard_check(&bands, what, sizeof what));
    const lode_tensor *hit = lode_plan_tensor(p, owner == 2 ? t : c.leaf[owner]);
    CHECK_OK(lode_buffer_memset(hit->buffer, (size_t)((int64_t)hit->offset + at), 0x11, 1, &e), &e);
    assert_int_equal(guard_check(&bands, what, sizeof what), want == NULL);
    if (want && !strstr(what, want)) fail_msg("'%s' lacks '%s'", what, want);
    guard_close(&bands);
    lode_plan_close(p);
    lode_graph_close(g);
    lode_stream_close(stream);
    lode_runtime_close(rt);
}

TEST(guards_find_a_byte_beside_a_result_and_in_an_input) {
    (void)state_;
    check_guard(2, 59, NULL); /* inside: may be written */
    check_guard(2, 60, "byte 60 of result of add (60 bytes)");
    check_guard(2, -1, "byte -1 of result of add");
    check_guard(0, 17, "byte 17 of input a");
    check_guard(1, 60, "byte 60 of input b");
}

int main(int argc, char **argv) {
    if (argc > 1) {
        only = lode_op_of_name(argv[1], strlen(argv[1]));
        if (only == LODE_OP_NONE) return fprintf(stderr, "op_test: no op is named %s (src/graph/op.def)\n", argv[1]), 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_cases),
        cmocka_unit_test(references_give_what_the_definitions_say),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused_and_what_is_taken_stays_within_its_tensors),
        cmocka_unit_test(guards_find_a_byte_beside_a_result_and_in_an_input),
        cmocka_unit_test(portable_kernels_agree_with_the_references),
        cmocka_unit_test(avx2_kernels_agree_with_the_references),
        cmocka_unit_test(avx512_kernels_agree_with_the_references),
        cmocka_unit_test(amx_kernels_agree_with_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
