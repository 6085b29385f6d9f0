/* names.c - pairs a checkpoint's tensors with their names in GGUF and checks their shapes. The table is tensors.def. */
#include "base/mem.h"
#include "convert/model.h"

#include <string.h>

typedef enum { AS_IS = CONVERT_AS_IS, Q = CONVERT_Q, K = CONVERT_K, PLUS1 = CONVERT_PLUS1 } change;

typedef struct row {
    const char *hf, *gguf;
    unsigned families;
    const char *shape;
    change change;
    bool needed, layer;
} row;

static const row rows[] = {
#define TENSOR(hf, gguf, families, shape, change, needed) { hf, gguf, families, shape, change, needed, false },
#define LAYER(hf, gguf, families, shape, change, needed) { hf, gguf, families, shape, change, needed, true },
#include "convert/tensors.def"
#undef TENSOR
#undef LAYER
};
enum { N_ROW = sizeof rows / sizeof *rows };

static const row output = { "lm_head.weight", "output.weight", ~0u, "ve", AS_IS, true, false };

/* Where a checkpoint keeps the language model, and its output weights. */
static const struct {
    const char *model, *head;
} prefixes[] = {
    { "model.", "" }, { "language_model.model.", "language_model." }, { "model.language_model.", "" }, { "", "" }
};

/* Left out without a word: derived values that old checkpoints carry. And with a word: parts for images. */
static const char *const derived[] = { "rotary_emb.inv_freq", ".attention.masked_bias", ".attn.masked_bias" };
static const char *const vision[] = { "vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                      "model.multi_modal_projector." };

static uint64_t size_of(const convert_model *m, char letter) {
    const uint64_t q = m->n_head * m->d_head, k = m->n_head_kv * m->d_head;
    const struct {
        char letter;
        uint64_t n;
    } sizes[] = { { 'e', m->n_embd }, { 'v', m->n_vocab }, { 'f', m->n_ff },   { 'g', 2 * m->n_ff },
                  { 'q', q },         { 'k', k },          { 'a', q + 2 * k }, { 'h', m->d_head } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].letter == letter) return sizes[i].n;
    return 0;
}

static lode_status check_shape(const convert_model *m, const row *r, const st_tensor *t, lode_err *err) {
    const int n = (int)strlen(r->shape);
    bool same = t->n_dims == n;
    for (int i = 0; i < n && same; i++) same = (uint64_t)t->shape[i] == size_of(m, r->shape[i]);
    const char *file = st_file(m->weights, t->file);
    if (!same)
        return lode_fail(
            err, LODE_E_SHAPE, "%s: tensor '%.100s' is [%lld, %lld] in %d dimensions, config.json says [%llu%s%llu]",
            file, t->name, t->n_dims > 0 ? (long long)t->shape[0] : 0, t->n_dims > 1 ? (long long)t->shape[1] : 1,
            t->n_dims, (unsigned long long)size_of(m, r->shape[0]), n > 1 ? ", " : "] = [",
            (unsigned long long)size_of(m, r->shape[n - 1]));
    if (!st_is_float(t))
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: tensor '%.100s' has dtype %s, expected F64, F32, F16 or BF16",
                         file, t->name, t->dtype);
    return LODE_OK;
}

/* Vectors and norms stay in F32; rows that do not fill Q8_0's blocks become F16. */
static lode_type type_of(const convert_model *m, const convert_tensor *t) {
    const size_t n = strlen(t->name);
    if (t->n_dims < 2 || (n > 12 && !strcmp(t->name + n - 12, "_norm.weight"))) return LODE_F32;
    return t->ne[0] % lode_type_block(m->desc->type) == 0 ? m->desc->type : LODE_F16;
}

static lode_status push(convert_plan *plan, const convert_tensor *t, lode_err *err) {
    return LODE_PUSH(plan, *t) ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "out of memory");
}

