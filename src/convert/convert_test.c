/* convert_test.c - fixtures made into folders, folders made into GGUF: names, shapes, values and keys against what the
 * formats' definitions give, written out here. */
#include "convert/place.h"
#include "lode/quant.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

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

TEST(a_result_never_takes_the_place_of_what_is_read) {
    (void)state_;
    static const char *const names[] = { "model.safetensors", "config.json" };
    place p;
    open_place(&p, "qwen3");
    char path[100], link[120];
    snprintf(link, sizeof link, "%s.link", p.out);
    lode_convert_desc d = { .in_dir = p.hf, .out_path = path, .type = LODE_F32 };
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", p.hf, names[i]);
        d.out_path = path;
        CHECK_FAILS(lode_convert(&d, &p.e), &p.e, LODE_E_INPUT, "expected another name");
        assert_int_equal(symlink(path, link), 0);
        d.out_path = link;
        CHECK_FAILS(lode_convert(&d, &p.e), &p.e, LODE_E_INPUT, "expected another name");
        remove(link);
    }
    snprintf(path, sizeof path, "%s/new.gguf", p.hf);
    d.out_path = path;
    for (int again = 0; again < 2; again++) CHECK_OK(lode_convert(&d, &p.e), &p.e);
    remove(path);
    close_place(&p);
}

TEST(a_folder_that_is_none_and_one_without_weights_are_refused) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    const lode_convert_desc d = { .in_dir = "/nowhere", .out_path = p.out, .type = LODE_F32 };
    CHECK_FAILS(lode_convert(&d, &p.e), &p.e, LODE_E_NOT_FOUND, "/nowhere: no such folder");
    CHECK_FAILS(convert_to(&p, LODE_Q4_K), &p.e, LODE_E_INPUT, "type q4_k cannot be converted to, expected one of F32");
    char path[100];
    snprintf(path, sizeof path, "%s/model.safetensors", p.hf);
    remove(path);
    CONVERT_FAILS(&p, LODE_E_NOT_FOUND, "neither model.safetensors nor");
    snprintf(path, sizeof path, "%s/config.json", p.hf);
    remove(path);
    CONVERT_FAILS(&p, LODE_E_NOT_FOUND, "config.json");
    close_place(&p);
}

TEST(a_configuration_that_is_not_usable_is_refused_by_key) {
    (void)state_;
    static const struct {
        const char *key, *json, *text;
        lode_status code;
    } rows[] = {
        { "architectures", "[\"MambaForCausalLM\"]", "'MambaForCausalLM' cannot be converted; these can: Llama",
          LODE_E_UNSUPPORTED },
        { "architectures", "[\"A\", \"B\"]", "names 2 architectures", LODE_E_UNSUPPORTED },
        { "num_hidden_layers", "0", "num_hidden_layers is 0, expected a whole number from 1", LODE_E_FORMAT },
        { "num_hidden_layers", "2.5", "num_hidden_layers is 2.5", LODE_E_FORMAT },
        { "num_hidden_layers", "1e300", "num_hidden_layers is 1", LODE_E_FORMAT },
        { "num_hidden_layers", "\"2\"", "num_hidden_layers is not a number", LODE_E_FORMAT },
        { "num_hidden_layers", "3", "tensor 'model.layers.2.input_layernorm.weight' is missing", LODE_E_FORMAT },
        { "num_hidden_layers", "1", "tensor 'model.layers.1.input_layernorm.weight' is not known", LODE_E_UNSUPPORTED },
        { "hidden_size", "null", "hidden_size is missing", LODE_E_FORMAT },
        { "hidden_size", "64", "is [384, 128] in 2 dimensions, config.json says [384, 64]", LODE_E_SHAPE },
        { "num_key_value_heads", "3", "is no multiple of num_key_value_heads 3", LODE_E_FORMAT },
        { "hidden_act", "\"relu\"", "hidden_act is 'relu', expected silu", LODE_E_UNSUPPORTED },
        { "hidden_act", "5", "hidden_act is not a name", LODE_E_FORMAT },
        { "rms_norm_eps", "-1", "rms_norm_eps is -1, expected 0 to", LODE_E_FORMAT },
        { "rms_norm_eps", "1e30", "rms_norm_eps is 1e+30, expected 0 to", LODE_E_FORMAT },
        { "rope_parameters", "{\"rope_theta\": 1e30}", "between 1 and 1e30", LODE_E_FORMAT },
        { "rope_parameters", "{\"rope_type\": \"spiral\"}", "rope_type 'spiral' is not supported", LODE_E_UNSUPPORTED },
        { "rope_parameters", "{\"rope_type\": \"yarn\"}", "needs factor", LODE_E_FORMAT },
        { "rope_parameters", "{\"rope_theta\": -1}", "rope_theta is -1", LODE_E_FORMAT },
        { "layer_types", "[\"full_attention\"]", "layer_types has 1 entries for 2 layers", LODE_E_FORMAT },
        { "layer_types", "[\"a\", \"b\"]", "layer_types has 'a'", LODE_E_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place p;
        open_place(&p, "qwen3");
        set_config(&p, "layer_types", NULL); /* it would speak first */
        set_config(&p, rows[i].key, rows[i].json);
        CONVERT_FAILS(&p, rows[i].code, rows[i].text);
        close_place(&p);
    }
}

TEST(the_architecture_is_found_by_model_type_when_its_name_is_missing) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    set_config(&p, "architectures", NULL);
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_text(g, "general.architecture", "qwen3");
    lode_gguf_close(g);
    close_place(&p);
}

