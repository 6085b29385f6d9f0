/* rope.c - positions: base, scaling, and the factors that stand in tensors of their own. */
#include "base/mem.h"
#include "convert/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of the rope parameters, or of the configuration itself, where older files keep some. */
static lode_status number(const convert_model *m, const char *key, double *v, bool *found, lode_err *err) {
    *found = false;
    if (m->rope) LODE_TRY(convert_json_f64(m->rope, key, v, found, m->config_path, err));
    return *found ? LODE_OK : convert_f64(m, key, v, found, err);
}

static lode_status needed(const convert_model *m, const char *key, double *v, lode_err *err) {
    bool found = false;
    LODE_TRY(number(m, key, v, &found, err));
    if (found && isfinite(*v) && *v > 0) return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "%s: rope scaling needs %s, a positive number", m->config_path, key);
}

static lode_status positive(const convert_model *m, const char *key, double def, double *v, lode_err *err) {
    bool found = false;
    *v = def;
    LODE_TRY(number(m, key, v, &found, err));
    if (isfinite(*v) && *v > 0) return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "%s: %s is %g, expected a positive number", m->config_path, key, *v);
}

/* The frequencies of Llama 3 as divisors: 1 for short waves, the factor for long ones, a ramp between (its release). */
static lode_status llama3(convert_model *m, convert_factors *f, lode_err *err) {
    double base, factor, low, high, old;
    LODE_TRY(positive(m, "rope_theta", 10000, &base, err));
    LODE_TRY(positive(m, "factor", 8, &factor, err));
    LODE_TRY(positive(m, "low_freq_factor", 1, &low, err));
    LODE_TRY(positive(m, "high_freq_factor", 4, &high, err));
    LODE_TRY(positive(m, "original_max_position_embeddings", 8192, &old, err));
    if (!(high > low))
        return lode_fail(err, LODE_E_FORMAT, "%s: high_freq_factor %g is not above low_freq_factor %g", m->config_path,
                         high, low);
    const uint64_t n = m->n_rot / 2;
    f->name[0] = "rope_freqs.weight";
    f->v[0] = lode_calloc(n, sizeof(float));
    if (!f->v[0]) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        const double wave = 2 * 3.14159265358979323846 * pow(base, 2.0 * (double)i / (double)m->n_rot);
        const double smooth = (old / wave - low) / (high - low);
        f->v[0][i] = wave < old / high  ? 1
                     : wave > old / low ? (float)factor
                                        : (float)(1 / ((1 - smooth) / factor + smooth));
    }
    return LODE_OK;
}

static lode_status take_list(convert_model *m, const char *key, float **out, lode_err *err) {
    const json_t *list = json_object_get(m->rope, key);
    const uint64_t n = m->n_rot / 2;
    if (!json_is_array(list) || json_array_size(list) != n)
        return lode_fail(err, LODE_E_FORMAT, "%s: rope scaling needs %s, a list of %llu numbers, got %zu",
                         m->config_path, key, (unsigned long long)n, json_array_size(list));
    *out = lode_calloc(n, sizeof(float));
    if (!*out) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        const double v = json_number_value(json_array_get(list, i));
        if (!isfinite(v) || v <= 0)
            return lode_fail(err, LODE_E_FORMAT, "%s: %s[%zu] is %g, expected a positive number", m->config_path, key,
                             i, v);
        (*out)[i] = (float)v;
    }
    return LODE_OK;
}

/* Phi 3: two lists of divisors, for contexts up to the original length and beyond, and one magnitude. */
static lode_status longrope(convert_model *m, convert_factors *f, lode_err *err) {
    double old = 0, attn = 0;
    bool found = false;
    LODE_TRY(needed(m, "original_max_position_embeddings", &old, err));
    f->name[0] = "rope_factors_long.weight";
    f->name[1] = "rope_factors_short.weight";
    LODE_TRY(take_list(m, "long_factor", &f->v[0], err));
    LODE_TRY(take_list(m, "short_factor", &f->v[1], err));
    LODE_TRY(number(m, "attention_factor", &attn, &found, err));
    const double scale = (double)m->n_ctx / old;
    if (!found) attn = scale > 1 ? sqrt(1 + log(scale) / log(old)) : 1;
    if (!(m->family & F_PHI3)) convert_set_text(m, "rope.scaling.type", "longrope");
    convert_set_f32(m, "rope.scaling.attn_factor", attn);
    return LODE_OK;
}

static lode_status linear(convert_model *m, convert_factors *f, lode_err *err) {
    (void)f;
    double factor = 0;
    LODE_TRY(needed(m, "factor", &factor, err));
    convert_set_text(m, "rope.scaling.type", "linear");
    convert_set_f32(m, "rope.scaling.factor", factor);
    return LODE_OK;
}

