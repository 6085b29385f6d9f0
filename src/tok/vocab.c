/* vocab.c - making a vocabulary and answering questions about single tokens. */
#include "tok/vocab.h"

#include "base/mem.h"
#include "base/need.h"
#include "base/str.h"

#include <stdlib.h>

#define SPECIAL(id, name, key) { name, key },
static const struct {
    const char *name, *key;
} roles[LODE_N_SPECIAL] = {
#include "lode/special.def"
};
#undef SPECIAL

/* Far above any vocabulary in use (the largest has 262,144 tokens), and safe in 32-bit ids. */
enum { MAX_TOKENS = 1 << 26 };

static const char space_char[] = "\xE2\x96\x81"; /* U+2581, SPM's space */

const char *lode_special_name(lode_special r) { return (unsigned)r < LODE_N_SPECIAL ? roles[r].name : "none"; }
const char *lode_special_key(lode_special r) { return (unsigned)r < LODE_N_SPECIAL ? roles[r].key : ""; }
const char *lode_vocab_kind_name(lode_vocab_kind kind) { return kind == LODE_VOCAB_SPM ? "SPM" : "BPE"; }

void lode_vocab_desc_init(lode_vocab_desc *d, lode_vocab_kind kind) {
    *d = (lode_vocab_desc){ .kind = kind, .add_bos = -1, .add_eos = -1, .add_space_prefix = -1 };
    for (int i = 0; i < LODE_N_SPECIAL; i++) d->special[i] = LODE_NO_TOKEN;
}

static lode_status no_memory(lode_err *err, size_t n) {
    return lode_fail(err, LODE_E_NOMEM, "vocabulary: no memory for %zu entries", n);
}

/* Copies n texts behind v->texts + *used and notes where each starts in at[0..n]. */
static void copy_texts(lode_vocab *v, const lode_slice *texts, size_t n, uint32_t *at, size_t *used) {
    for (size_t i = 0; i < n; i++) {
        at[i] = (uint32_t)*used;
        if (texts[i].n) memcpy(v->texts + *used, texts[i].p, texts[i].n);
        *used += texts[i].n;
    }
    at[n] = (uint32_t)*used;
}

static bool add_up(const lode_slice *texts, size_t n, size_t *total) {
    for (size_t i = 0; i < n; i++)
        if (!lode_add_ok(*total, texts[i].n, total) || *total > UINT32_MAX) return false;
    return true;
}

static lode_status take_texts(lode_vocab *v, const lode_vocab_desc *d, lode_err *err) {
    size_t total = 0, used = 0;
    if (!add_up(d->tokens, d->n_tokens, &total) || !add_up(d->merges, d->n_merges, &total))
        return lode_fail(err, LODE_E_FORMAT, "vocabulary: texts of more than 4 GiB");
    v->texts = malloc(total ? total : 1);
    v->token_at = malloc((d->n_tokens + 1) * sizeof *v->token_at);
    v->merge_at = malloc((d->n_merges + 1) * sizeof *v->merge_at);
    if (!v->texts || !v->token_at || !v->merge_at) return no_memory(err, d->n_tokens + d->n_merges);
    v->n_tokens = (int32_t)d->n_tokens;
    v->n_merges = (uint32_t)d->n_merges;
    copy_texts(v, d->tokens, d->n_tokens, v->token_at, &used);
    copy_texts(v, d->merges, d->n_merges, v->merge_at, &used);
    for (size_t i = 0; i < d->n_tokens; i++)
        if (d->tokens[i].n > v->longest) v->longest = (uint32_t)d->tokens[i].n;
    return LODE_OK;
}

/* The value of <0xNN>; -1 when the text is not that. */
static int byte_value(lode_slice t) {
    static const char digits[] = "0123456789ABCDEF0123456789abcdef";
    int value = 0;
    if (t.n != 6 || memcmp(t.p, "<0x", 3) != 0 || t.p[5] != '>') return -1;
    for (int i = 3; i < 5; i++) {
        const char *at = t.p[i] ? strchr(digits, t.p[i]) : NULL;
        if (!at) return -1;
        value = value * 16 + (int)(at - digits) % 16;
    }
    return value;
}

static lode_status take_types(lode_vocab *v, const lode_vocab_desc *d, lode_err *err) {
    const size_t n = d->n_tokens;
    v->types = malloc(n);
    v->marks = lode_calloc(n, 1);
    v->scores = d->scores ? malloc(n * sizeof *v->scores) : NULL;
    if (!v->types || !v->marks || (d->scores && !v->scores)) return no_memory(err, n);
    if (d->scores) memcpy(v->scores, d->scores, n * sizeof *v->scores);
    for (size_t i = 0; i < n; i++) {
        const int32_t t = d->types ? d->types[i] : LODE_TOKEN_NORMAL;
        v->types[i] = (uint8_t)(t >= LODE_TOKEN_NORMAL && t <= LODE_TOKEN_BYTE ? t : LODE_TOKEN_UNUSED);
        if (!d->types && v->kind == LODE_VOCAB_SPM && byte_value(d->tokens[i]) >= 0) v->types[i] = LODE_TOKEN_BYTE;
    }
    return LODE_OK;
}