TEST(a_tied_output_is_left_out_and_an_untied_one_is_needed) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    set_config(&p, "tie_word_embeddings", "true");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    assert_null(lode_gguf_find_tensor(g, "output.weight"));
    lode_gguf_close(g);
    close_place(&p);
    open_place(&p, "qwen2"); /* has no lm_head */
    set_config(&p, "tie_word_embeddings", "false");
    CONVERT_FAILS(&p, LODE_E_FORMAT, "tensor 'lm_head.weight' is missing");
    close_place(&p);
}

TEST(linear_scaling_and_mixed_windows_are_written) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    set_config(&p, "rope_parameters", NULL);
    set_config(&p, "rope_theta", "5000.0");
    set_config(&p, "rope_scaling", "{\"type\": \"linear\", \"factor\": 4}");
    set_config(&p, "use_sliding_window", "true");
    set_config(&p, "sliding_window", "8");
    set_config(&p, "layer_types", "[\"full_attention\", \"sliding_attention\"]");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_text(g, "qwen3.rope.scaling.type", "linear");
    assert_true(real_of(g, "qwen3.rope.scaling.factor") == 4);
    assert_true(real_of(g, "qwen3.rope.freq_base") == 5000);
    assert_int_equal(u32_of(g, "qwen3.attention.sliding_window"), 8);
    const lode_gguf_kv *kv = lode_gguf_find(g, "qwen3.attention.sliding_window_pattern");
    int64_t first = -1, second = -1;
    assert_true(kv && lode_gguf_arr_i64(kv, 0, &first) && lode_gguf_arr_i64(kv, 1, &second));
    assert_int_equal(first, 0);
    assert_int_equal(second, 1);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(a_model_inside_a_multimodal_one_is_found_by_its_prefix) {
    (void)state_;
    place p, q;
    open_place(&p, "gemma3_text");
    open_place(&q, "gemma3_text");
    json_t *rows = json_object_get(q.f.root, "tensors"), *config = json_object_get(q.f.root, "config");
    for (size_t i = 0; i < json_array_size(rows); i++) { /* same seeds, other names: only shapes matter here */
        char name[160];
        snprintf(name, sizeof name, "language_model.%s", json_string_value(json_array_get(json_array_get(rows, i), 0)));
        json_array_set_new(json_array_get(rows, i), 0, json_string(name));
    }
    json_array_append_new(rows, json_pack("[s, [i, i], f, f]", "vision_tower.x.weight", 4, 4, 0.0, 1.0));
    json_t *outer = json_pack("{s:[s], s:O}", "architectures", "Gemma3ForConditionalGeneration", "text_config", config);
    json_object_set_new(q.f.root, "config", outer);
    CHECK_OK(lode_fixture_write(&q.f, q.hf, &q.e), &q.e);
    lode_gguf *a = convert_ok(&p, LODE_F32), *b = convert_ok(&q, LODE_F32);
    assert_int_equal(lode_gguf_n_tensors(a), lode_gguf_n_tensors(b));
    for (uint64_t i = 0; i < lode_gguf_n_tensors(a); i++)
        assert_memory_equal(lode_gguf_tensor_at(a, i)->name.p, lode_gguf_tensor_at(b, i)->name.p,
                            lode_gguf_tensor_at(a, i)->name.n);
    lode_gguf_close(a);
    lode_gguf_close(b);
    close_place(&p);
    close_place(&q);
}

