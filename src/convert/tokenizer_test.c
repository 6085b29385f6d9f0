/* tokenizer_test.c - tokenizer.json and its companions as GGUF keys. */
#include "base/str.h"
#include "convert/place.h"

#include <math.h>

#define LLAMA3_SPLIT                                                                                           \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?" \
    "\\\\p{L}+|\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|"    \
    "\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define QWEN2_SPLIT                                                                                              \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"   \
    "\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}," \
    "\"behavior\":\"Removed\",\"invert\":true}"
#define BYTES "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":false}"
#define WORDS "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true}"
#define SEQUENCE(steps) "{\"type\":\"Sequence\",\"pretokenizers\":[" steps "]}"

/* A byte-level tokenizer of eight tokens. */
static void put_bpe(place *p, const char *pre, const char *model_more, const char *more) {
    lode_str s = { 0 };
    lode_str_printf(&s,
                    "{\"added_tokens\":[{\"id\":6,\"content\":\"<|end|>\",\"special\":true},"
                    "{\"id\":7,\"content\":\"<think>\",\"special\":false}],\"pre_tokenizer\":%s,%s"
                    "\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"a\":0,\"b\":1,\"\u0120\":2,\"ab\":3,\"\u0120ab\":4,"
                    "\"c\":5},\"merges\":[\"a b\",[\"\u0120\",\"ab\"]]}}",
                    pre, more, model_more);
    assert_false(s.failed);
    put_file(p, "tokenizer.json", s.p, s.n);
    lode_str_free(&s);
}

static void check_str(const lode_gguf *g, const char *key, const char *want) {
    lode_slice v = { 0 };
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_str(g, key, &v, NULL, &e), &e);
    if (v.n != strlen(want) || memcmp(v.p, want, v.n) != 0)
        fail_msg("%s is '%.*s', want '%s'", key, (int)v.n, v.p, want);
}

static void check_item(const lode_gguf *g, const char *key, uint64_t i, const char *want) {
    lode_slice v = { 0 };
    const lode_gguf_kv *kv = lode_gguf_find(g, key);
    assert_true(kv && lode_gguf_arr_str(g, kv, i, &v));
    if (v.n != strlen(want) || memcmp(v.p, want, v.n) != 0)
        fail_msg("%s[%d] is '%.*s', want '%s'", key, (int)i, (int)v.n, v.p, want);
}

static int64_t int_item(const lode_gguf *g, const char *key, uint64_t i) {
    int64_t v = -1;
    const lode_gguf_kv *kv = lode_gguf_find(g, key);
    assert_true(kv && lode_gguf_arr_i64(kv, i, &v));
    return v;
}

static float real_item(const lode_gguf *g, const char *key, uint64_t i) {
    float v = NAN;
    const lode_gguf_kv *kv = lode_gguf_find(g, key);
    assert_true(kv && lode_gguf_arr_f32(kv, i, &v));
    return v;
}

/* 1, 0, or -1 when the key is not there. */
static int flag(const lode_gguf *g, const char *key) {
    bool v = false, found = false;
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_bool(g, key, &v, &found, &e), &e);
    return found ? v : -1;
}

static int64_t id_of(const lode_gguf *g, const char *key) {
    uint32_t v = 0;
    bool found = false;
    lode_err e = { 0 };
    CHECK_OK(lode_gguf_get_u32(g, key, &v, &found, &e), &e);
    return found ? (int64_t)v : -1;
}

TEST(a_byte_level_bpe_becomes_gpt2_with_types_and_merges) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    put_bpe(&p, SEQUENCE(LLAMA3_SPLIT "," BYTES), "\"ignore_merges\":true,", "");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_str(g, "tokenizer.ggml.model", "gpt2");
    check_str(g, "tokenizer.ggml.pre", "llama-bpe");
    assert_int_equal(lode_gguf_find(g, "tokenizer.ggml.tokens")->n, 384);
    check_item(g, "tokenizer.ggml.tokens", 3, "ab");
    check_item(g, "tokenizer.ggml.tokens", 4,
               "\xC4\xA0"
               "ab");
    check_item(g, "tokenizer.ggml.tokens", 6, "<|end|>");
    check_item(g, "tokenizer.ggml.tokens", 8, "[PAD8]");
    const int64_t types[] = { 1, 1, 1, 1, 1, 1, 3, 4, 5 };
    for (uint64_t i = 0; i < 9; i++) assert_int_equal(int_item(g, "tokenizer.ggml.token_type", i), types[i]);
    check_item(g, "tokenizer.ggml.merges", 0, "a b");
    check_item(g, "tokenizer.ggml.merges", 1, "\xC4\xA0 ab");
    assert_null(lode_gguf_find(g, "tokenizer.ggml.scores"));
    assert_null(lode_gguf_find(g, "qwen3.vocab_size"));
    lode_gguf_close(g);
    close_place(&p);
}

