/* vocab.c - reads the tokenizer.ggml.* keys of a GGUF file into a lode_vocab_desc.
 *
 * The reader has checked that each array lies inside the file; here the kinds, the lengths against the number of tokens
 * and the ids against the vocabulary are checked. Text arrays are walked once, in place. */
#include "model/vocab.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What the descriptor borrows while the vocabulary is made. */
typedef struct {
    const lode_gguf *g;
    lode_vocab_desc d;
    lode_slice *tokens, *merges; /* own */
    float *scores;               /* own */
    int32_t *types;              /* own */
} source;

static lode_status no_memory(lode_err *err, uint64_t n) {
    return lode_fail(err, LODE_E_NOMEM, "vocabulary: no memory for %llu entries", (unsigned long long)n);
}

/* The key as an array, NULL when absent. */
static lode_status find_array(const source *s, const char *key, const lode_gguf_kv **out, lode_err *err) {
    *out = lode_gguf_find(s->g, key);
    if (*out && (*out)->kind != LODE_GGUF_ARRAY)
        return lode_fail(err, LODE_E_FORMAT, "%s: %s is not an array", lode_gguf_path(s->g), key);
    return LODE_OK;
}

/* An array of strings as slices of the file. */
static lode_status read_texts(const source *s, const char *key, lode_slice **out, size_t *n, lode_err *err) {
    const lode_gguf_kv *kv;
    LODE_TRY(find_array(s, key, &kv, err));
    *n = 0;
    if (!kv) return LODE_OK;
    if (kv->n && kv->item != LODE_GGUF_STRING)
        return lode_fail(err, LODE_E_FORMAT, "%s: %s does not hold strings", lode_gguf_path(s->g), key);
    *out = lode_calloc((size_t)kv->n, sizeof **out);
    if (!*out) return no_memory(err, kv->n);
    const uint8_t *p = kv->data, *const end = kv->data + kv->data_bytes;
    for (uint64_t i = 0; i < kv->n; i++) {
        uint64_t len;
        if (end - p < 8) return lode_fail(err, LODE_E_FORMAT, "%s: %s is cut short", lode_gguf_path(s->g), key);
        memcpy(&len, p, 8); /* files and supported machines are little-endian */
        p += 8;
        if (len > (uint64_t)(end - p))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s is cut short", lode_gguf_path(s->g), key);
        (*out)[i] = (lode_slice){ (const char *)p, (size_t)len };
        p += len;
    }
    *n = (size_t)kv->n;
    return LODE_OK;
}

static lode_status too_short(const source *s, const char *key, const lode_gguf_kv *kv, lode_err *err) {
    return lode_fail(err, LODE_E_FORMAT, "%s: %s has %llu entries for %zu tokens", lode_gguf_path(s->g), key,
                     (unsigned long long)kv->n, s->d.n_tokens);
}

static lode_status read_scores(source *s, lode_err *err) {
    static const char key[] = "tokenizer.ggml.scores";
    const lode_gguf_kv *kv;
    LODE_TRY(find_array(s, key, &kv, err));
    if (!kv) return LODE_OK;
    if (kv->n < s->d.n_tokens) return too_short(s, key, kv, err);
    s->scores = lode_calloc(s->d.n_tokens, sizeof *s->scores);
    if (!s->scores) return no_memory(err, s->d.n_tokens);
    if (kv->item == LODE_GGUF_F32) {
        memcpy(s->scores, kv->data, s->d.n_tokens * sizeof *s->scores);
    } else {
        for (size_t i = 0; i < s->d.n_tokens; i++)
            if (!lode_gguf_arr_f32(kv, i, &s->scores[i]))
                return lode_fail(err, LODE_E_FORMAT, "%s: %s does not hold numbers", lode_gguf_path(s->g), key);
    }
    s->d.scores = s->scores;
    return LODE_OK;
}

