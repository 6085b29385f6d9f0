/* types_test.c - a model of each weight type, with rows of 512: logits that do not depend on the batch's cut, the
 * threads or company, made by the type's own kernels.
 *
 * usage: types_test [TYPE]: one type (make check-type T=q4_k). */
#include "base/mem.h"
#include "base/test.h"
#include "engine/session.h"
#include "lode/gguf.h"
#include "quant/random.h"

#include <unistd.h>

enum { WIDE = 512, HEADS = 8, KV_HEADS = 2, N_VOCAB = 96, N_TEXT = 70 };

static uint32_t rng = 1;
static float draw(void) { /* in -1/16 .. 1/16, so that sums over a row stay near 1 */
    rng = rng * 1664525u + 1013904223u;
    return (float)(int32_t)rng / 2147483648.0f / 16.0f;
}

typedef struct {
    const char *name;
    int64_t ne[2];
    lode_type type;
} weight;

static void add(lode_gguf_writer *w, const weight *t) {
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_add_tensor(w, t->name, t->type, t->ne[1] ? 2 : 1, t->ne, &e), &e);
}

static void write_rows(lode_gguf_writer *w, const weight *t) {
    lode_err e = { 0 };
    size_t row = 0;
    assert_true(lode_row_bytes(t->type, t->ne[0], &row));
    const int64_t rows = t->ne[1] ? t->ne[1] : 1;
    unsigned char *data = lode_calloc((size_t)rows, row);
    float x[WIDE];
    for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < WIDE; i++) x[i] = t->ne[1] ? draw() : 1.0f;
        assert_true(quant_random_row(t->type, x, data + (size_t)r * row, t->ne[0]));
    }
    CHECK_OK(lode_gguf_write_tensor(w, data, (size_t)rows * row, &e), &e);
    free(data);
}

/* A llama of one layer. Types without an encoder get random bits. */
static void write_model(const char *path, lode_type type) {
    lode_err e = { 0 };
    lode_gguf_writer *w;
    const weight all[] = {
        { "token_embd.weight", { WIDE, N_VOCAB }, LODE_F32 },
        { "output_norm.weight", { WIDE, 0 }, LODE_F32 },
        { "output.weight", { WIDE, N_VOCAB }, type },
        { "blk.0.attn_norm.weight", { WIDE, 0 }, LODE_F32 },
        { "blk.0.attn_q.weight", { WIDE, WIDE }, type },
        { "blk.0.attn_k.weight", { WIDE, WIDE / HEADS * KV_HEADS }, type },
        { "blk.0.attn_v.weight", { WIDE, WIDE / HEADS * KV_HEADS }, type },
        { "blk.0.attn_output.weight", { WIDE, WIDE }, type },
        { "blk.0.ffn_norm.weight", { WIDE, 0 }, LODE_F32 },
        { "blk.0.ffn_gate.weight", { WIDE, WIDE }, type },
        { "blk.0.ffn_up.weight", { WIDE, WIDE }, type },
        { "blk.0.ffn_down.weight", { WIDE, WIDE }, type },
    };
    CHECK_OK(lode_gguf_writer_open(&w, path, &e), &e);
    lode_gguf_set_str(w, "general.architecture", "llama", 5);
    const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {
        { "llama.block_count", 1 },
        { "llama.context_length", 512 },
        { "llama.embedding_length", WIDE },
        { "llama.feed_forward_length", WIDE },
        { "llama.attention.head_count", HEADS },
        { "llama.attention.head_count_kv", KV_HEADS },
        { "llama.vocab_size", N_VOCAB },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        lode_gguf_set_u32(w, numbers[i].key, numbers[i].value);
    lode_gguf_set_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) add(w, &all[i]);
    CHECK_OK(lode_gguf_begin(w, &e), &e);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) write_rows(w, &all[i]);
    CHECK_OK(lode_gguf_finish(w, &e), &e);
}

static int32_t id_at(int i) { return (i * i + 3 * i + 7) % N_VOCAB; }

static void append(lode_session *s, int seq, int from, int to, int cut) {
    lode_err e = { 0 };
    int32_t ids[N_TEXT];
    while (from < to) {
        const int n = to - from < cut ? to - from : cut;
        for (int i = 0; i < n; i++) ids[i] = id_at(from + i);
        CHECK_OK(lode_session_append(s, seq, ids, n, &e), &e);
        from += n;
    }
}

/* The text as sequence 0, token by token beside another one as sequence 1, in one batch. */
static void append_mixed(lode_session *s) {
    lode_err e = { 0 };
    lode_batch_token t[2 * N_TEXT];
    for (int i = 0; i < N_TEXT; i++) {
        t[2 * i] = (lode_batch_token){ id_at(i + 5), 1, false };
        t[2 * i + 1] = (lode_batch_token){ id_at(i), 0, i == N_TEXT - 1 };
    }
    CHECK_OK(lode_session_run(s, t, 2 * N_TEXT, &e), &e);
}

