/* encode.c - text to ids: special tokens are cut out, what lies between is cut into words, each word merges.
 *
 * Words repeat, so their ids are kept in a small table for the length of one call: the result is the same as without
 * it. All room belongs to the call; the vocabulary is only read (the compiled patterns are made once, under a lock). */
#include "base/bug.h"
#include "base/mem.h"
#include "base/need.h"
#include "base/str.h"
#include "tok/merge.h"

#include <stdlib.h>

/* Words longer than this are not remembered: they hardly ever come twice. */
enum { MAX_CACHED = 40, MIN_CACHE = 64, MAX_CACHE = 8192 };

/* A word seen before and where its ids stand in the output. */
typedef struct {
    uint32_t at, n; /* in the text */
    uint32_t ids_at, n_ids;
} seen_word;

typedef struct {
    const lode_vocab *v;
    const char *text; /* all of it; words in the cache point into it */
    size_t n;
    const lode_text_part *parts;
    size_t n_parts, part;
    size_t zone_end; /* of the stretch of parts [.., part) that agree in `special` */
    bool zone_special;
    unsigned flags;
    lode_tokens *out;
    const lode_pretok *pretok; /* NULL for SPM */
    lode_pretok_room room;
    lode_merger merger;
    lode_str word;   /* the word as the vocabulary writes it */
    seen_word *seen; /* own; [mask + 1], n 0 for empty */
    uint32_t mask;
} encoder;

static lode_status no_memory(lode_err *err) { return lode_fail(err, LODE_E_NOMEM, "tokenizer: no memory for the ids"); }

static lode_status put(encoder *e, lode_token id, lode_err *err) {
    return LODE_PUSH(e->out, id) ? LODE_OK : no_memory(err);
}

/* A stretch that is no token: its bytes. What has no byte token either is one unknown token for the character. */
static lode_status put_bytes(encoder *e, const char *p, size_t n, lode_err *err) {
    const lode_vocab *v = e->v;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        int len = lode_utf8_next(p + i, n - i, &cp);
        if (len == 0) len = 1;
        char bytes[4];
        int n_bytes = len;
        memcpy(bytes, p + i, (size_t)len);
        if (v->kind == LODE_VOCAB_BPE && len <= 2 && lode_char_byte(cp) >= 0) {
            bytes[0] = (char)lode_char_byte(cp);
            n_bytes = 1;
        }
        bool all = true;
        for (int k = 0; k < n_bytes; k++) all = all && v->byte_token[(uint8_t)bytes[k]] >= 0;
        for (int k = 0; all && k < n_bytes; k++) LODE_TRY(put(e, v->byte_token[(uint8_t)bytes[k]], err));
        const lode_token unknown = v->special[LODE_SPECIAL_UNK];
        if (!all && unknown >= 0) LODE_TRY(put(e, unknown, err));
        i += (size_t)len;
    }
    return LODE_OK;
}

/* Merges e->word and appends its ids. */
static lode_status put_word(encoder *e, lode_err *err) {
    const lode_vocab *v = e->v;
    if (e->word.failed) return no_memory(err);
    if (v->pre && (v->pre->flags & LODE_PRETOK_WHOLE)) {
        const lode_token id = lode_token_find(v, e->word.p, e->word.n);
        if (id >= 0 && lode_token_is_plain(v, id)) return put(e, id, err);
    }
    LODE_TRY(lode_merge(&e->merger, v, e->word.p, e->word.n, err));
    for (size_t i = 0; i < e->merger.n_spans; i++) {
        const lode_span s = e->merger.spans[i];
        const lode_token id = lode_token_find(v, e->word.p + s.at, s.n);
        if (id >= 0 && lode_token_is_plain(v, id))
            LODE_TRY(put(e, id, err));
        else
            LODE_TRY(put_bytes(e, e->word.p + s.at, s.n, err));
    }
    return LODE_OK;
}

/* Writes text as the vocabulary does: bytes in BPE's alphabet, or spaces as U+2581. */
static void spell(encoder *e, const char *p, size_t n, bool space_first) {
    lode_str_clear(&e->word);
    if (e->v->kind == LODE_VOCAB_BPE) {
        for (size_t i = 0; i < n; i++) {
            char c[2];
            const int len = lode_byte_char((uint8_t)p[i], c);
            lode_str_add(&e->word, c, (size_t)len);
        }
        return;
    }
    if (space_first) lode_str_puts(&e->word, "\xE2\x96\x81");
    for (size_t i = 0, from = 0; i <= n; i++) {
        if (i < n && p[i] != ' ') continue;
        lode_str_add(&e->word, p + from, i - from);
        if (i < n) lode_str_puts(&e->word, "\xE2\x96\x81");
        from = i + 1;
    }
}

