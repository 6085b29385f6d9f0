/* config.c - config.json: which architecture, how large; checks before anything is written. */
#include "base/mem.h"
#include "base/str.h"
#include "convert/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *hf, *model_type, *arch;
    unsigned family;
} archs[] = {
#define ARCH(hf, model_type, arch, family) { hf, model_type, arch, F_##family },
#include "convert/arch.def"
#undef ARCH
};
enum { N_ARCH = sizeof archs / sizeof *archs };

const char *lode_convert_archs(char *buf, size_t n) {
    size_t at = 0;
    if (n > 0) buf[0] = 0;
    for (int i = 0; i < N_ARCH && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%s", i ? ", " : "", archs[i].hf);
    return buf;
}

/* What transformers takes for keys that a configuration leaves out; older files rely on it. */
static const struct {
    unsigned families;
    const char *key;
    double value;
} defaults[] = {
    { F_GEMMA3, "vocab_size", 262208 },
    { F_GEMMA3, "max_position_embeddings", 131072 },
    { F_GEMMA2 | F_GEMMA3, "num_attention_heads", 8 },
    { F_GEMMA2 | F_GEMMA3, "num_key_value_heads", 4 },
    { F_GEMMAS, "head_dim", 256 },
    { F_GEMMAS, "rms_norm_eps", 1e-6 },
    { F_GEMMA2 | F_GEMMA3, "sliding_window", 4096 },
    { F_GEMMA2 | F_GEMMA3, "query_pre_attn_scalar", 256 },
    { F_GEMMA2, "attn_logit_softcapping", 50 },
    { F_GEMMA2, "final_logit_softcapping", 30 },
};

const json_t *convert_get(const convert_model *m, const char *key) {
    const json_t *v = json_object_get(m->text, key);
    return v ? v : json_object_get(m->root, key);
}

static bool default_of(const convert_model *m, const char *key, double *v) {
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (defaults[i].families & m->family && !strcmp(defaults[i].key, key)) {
            *v = defaults[i].value;
            return true;
        }
    return false;
}

/* The object that holds the key; a key that is null counts as given (sliding_window: null turns it off). */
static const json_t *holder(const convert_model *m, const char *key) {
    return json_object_get(m->text, key) ? m->text : m->root;
}

lode_status convert_u64(const convert_model *m, const char *key, uint64_t lo, uint64_t hi, uint64_t *out, bool *found,
                        lode_err *err) {
    double def = 0;
    if (!convert_get(m, key) && default_of(m, key, &def)) {
        *out = (uint64_t)def;
        if (found) *found = true;
        return LODE_OK;
    }
    return convert_json_u64(holder(m, key), key, lo, hi, out, found, m->config_path, err);
}

lode_status convert_f64(const convert_model *m, const char *key, double *out, bool *found, lode_err *err) {
    if (!convert_get(m, key) && default_of(m, key, out)) {
        if (found) *found = true;
        return LODE_OK;
    }
    return convert_json_f64(holder(m, key), key, out, found, m->config_path, err);
}

static lode_status find_arch(convert_model *m, lode_err *err) {
    const json_t *list = json_object_get(m->root, "architectures");
    const char *name = json_string_value(json_array_get(list, 0));
    const char *type = convert_json_text(m->root, "model_type", NULL);
    if (json_array_size(list) > 1)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: names %zu architectures, expected one", m->config_path,
                         json_array_size(list));
    for (int i = 0; i < N_ARCH; i++) {
        const bool hit = name ? !strcmp(archs[i].hf, name) : type && !strcmp(archs[i].model_type, type);
        if (!hit) continue;
        m->arch = archs[i].arch;
        m->family = archs[i].family;
        return LODE_OK;
    }
    char known[400];
    return lode_fail(err, LODE_E_UNSUPPORTED, "%s: architecture '%.60s' cannot be converted; these can: %s",
                     m->config_path,
                     name   ? name
                     : type ? type
                            : "(none)",
                     lode_convert_archs(known, sizeof known));
}

/* Activation functions are part of an architecture here. */
static lode_status check_act(const convert_model *m, lode_err *err) {
    const json_t *a = convert_get(m, "hidden_activation");
    if (!json_is_string(a)) a = convert_get(m, "hidden_act");
    const char *act = json_string_value(a);
    if (a && !act && !json_is_null(a))
        return lode_fail(err, LODE_E_FORMAT, "%s: hidden_act is not a name", m->config_path);
    const bool gelu = m->family & F_GEMMAS;
    if (!act || (gelu ? !strncmp(act, "gelu", 4) : !strcmp(act, "silu"))) return LODE_OK;
    return lode_fail(err, LODE_E_UNSUPPORTED, "%s: hidden_act is '%.40s', expected %s for %s", m->config_path, act,
                     gelu ? "gelu_pytorch_tanh" : "silu", m->arch);
}

