/* hparams.c - reads and checks a model's numbers, and makes rope settings of them. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Optional whole number or array of equal ones (per-layer keys of models whose layers are all alike). */
static lode_status read_u32(const lode_gguf *g, const char *key, uint32_t *out, bool *found, lode_err *err) {
    const lode_gguf_kv *kv = lode_gguf_find(g, key);
    if (!kv || kv->kind != LODE_GGUF_ARRAY) return lode_gguf_get_u32(g, key, out, found, err);
    int64_t first = 0, v = 0;
    for (uint64_t i = 0; i < kv->n; i++) {
        if (!lode_gguf_arr_i64(kv, i, &v) || v < 0 || v > UINT32_MAX)
            return lode_fail(err, LODE_E_FORMAT, "%s: element %llu is not a whole number", key, (unsigned long long)i);
        if (i == 0) first = v;
        if (v != first)
            return lode_fail(err, LODE_E_UNSUPPORTED, "%s: layers differ (%lld and %lld), expected one value for all",
                             key, (long long)first, (long long)v);
    }
    if (kv->n == 0) return lode_fail(err, LODE_E_FORMAT, "%s: an empty array, expected a number", key);
    *out = (uint32_t)first;
    *found = true;
    return LODE_OK;
}

static lode_status read_f32(const lode_gguf *g, const char *key, float *out, bool *found, lode_err *err) {
    LODE_TRY(lode_gguf_get_f32(g, key, out, found, err));
    if (*found && !isfinite(*out))
        return lode_fail(err, LODE_E_FORMAT, "%s: %g is not a finite number", key, (double)*out);
    return LODE_OK;
}

static lode_status read_all(lode_hparams *hp, const lode_gguf *g, const char *arch, lode_err *err) {
    char key[128];
#define HPARAM(field, kind, name, needed)                                                           \
    {                                                                                               \
        bool found = false;                                                                         \
        snprintf(key, sizeof key, "%s.%s", arch, name);                                             \
        LODE_TRY(read_##kind(g, key, &hp->field, &found, err));                                     \
        if ((needed) && !found)                                                                     \
            return lode_fail(err, LODE_E_FORMAT, "key %s is missing: the file is incomplete", key); \
    }
#include "model/hparam.def"
#undef HPARAM
    return LODE_OK;
}

/* Upper bounds that no real model reaches; they keep products of sizes far from overflow. */
static lode_status check(const lode_hparams *hp, const char *arch, lode_err *err) {
    const struct {
        const char *name;
        uint32_t value, most;
    } rows[] = {
        { "block_count", hp->n_layer, LODE_MAX_LAYERS },        { "embedding_length", hp->n_embd, 1u << 20 },
        { "feed_forward_length", hp->n_ff, 1u << 24 },          { "attention.head_count", hp->n_head, 1u << 14 },
        { "attention.head_count_kv", hp->n_head_kv, 1u << 14 }, { "context_length", hp->n_ctx_train, 1u << 30 },
        { "attention.key_length", hp->d_head, 1u << 14 },       { "rope.dimension_count", hp->n_rot, hp->d_head },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < 1 || rows[i].value > rows[i].most)
            return lode_fail(err, LODE_E_FORMAT, "%s.%s is %u, expected 1..%u", arch, rows[i].name, rows[i].value,
                             rows[i].most);
    if (hp->n_head % hp->n_head_kv != 0)
        return lode_fail(err, LODE_E_FORMAT, "%s.attention.head_count is %u, expected a multiple of head_count_kv (%u)",
                         arch, hp->n_head, hp->n_head_kv);
    if (hp->d_value != hp->d_head)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s.attention.value_length is %u, only key_length's %u is supported",
                         arch, hp->d_value, hp->d_head);
    if (hp->n_rot % 2 != 0)
        return lode_fail(err, LODE_E_FORMAT, "%s.rope.dimension_count is %u, expected an even number", arch, hp->n_rot);
    if (hp->n_expert > 0)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s.expert_count is %u: mixtures of experts are not supported yet",
                         arch, hp->n_expert);
    if (!(hp->eps >= 0 && hp->eps < 1) || !(hp->rope_base > 1) || hp->rope_factor < 0 || hp->rope_linear < 0)
        return lode_fail(err, LODE_E_FORMAT, "%s: epsilon %g or rope base %g or scaling %g is not usable", arch,
                         (double)hp->eps, (double)hp->rope_base, (double)hp->rope_factor);
    if (hp->yarn_attn < 0 || hp->yarn_beta_fast < 0 || hp->yarn_beta_slow < 0 || hp->yarn_log_mul < 0)
        return lode_fail(err, LODE_E_FORMAT, "%s.rope.scaling: a YaRN number is below 0, expected at least 0", arch);
    return LODE_OK;
}

/* Magnitude that YaRN gives to long contexts (paper, section 3.4, and DeepSeek's generalisation with a multiplier). */
static double magnitude(double factor, double multiplier) {
    return factor <= 1 ? 1.0 : 0.1 * multiplier * log(factor) + 1.0;
}

