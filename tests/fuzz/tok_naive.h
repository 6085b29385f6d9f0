/* tok_naive.h - tokenization as its definition says it, slowly: of all neighbours that form a pair the best, leftmost
 * of equals, joins, over the whole text or word, until none does. For the fuzz target and the tests of src/tok;
 * vocabularies made here have a token for every byte. */
#ifndef LODE_TESTS_TOK_NAIVE_H
#define LODE_TESTS_TOK_NAIVE_H

#include "base/mem.h"
#include "base/str.h"
#include "lode/tok.h"
#include "tok/pretok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAIVE_BASE = 3 + 256, NAIVE_MAX_MORE = 128 }; /* <unk> <s> </s>, a token per byte; then what the caller adds */

/* A vocabulary described by lines: tokens of SPM, earlier ones scored higher, or merges of BPE ("left right"). */
typedef struct naive_vocab {
    lode_vocab_desc d;
    char base[NAIVE_BASE][8];
    lode_slice tokens[NAIVE_BASE + NAIVE_MAX_MORE], merges[NAIVE_MAX_MORE];
    float scores[NAIVE_BASE + NAIVE_MAX_MORE];
    int32_t types[NAIVE_BASE + NAIVE_MAX_MORE];
    lode_str joined[NAIVE_MAX_MORE]; /* own: texts of the merges' tokens */
} naive_vocab;

/* A byte in the alphabet of byte-level BPE: printable ones as themselves, the others in rising order from U+0100. */
static inline uint32_t naive_byte_char(int byte) {
    uint32_t next = 0x100;
    for (int b = 0;; b++) {
        const bool own = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
        if (b == byte) return own ? (uint32_t)b : next;
        next += !own;
    }
}

static inline void naive_token(naive_vocab *n, lode_slice text, int type, float score) {
    const size_t i = n->d.n_tokens;
    if (i >= NAIVE_BASE + NAIVE_MAX_MORE) return;
    n->tokens[i] = text;
    n->types[i] = type;
    n->scores[i] = score;
    n->d.n_tokens++;
}

/* Begins a vocabulary, of which the space is a token; lode_vocab_open(&v, &n->d, ..) makes it. */
static inline void naive_init(naive_vocab *n, lode_vocab_kind kind) {
    static const char *const first[] = { "<unk>", "<s>", "</s>" };
    memset(n, 0, sizeof *n);
    lode_vocab_desc_init(&n->d, kind);
    for (int i = 0; i < NAIVE_BASE; i++) {
        if (i < 3) {
            snprintf(n->base[i], 8, "%s", first[i]);
        } else if (kind == LODE_VOCAB_SPM) {
            snprintf(n->base[i], 8, "<0x%02X>", (unsigned)(uint8_t)(i - 3));
        } else {
            lode_str s = { 0 };
            lode_str_utf8(&s, naive_byte_char(i - 3));
            memcpy(n->base[i], s.p, s.n);
            lode_str_free(&s);
        }
        n->tokens[i] = (lode_slice){ n->base[i], strlen(n->base[i]) };
        n->types[i] = i == 0 ? LODE_TOKEN_UNKNOWN : i < 3 ? LODE_TOKEN_CONTROL : LODE_TOKEN_NORMAL;
        if (i >= 3 && kind == LODE_VOCAB_SPM) n->types[i] = LODE_TOKEN_BYTE;
    }
    n->d.n_tokens = NAIVE_BASE;
    n->d.tokens = n->tokens;
    n->d.scores = n->scores;
    n->d.types = n->types;
    n->d.merges = n->merges;
    n->d.pre = (lode_slice){ "gpt-2", 5 };
    n->d.special[LODE_SPECIAL_UNK] = 0;
    n->d.special[LODE_SPECIAL_BOS] = 1;
    n->d.special[LODE_SPECIAL_EOS] = 2;
    if (kind == LODE_VOCAB_SPM) naive_token(n, (lode_slice){ "\xE2\x96\x81", 3 }, LODE_TOKEN_NORMAL, -1000);
}

/* A merge and, unless it exists already, the token that it makes. The line is borrowed. */
static inline void naive_merge(naive_vocab *n, lode_slice line) {
    const char *space = line.n > 1 ? memchr(line.p + 1, ' ', line.n - 1) : NULL;
    const size_t i = n->d.n_merges, left = space ? (size_t)(space - line.p) : 0;
    if (!space || i >= NAIVE_MAX_MORE) return;
    lode_str_add(&n->joined[i], line.p, left);
    lode_str_add(&n->joined[i], space + 1, line.n - left - 1);
    n->merges[n->d.n_merges++] = line;
    naive_token(n, (lode_slice){ n->joined[i].p, n->joined[i].n }, LODE_TOKEN_NORMAL, 0);
}