static lode_status add(convert_model *m, const row *r, const char *hf, const char *gguf, convert_plan *plan,
                       lode_err *err) {
    st_tensor *from = st_find(m->weights, hf);
    if (!from && !r->needed) return LODE_OK;
    if (!from)
        return lode_fail(err, LODE_E_FORMAT, "%s: tensor '%s' is missing, which %s needs", m->desc->in_dir, hf,
                         m->arch);
    LODE_TRY(check_shape(m, r, from, err));
    from->used = true;
    convert_tensor t = { .from = from, .change = (convert_change)r->change, .n_dims = from->n_dims };
    snprintf(t.name, sizeof t.name, "%s", gguf);
    uint64_t n = 1;
    for (int i = 0; i < LODE_MAX_DIMS; i++) {
        t.ne[i] = i < t.n_dims ? from->shape[t.n_dims - 1 - i] : 1;
        n *= (uint64_t)t.ne[i];
    }
    m->n_params += n;
    t.type = type_of(m, &t);
    return push(plan, &t, err);
}

/* Layers stand between the rows before and behind them, as in the table. */
static lode_status add_rows(convert_model *m, const char *prefix, convert_plan *plan, lode_err *err) {
    char hf[160], gguf[80];
    for (int i = 0; i < N_ROW; i++) {
        if (rows[i].layer) continue;
        if (i > 0 && rows[i - 1].layer)
            for (uint64_t il = 0; il < m->n_layer; il++)
                for (int k = 0; k < N_ROW; k++) {
                    if (!rows[k].layer || !(rows[k].families & m->family)) continue;
                    snprintf(hf, sizeof hf, "%slayers.%d.%s", prefix, (int)il, rows[k].hf);
                    snprintf(gguf, sizeof gguf, "blk.%d.%s", (int)il, rows[k].gguf);
                    LODE_TRY(add(m, &rows[k], hf, gguf, plan, err));
                }
        if (!(rows[i].families & m->family)) continue;
        snprintf(hf, sizeof hf, "%s%s", prefix, rows[i].hf);
        LODE_TRY(add(m, &rows[i], hf, rows[i].gguf, plan, err));
    }
    return LODE_OK;
}

static bool is_derived(const char *name) {
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        if (strstr(name, derived[i])) return true;
    return false;
}

static bool is_vision(const char *name) {
    for (size_t i = 0; i < sizeof vision / sizeof *vision; i++)
        if (!strncmp(name, vision[i], strlen(vision[i]))) return true;
    return false;
}

static lode_status check_rest(convert_model *m, const char *head, lode_err *err) {
    size_t images = 0;
    for (size_t i = 0; i < st_count(m->weights); i++) {
        const st_tensor *t = st_at(m->weights, i);
        if (t->used || is_derived(t->name)) continue;
        if (m->tied && !strcmp(t->name, head)) continue; /* a copy of the embedding */
        if (!is_vision(t->name))
            return lode_fail(err, LODE_E_UNSUPPORTED, "%s: tensor '%.100s' is not known in %s",
                             st_file(m->weights, t->file), t->name, m->arch);
        images++;
    }
    if (images > 0)
        lode_log_line(&m->desc->log, LODE_LOG_WARN, "convert", "%zu tensors for images are left out", images);
    return LODE_OK;
}

lode_status convert_names(convert_model *m, const convert_factors *f, convert_plan *plan, lode_err *err) {
    char name[80];
    size_t p = 0;
    const size_t n = sizeof prefixes / sizeof *prefixes;
    for (; p < n; p++) {
        snprintf(name, sizeof name, "%s%s", prefixes[p].model, rows[0].hf);
        if (st_find(m->weights, name)) break;
    }
    if (p == n) return lode_fail(err, LODE_E_FORMAT, "%s: tensor 'model.%s' is missing", m->desc->in_dir, rows[0].hf);
    for (int i = 0; i < 2 && f->name[i]; i++) {
        convert_tensor t = {
            .factors = f->v[i], .type = LODE_F32, .n_dims = 1, .ne = { (int64_t)m->n_rot / 2, 1, 1, 1 }
        };
        snprintf(t.name, sizeof t.name, "%s", f->name[i]);
        LODE_TRY(push(plan, &t, err));
    }
    LODE_TRY(add_rows(m, prefixes[p].model, plan, err));
    snprintf(name, sizeof name, "%s%s", prefixes[p].head, output.hf);
    if (!m->tied) LODE_TRY(add(m, &output, name, output.gguf, plan, err));
    return check_rest(m, name, err);
}
