/* vocab.c - tokenizer.json as GGUF's tokenizer keys.
 *
 * A byte-level BPE becomes "gpt2": tokens, types, merges, the name of its pre-tokenizer. A BPE with byte fallback that
 * writes spaces as U+2581 is SentencePiece in disguise and becomes "llama": its merges turn into scores. A folder
 * without tokenizer.json gives a file that says so. */
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "convert/vocab.h"
#include "tok/pretok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of tokenizer.ggml.token_type. */
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6 };

/* Added tokens are never merged into; a token that no merge makes comes after all that some merge makes. */
static const float added_score = -1000.0f, unmerged_score = -1e9f;

typedef struct table {
    lode_arena arena;
    lode_slice *text; /* own, [n] */
    int32_t *type;    /* own, [n]; 0: no token yet */
    float *score;     /* own, [n] */
    size_t n, n_dropped;
} table;

static const char lower_block[] = "\xE2\x96\x81"; /* U+2581, SentencePiece's space */

int64_t convert_token_id(const convert_source *s, const char *text, size_t n) {
    const json_t *added = json_object_get(s->tokenizer, "added_tokens");
    for (size_t i = 0; i < json_array_size(added); i++) {
        size_t len = 0;
        const json_t *a = json_array_get(added, i);
        const char *t = convert_json_text(a, "content", &len);
        if (t && len == n && !memcmp(t, text, n)) return (int64_t)json_number_value(json_object_get(a, "id"));
    }
    const json_t *v = json_object_getn(s->vocab, text, n);
    return json_is_number(v) ? (int64_t)json_number_value(v) : -1;
}

static lode_status oom(lode_err *err) { return lode_fail(err, LODE_E_NOMEM, "out of memory"); }

static bool starts(const char *t, size_t n, const char *with) {
    return n >= strlen(with) && !memcmp(t, with, strlen(with));
}

static bool ends(const char *t, size_t n, const char *with) {
    return n >= strlen(with) && !memcmp(t + n - strlen(with), with, strlen(with));
}

