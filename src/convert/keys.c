/* keys.c - a model's parameters as GGUF metadata, with the keys and types that llama.cpp writes and reads. */
#include "convert/model.h"

#include <math.h>
#include <string.h>

typedef struct full_key {
    char s[128];
} full_key;

static full_key key_of(const convert_model *m, const char *key) {
    full_key k;
    snprintf(k.s, sizeof k.s, "%s.%s", m->arch, key);
    return k;
}

/* Failures of set calls are kept by the writer and reported by begin. */
void convert_set_u32(convert_model *m, const char *key, uint64_t v) {
    lode_gguf_set_u32(m->w, key_of(m, key).s, (uint32_t)v);
}

void convert_set_f32(convert_model *m, const char *key, double v) {
    lode_gguf_set_f32(m->w, key_of(m, key).s, (float)v);
}

void convert_set_text(convert_model *m, const char *key, const char *text) {
    lode_gguf_set_str(m->w, key_of(m, key).s, text, strlen(text));
}

/* "135M", "1.7B": two significant digits at least, as GGUF names write sizes. */
static void size_label(uint64_t n, char *buf, size_t cap) {
    static const struct {
        double unit;
        char letter;
    } units[] = { { 1e12, 'T' }, { 1e9, 'B' }, { 1e6, 'M' }, { 1e3, 'K' } };
    int i = 0;
    while (i < 3 && (double)n <= units[i].unit) i++;
    const double v = (double)n / units[i].unit;
    snprintf(buf, cap, "%.*f%c", v < 0.95 ? 2 : v < 9.5 ? 1 : 0, v, units[i].letter);
}

static void base_name(const char *path, char *buf, size_t cap) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    size_t from = n;
    while (from > 0 && path[from - 1] != '/') from--;
    snprintf(buf, cap, "%.*s", (int)(n - from), path + from);
}

/* general.file_type's numbers of the GGUF specification. */
static const struct {
    lode_type type;
    uint32_t number;
} file_types[] = { { LODE_F32, 0 }, { LODE_F16, 1 }, { LODE_Q8_0, 7 }, { LODE_BF16, 32 } };

static void general(convert_model *m) {
    char text[256];
    lode_gguf_set_str(m->w, "general.architecture", m->arch, strlen(m->arch));
    lode_gguf_set_str(m->w, "general.type", "model", 5);
    if (m->desc->name)
        snprintf(text, sizeof text, "%s", m->desc->name);
    else
        base_name(m->desc->in_dir, text, sizeof text);
    lode_gguf_set_str(m->w, "general.name", text, strlen(text));
    size_label(m->n_params, text, sizeof text);
    lode_gguf_set_str(m->w, "general.size_label", text, strlen(text));
    lode_gguf_set_u32(m->w, "general.quantization_version", 2); /* of the block layouts: the current one */
    for (size_t i = 0; i < sizeof file_types / sizeof *file_types; i++)
        if (file_types[i].type == m->desc->type) lode_gguf_set_u32(m->w, "general.file_type", file_types[i].number);
}

/* The window, and which layers have it where that is not what readers assume. */
static void window(convert_model *m) {
    if (m->window == 0) {
        if (m->family & F_PHI3) convert_set_u32(m, "attention.sliding_window", 0); /* tells Phi 4 from Phi 3 */
        return;
    }
    convert_set_u32(m, "attention.sliding_window", m->window);
    const uint64_t period = m->family & F_GEMMA2 ? 2 : m->family & F_GEMMA3 ? 6 : 0;
    bool usual = true;
    for (uint64_t il = 0; il < m->n_layer; il++)
        usual = usual && m->local[il] == (period == 0 || il % period < period - 1);
    if (!usual)
        lode_gguf_set_arr(m->w, key_of(m, "attention.sliding_window_pattern").s, LODE_GGUF_BOOL, m->local, m->n_layer);
}

static lode_status caps_and_scale(convert_model *m, lode_err *err) {
    static const char *const caps[][2] = { { "attn_logit_softcapping", "attn_logit_softcapping" },
                                           { "final_logit_softcapping", "final_logit_softcapping" } };
    double v = 0;
    bool found = false;
    for (int i = m->family & F_GEMMA3 ? 1 : 0; i < 2 && m->family & F_GEMMAS; i++) {
        LODE_TRY(convert_f64(m, caps[i][0], &v, &found, err));
        if (found && v > 0) convert_set_f32(m, caps[i][1], v);
    }
    if (m->family & F_GEMMA3) {
        LODE_TRY(convert_f64(m, "attn_logit_softcapping", &v, &found, err));
        if (found && v > 0)
            return lode_fail(err, LODE_E_UNSUPPORTED, "%s: attn_logit_softcapping is %g, which gemma3 does not have",
                             m->config_path, v);
    }
    if (!(m->family & (F_GEMMA2 | F_GEMMA3))) return LODE_OK;
    LODE_TRY(convert_f64(m, "query_pre_attn_scalar", &v, &found, err));
    /* Readers take the head's size, and for the 27B models the width per head, which is the same number there. */
    if (found && v > 0 && v != (double)m->d_head) convert_set_f32(m, "attention.scale", 1 / sqrt(v));
    return LODE_OK;
}

lode_status convert_keys(convert_model *m, lode_err *err) {
    general(m);
    convert_set_u32(m, "block_count", m->n_layer);
    convert_set_u32(m, "context_length", m->n_ctx);
    convert_set_u32(m, "embedding_length", m->n_embd);
    convert_set_u32(m, "feed_forward_length", m->n_ff);
    convert_set_u32(m, "attention.head_count", m->n_head);
    convert_set_u32(m, "attention.head_count_kv", m->n_head_kv);
    convert_set_f32(m, "attention.layer_norm_rms_epsilon", m->eps);
    const json_t *d = convert_get(m, "head_dim");
    if ((d && !json_is_null(d)) || m->family & F_GEMMAS) {
        convert_set_u32(m, "attention.key_length", m->d_head);
        convert_set_u32(m, "attention.value_length", m->d_head);
    }
    if (m->family & F_ROTARY || !m->has_vocab) convert_set_u32(m, "vocab_size", m->n_vocab);
    window(m);
    return caps_and_scale(m, err);
}