static lode_status read_types(source *s, lode_err *err) {
    static const char key[] = "tokenizer.ggml.token_type";
    const lode_gguf_kv *kv;
    LODE_TRY(find_array(s, key, &kv, err));
    if (!kv) return LODE_OK;
    if (kv->n < s->d.n_tokens) return too_short(s, key, kv, err);
    s->types = lode_calloc(s->d.n_tokens, sizeof *s->types);
    if (!s->types) return no_memory(err, s->d.n_tokens);
    if (kv->item == LODE_GGUF_I32 || kv->item == LODE_GGUF_U32) {
        memcpy(s->types, kv->data, s->d.n_tokens * sizeof *s->types);
    } else {
        for (size_t i = 0; i < s->d.n_tokens; i++) {
            int64_t v;
            if (!lode_gguf_arr_i64(kv, i, &v))
                return lode_fail(err, LODE_E_FORMAT, "%s: %s does not hold integers", lode_gguf_path(s->g), key);
            s->types[i] = v >= 0 && v <= INT32_MAX ? (int32_t)v : 0;
        }
    }
    s->d.types = s->types;
    return LODE_OK;
}

/* One special id; false when the file does not give one. What lies outside the vocabulary is dropped there. */
static lode_status read_id(source *s, const char *key, lode_token *id, bool *found, lode_err *err) {
    const lode_gguf_kv *kv = lode_gguf_find(s->g, key);
    *found = kv != NULL;
    if (!kv) return LODE_OK;
    uint32_t v = 0;
    if (kv->kind == LODE_GGUF_I32 && kv->data_bytes == 4) { /* -1 stands for none in some files */
        memcpy(&v, kv->data, 4);
    } else {
        LODE_TRY(lode_gguf_get_u32(s->g, key, &v, NULL, err));
    }
    *id = v == UINT32_MAX ? LODE_NO_TOKEN : v > INT32_MAX ? INT32_MAX : (lode_token)v;
    return LODE_OK;
}

/* What files without the keys mean: Llama's first three tokens, Falcon's token 11. Only where the vocabulary agrees. */
static lode_token default_id(const source *s, int role) {
    static const struct {
        lode_vocab_kind kind;
        int role;
        lode_token id;
        const char *text;
    } defaults[] = {
        { LODE_VOCAB_SPM, LODE_SPECIAL_BOS, 1, "<s>" },
        { LODE_VOCAB_SPM, LODE_SPECIAL_EOS, 2, "</s>" },
        { LODE_VOCAB_SPM, LODE_SPECIAL_UNK, 0, "<unk>" },
        { LODE_VOCAB_BPE, LODE_SPECIAL_BOS, 11, "<|endoftext|>" },
        { LODE_VOCAB_BPE, LODE_SPECIAL_EOS, 11, "<|endoftext|>" },
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        if (defaults[i].kind != s->d.kind || defaults[i].role != role) continue;
        if ((size_t)defaults[i].id >= s->d.n_tokens) continue;
        const lode_slice t = s->tokens[defaults[i].id];
        if (t.n == strlen(defaults[i].text) && memcmp(t.p, defaults[i].text, t.n) == 0) return defaults[i].id;
    }
    return LODE_NO_TOKEN;
}

static lode_status read_special(source *s, lode_err *err) {
    static const struct {
        int role;
        const char *key;
    } old_names[] = {
        { LODE_SPECIAL_FIM_PRE, "tokenizer.ggml.prefix_token_id" },
        { LODE_SPECIAL_FIM_SUF, "tokenizer.ggml.suffix_token_id" },
        { LODE_SPECIAL_FIM_MID, "tokenizer.ggml.middle_token_id" },
    };
    bool found;
    for (int i = 0; i < LODE_N_SPECIAL; i++) {
        LODE_TRY(read_id(s, lode_special_key((lode_special)i), &s->d.special[i], &found, err));
        if (!found) s->d.special[i] = default_id(s, i);
    }
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (s->d.special[old_names[i].role] < 0)
            LODE_TRY(read_id(s, old_names[i].key, &s->d.special[old_names[i].role], &found, err));
    return LODE_OK;
}

static lode_status read_switch(const source *s, const char *key, int *out, lode_err *err) {
    bool value = false, found = false;
    LODE_TRY(lode_gguf_get_bool(s->g, key, &value, &found, err));
    if (found) *out = value;
    return LODE_OK;
}

