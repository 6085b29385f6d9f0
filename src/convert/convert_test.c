/* convert_test.c - fixtures made into folders, folders made into GGUF: names, shapes, values and keys against what the
 * formats' definitions give, written out here. */
#include "base/file.h"
#include "base/test.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "lode/gguf.h"
#include "lode/quant.h"

#include <math.h>
#include <unistd.h>

/* A folder of its own for each test, emptied by the next. */
typedef struct place {
    char dir[64], hf[80], out[80];
    lode_fixture f;
    lode_err e;
} place;

static void open_place(place *p, const char *fixture) {
    memset(p, 0, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/lode_convert_XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->hf, sizeof p->hf, "%s/hf", p->dir);
    snprintf(p->out, sizeof p->out, "%s/out.gguf", p->dir);
    char path[96];
    snprintf(path, sizeof path, "tests/golden/%s.json", fixture);
    CHECK_OK(lode_fixture_open(&p->f, path, &p->e), &p->e);
    CHECK_OK(lode_fixture_write(&p->f, p->hf, &p->e), &p->e);
}

static void close_place(place *p) {
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", p->dir);
    assert_int_equal(system(cmd), 0);
    lode_fixture_close(&p->f);
}

static lode_gguf *convert_ok(place *p, lode_type type) {
    lode_gguf *g = NULL;
    const lode_convert_desc d = { .in_dir = p->hf, .out_path = p->out, .type = type };
    CHECK_OK(lode_convert(&d, &p->e), &p->e);
    CHECK_OK(lode_gguf_open(&g, p->out, &p->e), &p->e);
    return g;
}

/* Element i of a checkpoint's tensor as the fixture's generator gives it. */
static float source(const place *p, const char *name, int64_t i) {
    const json_t *rows = json_object_get(p->f.root, "tensors");
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        if (strcmp(json_string_value(json_array_get(row, 0)), name) != 0) continue;
        const uint64_t seed = lode_fixture_seed(convert_json_text(p->f.root, "salt", NULL), name);
        const float v = lode_fixture_value(seed, (uint64_t)i, (float)json_number_value(json_array_get(row, 2)),
                                           (float)json_number_value(json_array_get(row, 3)));
        return lode_bf16_to_f32(lode_f32_to_bf16(v));
    }
    fail_msg("no tensor %s", name);
    return 0;
}

static const float *f32_of(const lode_gguf *g, const char *name, int64_t n) {
    const lode_gguf_tensor *t = lode_gguf_find_tensor(g, name);
    assert_non_null(t);
    assert_int_equal(t->type, LODE_F32);
    assert_int_equal(t->ne[0] * t->ne[1], n);
    return lode_gguf_tensor_data(g, t);
}

static uint32_t u32_of(const lode_gguf *g, const char *key) {
    uint32_t v = 0;
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_u32(g, key, &v, NULL, &e), &e);
    return v;
}

static float real_of(const lode_gguf *g, const char *key) {
    float v = 0;
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_f32(g, key, &v, NULL, &e), &e);
    return v;
}

static void check_text(const lode_gguf *g, const char *key, const char *want) {
    lode_slice v = { 0 };
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_str(g, key, &v, NULL, &e), &e);
    assert_int_equal(v.n, strlen(want));
    assert_memory_equal(v.p, want, v.n);
}

TEST(the_generator_gives_the_numbers_of_its_definition) {
    (void)state_;
    /* FNV-1a of "a" and of "foobar": the values published with the hash. */
    assert_true(lode_fixture_seed("", "a") == 0xaf63dc4c8601ec8cu);
    assert_true(lode_fixture_seed("foo", "bar") == 0x85944171f73967e8u);
    /* The first output of SplitMix64 seeded with 0 is 0xe220a8397b1dcdaf: its top 24 bits are 0xe220a8. */
    assert_true(lode_fixture_value(0, 0, 1.0f, 2.0f) == 1.0f + (14819496.0f / 16777216.0f - 0.5f) * 2.0f);
}

