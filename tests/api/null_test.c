/* null_test.c - every public function that can fail, without each of the pointers that it needs in turn: LODE_E_INPUT
 * and a line that names the function, as include/lode/base.h promises. The last test holds the table against the
 * headers. Run from the project's folder. */
#include "base/test.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "lode/chat.h"
#include "lode/lode.h"
#include "lode/sample.h"
#include "lode/tok.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST = 200 };
static const char *tested[MOST];
static int n_tested;

static void told(const char *fn, lode_status got, const lode_err *e) {
    if (got != LODE_E_INPUT) fail_msg("%s: got %s, want input", fn, lode_status_name(got));
    if (!strstr(e->text, fn)) fail_msg("%s: the text '%s' does not name it", fn, e->text);
    if (n_tested == 0 || strcmp(tested[n_tested - 1], fn) != 0) {
        assert_true(n_tested < MOST);
        tested[n_tested++] = fn;
    }
}

/* The call without one of its pointers, with a place for the error and without. */
#define REFUSES(fn, ...)                                                         \
    do {                                                                         \
        lode_err e_ = { 0 }, *err = &e_;                                         \
        const lode_status with_ = fn(__VA_ARGS__, err);                          \
        told(#fn, with_, &e_);                                                   \
        err = NULL;                                                              \
        if (fn(__VA_ARGS__, err) != with_) fail_msg("%s without an error", #fn); \
    } while (0)

static lode_err e;

/* What the calls get where they get something. */
typedef struct {
    lode_runtime *rt;
    lode_device *dev;
    lode_buffer *buffer;
    lode_stream *stream;
    lode_event *event;
    lode_model *model;
    lode_session *session;
} world;

static int open_world(void **state) {
    static world w;
    lode_fixture f = { 0 };
    char dir[] = "/tmp/lode_null_XXXXXX", path[64], gguf[64];
    assert_non_null(mkdtemp(dir));
    snprintf(gguf, sizeof gguf, "%s/model.gguf", dir);
    CHECK_OK(lode_fixture_open(&f, "tests/golden/llama.json", &e), &e);
    CHECK_OK(lode_fixture_write(&f, dir, &e), &e);
    CHECK_OK(lode_convert(&(lode_convert_desc){ .in_dir = dir, .out_path = gguf, .type = LODE_F32 }, &e), &e);
    CHECK_OK(lode_runtime_open(&w.rt, NULL, &e), &e);
    CHECK_OK(lode_model_open(&w.model, &(lode_model_desc){ .runtime = w.rt, .path = gguf }, &e), &e);
    CHECK_OK(lode_session_open(&w.session, w.model, NULL, &e), &e);
    w.dev = lode_runtime_device(w.rt, 0);
    CHECK_OK(lode_buffer_open(&w.buffer, lode_device_buffer_type(w.dev), 64, &e), &e);
    CHECK_OK(lode_stream_open(&w.stream, w.dev, NULL, &e), &e);
    CHECK_OK(lode_event_open(&w.event, w.dev, &e), &e);
    static const char *const files[] = { "model.gguf", "config.json", "model.safetensors" };
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        remove(path);
    }
    rmdir(dir);
    lode_fixture_close(&f);
    *state = &w;
    return 0;
}

static int close_world(void **state) {
    world *w = *state;
    lode_event_close(w->event);
    lode_stream_close(w->stream);
    lode_buffer_close(w->buffer);
    lode_session_close(w->session);
    lode_model_close(w->model);
    lode_runtime_close(w->rt);
    return 0;
}

TEST(functions_of_devices_and_memory) {
    const world *w = *state_;
    char bytes[8] = { 0 };
    lode_device *dev;
    lode_buffer *b;
    lode_buffer_type *type = lode_device_buffer_type(w->dev);
    REFUSES(lode_runtime_open, NULL, NULL);
    for (int n = -1; n <= 65; n += 66)
        for (int null = 0; null < 2; null++) {
            lode_runtime *rt;
            const lode_runtime_desc many = { .n_cpu_devices = null ? 0 : n, .n_null_devices = null ? n : 0 };
            CHECK_FAILS(lode_runtime_open(&rt, &many, &e), &e, LODE_E_INPUT, "expected 0 to 64");
        }
    REFUSES(lode_runtime_load, NULL, "x.so");
    REFUSES(lode_runtime_load, w->rt, NULL);
    REFUSES(lode_runtime_find, NULL, "CPU", &dev);
    REFUSES(lode_runtime_find, w->rt, NULL, &dev);
    REFUSES(lode_runtime_find, w->rt, "CPU", NULL);
    REFUSES(lode_device_wrap, NULL, bytes, 8, true, &b);
    REFUSES(lode_device_wrap, w->dev, NULL, 8, true, &b);
    REFUSES(lode_device_wrap, w->dev, bytes, 8, true, NULL);
    REFUSES(lode_buffer_open, NULL, type, 8);
    REFUSES(lode_buffer_open, &b, NULL, 8);
    REFUSES(lode_buffer_set, NULL, 0, bytes, 8);
    REFUSES(lode_buffer_set, w->buffer, 0, NULL, 8);
    CHECK_OK(lode_buffer_set(w->buffer, 0, NULL, 0, &e), &e);
    REFUSES(lode_buffer_get, NULL, 0, bytes, 8);
    REFUSES(lode_buffer_get, w->buffer, 0, NULL, 8);
    CHECK_OK(lode_buffer_get(w->buffer, 0, NULL, 0, &e), &e);
    REFUSES(lode_buffer_memset, NULL, 0, 0, 8);
    REFUSES(lode_buffer_clear, NULL, 0);
    REFUSES(lode_buffer_copy, NULL, 0, w->buffer, 0, 8);
    REFUSES(lode_buffer_copy, w->buffer, 0, NULL, 0, 8);
    lode_tensor *none[1] = { NULL };
    REFUSES(lode_buffer_place, NULL, type, none, 0);
    REFUSES(lode_buffer_place, &b, NULL, none, 0);
    REFUSES(lode_buffer_place, &b, type, NULL, 1);
    REFUSES(lode_buffer_place, &b, type, none, 1);
}

TEST(functions_of_streams_and_events) {
    const world *w = *state_;
    char bytes[8] = { 0 };
    lode_stream *s;
    lode_event *v;
    REFUSES(lode_stream_open, NULL, w->dev, NULL);
    REFUSES(lode_stream_open, &s, NULL, NULL);
    REFUSES(lode_stream_set, NULL, w->buffer, 0, bytes, 8);
    REFUSES(lode_stream_set, w->stream, NULL, 0, bytes, 8);
    REFUSES(lode_stream_set, w->stream, w->buffer, 0, NULL, 8);
    REFUSES(lode_stream_get, NULL, w->buffer, 0, bytes, 8);
    REFUSES(lode_stream_get, w->stream, NULL, 0, bytes, 8);
    REFUSES(lode_stream_get, w->stream, w->buffer, 0, NULL, 8);
    REFUSES(lode_stream_copy, NULL, w->buffer, 0, w->stream, w->buffer, 8, 8);
    REFUSES(lode_stream_copy, w->stream, NULL, 0, w->stream, w->buffer, 8, 8);
    REFUSES(lode_stream_copy, w->stream, w->buffer, 0, NULL, w->buffer, 8, 8);
    REFUSES(lode_stream_copy, w->stream, w->buffer, 0, w->stream, NULL, 8, 8);
    REFUSES(lode_stream_synchronize, NULL);
    REFUSES(lode_event_open, NULL, w->dev);
    REFUSES(lode_event_open, &v, NULL);
    REFUSES(lode_event_record, NULL, w->stream);
    REFUSES(lode_event_record, w->event, NULL);
    REFUSES(lode_event_wait, NULL, w->stream);
    REFUSES(lode_event_wait, w->event, NULL);
    REFUSES(lode_event_synchronize, NULL);
}

TEST(functions_that_read_files) {
    const world *w = *state_;
    const lode_gguf *have = lode_model_gguf(w->model);
    lode_gguf *g;
    uint32_t u;
    float f;
    bool b;
    lode_slice s;
    REFUSES(lode_gguf_open, NULL, "x");
    REFUSES(lode_gguf_open, &g, NULL);
    REFUSES(lode_gguf_open_mem, NULL, "x", 1, "x");
    REFUSES(lode_gguf_open_mem, &g, NULL, 1, "x");
    REFUSES(lode_gguf_open_mem, &g, "x", 1, NULL);
    REFUSES(lode_gguf_get_u32, NULL, "x", &u, NULL);
    REFUSES(lode_gguf_get_u32, have, NULL, &u, NULL);
    REFUSES(lode_gguf_get_u32, have, "llama.block_count", NULL, NULL);
    REFUSES(lode_gguf_get_f32, NULL, "x", &f, NULL);
    REFUSES(lode_gguf_get_f32, have, NULL, &f, NULL);
    REFUSES(lode_gguf_get_f32, have, "llama.rope.freq_base", NULL, NULL);
    REFUSES(lode_gguf_get_bool, NULL, "x", &b, NULL);
    REFUSES(lode_gguf_get_bool, have, NULL, &b, NULL);
    REFUSES(lode_gguf_get_bool, have, "x", NULL, NULL);
    REFUSES(lode_gguf_get_str, NULL, "x", &s, NULL);
    REFUSES(lode_gguf_get_str, have, NULL, &s, NULL);
    REFUSES(lode_gguf_get_str, have, "general.architecture", NULL, NULL);
    lode_model *m;
    REFUSES(lode_model_open, NULL, &(lode_model_desc){ .runtime = w->rt, .path = "x" });
    REFUSES(lode_model_open, &m, NULL);
    CHECK_FAILS(lode_model_open(&m, &(lode_model_desc){ .path = "x" }, &e), &e, LODE_E_INPUT, "runtime");
    CHECK_FAILS(lode_model_open(&m, &(lode_model_desc){ .runtime = w->rt }, &e), &e, LODE_E_INPUT, "file");
}

/* The set calls have no error of their own: begin tells the first. */
TEST(functions_that_write_files) {
    (void)state_;
    const int64_t ne[1] = { 1 };
    const lode_slice none = { 0 };
    lode_gguf_writer *w;
    REFUSES(lode_gguf_writer_open, NULL, "x");
    REFUSES(lode_gguf_writer_open, &w, NULL);
    for (int k = 0; k < 12; k++) {
        CHECK_OK(lode_gguf_writer_open(&w, "/tmp/lode_null_never", &e), &e);
        const lode_status got[12] = {
            k == 0 ? lode_gguf_set_u32(w, NULL, 1) : LODE_OK,
            k == 1 ? lode_gguf_set_i32(w, NULL, 1) : LODE_OK,
            k == 2 ? lode_gguf_set_f32(w, NULL, 1) : LODE_OK,
            k == 3 ? lode_gguf_set_bool(w, NULL, true) : LODE_OK,
            k == 4 ? lode_gguf_set_str(w, NULL, "x", 1) : LODE_OK,
            k == 5 ? lode_gguf_set_str(w, "x", NULL, 1) : LODE_OK,
            k == 6 ? lode_gguf_set_arr(w, NULL, LODE_GGUF_U8, "x", 1) : LODE_OK,
            k == 7 ? lode_gguf_set_arr(w, "x", LODE_GGUF_U8, NULL, 1) : LODE_OK,
            k == 8 ? lode_gguf_set_arr_str(w, NULL, &none, 1) : LODE_OK,
            k == 9 ? lode_gguf_set_arr_str(w, "x", NULL, 1) : LODE_OK,
            k == 10 ? lode_gguf_set_kv(w, NULL) : LODE_OK,
            k == 11 ? lode_gguf_set_u32(NULL, "x", 1) : LODE_OK,
        };
        assert_int_equal(got[k], LODE_E_INPUT);
        if (k < 11) CHECK_FAILS(lode_gguf_begin(w, &e), &e, LODE_E_INPUT, "lode_gguf_set_");
        lode_gguf_discard(w);
    }
    CHECK_OK(lode_gguf_writer_open(&w, "/tmp/lode_null_never", &e), &e);
    REFUSES(lode_gguf_add_tensor, NULL, "x", LODE_F32, 1, ne);
    REFUSES(lode_gguf_add_tensor, w, NULL, LODE_F32, 1, ne);
    REFUSES(lode_gguf_add_tensor, w, "x", LODE_F32, 1, NULL);
    REFUSES(lode_gguf_begin, NULL);
    REFUSES(lode_gguf_write_tensor, NULL, "x", 1);
    REFUSES(lode_gguf_write_tensor, w, NULL, 1);
    REFUSES(lode_gguf_finish, NULL);
    lode_gguf_discard(w);
    assert_int_equal(access("/tmp/lode_null_never", F_OK), -1);
}

TEST(functions_of_graphs_and_plans) {
    const world *w = *state_;
    lode_graph *g;
    lode_plan *p;
    lode_stream *none = NULL;
    float x = 0;
    REFUSES(lode_graph_open, NULL);
    REFUSES(lode_graph_status, NULL);
    CHECK_OK(lode_graph_open(&g, &e), &e);
    const int64_t ne[1] = { 1 };
    lode_tensor *t = lode_input(g, "x", LODE_F32, 1, ne, LODE_DYN_NONE);
    lode_output(g, lode_scale(g, t, 2));
    const lode_plan_desc d = { .streams = &w->stream, .n_streams = 1 };
    REFUSES(lode_plan_open, NULL, g, &d);
    REFUSES(lode_plan_open, &p, NULL, &d);
    REFUSES(lode_plan_open, &p, g, NULL);
    REFUSES(lode_plan_open, &p, g, &(lode_plan_desc){ .n_streams = 1 });
    REFUSES(lode_plan_open, &p, g, &(lode_plan_desc){ .streams = &none, .n_streams = 1 });
    CHECK_OK(lode_plan_open(&p, g, &d, &e), &e);
    REFUSES(lode_plan_set_count, NULL, LODE_DYN_TOKENS, 0);
    REFUSES(lode_plan_write, NULL, t, &x, sizeof x);
    REFUSES(lode_plan_write, p, NULL, &x, sizeof x);
    REFUSES(lode_plan_write, p, t, NULL, sizeof x);
    REFUSES(lode_plan_read, NULL, t, 0, &x, sizeof x);
    REFUSES(lode_plan_read, p, NULL, 0, &x, sizeof x);
    REFUSES(lode_plan_read, p, t, 0, NULL, sizeof x);
    REFUSES(lode_plan_run, NULL);
    lode_plan_close(p);
    lode_graph_close(g);
}

static void drop_line(void *user, const char *line) {
    (void)user;
    (void)line;
}

TEST(functions_of_sessions) {
    const world *w = *state_;
    const lode_batch_token token = { 1, 0, true };
    const int32_t id = 1;
    lode_session *s;
    REFUSES(lode_session_open, NULL, w->model, NULL);
    REFUSES(lode_session_open, &s, NULL, NULL);
    REFUSES(lode_session_run, NULL, &token, 1);
    REFUSES(lode_session_run, w->session, NULL, 1);
    REFUSES(lode_session_append, NULL, 0, &id, 1);
    REFUSES(lode_session_append, w->session, 0, NULL, 1);
    REFUSES(lode_seq_remove, NULL, 0, 0, -1);
    REFUSES(lode_seq_shift, NULL, 0, 0, 1);
    REFUSES(lode_seq_copy, NULL, 0, 0, -1);
    REFUSES(lode_session_print, NULL, 1, LODE_PRINT_PLAN, false, drop_line, NULL);
    REFUSES(lode_session_print, w->session, 1, LODE_PRINT_PLAN, false, NULL, NULL);
    REFUSES(lode_session_trace, NULL, "x");
    assert_int_equal(lode_seq_length(w->session, 0), 0);
}

TEST(functions_of_tokenizers_and_templates) {
    (void)state_;
    const lode_slice text = { "a", 1 };
    const lode_text_part part = { "a", 1, false };
    lode_vocab_desc d;
    lode_vocab *v;
    lode_tokens ids = { 0 };
    lode_vocab_desc_init(&d, LODE_VOCAB_SPM);
    d.n_tokens = 1;
    REFUSES(lode_vocab_open, &v, NULL);
    REFUSES(lode_vocab_open, &v, &d);
    d.tokens = &text;
    REFUSES(lode_vocab_open, NULL, &d);
    CHECK_OK(lode_vocab_open(&v, &d, &e), &e);
    d.n_merges = 1;
    REFUSES(lode_vocab_open, &v, &d);
    REFUSES(lode_encode, v, NULL, 1, 0, &ids);
    REFUSES(lode_encode, v, "a", 1, 0, NULL);
    REFUSES(lode_encode_parts, v, NULL, 1, 0, &ids);
    REFUSES(lode_encode_parts, v, &part, 1, 0, NULL);
    CHECK_FAILS(lode_encode(NULL, "a", 1, 0, &ids, &e), &e, LODE_E_INPUT, "tokenizer");
    CHECK_OK(lode_encode(v, NULL, 0, 0, &ids, &e), &e);
    lode_detok k;
    lode_detok_init(&k, v, 0);
    lode_slice piece;
    char *out;
    size_t n;
    const lode_token id = 0;
    REFUSES(lode_detok_push, NULL, 0, &piece);
    REFUSES(lode_detok_push, &k, 0, NULL);
    REFUSES(lode_detokenize, NULL, &id, 1, 0, &out, &n);
    REFUSES(lode_detokenize, v, NULL, 1, 0, &out, &n);
    REFUSES(lode_detokenize, v, &id, 1, 0, NULL, &n);
    REFUSES(lode_detokenize, v, &id, 1, 0, &out, NULL);
    lode_detok_free(&k);
    lode_vocab_close(v);

    lode_chat *t;
    lode_chat_text said;
    lode_chat_message m = { "user", NULL, 1 };
    lode_chat_input in = { .messages = &m, .n_messages = 1 };
    REFUSES(lode_chat_open, NULL, "x", 1);
    REFUSES(lode_chat_open, &t, NULL, 1);
    CHECK_OK(lode_chat_open(&t, "x", 1, &e), &e);
    REFUSES(lode_chat_render, t, &in, &said);
    m = (lode_chat_message){ NULL, "x", 1 };
    REFUSES(lode_chat_render, t, &in, &said);
    m.role = "user";
    REFUSES(lode_chat_render, NULL, &in, &said);
    REFUSES(lode_chat_render, t, NULL, &said);
    REFUSES(lode_chat_render, t, &in, NULL);
    lode_chat_close(t);
}

TEST(functions_of_samplers) {
    (void)state_;
    const float logits[2] = { 0, 1 };
    lode_sampler_desc d;
    lode_sampler_chain c;
    lode_sampler *s, *copy;
    lode_token_prob prob;
    int32_t id;
    lode_sampler_defaults(&d);
    d.n_vocab = 2;
    REFUSES(lode_sampler_set, NULL, "top_k", 1);
    REFUSES(lode_sampler_set, &d, NULL, 1);
    REFUSES(lode_sampler_chain_parse, NULL, "top_k");
    REFUSES(lode_sampler_chain_parse, &c, NULL);
    REFUSES(lode_sampler_open, NULL, &d);
    REFUSES(lode_sampler_open, &s, NULL);
    for (int k = 0; k < 3; k++) {
        lode_sampler_desc lacks = d;
        if (k == 0) lacks.dry_breakers = NULL;
        if (k == 1) lacks.n_logit_bias = 1;
        if (k == 2) lacks.n_eog = 1;
        REFUSES(lode_sampler_open, &s, &lacks);
    }
    CHECK_OK(lode_sampler_open(&s, &d, &e), &e);
    REFUSES(lode_sampler_clone, NULL, s);
    REFUSES(lode_sampler_clone, &copy, NULL);
    REFUSES(lode_sampler_sample, NULL, logits, &id);
    REFUSES(lode_sampler_sample, s, NULL, &id);
    REFUSES(lode_sampler_sample, s, logits, NULL);
    REFUSES(lode_sampler_accept, NULL, 1);
    REFUSES(lode_logprobs, NULL, 2, -1, NULL, &prob, 1);
    lode_sampler_close(s);
}

TEST(closing_and_freeing_nothing_is_fine) {
    (void)state_;
    lode_runtime_close(NULL);
    lode_buffer_close(NULL);
    lode_stream_close(NULL);
    lode_event_close(NULL);
    lode_gguf_close(NULL);
    lode_gguf_discard(NULL);
    lode_graph_close(NULL);
    lode_plan_close(NULL);
    lode_model_close(NULL);
    lode_session_close(NULL);
    lode_vocab_close(NULL);
    lode_tokens_free(NULL);
    lode_detok_free(NULL);
    lode_chat_close(NULL);
    lode_chat_text_free(NULL);
    lode_sampler_close(NULL);
}

static bool in_table(const char *name, size_t n) {
    for (int i = 0; i < n_tested; i++)
        if (strlen(tested[i]) == n && !strncmp(tested[i], name, n)) return true;
    return false;
}

/* Every declaration "LODE_API lode_status NAME(..., lode_err *err);" of the headers is in the table. */
TEST(the_table_is_whole) {
    (void)state_;
    static const char *const headers[] = { "backend", "chat",   "gguf",    "graph", "model",
                                           "plan",    "sample", "session", "tok" };
    int n = 0;
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        char path[64];
        static char text[1 << 16];
        snprintf(path, sizeof path, "include/lode/%s.h", headers[h]);
        FILE *f = fopen(path, "r");
        if (!f) fail_msg("%s: not here", path);
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        fclose(f);
        static const char start[] = "LODE_API lode_status ";
        for (const char *p = text; (p = strstr(p, start)) != NULL;) {
            p += sizeof start - 1;
            const char *args = strchr(p, '('), *end = strchr(p, ';'), *err = strstr(p, "lode_err *err");
            if (!err || err > end) continue;
            if (!in_table(p, (size_t)(args - p))) fail_msg("%.*s is not tested", (int)(args - p), p);
            n++;
        }
    }
    assert_true(n >= 60); /* as many as there were when this was written */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_devices_and_memory),
        cmocka_unit_test(functions_of_streams_and_events),
        cmocka_unit_test(functions_that_read_files),
        cmocka_unit_test(functions_that_write_files),
        cmocka_unit_test(functions_of_graphs_and_plans),
        cmocka_unit_test(functions_of_sessions),
        cmocka_unit_test(functions_of_tokenizers_and_templates),
        cmocka_unit_test(functions_of_samplers),
        cmocka_unit_test(closing_and_freeing_nothing_is_fine),
        cmocka_unit_test(the_table_is_whole),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
