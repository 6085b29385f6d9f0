/* load_test.c - files that differ from a good model in one thing: refused with a line that names it. */
#include "base/test.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "lode/gguf.h"
#include "lode/model.h"

#include <math.h>
#include <unistd.h>

enum { N_VOCAB_MAX = 4096 };

typedef struct {
    char dir[32], good[64], bad[64];
    lode_gguf *g; /* of `good`, which has no tokenizer */
    lode_runtime *rt;
    int n_vocab;
} place;

/* What is other in a file; zeros: nothing. */
typedef struct {
    const char *drop;          /* a tensor that is left out */
    const char *extra;         /* one more, a vector of two */
    const char *turned;        /* its first two sizes are exchanged */
    const char *whole;         /* its values are whole numbers */
    const char *key, *real;    /* a number of the architecture's, as u32 or f32 */
    double value;              /* of key or real */
    int windows;               /* elements of the pattern of windows */
    int tokens, scores, types; /* how many more there are than rows of the embedding */
    bool tokenizer;
    lode_status want;
    const char *why;
} change;

static void open_place(place *p) {
    lode_err e = { 0 };
    lode_fixture f = { 0 };
    *p = (place){ .dir = "/tmp/lode_load_XXXXXX" };
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->good, sizeof p->good, "%s/good.gguf", p->dir);
    snprintf(p->bad, sizeof p->bad, "%s/bad.gguf", p->dir);
    CHECK_OK(lode_fixture_open(&f, "tests/golden/qwen3.json", &e), &e);
    CHECK_OK(lode_fixture_write(&f, p->dir, &e), &e);
    CHECK_OK(lode_convert(&(lode_convert_desc){ .in_dir = p->dir, .out_path = p->good, .type = LODE_F32 }, &e), &e);
    p->n_vocab = f.n_vocab;
    lode_fixture_close(&f);
    CHECK_OK(lode_gguf_open(&p->g, p->good, &e), &e);
    CHECK_OK(lode_runtime_open(&p->rt, NULL, &e), &e);
}

static void close_place(place *p) {
    static const char *const files[] = { "good.gguf", "bad.gguf", "config.json", "model.safetensors" };
    lode_gguf_close(p->g);
    lode_runtime_close(p->rt);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", p->dir, files[i]);
        remove(path);
    }
    assert_int_equal(rmdir(p->dir), 0);
}

static void write_tokenizer(const place *p, lode_gguf_writer *w, const change *c) {
    static char text[N_VOCAB_MAX][8];
    static lode_slice tokens[N_VOCAB_MAX];
    static float scores[N_VOCAB_MAX];
    static int32_t types[N_VOCAB_MAX];
    const int n = p->n_vocab;
    assert_true(n + 2 < N_VOCAB_MAX);
    for (int i = 0; i < n + 2; i++) {
        tokens[i] = (lode_slice){ text[i], (size_t)snprintf(text[i], sizeof text[i], "t%d", i) };
        types[i] = 1;
    }
    lode_gguf_set_str(w, "tokenizer.ggml.model", "llama", 5);
    lode_gguf_set_arr_str(w, "tokenizer.ggml.tokens", tokens, (uint64_t)(n + c->tokens));
    lode_gguf_set_arr(w, "tokenizer.ggml.scores", LODE_GGUF_F32, scores, (uint64_t)(n + c->scores));
    lode_gguf_set_arr(w, "tokenizer.ggml.token_type", LODE_GGUF_I32, types, (uint64_t)(n + c->types));
}

static bool is(const lode_gguf_tensor *t, const char *name) {
    return name && t->name.n == strlen(name) && memcmp(t->name.p, name, t->name.n) == 0;
}

