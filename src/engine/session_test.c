/* session_test.c - sequences and steps on the tiny checkpoints of tests/golden: results that depend on nothing but the
 * tokens, edits of sequences, refusals that change nothing, and steps that neither plan nor allocate. */
#include "base/mem.h"
#include "base/test.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "engine/session.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define COUNTS_ALLOCATIONS 1
/* Counting versions in front of glibc's own. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
static atomic_long n_allocations;
void *malloc(size_t n) {
    n_allocations++;
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
    n_allocations++;
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
    n_allocations++;
    return __libc_realloc(p, n);
}
#endif

enum { N_VOCAB_MAX = 4096, N_TEXT = 70 };

typedef struct {
    lode_runtime *rt;
    lode_model *m;
    int n_vocab;
} world;

/* The checkpoint of a fixture as a model of the given type. */
static void open_world(world *w, const char *fixture, lode_type type) {
    lode_err e = { 0 };
    lode_fixture f = { 0 };
    char dir[] = "/tmp/lode_session_XXXXXX", path[128], gguf[128];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "tests/golden/%s.json", fixture);
    snprintf(gguf, sizeof gguf, "%s/model.gguf", dir);
    CHECK_OK(lode_fixture_open(&f, path, &e), &e);
    CHECK_OK(lode_fixture_write(&f, dir, &e), &e);
    CHECK_OK(lode_convert(&(lode_convert_desc){ .in_dir = dir, .out_path = gguf, .type = type }, &e), &e);
    CHECK_OK(lode_runtime_open(&w->rt, &(lode_runtime_desc){ 0 }, &e), &e);
    CHECK_OK(lode_model_open(&w->m, &(lode_model_desc){ .runtime = w->rt, .path = gguf }, &e), &e);
    w->n_vocab = f.n_vocab;
    static const char *const files[] = { "model.gguf", "config.json", "model.safetensors" };
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        remove(path);
    }
    rmdir(dir);
    lode_fixture_close(&f);
}

static void close_world(world *w) {
    lode_model_close(w->m);
    lode_runtime_close(w->rt);
}

static lode_session *open_session(const world *w, const lode_session_desc *d) {
    lode_err e = { 0 };
    lode_session *s;
    CHECK_OK(lode_session_open(&s, w->m, d, &e), &e);
    return s;
}

static int32_t text_id(const world *w, int i) {
    return (int32_t)((uint32_t)(i * i + 3 * i + 7) % (uint32_t)w->n_vocab);
}

/* Appends tokens from..to-1 of the test's text to a sequence, in batches of at most `cut`. */
static void append(const world *w, lode_session *s, int seq, int from, int to, int cut) {
    lode_err e = { 0 };
    int32_t ids[512];
    while (from < to) {
        const int n = to - from < cut ? to - from : cut;
        for (int i = 0; i < n; i++) ids[i] = text_id(w, from + i);
        CHECK_OK(lode_session_append(s, seq, ids, n, &e), &e);
        from += n;
    }
}

static void keep(const world *w, lode_session *s, float *out) {
    memcpy(out, lode_session_logits(s, lode_session_n_logits(s) - 1), (size_t)w->n_vocab * sizeof *out);
}

static void same_bits(const world *w, lode_session *s, const float *want, const char *what) {
    const float *got = lode_session_logits(s, lode_session_n_logits(s) - 1);
    if (memcmp(got, want, (size_t)w->n_vocab * sizeof *got) != 0) fail_msg("other bits: %s", what);
}

/* Logits after the whole text, fresh, in one batch on one thread. */
static void reference(const world *w, float *out) {
    lode_session *s = open_session(w, &(lode_session_desc){ .n_ctx = 128, .n_threads = 1 });
    append(w, s, 0, 0, N_TEXT, N_TEXT);
    keep(w, s, out);
    lode_session_close(s);
}