TEST(pre_tokenizers_are_known_by_their_structure) {
    (void)state_;
    static const struct {
        const char *pre, *more, *want;
    } rows[] = {
        { WORDS, "", "gpt-2" },
        { SEQUENCE("{\"type\":\"Digits\",\"individual_digits\":true}," WORDS), "", "smollm" },
        { SEQUENCE(LLAMA3_SPLIT "," BYTES), "", "smaug-bpe" },
        { SEQUENCE(LLAMA3_SPLIT "," BYTES), "\"ignore_merges\":true,", "llama-bpe" },
        { SEQUENCE(QWEN2_SPLIT "," BYTES), "", "qwen2" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place p;
        open_place(&p, "qwen3");
        put_bpe(&p, rows[i].pre, rows[i].more, "");
        lode_gguf *g = convert_ok(&p, LODE_F32);
        check_str(g, "tokenizer.ggml.pre", rows[i].want);
        lode_gguf_close(g);
        close_place(&p);
    }
}

TEST(an_unknown_pre_tokenizer_is_refused_unless_named) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    put_bpe(&p, SEQUENCE("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x+\"},\"behavior\":\"Isolated\"}," BYTES), "",
            "");
    CONVERT_FAILS(&p, LODE_E_UNSUPPORTED, "pre-tokenizer not recognised (x+, @bytes)");
    const lode_convert_desc d = { .in_dir = p.hf, .out_path = p.out, .type = LODE_F32, .pre = "tekken" };
    CHECK_OK(lode_convert(&d, &p.e), &p.e);
    remove(p.out);
    const lode_convert_desc typo = { .in_dir = p.hf, .out_path = p.out, .type = LODE_F32, .pre = "tekkn" };
    CHECK_FAILS(lode_convert(&typo, &p.e), &p.e, LODE_E_UNSUPPORTED, "'tekken'");
    assert_false(lode_is_file(p.out));
    put_bpe(&p, SEQUENCE("{\"type\":\"Whitespace\"}," BYTES), "", "");
    remove(p.out);
    CONVERT_FAILS(&p, LODE_E_UNSUPPORTED, "pre_tokenizer 'Whitespace' is not supported");
    close_place(&p);
}

static const char sentencepiece[] =
    "{\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true},{\"id\":1,\"content\":\"<s>\",\"special\":"
    "true},"
    "{\"id\":9,\"content\":\"\u2581\u2581\",\"special\":false},{\"id\":10,\"content\":\"<unused5>\",\"special\":false},"
    "{\"id\":384,\"content\":\"<image>\",\"special\":true}],"
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[%s{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},"
    "\"content\":\"\u2581\"}]},\"pre_tokenizer\":null,"
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]},"
    "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<unk>\",\"vocab\":{\"<unk>\":0,\"<s>\":1,"
    "\"<0x0A>\":2,\"a\":3,\"b\":4,\"\u2581\":5,\"ab\":6,\"\u2581ab\":7,\"\u2581a\":8},"
    "\"merges\":[\"\u2581 ab\",\"a b\",\"\u2581a b\",\"\u2581 a\"]}}";