/* What YaRN multiplies cos and sin by, for a context that grew `f` times: as the file says, or by the rule. */
static double yarn_magnitude(const lode_hparams *hp, double f) {
    if (hp->yarn_attn != 0) return (double)hp->yarn_attn;
    return magnitude(f, 1.0) / (hp->yarn_log_mul != 0 ? magnitude(f, (double)hp->yarn_log_mul) : 1.0);
}

static lode_status scaling(lode_hparams *hp, const lode_gguf *g, const char *arch, lode_err *err) {
    char key[128];
    lode_slice type = { "linear", 6 };
    bool found = false;
    snprintf(key, sizeof key, "%s.rope.scaling.type", arch);
    LODE_TRY(lode_gguf_get_str(g, key, &type, &found, err));
    const float factor = hp->rope_factor != 0 ? hp->rope_factor : hp->rope_linear;
    lode_rope_desc *r = &hp->rope;
    const struct {
        const char *name;
        int yarn, longrope, none;
    } kinds[] = { { "none", 0, 0, 1 }, { "linear", 0, 0, 0 }, { "yarn", 1, 0, 0 }, { "longrope", 0, 1, 0 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) != type.n || memcmp(kinds[i].name, type.p, type.n) != 0) continue;
        r->scale = factor != 0 && !kinds[i].none && !kinds[i].longrope ? 1.0f / factor : 1.0f;
        r->ext_factor = kinds[i].yarn ? (hp->yarn_ext >= 0 ? hp->yarn_ext : 1.0f) : 0.0f;
        hp->longrope = kinds[i].longrope;
        double attn = hp->rope_attn != 0 ? (double)hp->rope_attn : 1.0;
        if (kinds[i].yarn) attn *= yarn_magnitude(hp, 1.0 / (double)r->scale);
        if (r->ext_factor != 0) attn /= 1.0 - 0.1 * log((double)r->scale); /* the op multiplies by this */
        r->attn_factor = (float)attn;
        return LODE_OK;
    }
    return lode_fail(err, LODE_E_UNSUPPORTED, "%s is '%.*s', expected none, linear, yarn or longrope", key, (int)type.n,
                     type.p);
}

/* Which layers have a window: given per layer, or as a period, or by the architecture's default. */
static lode_status windows(lode_hparams *hp, const lode_gguf *g, const char *arch, lode_err *err) {
    char key[128];
    snprintf(key, sizeof key, "%s.attention.sliding_window_pattern", arch);
    const lode_gguf_kv *kv = lode_gguf_find(g, key);
    if (kv && kv->kind != LODE_GGUF_ARRAY) LODE_TRY(lode_gguf_get_u32(g, key, &hp->window_period, NULL, err));
    for (uint32_t il = 0; il < hp->n_layer && hp->window > 0; il++) {
        int64_t v = 0;
        if (kv && kv->kind == LODE_GGUF_ARRAY) {
            if (!lode_gguf_arr_i64(kv, il, &v))
                return lode_fail(err, LODE_E_FORMAT, "%s: has no element for layer %u", key, il);
            hp->local_window[il] = v != 0;
        } else {
            hp->local_window[il] = hp->window_period == 0 || il % hp->window_period < hp->window_period - 1;
        }
    }
    return LODE_OK;
}

lode_status lode_hparams_read(lode_hparams *hp, const lode_gguf *g, const lode_arch *arch, lode_err *err) {
    hp->yarn_ext = -1; /* not given; 0 switches the mixing off */
    LODE_TRY(read_all(hp, g, arch->name, err));
    if (hp->n_head_kv == 0) hp->n_head_kv = hp->n_head;
    if (hp->d_head == 0 && hp->n_head > 0) hp->d_head = hp->n_embd / hp->n_head;
    if (hp->d_value == 0) hp->d_value = hp->d_head;
    if (hp->n_rot == 0) hp->n_rot = hp->d_head;
    if (hp->rope_base == 0) hp->rope_base = 10000.0f;
    if (hp->n_ctx_orig == 0) hp->n_ctx_orig = hp->n_ctx_train;
    if (hp->yarn_beta_fast == 0) hp->yarn_beta_fast = 32.0f;
    if (hp->yarn_beta_slow == 0) hp->yarn_beta_slow = 1.0f;
    LODE_TRY(check(hp, arch->name, err));
    hp->rope = (lode_rope_desc){ .n_rot = (int32_t)hp->n_rot,
                                 .base = hp->rope_base,
                                 .beta_fast = hp->yarn_beta_fast,
                                 .beta_slow = hp->yarn_beta_slow,
                                 .n_ctx_orig = (int32_t)hp->n_ctx_orig };
    LODE_TRY(scaling(hp, g, arch->name, err));
    hp->rope_local = hp->rope;
    if (!arch->attn_softcap) hp->attn_softcap = 0;
    if (!arch->final_softcap) hp->final_softcap = 0;
    if (arch->prepare) LODE_TRY(arch->prepare(hp, err));
    if (hp->attn_scale == 0) hp->attn_scale = 1.0f / sqrtf((float)hp->d_head);
    return windows(hp, g, arch->name, err);
}