/* Company in the same batch, token by token. */
static void check_mixed_batch(const world *w, const float *want, const char *what) {
    lode_err e = { 0 };
    lode_session *s = open_session(w, &(lode_session_desc){ .n_ctx = 512, .n_seq = 3, .n_threads = 2 });
    lode_batch_token t[2 * N_TEXT];
    for (int i = 0; i < N_TEXT; i++) {
        t[2 * i] = (lode_batch_token){ text_id(w, i), 2, i == N_TEXT - 1 };
        t[2 * i + 1] = (lode_batch_token){ text_id(w, i + 1), 0, false };
    }
    CHECK_OK(lode_session_run(s, t, 2 * N_TEXT, &e), &e);
    assert_int_equal(lode_session_n_logits(s), 1);
    same_bits(w, s, want, what);
    lode_session_close(s);
}

static void check_determinism(const char *fixture, lode_type type) {
    world w;
    float want[N_VOCAB_MAX];
    open_world(&w, fixture, type);
    reference(&w, want);
    for (int threads = 1; threads <= 3; threads++)
        for (size_t c = 0; c < 4; c++) {
            static const int cuts[] = { 1, 7, 64, 512 };
            char what[64];
            snprintf(what, sizeof what, "%s %s, %d threads, cut %d", fixture, lode_type_name(type), threads, cuts[c]);
            lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 256, .n_threads = threads, .n_seq = 2 });
            append(&w, s, 1, 5, 5 + 20 * threads, 13); /* company */
            append(&w, s, 0, 0, N_TEXT, cuts[c]);
            same_bits(&w, s, want, what);
            lode_session_close(s);
        }
    check_mixed_batch(&w, want, fixture);
    close_world(&w);
}

TEST(logits_do_not_depend_on_the_cut_the_threads_or_company) {
    (void)state_;
    static const char *const all[] = { "llama", "mistral", "ministral3",  "qwen2", "qwen3",
                                       "gemma", "gemma2",  "gemma3_text", "phi3",  "smollm3" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) check_determinism(all[i], LODE_F32);
    check_determinism("llama", LODE_F16);
    check_determinism("gemma3_text", LODE_BF16);
    check_determinism("qwen3", LODE_Q8_0);
}

/* Part `no` of two of a model: all keys and every second tensor. */
static void write_part(const lode_gguf *g, const char *path, uint16_t no) {
    lode_err e = { 0 };
    lode_gguf_writer *w;
    const uint16_t count = 2;
    CHECK_OK(lode_gguf_writer_open(&w, path, &e), &e);
    const lode_gguf_kv split[] = {
        { { "split.no", 8 }, LODE_GGUF_U16, LODE_GGUF_U16, 1, (const uint8_t *)&no, 2 },
        { { "split.count", 11 }, LODE_GGUF_U16, LODE_GGUF_U16, 1, (const uint8_t *)&count, 2 },
    };
    for (int i = 0; i < 2; i++) lode_gguf_set_kv(w, &split[i]);
    for (uint64_t i = 0; i < lode_gguf_n_kv(g); i++) lode_gguf_set_kv(w, lode_gguf_kv_at(g, i));
    for (uint64_t i = no; i < lode_gguf_n_tensors(g); i += 2) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(g, i);
        char name[LODE_MAX_NAME];
        snprintf(name, sizeof name, "%.*s", (int)t->name.n, t->name.p);
        CHECK_OK(lode_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, &e), &e);
    }
    CHECK_OK(lode_gguf_begin(w, &e), &e);
    for (uint64_t i = no; i < lode_gguf_n_tensors(g); i += 2) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(g, i);
        CHECK_OK(lode_gguf_write_tensor(w, lode_gguf_tensor_data(g, t), (size_t)t->bytes, &e), &e);
    }
    CHECK_OK(lode_gguf_finish(w, &e), &e);
}