static inline void naive_free(naive_vocab *n) {
    for (int i = 0; i < NAIVE_MAX_MORE; i++) lode_str_free(&n->joined[i]);
}

static inline bool naive_plain(const lode_vocab *v, lode_token id) {
    const lode_token_type t = lode_vocab_type(v, id);
    return id >= 0 && t != LODE_TOKEN_CONTROL && t != LODE_TOKEN_UNKNOWN && t != LODE_TOKEN_BYTE;
}

/* Whether left and right, neighbours at p, may join; a smaller *rank is better. */
static inline bool naive_rank(const naive_vocab *n, const lode_vocab *v, const char *p, size_t left, size_t right,
                              double *rank) {
    if (n->d.kind == LODE_VOCAB_SPM) {
        const lode_token id = lode_vocab_find(v, p, left + right);
        if (!naive_plain(v, id)) return false;
        *rank = -(double)lode_vocab_score(v, id);
        return true;
    }
    for (size_t i = 0; i < n->d.n_merges; i++) {
        const lode_slice m = n->merges[i];
        if (m.n != left + right + 1 || m.p[left] != ' ' || memcmp(m.p, p, left) != 0) continue;
        if (memcmp(m.p + left + 1, p + left, right) != 0) continue;
        *rank = (double)i;
        return true;
    }
    return false;
}

static inline void naive_put(const naive_vocab *n, const lode_vocab *v, const char *p, size_t len, lode_tokens *out) {
    const lode_token id = lode_vocab_find(v, p, len);
    if (naive_plain(v, id)) {
        (void)LODE_PUSH(out, id);
        return;
    }
    uint32_t cp;
    for (size_t i = 0; i < len;) {
        const int k = n->d.kind == LODE_VOCAB_BPE ? lode_utf8_next(p + i, len - i, &cp) : 1;
        char byte[8];
        snprintf(byte, sizeof byte, "<0x%02X>", (unsigned)(uint8_t)p[i]);
        const lode_token b =
            n->d.kind == LODE_VOCAB_BPE ? lode_vocab_find(v, p + i, (size_t)k) : lode_vocab_find(v, byte, 6);
        (void)LODE_PUSH(out, b);
        i += (size_t)k;
    }
}

/* Merges a word as the vocabulary spells it. */
static inline void naive_word(const naive_vocab *n, const lode_vocab *v, const char *p, size_t len, lode_tokens *out) {
    size_t *end = malloc((len + 1) * sizeof *end), n_spans = 0;
    for (size_t at = 0; end && at < len; n_spans++) {
        uint32_t cp;
        const int k = lode_utf8_next(p + at, len - at, &cp);
        at += k ? (size_t)k : 1;
        end[n_spans] = at;
    }
    for (bool joined = true; joined;) {
        double best = 0, rank = 0;
        size_t at = 0;
        joined = false;
        for (size_t i = 0; i + 1 < n_spans; i++) {
            const size_t from = i ? end[i - 1] : 0;
            if (!naive_rank(n, v, p + from, end[i] - from, end[i + 1] - end[i], &rank)) continue;
            if (joined && rank >= best) continue;
            joined = true;
            best = rank;
            at = i;
        }
        if (!joined) break;
        memmove(end + at, end + at + 1, (n_spans - at - 1) * sizeof *end);
        n_spans--;
    }
    for (size_t i = 0, from = 0; i < n_spans; from = end[i++]) naive_put(n, v, p + from, end[i] - from, out);
    free(end);
}

/* Ids of plain text without BOS and without special or user-defined tokens; the words of BPE end at ends[0..n_ends). */
static inline void naive_encode(const naive_vocab *n, const lode_vocab *v, const char *text, const uint32_t *ends,
                                size_t n_ends, lode_tokens *out) {
    for (size_t w = 0, from = 0; w < n_ends; from = ends[w++]) {
        lode_str s = { 0 };
        const bool spm = n->d.kind == LODE_VOCAB_SPM;
        if (spm && lode_vocab_adds_space(v)) lode_str_utf8(&s, 0x2581);
        for (size_t i = from; i < ends[w]; i++) {
            if (!spm)
                lode_str_utf8(&s, naive_byte_char((uint8_t)text[i]));
            else if (text[i] == ' ')
                lode_str_utf8(&s, 0x2581);
            else
                lode_str_putc(&s, text[i]);
        }
        naive_word(n, v, s.p, s.n, out);
        lode_str_free(&s);
    }
}
#endif
