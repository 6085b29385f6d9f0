/* load.c - opens a model: metadata, tensors by the architecture's table, weights in place.
 *
 * Weights are used from the file's mapping where the device can read it there and the tensor lies at an address fit for
 * its type; the others are copied once. */
#include "base/file.h"
#include "base/need.h"
#include "base/str.h"
#include "model/model.h"
#include "model/vocab.h"

#include "lode/quant.h"
#include "lode/tok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCH(name) extern const lode_arch lode_arch_##name;
#include "model/arch.def"
#undef ARCH

static const lode_arch *const archs[] = {
#define ARCH(name) &lode_arch_##name,
#include "model/arch.def"
#undef ARCH
};

const lode_arch *lode_arch_find(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (strlen(archs[i]->name) == n && memcmp(archs[i]->name, name, n) == 0) return archs[i];
    return NULL;
}

const char *lode_arch_names(void) {
    static const char names[] =
#define ARCH(name) ", " #name
#include "model/arch.def"
#undef ARCH
        ;
    return names + 2;
}

/* ---- Shapes ---- */

static int64_t word_value(const lode_hparams *hp, const char *w, size_t n) {
    const int64_t q = (int64_t)hp->d_head * hp->n_head, kv = (int64_t)hp->d_head * hp->n_head_kv;
    const struct {
        const char *name;
        int64_t value;
    } words[] = {
        { "embd", hp->n_embd },
        { "vocab", hp->n_vocab },
        { "q", q },
        { "kv", kv },
        { "qkv", q + 2 * kv },
        { "head", hp->d_head },
        { "ff", hp->n_ff },
        { "ff2", 2 * (int64_t)hp->n_ff },
        { "rot2", hp->n_rot / 2 },
        { "one", 1 },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, w, n) == 0) return words[i].value;
    return 0;
}

/* Compares a tensor's sizes with a rule's shape; the text of what was wanted goes to `want`. */
static bool shape_fits(const lode_hparams *hp, const char *shape, const lode_gguf_tensor *t, char *want, size_t n) {
    bool ok = true;
    int dims = 0;
    size_t at = (size_t)snprintf(want, n, "[");
    for (const char *p = shape; *p; dims++) {
        const size_t len = strcspn(p, " ");
        const int64_t v = word_value(hp, p, len);
        at += (size_t)snprintf(want + at, n - at, "%s%lld", dims ? ", " : "", (long long)v);
        ok = ok && dims < LODE_MAX_DIMS && t->ne[dims] == v;
        p += len + (p[len] == ' ');
    }
    snprintf(want + at, n - at, "]");
    for (int i = dims; i < LODE_MAX_DIMS; i++) ok = ok && t->ne[i] == 1;
    return ok;
}