/* Control tokens that some tokenizers do not mark as special. */
static bool looks_special(const char *t, size_t n) {
    static const char *const rows[][2] = { { "<|", "|>" }, { "<\xEF\xBD\x9C", "\xEF\xBD\x9C>" }, { "<unused", ">" } };
    static const char *const whole[] = { "<pad>", "<mask>", "<2mass>", "[@BOS@]" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (starts(t, n, rows[i][0]) && ends(t, n, rows[i][1]) && n >= strlen(rows[i][0]) + strlen(rows[i][1]))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (n == strlen(whole[i]) && !memcmp(t, whole[i], n)) return true;
    return false;
}

static bool is_byte(const char *t, size_t n) {
    return n == 6 && starts(t, n, "<0x") && t[5] == '>' && strspn(t + 3, "0123456789ABCDEFabcdef") == 2;
}

static lode_status id_at(const convert_source *s, const json_t *v, const char *text, int64_t *id, lode_err *err) {
    const double x = json_is_number(v) ? json_number_value(v) : -1;
    if (!(x >= 0 && x < 1e9) || x != floor(x))
        return lode_fail(err, LODE_E_FORMAT, "%s: token '%.60s' has no usable id", s->path, text);
    *id = (int64_t)x;
    return LODE_OK;
}

static lode_status read_vocab(const convert_source *s, table *t, bool spm, lode_err *err) {
    const char *text;
    json_t *v;
    size_t n;
    json_object_keylen_foreach((json_t *)(uintptr_t)s->vocab, text, n, v) {
        int64_t id = 0;
        LODE_TRY(id_at(s, v, text, &id, err));
        if ((uint64_t)id >= t->n) {
            t->n_dropped++;
            continue;
        }
        if (t->type[id])
            return lode_fail(err, LODE_E_FORMAT, "%s: tokens '%.40s' and '%.40s' have the same id %lld", s->path,
                             t->text[id].p, text, (long long)id);
        t->text[id] = (lode_slice){ text, n };
        t->type[id] = spm && is_byte(text, n) ? BYTE : NORMAL;
        t->score[id] = unmerged_score;
    }
    return LODE_OK;
}

/* Text of user-defined tokens is matched before spaces are written as blocks. */
static lode_status with_spaces(table *t, const char *text, size_t n, lode_slice *out, lode_err *err) {
    char *p = lode_arena_strdup(&t->arena, text, n);
    if (!p) return oom(err);
    size_t to = 0;
    for (size_t i = 0; i < n;) {
        const bool block = starts(text + i, n - i, lower_block);
        p[to++] = block ? ' ' : text[i];
        i += block ? strlen(lower_block) : 1;
    }
    *out = (lode_slice){ p, to };
    return LODE_OK;
}

static lode_status read_added(const convert_source *s, table *t, lode_err *err) {
    const json_t *added = json_object_get(s->tokenizer, "added_tokens");
    size_t n_unk = 0;
    const char *unk = convert_json_text(s->model, "unk_token", &n_unk);
    for (size_t i = 0; i < json_array_size(added); i++) {
        const json_t *a = json_array_get(added, i);
        size_t n = 0;
        const char *text = convert_json_text(a, "content", &n);
        int64_t id = 0;
        if (!text) return lode_fail(err, LODE_E_FORMAT, "%s: added_tokens[%zu] has no content", s->path, i);
        LODE_TRY(id_at(s, json_object_get(a, "id"), text, &id, err));
        if ((uint64_t)id >= t->n) {
            t->n_dropped++;
            continue;
        }
        const bool control = convert_json_bool(a, "special", false) || looks_special(text, n);
        t->type[id] = control ? CONTROL : USER;
        if (unk && n == n_unk && !memcmp(unk, text, n)) t->type[id] = UNKNOWN;
        t->text[id] = (lode_slice){ text, n };
        t->score[id] = added_score;
        if (!control) LODE_TRY(with_spaces(t, text, n, &t->text[id], err));
    }
    return LODE_OK;
}

/* Ids that no token has: the weights have a row for them all the same. */
static lode_status fill_holes(table *t, lode_err *err) {
    for (size_t i = 0; i < t->n; i++) {
        if (t->type[i]) continue;
        char text[32];
        const int n = snprintf(text, sizeof text, "[PAD%zu]", i);
        t->text[i] = (lode_slice){ lode_arena_strdup(&t->arena, text, (size_t)n), (size_t)n };
        t->type[i] = UNUSED;
        t->score[i] = -10000.0f;
        if (!t->text[i].p) return oom(err);
    }
    return LODE_OK;
}

/* The two halves of a merge: "a b", or a pair. */
static lode_status halves(const convert_source *s, const json_t *merge, size_t i, lode_slice out[2], lode_err *err) {
    if (json_is_array(merge) && json_array_size(merge) == 2) {
        for (size_t k = 0; k < 2; k++) {
            const json_t *h = json_array_get(merge, k);
            out[k] = (lode_slice){ json_string_value(h), json_string_length(h) };
        }
    } else if (json_is_string(merge)) {
        const char *p = json_string_value(merge);
        const size_t n = json_string_length(merge);
        const char *space = n > 1 ? memchr(p + 1, ' ', n - 1) : NULL; /* not the first character: it may be a space */
        out[0] = (lode_slice){ p, space ? (size_t)(space - p) : 0 };
        out[1] = space ? (lode_slice){ space + 1, n - out[0].n - 1 } : (lode_slice){ NULL, 0 };
    }
    if (out[0].p && out[1].p && out[0].n > 0 && out[1].n > 0) return LODE_OK;
    return lode_fail(err, LODE_E_FORMAT, "%s: merges[%zu] is not a pair of tokens", s->path, i);
}

/* SentencePiece merges the pair whose result scores best; here the order of merges says which that is. */
static lode_status scores_of_merges(const convert_source *s, table *t, const json_t *merges, lode_err *err) {
    lode_str joined = { 0 };
    lode_status st = LODE_OK;
    float rank = 0;
    for (size_t i = 0; i < json_array_size(merges) && st == LODE_OK; i++) {
        lode_slice h[2] = { { 0 } };
        st = halves(s, json_array_get(merges, i), i, h, err);
        if (st != LODE_OK) break;
        lode_str_clear(&joined);
        lode_str_add(&joined, h[0].p, h[0].n);
        lode_str_add(&joined, h[1].p, h[1].n);
        if (joined.failed) {
            st = oom(err);
            break;
        }
        const json_t *v = json_object_getn(s->vocab, joined.p, joined.n);
        const double x = json_is_number(v) ? json_number_value(v) : -1;
        if (x < 0 || x >= (double)t->n) continue;
        float *score = &t->score[(size_t)x];
        if (*score == unmerged_score) *score = -(rank++);
    }
    lode_str_free(&joined);
    return st;
}

/* GGUF writes a merge as "left right", a space inside a half as U+0120, as byte-level BPE does. */
static lode_status merges_as_text(const convert_source *s, table *t, const json_t *merges, lode_err *err) {
    const size_t n = json_array_size(merges);
    lode_slice *out = lode_calloc(n + 1, sizeof *out);
    lode_str text = { 0 };
    lode_status st = out ? LODE_OK : oom(err);
    for (size_t i = 0; i < n && st == LODE_OK; i++) {
        lode_slice h[2] = { { 0 } };
        st = halves(s, json_array_get(merges, i), i, h, err);
        if (st != LODE_OK) break;
        lode_str_clear(&text);
        for (int k = 0; k < 2; k++) {
            for (size_t c = 0; c < h[k].n; c++)
                if (h[k].p[c] == ' ')
                    lode_str_puts(&text, "\xC4\xA0");
                else
                    lode_str_putc(&text, h[k].p[c]);
            if (k == 0) lode_str_putc(&text, ' ');
        }
        out[i] = (lode_slice){ text.failed ? NULL : lode_arena_strdup(&t->arena, text.p, text.n), text.n };
        if (!out[i].p) st = oom(err);
    }
    if (st == LODE_OK) lode_gguf_set_arr_str(s->m->w, "tokenizer.ggml.merges", out, n);
    free(out);
    lode_str_free(&text);
    return st;
}

/* True when `o`, or one of the list in it, has this type. */
static const json_t *part_of(const json_t *o, const char *list, const char *type) {
    const json_t *parts = json_object_get(o, list);
    const size_t n = json_is_array(parts) ? json_array_size(parts) : 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *p = json_is_array(parts) ? json_array_get(parts, i) : o;
        const char *t = convert_json_text(p, "type", NULL);
        if (t && !strcmp(t, type)) return p;
    }
    return NULL;
}