static lode_status yarn(convert_model *m, convert_factors *f, lode_err *err) {
    (void)f;
    static const char *const rows[][2] = {
        { "extrapolation_factor", "rope.scaling.yarn_ext_factor" },
        { "attention_factor", "rope.scaling.yarn_attn_factor" },
        { "beta_fast", "rope.scaling.yarn_beta_fast" },
        { "beta_slow", "rope.scaling.yarn_beta_slow" },
    };
    double factor = 0, old = (double)m->n_ctx, v = 0;
    bool found = false, attn = false, both = false;
    double part = 0, all = 0;
    LODE_TRY(needed(m, "factor", &factor, err));
    LODE_TRY(positive(m, "original_max_position_embeddings", old, &old, err));
    convert_set_text(m, "rope.scaling.type", "yarn");
    convert_set_f32(m, "rope.scaling.factor", factor);
    convert_set_u32(m, "rope.scaling.original_context_length", (uint64_t)old);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        LODE_TRY(convert_json_f64(m->rope, rows[i][0], &v, &found, m->config_path, err));
        if (!found) continue;
        attn = attn || i == 1;
        convert_set_f32(m, rows[i][1], v);
    }
    LODE_TRY(convert_json_f64(m->rope, "mscale", &part, &found, m->config_path, err));
    LODE_TRY(convert_json_f64(m->rope, "mscale_all_dim", &all, &both, m->config_path, err));
    /* As transformers computes it where no factor is given; a multiplier of its own says the same for mscale 1. */
    if (!attn && found && both && part != 0 && all != 0 && factor > 1 && !(m->family & F_MISTRAL3 && part == 1))
        convert_set_f32(m, "rope.scaling.yarn_attn_factor",
                        (0.1 * part * log(factor) + 1) / (0.1 * all * log(factor) + 1));
    if (!(m->family & F_MISTRAL3)) return LODE_OK;
    if (both) convert_set_f32(m, "rope.scaling.yarn_log_multiplier", all);
    LODE_TRY(convert_json_f64(m->rope, "llama_4_scaling_beta", &v, &found, m->config_path, err));
    if (found) convert_set_f32(m, "attention.temperature_scale", v);
    return LODE_OK;
}

static lode_status none(convert_model *m, convert_factors *f, lode_err *err) {
    (void)m, (void)f, (void)err;
    return LODE_OK;
}

static const struct {
    const char *type;
    lode_status (*write)(convert_model *m, convert_factors *f, lode_err *err);
} kinds[] = {
    { "default", none },  { "dynamic", none }, /* acts only beyond the trained context */
    { "linear", linear }, { "yarn", yarn },    { "llama3", llama3 }, { "longrope", longrope }, { "su", longrope },
};

/* Gemma 3 keeps one set of parameters per kind of layer. */
static lode_status local_base(convert_model *m, const json_t *all, lode_err *err) {
    const json_t *local = json_object_get(all, "sliding_attention");
    double v = 0;
    bool found = false;
    if (json_is_object(local)) LODE_TRY(convert_json_f64(local, "rope_theta", &v, &found, m->config_path, err));
    if (!found) LODE_TRY(convert_f64(m, "rope_local_base_freq", &v, &found, err));
    if (found && m->window > 0) convert_set_f32(m, "rope.freq_base_swa", v);
    return LODE_OK;
}

lode_status convert_rope(convert_model *m, convert_factors *f, lode_err *err) {
    const json_t *all = convert_get(m, "rope_parameters");
    if (!json_is_object(all)) all = convert_get(m, "rope_scaling");
    const json_t *global = json_object_get(all, "full_attention");
    m->rope = json_is_object(global) ? global : json_is_object(all) ? all : NULL;
    double base = 0, part = 1, old = 0;
    bool found = false;
    LODE_TRY(number(m, "partial_rotary_factor", &part, &found, err));
    if (!found) part = 1;
    if (!(part > 0 && part <= 1) || (part < 1 && !(m->family & F_PHI3)))
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: partial_rotary_factor is %g, expected 1", m->config_path, part);
    m->n_rot = (uint64_t)((double)m->d_head * part);
    if (m->family & (F_ROTARY | F_PHI3)) convert_set_u32(m, "rope.dimension_count", m->n_rot);
    LODE_TRY(number(m, "rope_theta", &base, &found, err));
    if (!found && m->family & F_GEMMA3) {
        base = 1000000;
        found = true;
    }
    if (found && !(base > 1 && base < 1e30))
        return lode_fail(err, LODE_E_FORMAT, "%s: rope_theta is %g, expected a number between 1 and 1e30",
                         m->config_path, base);
    if (found) convert_set_f32(m, "rope.freq_base", base);
    if (m->family & F_PHI3) {
        LODE_TRY(number(m, "original_max_position_embeddings", &old, &found, err));
        if (found && old >= 1 && old < 1e9) convert_set_u32(m, "rope.scaling.original_context_length", (uint64_t)old);
    }
    LODE_TRY(local_base(m, all, err));
    const char *type = m->rope ? convert_json_text(m->rope, "rope_type", NULL) : NULL;
    if (m->rope && !type) type = convert_json_text(m->rope, "type", NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].type, type ? type : "default")) return kinds[i].write(m, f, err);
    return lode_fail(err, LODE_E_UNSUPPORTED,
                     "%s: rope_type '%.40s' is not supported, expected default, linear, yarn, llama3 or longrope",
                     m->config_path, type);
}

void convert_factors_free(convert_factors *f) {
    for (int i = 0; i < 2; i++) free(f->v[i]);
    memset(f, 0, sizeof *f);
}