/* Logits of many tokens of one run, which takes several steps, each with some of them. */
TEST(logits_of_every_token_are_those_of_single_steps_in_any_cut) {
    (void)state_;
    enum { N = 50 };
    world w;
    lode_err e = { 0 };
    open_world(&w, "llama", LODE_F32);
    float *want = malloc(sizeof *want * N * (size_t)w.n_vocab);
    assert_non_null(want);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 64 });
    for (int i = 0; i < N; i++) {
        append(&w, s, 0, i, i + 1, 1);
        keep(&w, s, want + (size_t)i * (size_t)w.n_vocab);
    }
    lode_session_close(s);
    static const int cuts[] = { 1, 7, 16, 49, 50 };
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++)
        for (int every = 1; every < 4; every++) {
            lode_batch_token t[N];
            int k = 0;
            for (int i = 0; i < N; i++) t[i] = (lode_batch_token){ text_id(&w, i), 0, i % every == 0 };
            s = open_session(&w, &(lode_session_desc){ .n_ctx = 64, .n_batch = cuts[c] });
            CHECK_OK(lode_session_run(s, t, N, &e), &e);
            for (int i = 0; i < N; i += every, k++)
                if (memcmp(lode_session_logits(s, k), want + (size_t)i * (size_t)w.n_vocab,
                           (size_t)w.n_vocab * sizeof *want) != 0)
                    fail_msg("batches of %d, every %d: token %d", cuts[c], every, i);
            assert_int_equal(lode_session_n_logits(s), k);
            assert_null(lode_session_logits(s, k));
            lode_session_close(s);
        }
    free(want);
    close_world(&w);
}

TEST(a_model_in_parts_is_the_same_model) {
    (void)state_;
    world w, parts = { 0 };
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    char dir[] = "/tmp/lode_session_XXXXXX", path[2][64];
    open_world(&w, "qwen3", LODE_F32);
    reference(&w, want);
    assert_non_null(mkdtemp(dir));
    for (uint16_t i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/m-%05d-of-00002.gguf", dir, i + 1);
        write_part(lode_model_gguf(w.m), path[i], i);
    }
    parts.n_vocab = w.n_vocab;
    CHECK_OK(lode_runtime_open(&parts.rt, &(lode_runtime_desc){ .n_null_devices = 1 }, &e), &e);
    for (int copied = 0; copied < 2; copied++) { /* used where it lies, and in a device's own memory */
        const lode_model_desc d = { .runtime = parts.rt,
                                    .device = lode_runtime_device(parts.rt, copied),
                                    .path = path[0] };
        CHECK_OK(lode_model_open(&parts.m, &d, &e), &e);
        lode_session *s = open_session(&parts, &(lode_session_desc){ .n_ctx = 128, .n_threads = 2 });
        append(&parts, s, 0, 0, N_TEXT, N_TEXT);
        const float *got = lode_session_logits(s, 0);
        if (!copied) same_bits(&parts, s, want, "a model in parts");
        for (int i = 0; i < w.n_vocab; i++) /* references there, which sum in double */
            assert_true(fabsf(got[i] - want[i]) < 1e-3f * (1 + fabsf(want[i])));
        lode_session_close(s);
        lode_model_close(parts.m);
    }
    lode_runtime_close(parts.rt);
    for (int i = 0; i < 2; i++) remove(path[i]);
    assert_int_equal(rmdir(dir), 0);
    close_world(&w);
}

TEST(a_removed_tail_and_a_copy_continue_as_if_fresh) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    open_world(&w, "gemma3_text", LODE_F32);
    reference(&w, want);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 512, .n_seq = 2 });
    append(&w, s, 0, 0, 40, 40);
    append(&w, s, 0, 3, 20, 9); /* something else, to be removed */
    CHECK_OK(lode_seq_remove(s, 0, 40, -1, &e), &e);
    CHECK_OK(lode_seq_copy(s, 0, 1, -1, &e), &e);
    append(&w, s, 0, 11, 30, 5); /* the copy must not see this: the shared page is written by its other owner */
    append(&w, s, 1, 40, N_TEXT, 8);
    same_bits(&w, s, want, "a copy that went on");
    CHECK_OK(lode_seq_remove(s, 0, 40, -1, &e), &e);
    append(&w, s, 0, 40, N_TEXT, 30);
    same_bits(&w, s, want, "the original, cut back");
    assert_int_equal(lode_seq_length(s, 0), N_TEXT);
    assert_int_equal(lode_seq_ids(s, 1)[41], text_id(&w, 41));
    lode_seq_remove(s, 0, 0, -1, &e);
    lode_seq_remove(s, 1, 0, -1, &e);
    assert_int_equal(lode_session_n_free(s), 512);
    lode_session_close(s);
    close_world(&w);
}

