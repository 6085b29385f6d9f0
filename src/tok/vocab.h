/* vocab.h - the inside of a lode_vocab, for the files of this folder.
 *
 * All texts lie in one block; two hash tables with open addressing (tokens by text, merges by their two halves) hold a
 * tag of the hash and an index, so that opening costs a handful of allocations and one pass over the texts. */
#ifndef LODE_TOK_VOCAB_H
#define LODE_TOK_VOCAB_H

#include "lode/tok.h"
#include "tok/pretok.h"

#include <pthread.h>
#include <string.h>

enum { LODE_TOKEN_IS_EOG = 1 }; /* bits in lode_vocab.marks */

#define LODE_NO_PRIORITY UINT32_MAX

/* Open addressing; a slot holds index + 1, 0 when empty. */
typedef struct lode_hash {
    struct {
        uint32_t tag, index1;
    } *slots; /* own */
    uint32_t mask;
} lode_hash;

struct lode_vocab {
    lode_vocab_kind kind;
    const lode_pretok_name *pre; /* NULL for SPM */
    int32_t n_tokens;
    uint32_t n_merges;
    char *texts;        /* own; tokens, then merges */
    uint32_t *token_at; /* own; [n_tokens + 1] into texts */
    uint32_t *merge_at; /* own; [n_merges + 1] */
    float *scores;      /* own; [n_tokens] or NULL */
    uint8_t *types;     /* own; [n_tokens], lode_token_type */
    uint8_t *marks;     /* own; [n_tokens] */
    uint32_t longest;   /* bytes of the longest token's text */
    lode_hash by_text, by_halves;
    lode_token special[LODE_N_SPECIAL];
    bool add_bos, add_eos, add_space_prefix, strip_after_special;
    lode_token byte_token[256]; /* what a byte that no token covers becomes, or LODE_NO_TOKEN */
    bool space_joins[256];      /* SPM: some token has a space behind this byte, so no cut is safe there */
    lode_token *cut_out;        /* own; tokens recognised in text, sorted by text */
    uint32_t n_cut_out;
    uint32_t cut_from[257]; /* those that start with byte b: cut_out[cut_from[b] .. cut_from[b + 1]) */
    lode_log log;
    struct lode_lazy *lazy; /* own */
};

/* What is made when first needed; the lock guards making it. */
struct lode_lazy {
    pthread_mutex_t lock;
    lode_pretok *pretok; /* own; NULL until the first text is encoded */
};

static inline lode_slice lode_token_text(const lode_vocab *v, uint32_t id) {
    return (lode_slice){ v->texts + v->token_at[id], v->token_at[id + 1] - v->token_at[id] };
}

/* Tokens that encoding plain text may produce. */
static inline bool lode_token_is_plain(const lode_vocab *v, lode_token id) {
    const uint8_t t = v->types[id];
    return t != LODE_TOKEN_CONTROL && t != LODE_TOKEN_UNKNOWN && t != LODE_TOKEN_BYTE;
}

/* hash.c: hashing and the two look-ups. */
uint64_t lode_hash_bytes(const char *p, size_t n);
lode_status lode_hash_tokens(lode_vocab *v, lode_err *err);
lode_status lode_hash_merges(lode_vocab *v, lode_err *err);
lode_token lode_token_find(const lode_vocab *v, const char *p, size_t n);
/* The rank of the merge of two neighbours, LODE_NO_PRIORITY when there is none. */
uint32_t lode_merge_find(const lode_vocab *v, const char *left, size_t n_left, size_t n_right);

/* bytes.c: the alphabet of byte-level BPE, in which byte 0x20 is written as the character U+0120 and so on. */
int lode_byte_char(uint8_t byte, char out[2]); /* writes 1 or 2 bytes of UTF-8, returns how many */
int lode_char_byte(uint32_t cp);               /* the byte that a character stands for, or -1 */
void lode_find_byte_tokens(lode_vocab *v);

/* special.c */
void lode_find_roles(lode_vocab *v);
lode_status lode_find_cut_out(lode_vocab *v, lode_err *err);
/* The longest token that text[at..) starts with; its length in *n. With `control` false only user-defined ones. */
lode_token lode_match_cut_out(const lode_vocab *v, const char *text, size_t n_text, bool control, size_t *n);
#endif