static void take_special(lode_vocab *v, const lode_vocab_desc *d) {
    for (int i = 0; i < LODE_N_SPECIAL; i++) {
        v->special[i] = d->special[i];
        if (d->special[i] >= 0 && d->special[i] < v->n_tokens) continue;
        if (d->special[i] != LODE_NO_TOKEN)
            lode_log_line(&v->log, LODE_LOG_WARN, "tok", "%s = %d is outside the vocabulary of %d tokens; ignored",
                          roles[i].key, d->special[i], v->n_tokens);
        v->special[i] = LODE_NO_TOKEN;
    }
}

/* Notes behind which bytes some token goes on with a space: everywhere else text may be cut before a space without
 * changing what merges. */
static void find_space_joins(lode_vocab *v) {
    for (uint32_t id = 0; id < (uint32_t)v->n_tokens; id++) {
        const lode_slice t = lode_token_text(v, id);
        for (size_t i = 1; i + 3 <= t.n; i++)
            if (t.p[i] == space_char[0] && memcmp(t.p + i, space_char, 3) == 0)
                v->space_joins[(uint8_t)t.p[i - 1]] = true;
    }
    v->space_joins[(uint8_t)space_char[2]] = true;
}

static lode_status take_pre(lode_vocab *v, const lode_vocab_desc *d, lode_err *err) {
    lode_slice name = d->pre;
    if (!name.n) {
        lode_log_line(&v->log, LODE_LOG_WARN, "tok",
                      "no tokenizer.ggml.pre in this file: words are cut by a rough default, answers may be worse; "
                      "convert the model again");
        name = (lode_slice){ "default", 7 };
    }
    return lode_pretok_find(&v->pre, name, err);
}

static lode_status fill(lode_vocab *v, const lode_vocab_desc *d, lode_err *err) {
    v->kind = d->kind;
    v->log = d->log;
    if (d->kind == LODE_VOCAB_BPE) LODE_TRY(take_pre(v, d, err));
    const unsigned flags = v->pre ? v->pre->flags : 0;
    const bool spm = d->kind == LODE_VOCAB_SPM;
    v->add_bos = d->add_bos < 0 ? spm || (flags & LODE_PRETOK_BOS) : d->add_bos;
    v->add_eos = d->add_eos > 0;
    v->add_space_prefix = spm && d->add_space_prefix != 0;
    v->strip_after_special = d->strip_after_special;
    LODE_TRY(take_texts(v, d, err));
    LODE_TRY(take_types(v, d, err));
    LODE_TRY(lode_hash_tokens(v, err));
    if (!spm) LODE_TRY(lode_hash_merges(v, err));
    take_special(v, d);
    lode_find_byte_tokens(v);
    lode_find_roles(v);
    if (spm) find_space_joins(v);
    return lode_find_cut_out(v, err);
}

lode_status lode_vocab_open(lode_vocab **out, const lode_vocab_desc *d, lode_err *err) {
    LODE_TRY(
        lode_need(out && d && LODE_HAS(d->tokens, d->n_tokens) && LODE_HAS(d->merges, d->n_merges), __func__, err));
    *out = NULL;
    if ((unsigned)d->kind >= LODE_N_VOCAB_KIND) return lode_fail(err, LODE_E_INPUT, "vocabulary: unknown kind");
    if (d->n_tokens == 0) return lode_fail(err, LODE_E_FORMAT, "vocabulary: no tokens");
    if (d->n_tokens > MAX_TOKENS || d->n_merges > MAX_TOKENS)
        return lode_fail(err, LODE_E_FORMAT, "vocabulary: %zu tokens and %zu merges; at most %d are taken", d->n_tokens,
                         d->n_merges, MAX_TOKENS);
    lode_vocab *v = lode_calloc(1, sizeof *v);
    if (!v) return no_memory(err, d->n_tokens);
    v->lazy = lode_calloc(1, sizeof *v->lazy);
    lode_status st = v->lazy ? fill(v, d, err) : no_memory(err, d->n_tokens);
    if (v->lazy) pthread_mutex_init(&v->lazy->lock, NULL);
    if (st != LODE_OK) {
        lode_vocab_close(v);
        return st;
    }
    *out = v;
    return LODE_OK;
}