/* Appends the ids of the word at [at, at + n) of the text. */
static lode_status encode_word(encoder *e, size_t at, size_t n, bool space_first, lode_err *err) {
    const char *p = e->text + at;
    if (space_first || n > MAX_CACHED || !e->seen) {
        spell(e, p, n, space_first);
        return put_word(e, err);
    }
    seen_word *w = &e->seen[lode_hash_bytes(p, n) >> 20 & e->mask];
    if (w->n == n && memcmp(e->text + w->at, p, n) == 0) {
        if (!lode_grow((void **)&e->out->items, &e->out->cap, e->out->n + w->n_ids, sizeof *e->out->items))
            return no_memory(err);
        memcpy(e->out->items + e->out->n, e->out->items + w->ids_at, w->n_ids * sizeof *e->out->items);
        e->out->n += w->n_ids;
        return LODE_OK;
    }
    const size_t from = e->out->n;
    spell(e, p, n, false);
    LODE_TRY(put_word(e, err));
    if (e->out->n <= UINT32_MAX)
        *w = (seen_word){ (uint32_t)at, (uint32_t)n, (uint32_t)from, (uint32_t)(e->out->n - from) };
    return LODE_OK;
}

/* SPM merges over whole texts; a cut before a space is safe where no token goes on with one (find_space_joins). */
static lode_status encode_spm(encoder *e, size_t at, size_t n, bool space_first, lode_err *err) {
    const char *p = e->text + at;
    size_t from = 0;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && (p[i] != ' ' || p[i - 1] == ' ' || e->v->space_joins[(uint8_t)p[i - 1]])) continue;
        LODE_TRY(encode_word(e, at + from, i - from, space_first && from == 0, err));
        from = i;
    }
    return LODE_OK;
}

static lode_status encode_bpe(encoder *e, size_t at, size_t n, lode_err *err) {
    LODE_TRY(lode_pretok_split(e->pretok, &e->room, e->text + at, n, err));
    size_t from = 0;
    for (size_t i = 0; i < e->room.n_end; i++) {
        LODE_TRY(encode_word(e, at + from, e->room.end[i] - from, false, err));
        from = e->room.end[i];
    }
    return LODE_OK;
}

/* Where the run of parts marked special that holds byte `at` ends; `at` itself when that byte is plain text. Called
 * with rising `at`, so that all calls together look at each part once. */