static const float *last_logits(lode_session *s) { return lode_session_logits(s, lode_session_n_logits(s) - 1); }

/* Which kernels a plan's products run on. */
typedef struct {
    int products, own;
    const char *want;
} kernels;

static void note(void *user, const char *line) {
    kernels *k = user;
    if (!strstr(line, "matmul")) return;
    k->products++;
    k->own += strstr(line, k->want) != NULL;
}

/* The kernel that a type's products must get: over q8a for block types that have one, over floats else. */
static const char *kernel_of(lode_type type) {
    static const lode_type decoded[] = { LODE_IQ1_S,   LODE_IQ1_M, LODE_IQ2_XXS, LODE_IQ2_XS, LODE_IQ2_S,
                                         LODE_IQ3_XXS, LODE_IQ3_S, LODE_TQ1_0,   LODE_F64 };
    for (size_t i = 0; i < sizeof decoded / sizeof *decoded; i++)
        if (type == decoded[i]) return "gemm_decode";
    return lode_type_block(type) > 1 ? "gemm_q8a" : "gemm_plain";
}

/* Ways to compute the text; company stands in an earlier batch, or with `mixed` in the same one. */
typedef struct {
    int threads, cut, company;
    bool mixed;
} way;
static const way ways[] = { { 1, 512, 0, false }, { 1, 1, 0, false }, { 2, 7, 20, false },
                            { 3, 64, 3, false },  { 3, 1, 9, false }, { 2, 512, 0, true } };

static void run_way(lode_session *s, const way *w, lode_type type) {
    /* Weights that are decoded for each product make single steps slow: ten of them say enough. */
    const bool slow = w->cut == 1 && strcmp(kernel_of(type), "gemm_decode") == 0;
    const int from = slow ? N_TEXT - 10 : 0;
    append(s, 1, 5, 5 + w->company, 13);
    append(s, 0, 0, from, 64);
    if (w->mixed)
        append_mixed(s);
    else
        append(s, 0, from, N_TEXT, w->cut);
}

static void check_kernels(lode_session *s, lode_type type, int n_tokens) {
    lode_err e = { 0 };
    kernels k = { .want = kernel_of(type) };
    CHECK_OK(lode_session_print(s, n_tokens, LODE_PRINT_KERNELS, false, note, &k, &e), &e);
    if (k.products != 8 || k.own != 8)
        fail_msg("%s: %d of %d products run on %s", lode_type_name(type), k.own, k.products, k.want);
}

static void check_type(lode_runtime *rt, lode_type type) {
    lode_err e = { 0 };
    lode_model *m;
    char path[] = "/tmp/lode_types_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_model(path, type);
    CHECK_OK(lode_model_open(&m, &(lode_model_desc){ .runtime = rt, .path = path }, &e), &e);
    float want[N_VOCAB];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        lode_session *s;
        const lode_session_desc d = { .n_ctx = 256, .n_threads = ways[i].threads, .n_seq = 2 };
        CHECK_OK(lode_session_open(&s, m, &d, &e), &e);
        run_way(s, &ways[i], type);
        if (i == 0) memcpy(want, last_logits(s), sizeof want);
        if (memcmp(want, last_logits(s), sizeof want) != 0)
            fail_msg("%s: other bits with %d threads, cut %d%s", lode_type_name(type), ways[i].threads, ways[i].cut,
                     ways[i].mixed ? ", beside another sequence" : "");
        check_kernels(s, type, ways[i].cut == 1 ? 1 : 64);
        lode_session_close(s);
    }
    for (int i = 0; i < N_VOCAB; i++) assert_true(want[i] == want[i]); /* no NaN, which equals itself by bits */
    lode_model_close(m);
    unlink(path);
}

static int only = LODE_N_TYPE; /* the type asked for; LODE_N_TYPE: all */

TEST(each_types_logits_depend_on_the_tokens_alone_and_come_from_its_kernels) {
    (void)state_;
    lode_err e = { 0 };
    lode_runtime *rt;
    CHECK_OK(lode_runtime_open(&rt, NULL, &e), &e);
    for (int t = 0; t < LODE_N_TYPE; t++)
        if (lode_type_can_decode((lode_type)t) && t != LODE_Q8A && (only == LODE_N_TYPE || only == t))
            check_type(rt, (lode_type)t);
    lode_runtime_close(rt);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        only = (int)lode_type_of_name(argv[1]);
        if (only == LODE_N_TYPE) return fprintf(stderr, "types_test: no type is named %s\n", argv[1]), 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_types_logits_depend_on_the_tokens_alone_and_come_from_its_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