static void tensor_shape(const lode_gguf_tensor *t, char *buf, size_t n) {
    size_t at = (size_t)snprintf(buf, n, "[");
    for (int i = 0; i < t->n_dims && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%lld", i ? ", " : "", (long long)t->ne[i]);
    if (at < n) snprintf(buf + at, n - at, "]");
}

/* ---- Tensors ---- */

static lode_status check_tensor(const lode_model *m, const lode_tensor_rule *r, const char *name,
                                const lode_gguf_tensor *t, lode_err *err) {
    char want[96], have[96];
    if (t->type == LODE_N_TYPE)
        return lode_fail(err, LODE_E_UNSUPPORTED, "tensor %s has type %s, which is not supported yet", name,
                         lode_file_type_name(t->file_type));
    if (!shape_fits(&m->hp, r->shape, t, want, sizeof want)) {
        tensor_shape(t, have, sizeof have);
        return lode_fail(err, LODE_E_FORMAT, "tensor %s is %s, expected %s", name, have, want);
    }
    if (!lode_type_can_decode(t->type) || (lode_type_block(t->type) > 1 && strchr(r->shape, ' ') == NULL))
        return lode_fail(err, LODE_E_FORMAT, "tensor %s has type %s, expected floats", name, lode_type_name(t->type));
    return LODE_OK;
}

static lode_status make_tensor(lode_model *m, const lode_gguf_tensor *t, const char *name, lode_tensor **out,
                               lode_err *err) {
    lode_tensor *w = lode_arena_alloc(&m->arena, 1, sizeof *w);
    if (!w || !LODE_PUSH(&m->tensors, w)) return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    w->type = t->type;
    w->id = -1;
    w->layer = -1;
    w->flags = LODE_T_WEIGHT;
    memcpy(w->ne, t->ne, sizeof w->ne);
    snprintf(w->name, sizeof w->name, "%s", name);
    *out = w;
    return lode_dense(w, err);
}

/* Whether the bytes can be used where they lie: kernels read elements of 4, 2 or 1 bytes. */
static bool lies_well(const lode_gguf_tensor *t, const void *data) {
    const size_t unit = lode_type_block(t->type) > 1 ? 1 : (size_t)lode_type_bytes(t->type);
    return (uintptr_t)data % unit == 0;
}

/* The tensor a substitute rule names was loaded before: find it. */
static lode_tensor *loaded(const lode_model *m, const char *name) {
    for (size_t i = 0; i < m->tensors.n; i++)
        if (strcmp(m->tensors.items[i]->name, name) == 0) return m->tensors.items[i];
    return NULL;
}

/* Reads tensor `name` into *slot when the file has it. */
static lode_status load_named(lode_model *m, const lode_tensor_rule *r, const char *name, lode_tensor **slot,
                              bool *used, lode_err *err) {
    const lode_gguf_tensor *t = lode_gguf_find_tensor(m->gguf, name);
    if (r->where & LODE_IGNORED) { /* has no place of its own: slot is not written */
        if (t) used[t - lode_gguf_tensor_at(m->gguf, 0)] = true;
        return LODE_OK;
    }
    if (!t) {
        if (!r->otherwise) return lode_fail(err, LODE_E_FORMAT, "tensor %s is missing: the file is incomplete", name);
        *slot = r->otherwise[0] ? loaded(m, r->otherwise) : NULL;
        return LODE_OK;
    }
    used[t - lode_gguf_tensor_at(m->gguf, 0)] = true;
    LODE_TRY(check_tensor(m, r, name, t, err));
    return make_tensor(m, t, name, slot, err);
}

/* NAME.weight with its bias and scales; what only quantised activations of other programs need is passed over. */
static lode_status load_linear(lode_model *m, const lode_tensor_rule *r, const char *stem, lode_linear *l, bool *used,
                               lode_err *err) {
    char name[LODE_MAX_NAME + 16];
    lode_tensor *ignored;
    const char *out = strchr(r->shape, ' ') + 1; /* the bias has one number per output */
    const lode_tensor_rule bias = { r->name, 0, out, "" }, scale = { r->name, 0, "one", "" },
                           skip = { r->name, LODE_IGNORED, "one", "" };
    l->scale_last = (r->where & LODE_SCALE_LAST) != 0;
    snprintf(name, sizeof name, "%s.weight", stem);
    LODE_TRY(load_named(m, r, name, &l->w, used, err));
    snprintf(name, sizeof name, "%s.bias", stem);
    LODE_TRY(load_named(m, &bias, name, &l->bias, used, err));
    snprintf(name, sizeof name, "%s.scale", stem);
    LODE_TRY(load_named(m, r->where & LODE_UNSCALED ? &skip : &scale, name, &l->scale, used, err));
    snprintf(name, sizeof name, "%s.input_scale", stem);
    return load_named(m, &skip, name, &ignored, used, err);
}

static lode_status load_one(lode_model *m, const lode_tensor_rule *r, int il, bool *used, lode_err *err) {
    char name[LODE_MAX_NAME];
    const char *star = strchr(r->name, '*');
    if (star)
        snprintf(name, sizeof name, "%.*s%d%s", (int)(star - r->name), r->name, il, star + 1);
    else
        snprintf(name, sizeof name, "%s", r->name);
    char *base = il >= 0 ? (char *)m->layers + (size_t)il * m->arch->layer_size : (char *)m->weights;
    void *slot = base + (r->where & LODE_WHERE);
    if (r->where & LODE_LINEAR) return load_linear(m, r, name, slot, used, err);
    return load_named(m, r, name, slot, used, err);
}

static lode_status load_table(lode_model *m, bool *used, lode_err *err) {
    for (const lode_tensor_rule *r = m->arch->tensors; r->name; r++) {
        if (!(r->where & LODE_PER_LAYER)) {
            LODE_TRY(load_one(m, r, -1, used, err));
            continue;
        }
        for (uint32_t il = 0; il < m->hp.n_layer; il++) LODE_TRY(load_one(m, r, (int)il, used, err));
    }
    for (uint64_t i = 0; i < lode_gguf_n_tensors(m->gguf); i++) {
        const lode_slice n = lode_gguf_tensor_at(m->gguf, i)->name;
        if (!used[i])
            return lode_fail(err, LODE_E_UNSUPPORTED,
                             "tensor %.*s is not known for architecture %s: a variant that is not supported", (int)n.n,
                             n.p, m->arch->name);
    }
    return LODE_OK;
}

/* Gives every tensor its memory: in place, or in one buffer of copies. */
static lode_status place_weights(lode_model *m, const lode_model_desc *desc, lode_err *err) {
    lode_device_props props;
    lode_device_get_props(m->device, &props);
    const int n_parts = lode_gguf_n_parts(m->gguf);
    for (int i = 0; i < n_parts && props.from_host_ptr; i++) {
        size_t bytes;
        const uint8_t *data = lode_gguf_part_data(m->gguf, i, &bytes);
        lode_buffer *b;
        LODE_TRY(lode_device_wrap(m->device, (void *)(uintptr_t)data, bytes, true, &b, err));
        if (!LODE_PUSH(&m->buffers, b)) {
            lode_buffer_close(b);
            return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
        }
    }
    lode_tensor **copied = lode_arena_alloc(&m->arena, m->tensors.n, sizeof *copied);
    if (!copied) return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    int n = 0;
    for (size_t i = 0; i < m->tensors.n; i++) {
        lode_tensor *w = m->tensors.items[i];
        const lode_gguf_tensor *t = lode_gguf_find_tensor(m->gguf, w->name);
        if (props.from_host_ptr && lies_well(t, lode_gguf_tensor_data(m->gguf, t))) {
            w->buffer = m->buffers.items[t->part];
            w->offset = (size_t)t->offset;
        } else {
            copied[n++] = w;
        }
    }
    if (n == 0) return LODE_OK;
    lode_buffer *b;
    LODE_TRY(lode_buffer_place(&b, lode_device_buffer_type(m->device), copied, n, err));
    if (!LODE_PUSH(&m->buffers, b)) {
        lode_buffer_close(b);
        return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    }
    for (int i = 0; i < n; i++) {
        const lode_gguf_tensor *t = lode_gguf_find_tensor(m->gguf, copied[i]->name);
        LODE_TRY(lode_buffer_set(b, copied[i]->offset, lode_gguf_tensor_data(m->gguf, t), (size_t)t->bytes, err));
        if (desc->progress) desc->progress(desc->progress_user, (float)(i + 1) / (float)n);
    }
    return LODE_OK;
}

static lode_status load_tensors(lode_model *m, const lode_model_desc *desc, lode_err *err) {
    const lode_gguf_tensor *embd = lode_gguf_find_tensor(m->gguf, "token_embd.weight");
    if (!embd)
        return lode_fail(err, LODE_E_FORMAT,
                         "tensor token_embd.weight is missing: this is no language model, or only its vocabulary");
    if (embd->ne[1] < 1 || embd->ne[1] > (1 << 24))
        return lode_fail(err, LODE_E_FORMAT, "tensor token_embd.weight has %lld rows, expected 1..%d tokens",
                         (long long)embd->ne[1], 1 << 24);
    m->hp.n_vocab = (uint32_t)embd->ne[1];
    m->weights = lode_arena_alloc(&m->arena, 1, m->arch->weights_size);
    m->layers = lode_arena_alloc(&m->arena, m->hp.n_layer, m->arch->layer_size);
    bool *used = lode_arena_alloc(&m->arena, (size_t)lode_gguf_n_tensors(m->gguf), sizeof *used);
    if (!m->weights || !m->layers || !used) return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    LODE_TRY(load_table(m, used, err));
    return place_weights(m, desc, err);
}

static lode_status load_vocab(lode_model *m, lode_err *err) {
    lode_err e = { 0 };
    const lode_status s = lode_vocab_open_gguf(&m->vocab, m->gguf, &m->log, &e);
    if (s == LODE_E_NOT_FOUND || s == LODE_E_UNSUPPORTED) {
        snprintf(m->vocab_note, sizeof m->vocab_note, "%s",
                 s == LODE_E_NOT_FOUND ? "the file has no tokenizer" : e.text);
        lode_log_line(&m->log, LODE_LOG_INFO, "model", "%s: ids in, logits out", m->vocab_note);
        return LODE_OK;
    }
    if (s != LODE_OK) return lode_fail(err, s, "%s", e.text);
    const int n = lode_vocab_n_tokens(m->vocab);
    if ((uint32_t)n > m->hp.n_vocab)
        return lode_fail(err, LODE_E_FORMAT, "the tokenizer has %d tokens, the embedding only %u rows", n,
                         m->hp.n_vocab);
    return LODE_OK;
}

static lode_status load(lode_model *m, const lode_model_desc *desc, lode_err *err) {
    lode_slice arch = { 0 }, name = { 0 };
    bool found = false;
    LODE_TRY(lode_gguf_open(&m->gguf, desc->path, err));
    LODE_TRY(lode_gguf_get_str(m->gguf, "general.architecture", &arch, &found, err));
    if (!found) return lode_fail(err, LODE_E_FORMAT, "key general.architecture is missing: this is no language model");
    m->arch = lode_arch_find(arch.p, arch.n);
    if (!m->arch)
        return lode_fail(err, LODE_E_UNSUPPORTED, "architecture '%.*s' is not supported; supported are: %s",
                         (int)arch.n, arch.p, lode_arch_names());
    LODE_TRY(lode_gguf_get_str(m->gguf, "general.name", &name, &found, err));
    m->name = lode_arena_strdup(&m->arena, name.n ? name.p : "", name.n);
    if (!m->name) return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    LODE_TRY(lode_hparams_read(&m->hp, m->gguf, m->arch, err));
    LODE_TRY(load_tensors(m, desc, err));
    return load_vocab(m, err);
}

lode_status lode_model_open(lode_model **out, const lode_model_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out && desc, __func__, err));
    if (!desc->path || !desc->path[0]) return lode_fail(err, LODE_E_INPUT, "model: no file was named");
    if (lode_is_dir(desc->path))
        return lode_fail(err, LODE_E_INPUT, "%s: is a folder, expected a GGUF file; make one with: lode convert %s",
                         desc->path, desc->path);
    if (!desc->runtime && !desc->device)
        return lode_fail(err, LODE_E_INPUT, "model: neither runtime nor device is set");
    lode_model *m = lode_calloc(1, sizeof *m);
    if (!m) return lode_fail(err, LODE_E_NOMEM, "model: out of memory");
    atomic_init(&m->refs, 1);
    m->log = desc->log;
    m->device = desc->device ? desc->device : lode_runtime_device(desc->runtime, 0);
    const lode_status s = load(m, desc, err);
    if (s != LODE_OK) {
        if (err && strncmp(err->text, desc->path, strlen(desc->path)) != 0) lode_err_prefix(err, s, "%s", desc->path);
        lode_model_close(m);
        return s;
    }
    *out = m;
    return LODE_OK;
}