TEST(sentencepiece_in_disguise_becomes_llama_with_scores_by_merge_order) {
    (void)state_;
    for (int prefix = 0; prefix < 2; prefix++) {
        place p;
        char text[2000];
        open_place(&p, "llama");
        snprintf(text, sizeof text, sentencepiece, prefix ? "{\"type\":\"Prepend\",\"prepend\":\"\u2581\"}," : "");
        put_text(&p, "tokenizer.json", text);
        lode_gguf *g = convert_ok(&p, LODE_F32);
        check_str(g, "tokenizer.ggml.model", "llama");
        check_str(g, "tokenizer.ggml.pre", "default");
        assert_int_equal(flag(g, "tokenizer.ggml.add_space_prefix"), prefix);
        assert_int_equal(flag(g, "tokenizer.ggml.add_bos_token"), 1);
        assert_int_equal(flag(g, "tokenizer.ggml.add_eos_token"), 0);
        const int64_t types[] = { 2, 3, 6, 1, 1, 1, 1, 1, 1, 4, 3, 5 };
        for (uint64_t i = 0; i < 12; i++) assert_int_equal(int_item(g, "tokenizer.ggml.token_type", i), types[i]);
        check_item(g, "tokenizer.ggml.tokens", 9, "  ");
        const float s7 = real_item(g, "tokenizer.ggml.scores", 7), s6 = real_item(g, "tokenizer.ggml.scores", 6),
                    s8 = real_item(g, "tokenizer.ggml.scores", 8), s3 = real_item(g, "tokenizer.ggml.scores", 3);
        assert_true(s7 > s6 && s6 > s8 && s8 > s3);
        assert_int_equal(id_of(g, "tokenizer.ggml.bos_token_id"), 1);
        assert_int_equal(id_of(g, "tokenizer.ggml.unknown_token_id"), 0);
        assert_int_equal(lode_gguf_find(g, "tokenizer.ggml.tokens")->n, 384); /* id 384 has no weights */
        lode_gguf_close(g);
        close_place(&p);
    }
}

TEST(special_tokens_come_from_the_configuration_files) {
    (void)state_;
    place p;
    open_place(&p, "qwen3"); /* config.json: bos 1, eos 2, pad 0 */
    put_bpe(&p, WORDS, "", "\"post_processor\":null,");
    put_text(&p, "tokenizer_config.json",
             "{\"bos_token\":null,\"eos_token\":\"<|end|>\",\"pad_token\":{\"content\":\"<think>\"},\"add_bos_token\":"
             "true}");
    put_text(&p, "generation_config.json",
             "{\"eos_token_id\":[6,7],\"top_k\":20,\"top_p\":0.8,\"temperature\":0.7,\"repetition_penalty\":1.05}");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    assert_int_equal(id_of(g, "tokenizer.ggml.bos_token_id"), 1);
    assert_int_equal(id_of(g, "tokenizer.ggml.eos_token_id"), 6);
    assert_int_equal(id_of(g, "tokenizer.ggml.padding_token_id"), 7);
    assert_int_equal(id_of(g, "tokenizer.ggml.seperator_token_id"), -1);
    assert_int_equal(flag(g, "tokenizer.ggml.add_bos_token"), 1);
    assert_int_equal(flag(g, "tokenizer.ggml.add_eos_token"), -1);
    float v = 0;
    CHECK_OK(lode_gguf_get_f32(g, "general.sampling.temp", &v, NULL, &p.e), &p.e);
    assert_true(v == 0.7f);
    const lode_gguf_kv *k = lode_gguf_find(g, "general.sampling.top_k");
    assert_true(k && k->kind == LODE_GGUF_I32);
    lode_gguf_close(g);
    close_place(&p);
}

TEST(ids_of_special_tokens_are_written_up_to_the_last_of_the_vocabulary) {
    (void)state_;
    static const char *const rows[][2] = {
        { "bos_token_id", "tokenizer.ggml.bos_token_id" },     { "eos_token_id", "tokenizer.ggml.eos_token_id" },
        { "unk_token_id", "tokenizer.ggml.unknown_token_id" }, { "sep_token_id", "tokenizer.ggml.seperator_token_id" },
        { "pad_token_id", "tokenizer.ggml.padding_token_id" }, { "mask_token_id", "tokenizer.ggml.mask_token_id" },
    };
    static const struct {
        const char *json;
        int64_t want;
    } ids[] = {
        { "0", 0 }, { "383", 383 }, { "384", -1 }, { "-1", -1 }, { "1.5", -1 }, { "null", -1 }, { "\"5\"", -1 }
    };
    place p;
    open_place(&p, "qwen3"); /* 384 tokens */
    put_bpe(&p, WORDS, "", "");
    for (size_t k = 0; k < sizeof ids / sizeof *ids; k++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) set_config(&p, rows[i][0], ids[k].json);
        lode_gguf *g = convert_ok(&p, LODE_F32);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (id_of(g, rows[i][1]) != ids[k].want) fail_msg("%s %s", rows[i][0], ids[k].json);
        lode_gguf_close(g);
    }
    close_place(&p);
}