/* Every edit of one of two sequences that share their pages; the other one goes on as if alone. */
TEST(an_edit_of_one_sequence_is_not_seen_by_another_that_shares_its_pages) {
    (void)state_;
    enum { HAVE = 140 }; /* three pages, the last one half full */
    static const int ranges[][2] = {
        { 4, 24 }, { 0, 1 }, { 60, 70 }, { 130, 139 }, { 130, -1 }, { 64, 128 }, { 0, -1 }
    };
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    open_world(&w, "llama", LODE_F32);
    const lode_session_desc d = { .n_ctx = 1024, .n_seq = 2, .n_threads = 2 };
    lode_session *s = open_session(&w, &d);
    append(&w, s, 0, 0, HAVE + 5, 64);
    keep(&w, s, want);
    lode_session_close(s);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (int how = 0; how < 4; how++) { /* the first or the copy is edited; removed or shifted */
            char what[64];
            snprintf(what, sizeof what, "%s %d, tokens %d..%d", how / 2 ? "shifted in" : "removed from", how % 2,
                     ranges[i][0], ranges[i][1]);
            s = open_session(&w, &d);
            append(&w, s, 0, 0, HAVE, 64);
            CHECK_OK(lode_seq_copy(s, 0, 1, -1, &e), &e);
            if (how / 2)
                CHECK_OK(lode_seq_shift(s, how % 2, ranges[i][0], ranges[i][1], &e), &e);
            else
                CHECK_OK(lode_seq_remove(s, how % 2, ranges[i][0], ranges[i][1], &e), &e);
            append(&w, s, how % 2, 9, 12, 3);
            append(&w, s, 1 - how % 2, HAVE, HAVE + 5, 5);
            same_bits(&w, s, want, what);
            lode_session_close(s);
        }
    close_world(&w);
}

/* Two sequences share all pages, the last one not full; whoever goes on needs a copy of it first. */
TEST(a_copy_of_a_shared_page_needs_room_like_any_page) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    open_world(&w, "llama", LODE_F32);
    reference(&w, want);
    for (int n_free = 0; n_free < 3; n_free++) { /* pages */
        const lode_session_desc d = { .n_ctx = (2 + n_free) * LODE_PAGE, .n_seq = 2 };
        lode_session *s = open_session(&w, &d);
        append(&w, s, 0, 0, 69, 69);
        CHECK_OK(lode_seq_copy(s, 0, 1, -1, &e), &e);
        assert_int_equal(lode_session_n_free(s), n_free * LODE_PAGE);
        const lode_batch_token both[] = { { text_id(&w, 69), 0, true }, { text_id(&w, 69), 1, true } };
        for (int seq = 0; seq < 2 && n_free == 0; seq++) {
            CHECK_FAILS(lode_session_run(s, &both[seq], 1, &e), &e, LODE_E_FULL, "context is full");
            CHECK_FAILS(lode_seq_shift(s, seq, 0, 5, &e), &e, LODE_E_FULL, "context is full");
            assert_int_equal(lode_seq_length(s, seq), 69);
        }
        if (n_free == 0) CHECK_OK(lode_seq_remove(s, 1, 0, -1, &e), &e);
        const int at_once = n_free == 2 ? 2 : 1; /* a batch of both asks for two, whoever copies first */
        for (int at = 0; at < (n_free ? 2 : 1); at += at_once) {
            CHECK_OK(lode_session_run(s, both + at, at_once, &e), &e);
            for (int i = 0; i < at_once; i++)
                assert_memory_equal(lode_session_logits(s, i), want, (size_t)w.n_vocab * sizeof *want);
        }
        if (n_free) assert_int_equal(lode_session_n_free(s), (n_free - 1) * LODE_PAGE);
        lode_session_close(s);
    }
    close_world(&w);
}

TEST(a_shift_moves_positions_and_keeps_the_rest_usable) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    open_world(&w, "llama", LODE_F32);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 128, .kv_f32 = true });
    append(&w, s, 0, 0, N_TEXT, N_TEXT);
    CHECK_OK(lode_seq_shift(s, 0, 4, 24, &e), &e);
    assert_int_equal(lode_seq_length(s, 0), N_TEXT - 20);
    assert_int_equal(lode_seq_next_pos(s, 0), N_TEXT - 20);
    assert_int_equal(lode_seq_ids(s, 0)[4], text_id(&w, 24));
    append(&w, s, 0, 1, 60, 17);
    const float *l = lode_session_logits(s, 0);
    for (int i = 0; i < w.n_vocab; i++) assert_true(l[i] == l[i]);
    lode_session_close(s);
    close_world(&w);
}