lode_model *lode_model_retain(lode_model *m) {
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void lode_model_close(lode_model *m) {
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    for (size_t i = 0; i < m->buffers.n; i++) lode_buffer_close(m->buffers.items[i]);
    free(m->buffers.items);
    free(m->tensors.items);
    lode_vocab_close(m->vocab);
    lode_gguf_close(m->gguf);
    lode_arena_free(&m->arena);
    free(m);
}

/* The type that most bytes of the weights have. */
static const char *main_type(const lode_model *m) {
    uint64_t bytes[LODE_N_TYPE] = { 0 };
    lode_type best = LODE_F32;
    for (size_t i = 0; i < m->tensors.n; i++) bytes[m->tensors.items[i]->type] += lode_n_bytes(m->tensors.items[i]);
    for (int t = 0; t < LODE_N_TYPE; t++)
        if (bytes[t] > bytes[best]) best = (lode_type)t;
    return lode_type_name(best);
}

void lode_model_get_info(const lode_model *m, lode_model_info *out) {
    const lode_hparams *hp = &m->hp;
    *out = (lode_model_info){
        .arch = m->arch->name,
        .name = m->name,
        .type = main_type(m),
        .n_layer = (int)hp->n_layer,
        .n_embd = (int)hp->n_embd,
        .n_head = (int)hp->n_head,
        .n_head_kv = (int)hp->n_head_kv,
        .d_head = (int)hp->d_head,
        .n_ff = (int)hp->n_ff,
        .n_vocab = (int)hp->n_vocab,
        .n_ctx_train = (int)hp->n_ctx_train,
        .window = (int)hp->window,
        .kv_bytes_cell = (uint64_t)hp->n_layer * hp->n_head_kv * hp->d_head * 2 * 2,
    };
    bool tied = lode_gguf_find_tensor(m->gguf, "output.weight") == NULL;
    for (size_t i = 0; i < m->tensors.n; i++) {
        const lode_tensor *t = m->tensors.items[i];
        out->n_params += (uint64_t)lode_n_elements(t);
        out->weight_bytes += lode_n_bytes(t);
        if (tied || strcmp(t->name, "token_embd.weight") != 0) out->decode_bytes += lode_n_bytes(t);
    }
}

const lode_gguf *lode_model_gguf(const lode_model *m) { return m->gguf; }
const struct lode_vocab *lode_model_vocab(const lode_model *m) { return m->vocab; }
const char *lode_model_vocab_note(const lode_model *m) { return m->vocab_note; }
lode_device *lode_model_device(const lode_model *m) { return m->device; }

lode_slice lode_model_chat_template(const lode_model *m) {
    lode_slice s = { 0 };
    bool found = false;
    if (lode_gguf_get_str(m->gguf, "tokenizer.chat_template", &s, &found, NULL) != LODE_OK || !found) s.n = 0;
    return s;
}
