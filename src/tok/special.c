/* special.c - which tokens have a role, which end generation, and finding special tokens in text.
 *
 * Special tokens are kept sorted by text, so that a match is a walk that narrows one range per character. Those longer
 * than MAX_TEXT bytes are not looked for in text: none in use comes near, and the walk stays short on made-up files. */
#include "tok/vocab.h"

#include "base/mem.h"

#include <stdlib.h>

enum { MAX_TEXT = 512 };

enum { LODE_SPECIAL_NONE = LODE_N_SPECIAL };
typedef enum { EOG_PLAIN, EOG_EOG, EOG_IF_CONTROL } eog_rule;

#define KNOWN(text, role, eog) { text, sizeof(text) - 1, LODE_SPECIAL_##role, EOG_##eog },
static const struct {
    const char *text;
    size_t n;
    int role;
    eog_rule eog;
} known[] = {
#include "tok/known.def"
};
#undef KNOWN

static void mark_eog(lode_vocab *v, lode_token id) {
    if (id >= 0) v->marks[id] |= LODE_TOKEN_IS_EOG;
}

static bool is_eog_text(const lode_vocab *v, const char *text) {
    return lode_vocab_is_eog(v, lode_token_find(v, text, strlen(text)));
}

/* In the vocabularies of gpt-oss and Solar <|end|> ends a message and not the answer: they have other tokens for that.
 */
static void spare_end_of_message(lode_vocab *v) {
    const bool call = is_eog_text(v, "<|call|>") || is_eog_text(v, "<|calls|>");
    const lode_token end = lode_token_find(v, "<|end|>", 7);
    if (end < 0 || !call || (!is_eog_text(v, "<|return|>") && !is_eog_text(v, "<|flush|>"))) return;
    v->marks[end] &= (uint8_t)~LODE_TOKEN_IS_EOG;
    if (v->special[LODE_SPECIAL_EOT] == end) v->special[LODE_SPECIAL_EOT] = LODE_NO_TOKEN;
}

void lode_find_roles(lode_vocab *v) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const lode_token id = lode_token_find(v, known[i].text, known[i].n);
        if (id < 0) continue;
        uint8_t *type = &v->types[id];
        if (known[i].eog == EOG_IF_CONTROL) {
            if (*type == LODE_TOKEN_CONTROL) mark_eog(v, id);
            continue;
        }
        if (*type != LODE_TOKEN_CONTROL)
            lode_log_line(&v->log, LODE_LOG_WARN, "tok", "token %d '%s' is not marked as control; taken as one", id,
                          known[i].text);
        *type = LODE_TOKEN_CONTROL;
        const int role = known[i].role;
        if (role < LODE_N_SPECIAL && v->special[role] < 0) v->special[role] = id;
        if (known[i].eog == EOG_EOG) mark_eog(v, id);
    }
    static const lode_special ends[] = { LODE_SPECIAL_EOS,     LODE_SPECIAL_EOT,     LODE_SPECIAL_EOM,
                                         LODE_SPECIAL_FIM_PAD, LODE_SPECIAL_FIM_REP, LODE_SPECIAL_FIM_SEP };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) mark_eog(v, v->special[ends[i]]);
    spare_end_of_message(v);
}

/* A token to be sorted by its text. */
typedef struct {
    lode_slice text;
    lode_token id;
} by_text;

static int compare(const void *a, const void *b) {
    const by_text *x = a, *y = b;
    const size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
    const int c = memcmp(x->text.p, y->text.p, n);
    if (c) return c;
    if (x->text.n != y->text.n) return x->text.n < y->text.n ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_cut_out(const lode_vocab *v, uint32_t id) {
    const uint8_t t = v->types[id];
    const size_t n = lode_token_text(v, id).n;
    return (t == LODE_TOKEN_CONTROL || t == LODE_TOKEN_USER || t == LODE_TOKEN_UNKNOWN) && n > 0 && n <= MAX_TEXT;
}

lode_status lode_find_cut_out(lode_vocab *v, lode_err *err) {
    uint32_t n = 0;
    for (uint32_t id = 0; id < (uint32_t)v->n_tokens; id++) n += is_cut_out(v, id);
    by_text *sorted = lode_calloc(n, sizeof *sorted);
    v->cut_out = lode_calloc(n, sizeof *v->cut_out);
    if (!sorted || !v->cut_out) {
        free(sorted);
        return lode_fail(err, LODE_E_NOMEM, "vocabulary: no memory for %u special tokens", n);
    }
    n = 0;
    for (uint32_t id = 0; id < (uint32_t)v->n_tokens; id++)
        if (is_cut_out(v, id)) sorted[n++] = (by_text){ lode_token_text(v, id), (lode_token)id };
    qsort(sorted, n, sizeof *sorted, compare);
    for (uint32_t i = 0; i < n; i++) {
        v->cut_out[i] = sorted[i].id;
        v->cut_from[(uint8_t)sorted[i].text.p[0] + 1]++;
    }
    for (int b = 0; b < 256; b++) v->cut_from[b + 1] += v->cut_from[b];
    v->n_cut_out = n;
    free(sorted);
    return LODE_OK;
}

/* The first index in [lo, hi) whose text has a byte >= b at `depth`; shorter texts sort first. */
static uint32_t lower(const lode_vocab *v, uint32_t lo, uint32_t hi, size_t depth, int b) {
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const lode_slice t = lode_token_text(v, (uint32_t)v->cut_out[mid]);
        if (t.n <= depth || (uint8_t)t.p[depth] < b)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

lode_token lode_match_cut_out(const lode_vocab *v, const char *text, size_t n_text, bool control, size_t *n) {
    const int first = (uint8_t)text[0];
    uint32_t lo = v->cut_from[first], hi = v->cut_from[first + 1];
    lode_token best = LODE_NO_TOKEN;
    for (size_t depth = 1; lo < hi; depth++) {
        for (uint32_t i = lo; i < hi && lode_token_text(v, (uint32_t)v->cut_out[i]).n == depth; i++) {
            if (!control && v->types[v->cut_out[i]] != LODE_TOKEN_USER) continue;
            best = v->cut_out[i];
            *n = depth;
            break;
        }
        if (depth >= n_text) break;
        const int b = (uint8_t)text[depth];
        lo = lower(v, lo, hi, depth, b);
        hi = lower(v, lo, hi, depth, b + 1);
    }
    return best;
}