TEST(a_weight_that_f16_cannot_hold_is_refused) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    json_t *row = json_array_get(json_object_get(p.f.root, "tensors"), 1); /* the embedding */
    json_array_set_new(row, 2, json_real(1e6));
    CHECK_OK(lode_fixture_write(&p.f, p.hf, &p.e), &p.e);
    CHECK_FAILS(convert_to(&p, LODE_F16), &p.e, LODE_E_UNSUPPORTED, "token_embd.weight' holds 999424");
    CHECK_OK(convert_to(&p, LODE_BF16), &p.e);
    json_array_set_new(row, 3, json_real(0)); /* all alike: BF16's neighbours around F16's largest number, 65504 */
    for (int sign = -1; sign <= 1; sign += 2) {
        json_array_set_new(row, 2, json_real(sign * 65280.0));
        CHECK_OK(lode_fixture_write(&p.f, p.hf, &p.e), &p.e);
        CHECK_OK(convert_to(&p, LODE_F16), &p.e);
        json_array_set_new(row, 2, json_real(sign * 65536.0));
        CHECK_OK(lode_fixture_write(&p.f, p.hf, &p.e), &p.e);
        CHECK_FAILS(convert_to(&p, LODE_F16), &p.e, LODE_E_UNSUPPORTED, sign < 0 ? "holds -65536" : "holds 65536");
    }
    close_place(&p);
}

static bool stop_at_once(void *user) {
    (void)user;
    return true;
}

TEST(a_stopped_conversion_leaves_no_file) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    const lode_convert_desc d = { .in_dir = p.hf, .out_path = p.out, .type = LODE_F32, .abort = stop_at_once };
    CHECK_FAILS(lode_convert(&d, &p.e), &p.e, LODE_E_ABORTED, "was not written");
    char part[100];
    snprintf(part, sizeof part, "%s.part", p.out);
    assert_false(lode_is_file(p.out) || lode_is_file(part));
    close_place(&p);
}

TEST(a_full_disk_is_an_error_and_leaves_no_file) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 100000; /* stands for a disk: the file needs 2 MB */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const lode_status s = convert_to(&p, LODE_F32);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_true(s == LODE_E_IO || s == LODE_E_FULL);
    char part[100];
    snprintf(part, sizeof part, "%s.part", p.out);
    assert_false(lode_is_file(p.out) || lode_is_file(part));
    close_place(&p);
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
        cmocka_unit_test(a_result_never_takes_the_place_of_what_is_read),
        cmocka_unit_test(a_folder_that_is_none_and_one_without_weights_are_refused),
        cmocka_unit_test(a_configuration_that_is_not_usable_is_refused_by_key),
        cmocka_unit_test(the_architecture_is_found_by_model_type_when_its_name_is_missing),
        cmocka_unit_test(a_tied_output_is_left_out_and_an_untied_one_is_needed),
        cmocka_unit_test(linear_scaling_and_mixed_windows_are_written),
        cmocka_unit_test(a_model_inside_a_multimodal_one_is_found_by_its_prefix),
        cmocka_unit_test(a_weight_that_f16_cannot_hold_is_refused),
        cmocka_unit_test(a_stopped_conversion_leaves_no_file),
        cmocka_unit_test(a_full_disk_is_an_error_and_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