static lode_status sizes(convert_model *m, lode_err *err) {
    bool has_kv = false, has_head = false;
    LODE_TRY(convert_u64(m, "num_hidden_layers", 1, CONVERT_MAX_LAYER, &m->n_layer, NULL, err));
    LODE_TRY(convert_u64(m, "hidden_size", 1, 1 << 20, &m->n_embd, NULL, err));
    LODE_TRY(convert_u64(m, "intermediate_size", 1, 1 << 24, &m->n_ff, NULL, err));
    LODE_TRY(convert_u64(m, "num_attention_heads", 1, 1 << 16, &m->n_head, NULL, err));
    LODE_TRY(convert_u64(m, "num_key_value_heads", 1, 1 << 16, &m->n_head_kv, &has_kv, err));
    LODE_TRY(convert_u64(m, "head_dim", 1, 1 << 16, &m->d_head, &has_head, err));
    LODE_TRY(convert_u64(m, "vocab_size", 1, 1 << 28, &m->n_vocab, NULL, err));
    LODE_TRY(convert_u64(m, "max_position_embeddings", 1, 1 << 30, &m->n_ctx, NULL, err));
    LODE_TRY(convert_f64(m, "rms_norm_eps", &m->eps, NULL, err));
    if (!(m->eps >= 0 && m->eps < 1))
        return lode_fail(err, LODE_E_FORMAT, "%s: rms_norm_eps is %g, expected 0 to less than 1", m->config_path,
                         m->eps);
    if (!has_kv) m->n_head_kv = m->n_head;
    if (!has_head) m->d_head = m->n_embd / m->n_head;
    if (!has_head && m->n_embd % m->n_head != 0)
        return lode_fail(err, LODE_E_FORMAT, "%s: hidden_size %llu is no multiple of num_attention_heads %llu",
                         m->config_path, (unsigned long long)m->n_embd, (unsigned long long)m->n_head);
    if (m->n_head % m->n_head_kv != 0)
        return lode_fail(err, LODE_E_FORMAT, "%s: num_attention_heads %llu is no multiple of num_key_value_heads %llu",
                         m->config_path, (unsigned long long)m->n_head, (unsigned long long)m->n_head_kv);
    if (m->family & F_ROTARY && m->d_head % 2 != 0)
        return lode_fail(err, LODE_E_FORMAT, "%s: head_dim is %llu, expected an even number", m->config_path,
                         (unsigned long long)m->d_head);
    /* Gemma never has output weights of its own; the others do unless they say so. */
    m->tied = m->family & F_GEMMAS || json_is_true(convert_get(m, "tie_word_embeddings"));
    return LODE_OK;
}

static bool local_by_default(uint64_t il, uint64_t period) { return period == 0 || il % period < period - 1; }

/* Which layers attend within a window: layer_types, or the family's rule. */
static lode_status windows(convert_model *m, lode_err *err) {
    bool found = false;
    LODE_TRY(convert_u64(m, "sliding_window", 0, 1 << 30, &m->window, &found, err));
    const json_t *use = convert_get(m, "use_sliding_window"), *types = convert_get(m, "layer_types");
    const bool off = m->family & (F_QWEN2 | F_QWEN3 | F_SMOLLM3) ? !json_is_true(use) : json_is_false(use);
    if (!found || off || m->family & F_GEMMA) m->window = 0;
    uint64_t period = m->family & F_GEMMA2 ? 2 : m->family & F_GEMMA3 ? 6 : 0, full = 0;
    LODE_TRY(convert_u64(m, "sliding_window_pattern", 1, CONVERT_MAX_LAYER, &period, &found, err));
    if (m->family & (F_QWEN2 | F_QWEN3)) LODE_TRY(convert_u64(m, "max_window_layers", 0, 1 << 20, &full, &found, err));
    if (json_is_array(types) && json_array_size(types) != m->n_layer)
        return lode_fail(err, LODE_E_FORMAT, "%s: layer_types has %zu entries for %llu layers", m->config_path,
                         json_array_size(types), (unsigned long long)m->n_layer);
    bool any = false;
    for (uint64_t il = 0; il < m->n_layer; il++) {
        const char *t = json_string_value(json_array_get(types, il));
        if (t && strcmp(t, "sliding_attention") != 0 && strcmp(t, "full_attention") != 0)
            return lode_fail(err, LODE_E_UNSUPPORTED,
                             "%s: layer_types has '%.40s', expected full_attention or "
                             "sliding_attention",
                             m->config_path, t);
        m->local[il] = t ? !strcmp(t, "sliding_attention") : il >= full && local_by_default(il, period);
        any = any || m->local[il];
    }
    if (!any) m->window = 0;
    return LODE_OK;
}

/* SmolLM 3: GGUF files say nothing about layers without positions, readers take every fourth. */
static lode_status check_no_rope(const convert_model *m, lode_err *err) {
    const json_t *list = convert_get(m, "no_rope_layers");
    for (size_t il = 0; il < json_array_size(list); il++)
        if ((json_number_value(json_array_get(list, il)) != 0) != ((il + 1) % 4 != 0))
            return lode_fail(err, LODE_E_UNSUPPORTED, "%s: no_rope_layers is not every fourth layer", m->config_path);
    uint64_t every = 4;
    bool found = false;
    LODE_TRY(convert_u64(m, "no_rope_layer_interval", 1, 1 << 20, &every, &found, err));
    if (every != 4)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: no_rope_layer_interval is %llu, only 4 is supported",
                         m->config_path, (unsigned long long)every);
    return LODE_OK;
}

lode_status convert_config(convert_model *m, lode_err *err) {
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/config.json", m->desc->in_dir);
    if (path.failed) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    m->config_path = path.p;
    LODE_TRY(convert_json_read(m->config_path, CONVERT_JSON_MAX, &m->root, err));
    const json_t *text = json_object_get(m->root, "text_config");
    m->text = json_is_object(text) ? text : m->root;
    LODE_TRY(find_arch(m, err));
    LODE_TRY(check_act(m, err));
    LODE_TRY(sizes(m, err));
    if (m->family & F_SMOLLM3) LODE_TRY(check_no_rope(m, err));
    return windows(m, err);
}