/* Whether text gets a space in front: by the normalizer, or by the pre-tokenizer that older files have. */
static bool adds_space(const convert_source *s) {
    const json_t *norm = json_object_get(s->tokenizer, "normalizer"),
                 *pre = json_object_get(s->tokenizer, "pre_tokenizer");
    if (part_of(norm, "normalizers", "Prepend")) return true;
    const json_t *meta = part_of(pre, "pretokenizers", "Metaspace");
    const char *scheme = convert_json_text(meta, "prepend_scheme", NULL);
    if (scheme) return strcmp(scheme, "never") != 0;
    return meta && convert_json_bool(meta, "add_prefix_space", true);
}

static lode_status set_tokens(const convert_source *s, table *t, bool spm, lode_err *err) {
    const json_t *merges = json_object_get(s->model, "merges");
    if (!json_is_array(merges)) return lode_fail(err, LODE_E_FORMAT, "%s: model.merges is missing", s->path);
    const char *kind = spm ? "llama" : "gpt2", *pre = s->m->desc->pre;
    const lode_pretok_name *known;
    if (!spm && !pre) LODE_TRY(convert_pretok(s, &pre, err));
    if (!spm) LODE_TRY(lode_pretok_find(&known, (lode_slice){ pre, strlen(pre) }, err));
    if (spm) pre = "default";
    lode_gguf_set_str(s->m->w, "tokenizer.ggml.model", kind, strlen(kind));
    lode_gguf_set_str(s->m->w, "tokenizer.ggml.pre", pre, strlen(pre));
    if (spm) LODE_TRY(scores_of_merges(s, t, merges, err));
    lode_gguf_set_arr_str(s->m->w, "tokenizer.ggml.tokens", t->text, t->n);
    lode_gguf_set_arr(s->m->w, "tokenizer.ggml.token_type", LODE_GGUF_I32, t->type, t->n);
    if (!spm) return merges_as_text(s, t, merges, err);
    lode_gguf_set_arr(s->m->w, "tokenizer.ggml.scores", LODE_GGUF_F32, t->score, t->n);
    lode_gguf_set_bool(s->m->w, "tokenizer.ggml.add_space_prefix", adds_space(s));
    return LODE_OK;
}