/* Scores depend on differences of positions only, and tokens of the first layer on nothing before them: a model whose
 * second sequence starts at a later position and is moved to 0 must go on like one that started there. The first token
 * is removed before the others are computed, so nothing has seen it. */
TEST(a_sequence_moved_as_a_whole_goes_on_as_one_that_started_there) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    open_world(&w, "llama", LODE_F32);
    const lode_session_desc d = { .n_ctx = 256, .kv_f32 = true, .act_f32 = true };
    lode_session *s = open_session(&w, &d);
    append(&w, s, 0, 0, N_TEXT, N_TEXT);
    keep(&w, s, want);
    lode_session_close(s);
    s = open_session(&w, &d);
    append(&w, s, 0, 5, 6, 1);
    s->kv.seqs[0].next_pos = 31;
    s->kv.seqs[0].n = 1;
    append(&w, s, 0, 0, 1, 1); /* position 31, sees the stray token: computed again below */
    CHECK_OK(lode_seq_remove(s, 0, 0, -1, &e), &e);
    s->kv.seqs[0].next_pos = 31;
    append(&w, s, 0, 0, N_TEXT - 1, N_TEXT); /* positions 31.. */
    lode_kv_seq *q = &s->kv.seqs[0];
    CHECK_OK(lode_plans_turn(s, q, 0, -31, &e), &e);
    for (int i = 0; i < q->n; i++) q->pos[i] -= 31;
    q->next_pos -= 31;
    append(&w, s, 0, N_TEXT - 1, N_TEXT, 1);
    const float *got = lode_session_logits(s, 0);
    for (int i = 0; i < w.n_vocab; i++) assert_true(fabsf(got[i] - want[i]) < 1e-3f);
    lode_session_close(s);
    close_world(&w);
}

TEST(a_refused_batch_changes_nothing) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    open_world(&w, "llama", LODE_F32);
    reference(&w, want);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 128 });
    append(&w, s, 0, 0, 50, 50);
    int32_t many[100] = { 0 }, bad = w.n_vocab;
    CHECK_FAILS(lode_session_append(s, 0, many, 100, &e), &e, LODE_E_FULL, "context is full");
    CHECK_FAILS(lode_session_append(s, 0, &bad, 1, &e), &e, LODE_E_INPUT, "vocabulary");
    CHECK_FAILS(lode_session_append(s, 5, many, 1, &e), &e, LODE_E_INPUT, "sequence");
    CHECK_FAILS(lode_session_append(s, 0, many, 0, &e), &e, LODE_E_INPUT, "at least 1");
    append(&w, s, 0, 50, N_TEXT, 20);
    same_bits(&w, s, want, "after refusals");
    lode_session_close(s);
    CHECK_FAILS(lode_session_open(&s, w.m, &(lode_session_desc){ .n_ctx = 1 << 29 }, &e), &e, LODE_E_NOMEM, "GiB");
    /* What a caller has in hand who did not look at the code of the call before. */
    lode_model *m = NULL;
    CHECK_FAILS(lode_session_open(&s, NULL, NULL, &e), &e, LODE_E_INPUT, "lode_session_open");
    CHECK_FAILS(lode_model_open(&m, &(lode_model_desc){ .path = "x.gguf" }, &e), &e, LODE_E_INPUT, "runtime");
    close_world(&w);
}