static void write_changed(const place *p, const change *c) {
    lode_err e = { 0 };
    lode_gguf_writer *w;
    CHECK_OK(lode_gguf_writer_open(&w, p->bad, &e), &e);
    char key[80] = "";
    if (c->key || c->real) snprintf(key, sizeof key, "qwen3.%s", c->key ? c->key : c->real);
    for (uint64_t i = 0; i < lode_gguf_n_kv(p->g); i++) {
        const lode_gguf_kv *kv = lode_gguf_kv_at(p->g, i);
        const bool tokenizer = kv->key.n >= 9 && memcmp(kv->key.p, "tokenizer", 9) == 0;
        if (!tokenizer && !(kv->key.n == strlen(key) && memcmp(kv->key.p, key, kv->key.n) == 0))
            lode_gguf_set_kv(w, kv);
    }
    if (c->key) lode_gguf_set_u32(w, key, (uint32_t)c->value);
    if (c->real) lode_gguf_set_f32(w, key, (float)c->value);
    static const uint8_t windows[8] = { 1 };
    if (c->windows)
        lode_gguf_set_arr(w, "qwen3.attention.sliding_window_pattern", LODE_GGUF_BOOL, windows, (uint64_t)c->windows);
    if (c->tokenizer) write_tokenizer(p, w, c);
    const uint64_t n = lode_gguf_n_tensors(p->g);
    for (uint64_t i = 0; i < n; i++) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(p->g, i);
        char name[LODE_MAX_NAME];
        int64_t ne[LODE_MAX_DIMS];
        if (is(t, c->drop)) continue;
        memcpy(ne, t->ne, sizeof ne);
        if (is(t, c->turned)) ne[0] = t->ne[1], ne[1] = t->ne[0];
        snprintf(name, sizeof name, "%.*s", (int)t->name.n, t->name.p);
        const lode_type type = is(t, c->whole) ? LODE_I32 : t->type;
        CHECK_OK(lode_gguf_add_tensor(w, name, type, is(t, c->turned) ? 2 : t->n_dims, ne, &e), &e);
    }
    if (c->extra) CHECK_OK(lode_gguf_add_tensor(w, c->extra, LODE_F32, 1, (int64_t[]){ 2 }, &e), &e);
    CHECK_OK(lode_gguf_begin(w, &e), &e);
    for (uint64_t i = 0; i < n; i++) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(p->g, i);
        if (is(t, c->drop)) continue;
        CHECK_OK(lode_gguf_write_tensor(w, lode_gguf_tensor_data(p->g, t), (size_t)t->bytes, &e), &e);
    }
    if (c->extra) CHECK_OK(lode_gguf_write_tensor(w, (float[]){ 1, 2 }, 8, &e), &e);
    CHECK_OK(lode_gguf_finish(w, &e), &e);
}