static size_t special_until(encoder *e, size_t at) {
    while (at >= e->zone_end && e->part < e->n_parts) {
        e->zone_special = e->parts[e->part].special;
        while (e->part < e->n_parts && (e->parts[e->part].special == e->zone_special || e->parts[e->part].n == 0))
            e->zone_end += e->parts[e->part++].n;
    }
    return e->zone_special ? e->zone_end : at;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static lode_status encode_text(encoder *e, size_t at, size_t n, bool after_special, lode_err *err) {
    if (n == 0) return LODE_OK;
    if (e->v->kind == LODE_VOCAB_BPE) return encode_bpe(e, at, n, err);
    return encode_spm(e, at, n, e->v->add_space_prefix && after_special, err);
}

/* Phi-3 swallows white space behind its control tokens, but not behind these. */
static bool keeps_space_behind(const lode_vocab *v, lode_token id) {
    return v->types[id] == LODE_TOKEN_UNKNOWN || id == v->special[LODE_SPECIAL_BOS] ||
           id == v->special[LODE_SPECIAL_PAD];
}

static lode_status encode_all(encoder *e, lode_err *err) {
    const lode_vocab *v = e->v;
    const bool bos = (e->flags & LODE_ENCODE_BOS) && lode_vocab_adds_bos(v);
    size_t from = 0;
    const size_t first = e->out->n;
    bool after_special = true;
    if (bos) LODE_TRY(put(e, v->special[LODE_SPECIAL_BOS], err));
    for (size_t i = 0; i < e->n;) {
        const int c = (uint8_t)e->text[i];
        if (v->cut_from[c] == v->cut_from[c + 1]) {
            i++;
            continue;
        }
        size_t n = 0, n_control = 0;
        const size_t until = special_until(e, i);
        lode_token id = lode_match_cut_out(v, e->text + i, e->n - i, false, &n);
        const lode_token control = until > i ? lode_match_cut_out(v, e->text + i, until - i, true, &n_control) : -1;
        if (n_control > n) {
            id = control;
            n = n_control;
        }
        if (id < 0) {
            i++;
            continue;
        }
        LODE_TRY(encode_text(e, from, i - from, after_special, err));
        const bool doubled = i == 0 && bos && (e->flags & LODE_ENCODE_ONE_BOS) && id == e->out->items[first];
        if (!doubled) LODE_TRY(put(e, id, err));
        after_special = true;
        i += n;
        if (v->strip_after_special && v->types[id] != LODE_TOKEN_USER && !keeps_space_behind(v, id))
            while (i < e->n && is_space(e->text[i])) i++;
        from = i;
    }
    LODE_TRY(encode_text(e, from, e->n - from, after_special, err));
    if ((e->flags & LODE_ENCODE_EOS) && lode_vocab_adds_eos(v)) LODE_TRY(put(e, v->special[LODE_SPECIAL_EOS], err));
    return LODE_OK;
}

/* The patterns of the vocabulary, compiled when first needed. */
static lode_status get_pretok(const lode_vocab *v, const lode_pretok **out, lode_err *err) {
    lode_status st = LODE_OK;
    pthread_mutex_lock(&v->lazy->lock);
    if (!v->lazy->pretok) st = lode_pretok_open(&v->lazy->pretok, v->pre->family, err);
    *out = v->lazy->pretok;
    pthread_mutex_unlock(&v->lazy->lock);
    return st;
}

static lode_status start_cache(encoder *e, lode_err *err) {
    if (e->n < MIN_CACHE) return LODE_OK;
    size_t size = MIN_CACHE;
    while (size < MAX_CACHE && size < e->n / 8) size *= 2;
    e->seen = lode_calloc(size, sizeof *e->seen);
    e->mask = (uint32_t)(size - 1);
    return e->seen ? LODE_OK : no_memory(err);
}

static lode_status run(encoder *e, lode_err *err) {
    LODE_TRY(start_cache(e, err));
    if (e->v->kind == LODE_VOCAB_BPE) LODE_TRY(get_pretok(e->v, &e->pretok, err));
    return encode_all(e, err);
}

lode_status lode_encode_parts(const lode_vocab *v, const lode_text_part *parts, size_t n_parts, unsigned flags,
                              lode_tokens *out, lode_err *err) {
    LODE_TRY(lode_need(out && LODE_HAS(parts, n_parts), __func__, err));
    encoder e = { .v = v, .parts = parts, .n_parts = n_parts, .flags = flags, .out = out };
    lode_str joined = { 0 };
    const size_t before = out->n;
    if (!v) return lode_fail(err, LODE_E_INPUT, "tokenizer: there is none (lode_model_vocab_note says why): give ids");
    for (size_t i = 0; i < n_parts; i++)
        if (!lode_add_ok(e.n, parts[i].n, &e.n) || e.n > LODE_ENCODE_MAX)
            return lode_fail(err, LODE_E_FULL, "tokenizer: the text is longer than %zu bytes", LODE_ENCODE_MAX);
    if (n_parts > 1) {
        for (size_t i = 0; i < n_parts; i++) lode_str_add(&joined, parts[i].p, parts[i].n);
        if (joined.failed) {
            lode_str_free(&joined);
            return no_memory(err);
        }
    }
    e.text = n_parts > 1 ? joined.p : n_parts ? parts[0].p : "";
    const lode_status st = run(&e, err);
    if (st != LODE_OK) out->n = before;
    free(e.seen);
    lode_str_free(&e.word);
    lode_str_free(&joined);
    lode_merger_free(&e.merger);
    lode_pretok_room_free(&e.room);
    return st;
}

lode_status lode_encode(const lode_vocab *v, const char *text, size_t n, unsigned flags, lode_tokens *out,
                        lode_err *err) {
    LODE_TRY(lode_need(out && LODE_HAS(text, n), __func__, err));
    const lode_text_part part = { text, n, flags & LODE_ENCODE_SPECIAL };
    return lode_encode_parts(v, &part, 1, flags, out, err);
}

void lode_tokens_free(lode_tokens *t) {
    if (!t) return;
    free(t->items);
    *t = (lode_tokens){ 0 };
}