/* Phi-3's tokens swallow the white space behind them; nothing in the file says so but the model's name. */
static lode_status read_strip(source *s, lode_err *err) {
    lode_slice name = { "", 0 };
    bool found;
    LODE_TRY(lode_gguf_get_str(s->g, "general.name", &name, &found, err));
    for (size_t i = 0; i + 4 <= name.n; i++) {
        char c[5];
        for (size_t k = 0; k < 5; k++) c[k] = i + k < name.n ? (char)tolower((unsigned char)name.p[i + k]) : '\0';
        if (memcmp(c, "phi3", 4) == 0 || memcmp(c, "phi-3", 5) == 0) s->d.strip_after_special = true;
    }
    return LODE_OK;
}

static lode_status read_kind(source *s, const lode_log *log, lode_err *err) {
    static const char key[] = "tokenizer.ggml.model";
    lode_slice model = { "", 0 };
    bool found;
    LODE_TRY(lode_gguf_get_str(s->g, key, &model, &found, err));
    const bool none =
        (model.n == 4 && memcmp(model.p, "none", 4) == 0) || (model.n == 8 && memcmp(model.p, "no_vocab", 8) == 0);
    if (!found || none) return lode_fail(err, LODE_E_NOT_FOUND, "%s has no tokenizer (%s)", lode_gguf_path(s->g), key);
    const bool spm = model.n == 5 && memcmp(model.p, "llama", 5) == 0;
    if (!spm && !(model.n == 4 && memcmp(model.p, "gpt2", 4) == 0))
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: tokenizer '%.*s' (%s) is not built here; 'llama' and 'gpt2' are",
                         lode_gguf_path(s->g), model.n < 40 ? (int)model.n : 40, model.p, key);
    lode_vocab_desc_init(&s->d, spm ? LODE_VOCAB_SPM : LODE_VOCAB_BPE);
    if (log) s->d.log = *log;
    return LODE_OK;
}

static lode_status read_all(source *s, const lode_log *log, lode_err *err) {
    LODE_TRY(read_kind(s, log, err));
    bool found;
    LODE_TRY(lode_gguf_get_str(s->g, "tokenizer.ggml.pre", &s->d.pre, &found, err));
    LODE_TRY(read_texts(s, "tokenizer.ggml.tokens", &s->tokens, &s->d.n_tokens, err));
    s->d.tokens = s->tokens;
    if (!s->d.n_tokens)
        return lode_fail(err, LODE_E_FORMAT, "%s: tokenizer.ggml.tokens is missing or empty", lode_gguf_path(s->g));
    LODE_TRY(read_scores(s, err));
    LODE_TRY(read_types(s, err));
    if (s->d.kind == LODE_VOCAB_BPE) {
        LODE_TRY(read_texts(s, "tokenizer.ggml.merges", &s->merges, &s->d.n_merges, err));
        if (!s->merges)
            return lode_fail(err, LODE_E_FORMAT, "%s: tokenizer.ggml.merges is missing", lode_gguf_path(s->g));
        s->d.merges = s->merges;
    }
    LODE_TRY(read_special(s, err));
    LODE_TRY(read_switch(s, "tokenizer.ggml.add_bos_token", &s->d.add_bos, err));
    LODE_TRY(read_switch(s, "tokenizer.ggml.add_eos_token", &s->d.add_eos, err));
    LODE_TRY(read_switch(s, "tokenizer.ggml.add_space_prefix", &s->d.add_space_prefix, err));
    return read_strip(s, err);
}

lode_status lode_vocab_open_gguf(lode_vocab **out, const lode_gguf *g, const lode_log *log, lode_err *err) {
    source s = { .g = g };
    *out = NULL;
    lode_status st = read_all(&s, log, err);
    if (st == LODE_OK) {
        st = lode_vocab_open(out, &s.d, err);
        if (st != LODE_OK) lode_err_prefix(err, st, "%s", lode_gguf_path(g));
    }
    free(s.tokens);
    free(s.merges);
    free(s.scores);
    free(s.types);
    return st;
}