TEST(sequences_that_are_not_there_have_nothing_and_cannot_be_edited) {
    (void)state_;
    static const int none[] = { -1, 2, 3, INT32_MIN, INT32_MAX };
    world w;
    lode_err e = { 0 };
    open_world(&w, "llama", LODE_F32);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 256, .n_seq = 2 });
    append(&w, s, 0, 0, 10, 10);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const int32_t id = 1;
        CHECK_FAILS(lode_session_append(s, none[i], &id, 1, &e), &e, LODE_E_INPUT, "sequence");
        CHECK_FAILS(lode_seq_remove(s, none[i], 0, -1, &e), &e, LODE_E_INPUT, "sequence");
        CHECK_FAILS(lode_seq_shift(s, none[i], 0, 1, &e), &e, LODE_E_INPUT, "sequence");
        CHECK_FAILS(lode_seq_copy(s, none[i], 0, -1, &e), &e, LODE_E_INPUT, "sequence");
        CHECK_FAILS(lode_seq_copy(s, 0, none[i], -1, &e), &e, LODE_E_INPUT, "sequence");
        assert_int_equal(lode_seq_length(s, none[i]), 0);
        assert_int_equal(lode_seq_next_pos(s, none[i]), 0);
        assert_null(lode_seq_ids(s, none[i]));
    }
    CHECK_FAILS(lode_seq_remove(s, 0, -1, 5, &e), &e, LODE_E_INPUT, "tokens");
    CHECK_FAILS(lode_seq_remove(s, 0, 11, -1, &e), &e, LODE_E_INPUT, "tokens");
    CHECK_FAILS(lode_seq_shift(s, 0, 6, 5, &e), &e, LODE_E_INPUT, "tokens");
    assert_int_equal(lode_seq_length(s, 0), 10);
    assert_null(lode_session_logits(s, -1));
    assert_null(lode_session_logits(s, lode_session_n_logits(s)));
    lode_session_close(s);
    close_world(&w);
}

/* Llama 4's rule, which Ministral 3 has: 1 + beta log(1 + floor(position / context of training)). */
TEST(queries_of_long_contexts_are_scaled_by_their_position) {
    (void)state_;
    enum { ORIG = 8, TOKENS = 40 };
    world w;
    open_world(&w, "ministral3", LODE_F32);
    w.m->hp.n_ctx_orig = ORIG;
    const double beta = (double)w.m->hp.attn_temp_scale;
    assert_true(beta > 0);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 64 });
    append(&w, s, 0, 0, TOKENS, TOKENS);
    for (int i = 0; i < TOKENS; i++)
        assert_true(fabs((double)s->in.q_scale[i] - (1 + beta * log(1 + i / ORIG))) < 1e-6);
    append(&w, s, 0, 0, 1, 1);
    assert_true(fabs((double)s->in.q_scale[0] - (1 + beta * log(1 + TOKENS / ORIG))) < 1e-6);
    lode_session_close(s);
    close_world(&w);
}

TEST(a_trace_that_could_not_be_written_is_told) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    open_world(&w, "llama", LODE_F32);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 128 });
    CHECK_OK(lode_session_trace(s, NULL, &e), &e); /* there is none to finish */
    char dir[] = "/tmp/lode_session_XXXXXX", pipe[40];
    assert_non_null(mkdtemp(dir));
    snprintf(pipe, sizeof pipe, "%s/pipe", dir);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int fd = open(pipe, O_RDONLY | O_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
    CHECK_OK(lode_session_trace(s, pipe, &e), &e);
    append(&w, s, 0, 0, 10, 10);
    close(fd);
    CHECK_FAILS(lode_session_trace(s, NULL, &e), &e, LODE_E_IO, pipe);
    CHECK_OK(lode_session_trace(s, NULL, &e), &e);
    remove(pipe);
    remove(dir);
    lode_session_close(s);
    close_world(&w);
}

static bool always(void *user) { return *(bool *)user; }

TEST(an_aborted_run_leaves_the_sequence_as_it_was) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    float want[N_VOCAB_MAX];
    bool stop = false;
    open_world(&w, "llama", LODE_F32);
    reference(&w, want);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 128, .abort = always, .abort_user = &stop });
    append(&w, s, 0, 0, 30, 30);
    stop = true;
    int32_t id = 1;
    CHECK_FAILS(lode_session_append(s, 0, &id, 1, &e), &e, LODE_E_ABORTED, "stopped");
    stop = false;
    assert_int_equal(lode_seq_length(s, 0), 30);
    append(&w, s, 0, 30, N_TEXT, 40);
    same_bits(&w, s, want, "after an abort");
    lode_session_close(s);
    close_world(&w);
}

static bool when_zero(void *user) { return (*(int *)user)-- == 0; }

/* A run of several steps and two sequences, stopped in each of them: what it reserved for tokens that it never came to
 * is free again, also for the other sequence. */