TEST(chat_templates_are_taken_from_where_they_are) {
    (void)state_;
    place p;
    open_place(&p, "qwen3");
    put_text(&p, "chat_template.jinja", "{{ 'from the file' }}");
    lode_gguf *g = convert_ok(&p, LODE_F32);
    check_str(g, "tokenizer.chat_template", "{{ 'from the file' }}");
    lode_gguf_close(g);
    put_text(&p, "tokenizer_config.json", "{\"chat_template\":\"{{ 'from the configuration' }}\"}");
    g = convert_ok(&p, LODE_F32);
    check_str(g, "tokenizer.chat_template", "{{ 'from the configuration' }}");
    lode_gguf_close(g);
    put_text(
        &p, "tokenizer_config.json",
        "{\"chat_template\":[{\"name\":\"default\",\"template\":\"D\"},{\"name\":\"tool-use\",\"template\":\"T\"}]}");
    g = convert_ok(&p, LODE_F32);
    check_str(g, "tokenizer.chat_template", "D");
    check_str(g, "tokenizer.chat_template.tool_use", "T");
    check_item(g, "tokenizer.chat_templates", 0, "tool_use");
    lode_gguf_close(g);
    close_place(&p);
}

TEST(tokenizers_that_are_not_usable_are_refused) {
    (void)state_;
    static const struct {
        const char *json, *text;
        lode_status code;
    } rows[] = {
        { "[", "not valid JSON", LODE_E_FORMAT },
        { "{}", "model.vocab is missing", LODE_E_FORMAT },
        { "{\"model\":{\"type\":\"Unigram\",\"vocab\":{}}}", "tokenizer model 'Unigram' is not supported",
          LODE_E_UNSUPPORTED },
        { "{\"model\":{\"type\":\"BPE\",\"vocab\":{}}}", "neither a byte-level BPE", LODE_E_UNSUPPORTED },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":-1}}}", "token 'a' has no usable id",
          LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0.5}}}", "token 'a' has no usable id",
          LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0,\"b\":0}}}", "have the same id 0",
          LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0}}}", "model.merges is missing", LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0},\"merges\":[7]}}", "merges[0] is not a pair",
          LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"a\"]}}", "merges[0] is not a pair",
          LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"model\":{\"vocab\":{\"a\":0},\"merges\":[[\"a\",3]]}}",
          "merges[0] is not a pair", LODE_E_FORMAT },
        { "{\"pre_tokenizer\":" WORDS ",\"added_tokens\":[{\"id\":0}],\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}",
          "added_tokens[0] has no content", LODE_E_FORMAT },
        { "{\"pre_tokenizer\":{\"type\":7},\"model\":{\"byte_fallback\":true,\"vocab\":{\"a\":0},\"merges\":[]}}",
          "neither a byte-level BPE", LODE_E_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place p;
        open_place(&p, "qwen3");
        put_text(&p, "tokenizer.json", rows[i].json);
        CONVERT_FAILS(&p, rows[i].code, rows[i].text);
        close_place(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_level_bpe_becomes_gpt2_with_types_and_merges),
        cmocka_unit_test(pre_tokenizers_are_known_by_their_structure),
        cmocka_unit_test(an_unknown_pre_tokenizer_is_refused_unless_named),
        cmocka_unit_test(sentencepiece_in_disguise_becomes_llama_with_scores_by_merge_order),
        cmocka_unit_test(special_tokens_come_from_the_configuration_files),
        cmocka_unit_test(ids_of_special_tokens_are_written_up_to_the_last_of_the_vocabulary),
        cmocka_unit_test(chat_templates_are_taken_from_where_they_are),
        cmocka_unit_test(tokenizers_that_are_not_usable_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