/* Byte-level BPE or SentencePiece? */
static lode_status find_kind(const convert_source *s, bool *spm, lode_err *err) {
    const char *type = convert_json_text(s->model, "type", NULL);
    const json_t *pre = json_object_get(s->tokenizer, "pre_tokenizer"),
                 *norm = json_object_get(s->tokenizer, "normalizer");
    if (type && strcmp(type, "BPE") != 0)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: tokenizer model '%.40s' is not supported, expected BPE", s->path,
                         type);
    const bool byte_level = part_of(pre, "pretokenizers", "ByteLevel");
    const bool blocks = part_of(pre, "pretokenizers", "Metaspace") || part_of(norm, "normalizers", "Replace");
    *spm = !byte_level && convert_json_bool(s->model, "byte_fallback", false) && blocks;
    if (!byte_level && !*spm)
        return lode_fail(err, LODE_E_UNSUPPORTED,
                         "%s: neither a byte-level BPE nor one with byte fallback and U+2581 for spaces", s->path);
    return LODE_OK;
}

static lode_status convert_tokens(convert_source *s, table *t, lode_err *err) {
    bool spm = false;
    s->model = json_object_get(s->tokenizer, "model");
    s->vocab = json_object_get(s->model, "vocab");
    if (!json_is_object(s->vocab)) return lode_fail(err, LODE_E_FORMAT, "%s: model.vocab is missing", s->path);
    LODE_TRY(find_kind(s, &spm, err));
    t->n = s->m->n_vocab;
    t->text = lode_calloc(t->n, sizeof *t->text);
    t->type = lode_calloc(t->n, sizeof *t->type);
    t->score = lode_calloc(t->n, sizeof *t->score);
    if (!t->text || !t->type || !t->score) return oom(err);
    LODE_TRY(read_vocab(s, t, spm, err));
    LODE_TRY(read_added(s, t, err));
    LODE_TRY(fill_holes(t, err));
    LODE_TRY(set_tokens(s, t, spm, err));
    convert_special(s);
    s->m->has_vocab = true;
    if (t->n_dropped > 0)
        lode_log_line(&s->m->desc->log, LODE_LOG_WARN, "convert",
                      "%zu tokens with ids beyond vocab_size (%zu) are left out: the model has no weights for them",
                      t->n_dropped, t->n);
    return LODE_OK;
}

/* DIR/NAME as an object; *out stays NULL when the file is not there. */
static lode_status side_file(const convert_source *s, const char *name, size_t limit, json_t **out, char **path_out,
                             lode_err *err) {
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/%s", s->m->desc->in_dir, name);
    lode_status st = path.failed ? oom(err) : LODE_OK;
    if (st == LODE_OK && lode_is_file(path.p)) st = convert_json_read(path.p, limit, out, err);
    if (path_out)
        *path_out = path.p;
    else
        lode_str_free(&path);
    return st;
}

static lode_status convert_all(convert_source *s, table *t, lode_err *err) {
    LODE_TRY(side_file(s, "tokenizer_config.json", CONVERT_JSON_MAX, &s->config, NULL, err));
    LODE_TRY(side_file(s, "generation_config.json", CONVERT_JSON_MAX, &s->generation, NULL, err));
    LODE_TRY(side_file(s, "tokenizer.json", CONVERT_TOKENIZER_MAX, &s->tokenizer, &s->path, err));
    LODE_TRY(convert_generation(s, err));
    if (s->tokenizer) return convert_tokens(s, t, err);
    lode_gguf_set_str(s->m->w, "tokenizer.ggml.model", "no_vocab", 8);
    lode_log_line(&s->m->desc->log, LODE_LOG_WARN, "convert", "%s: no tokenizer.json, so the file has no tokenizer",
                  s->m->desc->in_dir);
    return LODE_OK;
}

lode_status convert_vocab(convert_model *m, lode_err *err) {
    convert_source s = { .m = m };
    table t = { .n = 0 };
    const lode_status st = convert_all(&s, &t, err);
    free(t.text);
    free(t.type);
    free(t.score);
    lode_arena_free(&t.arena);
    json_decref(s.tokenizer);
    json_decref(s.config);
    json_decref(s.generation);
    free(s.path);
    return st;
}