TEST(a_run_stopped_in_any_step_gives_back_all_that_it_reserved) {
    (void)state_;
    enum { HAVE = 10, MORE = 100 };
    world w;
    lode_err e = { 0 };
    int left = -1;
    open_world(&w, "llama", LODE_F32);
    const lode_session_desc d = {
        .n_ctx = 256, .n_seq = 2, .n_batch = 16, .n_threads = 2, .abort = when_zero, .abort_user = &left
    };
    lode_session *s = open_session(&w, &d);
    append(&w, s, 0, 0, HAVE, 16);
    append(&w, s, 1, 5, 5 + HAVE, 16);
    lode_batch_token t[2 * MORE];
    for (int i = 0; i < 2 * MORE; i++) t[i] = (lode_batch_token){ text_id(&w, i), i / MORE, false };
    int n_stopped = 0;
    for (int at = 0;; at += 11, n_stopped++) { /* barriers */
        left = at;
        const lode_status st = lode_session_run(s, t, 2 * MORE, &e);
        left = -1;
        if (st == LODE_OK) break;
        assert_int_equal(st, LODE_E_ABORTED);
        assert_int_equal(lode_session_n_free(s), 256 - 2 * LODE_PAGE);
        for (int q = 0; q < 2; q++) {
            assert_int_equal(lode_seq_length(s, q), HAVE);
            assert_int_equal(lode_seq_next_pos(s, q), HAVE);
        }
        append(&w, s, 1, 0, 64 + MORE, 16); /* three pages: all that there is */
        CHECK_OK(lode_seq_remove(s, 1, HAVE, -1, &e), &e);
    }
    assert_true(n_stopped > 10);
    assert_int_equal(lode_session_n_free(s), 0);
    lode_session_close(s);
    close_world(&w);
}

TEST(a_thousand_steps_make_three_plans_and_allocate_nothing) {
    (void)state_;
    world w;
    lode_err e = { 0 };
    lode_session_stats stats;
    open_world(&w, "qwen2", LODE_F32);
    lode_session *s = open_session(&w, &(lode_session_desc){ .n_ctx = 2048, .n_threads = 2 });
    append(&w, s, 0, 0, 100, 100);
    append(&w, s, 0, 100, 101, 1);
#ifdef COUNTS_ALLOCATIONS
    const long before = n_allocations;
#endif
    lode_batch_token t = { 1, 0, true };
    for (int i = 0; i < 1000; i++) {
        t.id = text_id(&w, i);
        if (lode_session_run(s, &t, 1, &e) != LODE_OK) fail_msg("%s", e.text);
    }
#ifdef COUNTS_ALLOCATIONS
    assert_int_equal(n_allocations - before, 0);
#endif
    lode_session_get_stats(s, &stats);
    assert_true(stats.n_plans <= 3);
    assert_int_equal(stats.n_tokens, 1101);
    lode_session_close(s);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_do_not_depend_on_the_cut_the_threads_or_company),
        cmocka_unit_test(logits_of_every_token_are_those_of_single_steps_in_any_cut),
        cmocka_unit_test(a_model_in_parts_is_the_same_model),
        cmocka_unit_test(a_removed_tail_and_a_copy_continue_as_if_fresh),
        cmocka_unit_test(an_edit_of_one_sequence_is_not_seen_by_another_that_shares_its_pages),
        cmocka_unit_test(a_copy_of_a_shared_page_needs_room_like_any_page),
        cmocka_unit_test(a_shift_moves_positions_and_keeps_the_rest_usable),
        cmocka_unit_test(a_sequence_moved_as_a_whole_goes_on_as_one_that_started_there),
        cmocka_unit_test(a_refused_batch_changes_nothing),
        cmocka_unit_test(sequences_that_are_not_there_have_nothing_and_cannot_be_edited),
        cmocka_unit_test(queries_of_long_contexts_are_scaled_by_their_position),
        cmocka_unit_test(a_trace_that_could_not_be_written_is_told),
        cmocka_unit_test(an_aborted_run_leaves_the_sequence_as_it_was),
        cmocka_unit_test(a_run_stopped_in_any_step_gives_back_all_that_it_reserved),
        cmocka_unit_test(a_thousand_steps_make_three_plans_and_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
