/* detok.c - ids to text, whole or as a stream that never shows half a character. */
#include "lode/tok.h"

#include "base/mem.h"
#include "base/need.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void lode_detok_init(lode_detok *d, const lode_vocab *v, unsigned flags) {
    *d = (lode_detok){ .v = v, .flags = flags };
}

void lode_detok_free(lode_detok *d) {
    if (!d) return;
    free(d->buf);
    *d = (lode_detok){ 0 };
}

/* SPM writes a space before the first word of a text that was not there; piece of the first token that shows text. */
static size_t skip_first_space(lode_detok *d, size_t from) {
    if (d->started || d->n == from) return 0;
    d->started = true;
    return lode_vocab_adds_space(d->v) && !(d->flags & LODE_DETOK_CONTINUE) && d->buf[from] == ' ';
}

static lode_status append(lode_detok *d, lode_token id, lode_err *err) {
    if (id < 0 || id >= lode_vocab_n_tokens(d->v))
        return lode_fail(err, LODE_E_INPUT, "token %d is outside the vocabulary of %d tokens", id,
                         lode_vocab_n_tokens(d->v));
    const bool special = d->flags & LODE_DETOK_SPECIAL;
    const size_t room = d->cap - d->n;
    size_t n = lode_vocab_piece(d->v, id, special, d->buf ? d->buf + d->n : NULL, room);
    if (n > room) {
        if (!lode_grow((void **)&d->buf, &d->cap, d->n + n, 1))
            return lode_fail(err, LODE_E_NOMEM, "tokenizer: no memory for the text");
        n = lode_vocab_piece(d->v, id, special, d->buf + d->n, n);
    }
    const size_t from = d->n;
    d->n += n;
    if (skip_first_space(d, from)) {
        memmove(d->buf + from, d->buf + from + 1, d->n - from - 1);
        d->n--;
    }
    return LODE_OK;
}

/* Removes what the last call handed out. */
static void drop_given(lode_detok *d) {
    if (d->given) memmove(d->buf, d->buf + d->given, d->n - d->given);
    d->n -= d->given;
    d->given = 0;
}

lode_status lode_detok_push(lode_detok *d, lode_token id, lode_slice *text, lode_err *err) {
    LODE_TRY(lode_need(d && text, __func__, err));
    *text = (lode_slice){ "", 0 };
    drop_given(d);
    LODE_TRY(append(d, id, err));
    d->given = d->n ? d->n - lode_utf8_partial(d->buf, d->n) : 0;
    if (d->given) *text = (lode_slice){ d->buf, d->given };
    return LODE_OK;
}

lode_slice lode_detok_flush(lode_detok *d) {
    drop_given(d);
    d->given = d->n;
    return d->n ? (lode_slice){ d->buf, d->n } : (lode_slice){ "", 0 };
}

lode_status lode_detokenize(const lode_vocab *v, const lode_token *ids, size_t n, unsigned flags, char **text,
                            size_t *n_text, lode_err *err) {
    LODE_TRY(lode_need(v && text && n_text && LODE_HAS(ids, n), __func__, err));
    lode_detok d;
    lode_detok_init(&d, v, flags);
    lode_status st = LODE_OK;
    for (size_t i = 0; i < n && st == LODE_OK; i++) st = append(&d, ids[i], err);
    if (st == LODE_OK && !lode_grow((void **)&d.buf, &d.cap, d.n + 1, 1))
        st = lode_fail(err, LODE_E_NOMEM, "tokenizer: no memory for the text");
    if (st != LODE_OK) {
        lode_detok_free(&d);
        return st;
    }
    d.buf[d.n] = '\0';
    *text = d.buf;
    *n_text = d.n;
    return LODE_OK;
}