void lode_vocab_close(lode_vocab *v) {
    if (!v) return;
    if (v->lazy) {
        lode_pretok_close(v->lazy->pretok);
        pthread_mutex_destroy(&v->lazy->lock);
        free(v->lazy);
    }
    free(v->texts);
    free(v->token_at);
    free(v->merge_at);
    free(v->scores);
    free(v->types);
    free(v->marks);
    free(v->by_text.slots);
    free(v->by_halves.slots);
    free(v->cut_out);
    free(v);
}

static bool known_id(const lode_vocab *v, lode_token id) { return id >= 0 && id < v->n_tokens; }

lode_vocab_kind lode_vocab_kind_of(const lode_vocab *v) { return v->kind; }
const char *lode_vocab_pre(const lode_vocab *v) { return v->pre ? v->pre->name : ""; }
int32_t lode_vocab_n_tokens(const lode_vocab *v) { return v->n_tokens; }
bool lode_vocab_adds_bos(const lode_vocab *v) { return v->add_bos && v->special[LODE_SPECIAL_BOS] >= 0; }
bool lode_vocab_adds_eos(const lode_vocab *v) { return v->add_eos && v->special[LODE_SPECIAL_EOS] >= 0; }
bool lode_vocab_adds_space(const lode_vocab *v) { return v->add_space_prefix; }

lode_token lode_vocab_special(const lode_vocab *v, lode_special role) {
    return (unsigned)role < LODE_N_SPECIAL ? v->special[role] : LODE_NO_TOKEN;
}

bool lode_vocab_is_eog(const lode_vocab *v, lode_token id) {
    return known_id(v, id) && (v->marks[id] & LODE_TOKEN_IS_EOG);
}

size_t lode_vocab_eog(const lode_vocab *v, lode_token *ids, size_t cap) {
    size_t n = 0;
    for (lode_token id = 0; id < v->n_tokens; id++) {
        if (!(v->marks[id] & LODE_TOKEN_IS_EOG)) continue;
        if (n < cap) ids[n] = id;
        n++;
    }
    return n;
}

lode_token_type lode_vocab_type(const lode_vocab *v, lode_token id) {
    return known_id(v, id) ? (lode_token_type)v->types[id] : LODE_TOKEN_UNUSED;
}

float lode_vocab_score(const lode_vocab *v, lode_token id) {
    return known_id(v, id) && v->scores ? v->scores[id] : 0.0f;
}

lode_slice lode_vocab_text(const lode_vocab *v, lode_token id) {
    return known_id(v, id) ? lode_token_text(v, (uint32_t)id) : (lode_slice){ "", 0 };
}

lode_token lode_vocab_find(const lode_vocab *v, const char *text, size_t n) { return lode_token_find(v, text, n); }

/* Output that counts past its end. */
typedef struct {
    char *buf;
    size_t n, cap;
} sink;

static void put(sink *s, const char *p, size_t n) {
    if (s->n < s->cap) memcpy(s->buf + s->n, p, n < s->cap - s->n ? n : s->cap - s->n);
    s->n += n;
}

static void put_spm(sink *s, lode_slice t) {
    size_t from = 0;
    for (size_t i = 0; i + 3 <= t.n; i++) {
        if (t.p[i] != space_char[0] || memcmp(t.p + i, space_char, 3) != 0) continue;
        put(s, t.p + from, i - from);
        put(s, " ", 1);
        i += 2;
        from = i + 1;
    }
    put(s, t.p + from, t.n - from);
}

static void put_bpe(sink *s, lode_slice t) {
    for (size_t i = 0; i < t.n;) {
        uint32_t cp;
        const int len = lode_utf8_next(t.p + i, t.n - i, &cp), byte = len ? lode_char_byte(cp) : -1;
        const char c = (char)byte;
        if (byte >= 0)
            put(s, &c, 1);
        else
            put(s, t.p + i, len ? (size_t)len : 1);
        i += len ? (size_t)len : 1;
    }
}

size_t lode_vocab_piece(const lode_vocab *v, lode_token id, bool special, char *buf, size_t cap) {
    if (!known_id(v, id)) return 0;
    const lode_slice t = lode_token_text(v, (uint32_t)id);
    const uint8_t type = v->types[id];
    sink s = { .buf = buf, .cap = cap };
    if (type == LODE_TOKEN_CONTROL || type == LODE_TOKEN_UNKNOWN) {
        if (special) put(&s, t.p, t.n);
        return s.n;
    }
    const int byte = type == LODE_TOKEN_BYTE ? byte_value(t) : -1;
    if (byte >= 0)
        put(&s, &(char){ (char)byte }, 1);
    else if (type == LODE_TOKEN_USER)
        put(&s, t.p, t.n);
    else if (v->kind == LODE_VOCAB_SPM)
        put_spm(&s, t);
    else
        put_bpe(&s, t);
    return s.n;
}
