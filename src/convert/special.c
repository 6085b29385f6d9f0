/* special.c - what stands beside a tokenizer: roles of tokens, whether BOS and EOS are added, chat templates, the
 * sampling that the model's makers suggest. */
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "convert/vocab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEMPLATE_MAX = 4 << 20, TEMPLATES_MAX = 64 };

/* The text of "bos_token" and its like: a string, or an object with "content". */
static const char *role_text(const convert_source *s, const char *key, size_t *n) {
    const char *text = convert_json_text(s->config, key, n);
    return text ? text : convert_json_text(json_object_get(s->config, key), "content", n);
}

/* An id of config.json or generation_config.json; of a list the first. */
static int64_t id_of(const json_t *v) {
    if (json_is_array(v)) v = json_array_get(v, 0);
    const double x = json_is_number(v) ? json_number_value(v) : -1;
    return x >= 0 && x < 1e9 && x == floor(x) ? (int64_t)x : -1;
}

static int64_t role_id(const convert_source *s, const char *name, const char *id_key, const char *first) {
    size_t n = 0;
    const char *text = role_text(s, name, &n);
    int64_t id = text ? convert_token_id(s, text, n) : -1;
    if (id < 0) id = id_of(convert_get(s->m, id_key));
    if (id < 0) id = id_of(json_object_get(s->generation, id_key));
    if (id < 0 && first) id = convert_token_id(s, first, strlen(first));
    return id;
}

/* What the post-processor puts first and last; NULL where it puts nothing. */
typedef struct frame {
    const char *first, *last;
    bool known; /* the post-processor decides */
} frame;

static const char *special_of(const json_t *piece) {
    return convert_json_text(json_object_get(piece, "SpecialToken"), "id", NULL);
}

static frame frame_of(const convert_source *s) {
    frame f = { 0 };
    const json_t *post = json_object_get(s->tokenizer, "post_processor"), *list = json_object_get(post, "processors");
    const size_t n = json_is_array(list) ? json_array_size(list) : json_is_object(post) ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_is_array(list) ? json_array_get(list, i) : post;
        const char *type = convert_json_text(p, "type", NULL);
        f.known = true; /* one that adds nothing (ByteLevel) says so too */
        if (!type || strcmp(type, "TemplateProcessing") != 0) continue;
        const json_t *single = json_object_get(p, "single");
        const size_t k = json_array_size(single);
        if (k < 2) continue;
        f.first = special_of(json_array_get(single, 0));
        f.last = special_of(json_array_get(single, k - 1));
    }
    return f;
}

static void roles(const convert_source *s) {
    static const struct {
        const char *name, *id_key, *gguf;
    } rows[] = {
        { "bos_token", "bos_token_id", "tokenizer.ggml.bos_token_id" },
        { "eos_token", "eos_token_id", "tokenizer.ggml.eos_token_id" },
        { "unk_token", "unk_token_id", "tokenizer.ggml.unknown_token_id" },
        { "sep_token", "sep_token_id", "tokenizer.ggml.seperator_token_id" }, /* spelt so in the format */
        { "pad_token", "pad_token_id", "tokenizer.ggml.padding_token_id" },
        { "mask_token", "mask_token_id", "tokenizer.ggml.mask_token_id" },
    };
    const frame f = frame_of(s);
    const char *unk = convert_json_text(s->model, "unk_token", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t id = role_id(s, rows[i].name, rows[i].id_key, i == 0 ? f.first : i == 2 ? unk : NULL);
        if (id < 0 || (uint64_t)id >= s->m->n_vocab) continue;
        lode_gguf_set_u32(s->m->w, rows[i].gguf, (uint32_t)id);
    }
}

static void added_frame(const convert_source *s) {
    static const struct {
        const char *config, *gguf;
    } rows[] = { { "add_bos_token", "tokenizer.ggml.add_bos_token" },
                 { "add_eos_token", "tokenizer.ggml.add_eos_token" } };
    const frame f = frame_of(s);
    for (int i = 0; i < 2; i++) {
        const json_t *said = json_object_get(s->config, rows[i].config);
        const bool on = i == 0 ? f.first != NULL : f.last != NULL;
        if (f.known)
            lode_gguf_set_bool(s->m->w, rows[i].gguf, on);
        else if (json_is_boolean(said))
            lode_gguf_set_bool(s->m->w, rows[i].gguf, json_is_true(said));
    }
}

static void set_template(convert_model *m, const json_t *text) {
    lode_gguf_set_str(m->w, "tokenizer.chat_template", json_string_value(text), json_string_length(text));
}

/* Named templates: "default" is the template, the others stand beside it with a list of their names. */
static lode_status set_templates(convert_model *m, const json_t *list, lode_err *err) {
    char names[TEMPLATES_MAX][48];
    lode_slice slices[TEMPLATES_MAX];
    uint64_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), *text = json_object_get(o, "template");
        const char *name = convert_json_text(o, "name", NULL);
        if (!name || !json_is_string(text)) continue;
        if (!strcmp(name, "default")) {
            set_template(m, text);
            continue;
        }
        if (n == TEMPLATES_MAX)
            return lode_fail(err, LODE_E_FORMAT, "%s: more than %d chat templates", m->desc->in_dir, TEMPLATES_MAX);
        char key[96];
        snprintf(names[n], sizeof names[n], "%s", name);
        for (char *p = names[n]; *p; p++)
            if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '_';
        snprintf(key, sizeof key, "tokenizer.chat_template.%s", names[n]);
        lode_gguf_set_str(m->w, key, json_string_value(text), json_string_length(text));
        slices[n] = (lode_slice){ names[n], strlen(names[n]) };
        n++;
    }
    if (n > 0) lode_gguf_set_arr_str(m->w, "tokenizer.chat_templates", slices, n);
    return LODE_OK;
}

static lode_status templates(const convert_source *s, lode_err *err) {
    const json_t *t = json_object_get(s->config, "chat_template");
    if (json_is_string(t)) {
        set_template(s->m, t);
        return LODE_OK;
    }
    if (json_is_array(t)) return set_templates(s->m, t, err);
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/chat_template.jinja", s->m->desc->in_dir);
    char *text = NULL;
    size_t n = 0;
    lode_status st = path.failed ? lode_fail(err, LODE_E_NOMEM, "out of memory") : LODE_OK;
    if (st == LODE_OK && lode_is_file(path.p)) st = lode_file_read(path.p, TEMPLATE_MAX, &text, &n, err);
    if (text) lode_gguf_set_str(s->m->w, "tokenizer.chat_template", text, n);
    free(text);
    lode_str_free(&path);
    return st;
}

lode_status convert_generation(const convert_source *s, lode_err *err) {
    static const struct {
        const char *key, *gguf;
        bool whole;
    } rows[] = {
        { "top_k", "general.sampling.top_k", true },
        { "top_p", "general.sampling.top_p", false },
        { "min_p", "general.sampling.min_p", false },
        { "temperature", "general.sampling.temp", false },
        { "repetition_penalty", "general.sampling.penalty_repeat", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *v = json_object_get(s->generation, rows[i].key);
        const double x = json_number_value(v);
        if (!json_is_number(v) || !(fabs(x) < 1e9)) continue;
        if (rows[i].whole)
            lode_gguf_set_i32(s->m->w, rows[i].gguf, (int32_t)x);
        else
            lode_gguf_set_f32(s->m->w, rows[i].gguf, (float)x);
    }
    return templates(s, err);
}

void convert_special(const convert_source *s) {
    roles(s);
    added_frame(s);
}