TEST(llama_rows_of_q_and_k_are_paired_and_others_stay) {
    (void)state_;
    place p;
    open_place(&p, "llama");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    enum { EMBD = 256, D = 64 };
    const float *q = f32_of(g, "blk.1.attn_q.weight", 256 * EMBD), *v = f32_of(g, "blk.1.attn_v.weight", 128 * EMBD);
    for (int head = 0; head < 4; head++)
        for (int half = 0; half < 2; half++)
            for (int j = 0; j < D / 2; j++)
                for (int c = 0; c < EMBD; c += 37) {
                    const int from = head * D + half * D / 2 + j, to = head * D + 2 * j + half;
                    assert_true(q[to * EMBD + c] ==
                                source(&p, "model.layers.1.self_attn.q_proj.weight", from * EMBD + c));
                }
    for (int i = 0; i < 128 * EMBD; i += 101)
        assert_true(v[i] == source(&p, "model.layers.1.self_attn.v_proj.weight", i));
    assert_int_equal(lode_gguf_n_tensors(g), 22);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(llama_keys_are_those_that_readers_expect) {
    (void)state_;
    place p;
    open_place(&p, "llama");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_text(g, "general.architecture", "llama");
    check_text(g, "general.name", "hf");
    check_text(g, "tokenizer.ggml.model", "no_vocab");
    assert_int_equal(u32_of(g, "general.file_type"), 0);
    const struct {
        const char *key;
        uint32_t v;
    } want[] = { { "llama.block_count", 2 },           { "llama.context_length", 512 },
                 { "llama.embedding_length", 256 },    { "llama.feed_forward_length", 512 },
                 { "llama.attention.head_count", 4 },  { "llama.attention.head_count_kv", 2 },
                 { "llama.attention.key_length", 64 }, { "llama.rope.dimension_count", 64 },
                 { "llama.vocab_size", 384 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) assert_int_equal(u32_of(g, want[i].key), want[i].v);
    assert_true(real_of(g, "llama.rope.freq_base") == 500000.0f);
    assert_true(real_of(g, "llama.attention.layer_norm_rms_epsilon") == 1e-5f);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(llama_3_scaling_becomes_divisors_of_the_frequencies) {
    (void)state_;
    place p;
    open_place(&p, "llama");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    const float *f = f32_of(g, "rope_freqs.weight", 32);
    int kinds[3] = { 0 };
    for (int i = 0; i < 32; i++) { /* the rule of the Llama 3.1 release: on frequencies, not on waves */
        const double freq = pow(500000.0, -2.0 * i / 64), wave = 2 * 3.14159265358979 / freq;
        double scaled = freq;
        const double smooth = (64 / wave - 1) / 3;
        if (wave > 64)
            scaled = freq / 8;
        else if (wave > 16)
            scaled = (1 - smooth) * freq / 8 + smooth * freq;
        kinds[wave > 64 ? 2 : wave > 16]++;
        assert_true(fabs((double)f[i] - freq / scaled) < 1e-5);
    }
    assert_true(kinds[0] && kinds[1] && kinds[2]);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(gemma_norms_get_one_added_and_no_output_is_written) {
    (void)state_;
    place p;
    open_place(&p, "gemma3_text");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    const char *names[][2] = { { "blk.2.attn_q_norm.weight", "model.layers.2.self_attn.q_norm.weight" },
                               { "blk.2.post_ffw_norm.weight", "model.layers.2.post_feedforward_layernorm.weight" },
                               { "blk.2.ffn_norm.weight", "model.layers.2.pre_feedforward_layernorm.weight" },
                               { "blk.2.post_attention_norm.weight", "model.layers.2.post_attention_layernorm.weight" },
                               { "output_norm.weight", "model.norm.weight" } };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const int n = k == 0 ? 64 : 256;
        const float *x = f32_of(g, names[k][0], n);
        for (int i = 0; i < n; i++) assert_true(x[i] == source(&p, names[k][1], i) + 1.0f);
    }
    assert_null(lode_gguf_find_tensor(g, "output.weight"));
    assert_int_equal(u32_of(g, "gemma3.attention.sliding_window"), 16);
    assert_null(lode_gguf_find(g, "gemma3.attention.sliding_window_pattern"));
    assert_true(real_of(g, "gemma3.rope.freq_base") == 1000000.0f);
    assert_true(real_of(g, "gemma3.rope.freq_base_swa") == 10000.0f);
    assert_true(real_of(g, "gemma3.attention.scale") == (float)(1 / sqrt(48)));
    lode_gguf_close(g);
    close_place(&p);
}

TEST(scalings_and_windows_become_keys) {
    (void)state_;
    place p;
    open_place(&p, "ministral3");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_text(g, "mistral3.rope.scaling.type", "yarn");
    assert_true(real_of(g, "mistral3.rope.scaling.factor") == 16);
    assert_int_equal(u32_of(g, "mistral3.rope.scaling.original_context_length"), 16384);
    assert_true(real_of(g, "mistral3.rope.scaling.yarn_log_multiplier") == 1);
    assert_true(real_of(g, "mistral3.attention.temperature_scale") == 0.1f);
    lode_gguf_close(g);
    close_place(&p);
    open_place(&p, "phi3");
    g = convert_ok(&p, LODE_F32);
    assert_int_equal(u32_of(g, "phi3.rope.scaling.original_context_length"), 32);
    assert_true(fabsf(real_of(g, "phi3.rope.scaling.attn_factor") - sqrtf(1 + logf(16) / logf(32))) < 1e-6f);
    assert_true(f32_of(g, "rope_factors_long.weight", 16)[1] == 1.4f);
    assert_true(f32_of(g, "rope_factors_short.weight", 16)[15] == 1.75f);
    assert_int_equal(u32_of(g, "phi3.attention.sliding_window"), 0);
    lode_gguf_close(g);
    close_place(&p);
    open_place(&p, "mistral");
    g = convert_ok(&p, LODE_F32);
    assert_int_equal(u32_of(g, "llama.attention.sliding_window"), 16);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(every_fixture_converts_to_every_type) {
    (void)state_;
    const char *names[] = { "llama", "mistral", "ministral",   "ministral3", "qwen2",  "qwen3",
                            "gemma", "gemma2",  "gemma3_text", "phi3",       "smollm3" };
    const lode_type types[] = { LODE_F32, LODE_F16, LODE_BF16, LODE_Q8_0 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        place p;
        open_place(&p, names[i]);
        for (size_t k = 0; k < 4; k++) {
            lode_gguf *g = convert_ok(&p, types[k]);
            for (uint64_t t = 0; t < lode_gguf_n_tensors(g); t++) {
                const lode_gguf_tensor *x = lode_gguf_tensor_at(g, t);
                assert_int_equal(x->type, x->n_dims > 1 ? types[k] : LODE_F32);
            }
            lode_gguf_close(g);
        }
        close_place(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_gives_the_numbers_of_its_definition),
        cmocka_unit_test(llama_rows_of_q_and_k_are_paired_and_others_stay),
        cmocka_unit_test(llama_keys_are_those_that_readers_expect),
        cmocka_unit_test(llama_3_scaling_becomes_divisors_of_the_frequencies),
        cmocka_unit_test(gemma_norms_get_one_added_and_no_output_is_written),
        cmocka_unit_test(scalings_and_windows_become_keys),
        cmocka_unit_test(every_fixture_converts_to_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