TEST(a_file_that_differs_in_one_thing_from_a_good_model_is_refused_by_its_name) {
    (void)state_;
    static const change changes[] = {
        { .want = LODE_OK },
        { .tokenizer = true, .want = LODE_OK },
        { .tokenizer = true, .tokens = -5, .want = LODE_OK }, /* rows without a token */
        { .tokenizer = true, .scores = 2, .types = 2, .want = LODE_OK },
        { .tokenizer = true, .tokens = 1, .scores = 1, .types = 1, .want = LODE_E_FORMAT, .why = "the tokenizer has" },
        { .tokenizer = true, .tokens = 2, .scores = 2, .types = 2, .want = LODE_E_FORMAT, .why = "the tokenizer has" },
        { .tokenizer = true, .scores = -1, .want = LODE_E_FORMAT, .why = "tokenizer.ggml.scores has" },
        { .tokenizer = true, .types = -1, .want = LODE_E_FORMAT, .why = "tokenizer.ggml.token_type has" },
        { .drop = "token_embd.weight", .want = LODE_E_FORMAT, .why = "token_embd.weight is missing" },
        { .drop = "output_norm.weight", .want = LODE_E_FORMAT, .why = "output_norm.weight is missing" },
        { .drop = "blk.1.ffn_down.weight", .want = LODE_E_FORMAT, .why = "blk.1.ffn_down.weight is missing" },
        { .extra = "blk.0.other.weight", .want = LODE_E_UNSUPPORTED, .why = "blk.0.other.weight is not known" },
        { .extra = "blk.99.attn_q.weight", .want = LODE_E_UNSUPPORTED, .why = "blk.99.attn_q.weight is not known" },
        { .extra = "other", .want = LODE_E_UNSUPPORTED, .why = "other is not known" },
        { .turned = "blk.0.ffn_up.weight", .want = LODE_E_FORMAT, .why = "blk.0.ffn_up.weight is [" },
        { .turned = "output_norm.weight", .want = LODE_E_FORMAT, .why = "output_norm.weight is [" },
        { .whole = "blk.0.attn_v.weight", .want = LODE_E_FORMAT, .why = "expected floats" },
        { .whole = "blk.1.attn_norm.weight", .want = LODE_E_FORMAT, .why = "expected floats" },
        /* 2 layers of 4 heads of 64, 2 of keys */
        { .key = "block_count", .value = 0, .want = LODE_E_FORMAT, .why = "block_count is 0" },
        { .key = "block_count", .value = 3, .want = LODE_E_FORMAT, .why = "tensor blk.2." },
        { .key = "block_count", .value = 1, .want = LODE_E_UNSUPPORTED, .why = "tensor blk.1." },
        { .key = "block_count", .value = 4e9, .want = LODE_E_FORMAT, .why = "block_count is 4000000000" },
        { .key = "attention.head_count", .value = 3, .want = LODE_E_FORMAT, .why = "a multiple of head_count_kv" },
        { .key = "attention.head_count_kv", .value = 8, .want = LODE_E_FORMAT, .why = "a multiple of head_count_kv" },
        { .key = "attention.head_count_kv", .value = 3, .want = LODE_E_FORMAT, .why = "a multiple of head_count_kv" },
        { .key = "attention.key_length", .value = 32, .want = LODE_E_UNSUPPORTED, .why = "value_length is 64" },
        { .key = "attention.value_length", .value = 32, .want = LODE_E_UNSUPPORTED, .why = "value_length is 32" },
        { .key = "rope.dimension_count", .value = 63, .want = LODE_E_FORMAT, .why = "expected an even number" },
        { .key = "rope.dimension_count", .value = 66, .want = LODE_E_FORMAT, .why = "expected 1..64" },
        { .key = "rope.dimension_count", .value = 32, .want = LODE_OK },
        { .key = "expert_count", .value = 8, .want = LODE_E_UNSUPPORTED, .why = "mixtures of experts" },
        { .key = "attention.sliding_window", .value = 16, .want = LODE_OK },
        { .key = "attention.sliding_window", .value = 16, .windows = 2, .want = LODE_OK },
        { .key = "attention.sliding_window", .value = 16, .windows = 3, .want = LODE_OK },
        { .key = "attention.sliding_window", .value = 16, .windows = 1, .want = LODE_E_FORMAT, .why = "for layer 1" },
        { .real = "attention.layer_norm_rms_epsilon", .value = -1, .want = LODE_E_FORMAT, .why = "epsilon -1" },
        { .real = "attention.layer_norm_rms_epsilon", .value = 1, .want = LODE_E_FORMAT, .why = "epsilon 1" },
        { .real = "attention.layer_norm_rms_epsilon", .value = NAN, .want = LODE_E_FORMAT, .why = "finite" },
        { .real = "rope.freq_base", .value = 1, .want = LODE_E_FORMAT, .why = "rope base 1" },
        { .real = "rope.freq_base", .value = INFINITY, .want = LODE_E_FORMAT, .why = "finite" },
        { .real = "rope.scaling.factor", .value = -2, .want = LODE_E_FORMAT, .why = "scaling -2" },
    };
    place p;
    open_place(&p);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        lode_err e = { 0 };
        lode_model *m = NULL;
        write_changed(&p, &changes[i]);
        const lode_status s = lode_model_open(&m, &(lode_model_desc){ .runtime = p.rt, .path = p.bad }, &e);
        if (s != changes[i].want || (s && !strstr(e.text, changes[i].why)) || (s && !strstr(e.text, p.bad)))
            fail_msg("change %zu: %s '%s', want %s", i, lode_status_name(s), e.text,
                     changes[i].why ? changes[i].why : "ok");
        lode_model_close(m);
    }
    close_place(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_differs_in_one_thing_from_a_good_model_is_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
