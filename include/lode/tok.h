/* lode/tok.h - tokenizers: text to token ids and back.
 *
 * Nouns. A lode_vocab holds the tokens of one model and the rules by which it cuts text: SPM (SentencePiece pieces
 * merged by score) or byte-level BPE (a regular expression cuts words, then pairs of bytes merge by rank). It is made
 * from a lode_vocab_desc, which a model's loader fills, copies all it needs, never changes afterwards and may be shared
 * freely between threads. lode_tokens is a growing array of ids. A lode_detok turns ids into text one at a time and
 * never hands out half a character.
 *
 * Life cycle: lode_vocab_desc_init, fill in, lode_vocab_open, encode and decode, lode_vocab_close.
 *
 * Special tokens. Control tokens (<|im_end|>, </s>, ...) are recognised in text only where the caller allows it: text
 * from a user must never turn into one. "User-defined" tokens (long runs of spaces, <think>, ...) are ordinary text to
 * the model and are recognised everywhere, as the reference tokenizers do.
 *
 * Bytes. Text need not be valid UTF-8: stray bytes become byte tokens and come back unchanged, except those few that a
 * byte-level vocabulary has no token for (MPT and StarCoder lack bytes that UTF-8 never uses). Two things do not come
 * back from SPM: U+2581, which is how it writes a space, and characters that a vocabulary without byte tokens lacks.
 * Text is not normalised (some models' original tokenizers apply NFC first). */
#ifndef LODE_TOK_H
#define LODE_TOK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t lode_token;
#define LODE_NO_TOKEN (-1)

typedef struct lode_vocab lode_vocab;

typedef enum { LODE_VOCAB_SPM, LODE_VOCAB_BPE, LODE_N_VOCAB_KIND } lode_vocab_kind;

/* What a token is; numbered as in GGUF's tokenizer.ggml.token_type. */
typedef enum {
    LODE_TOKEN_NORMAL = 1,
    LODE_TOKEN_UNKNOWN = 2, /* stands for text that no token covers */
    LODE_TOKEN_CONTROL = 3, /* <s>, <|im_end|>: structure, not text */
    LODE_TOKEN_USER = 4,    /* cut out of any text before the rules of the tokenizer apply */
    LODE_TOKEN_UNUSED = 5,
    LODE_TOKEN_BYTE = 6 /* one byte, written <0x0A> */
} lode_token_type;

/* Roles of special tokens; the list is special.def. */
typedef enum {
#define SPECIAL(id, name, key) LODE_SPECIAL_##id,
#include "special.def"
#undef SPECIAL
    LODE_N_SPECIAL
} lode_special;

/* What a vocabulary is made of. Everything is borrowed for the length of lode_vocab_open. The switches are -1 for "as
 * this kind and pre-tokenizer do by default", else 0 or 1. */
typedef struct lode_vocab_desc {
    lode_vocab_kind kind;
    lode_slice
        pre; /* name of the BPE pre-tokenizer, as in tokenizer.ggml.pre; empty: an old, rough one, with a warning */
    size_t n_tokens;
    const lode_slice *tokens; /* [n_tokens], as written in the file */
    const float *scores;      /* [n_tokens] or NULL; SPM merges by them */
    const int32_t *types;     /* [n_tokens] or NULL for all normal; numbers outside lode_token_type count as unused */
    size_t n_merges;
    const lode_slice *merges;           /* [n_merges], "left right", best first; BPE only */
    lode_token special[LODE_N_SPECIAL]; /* LODE_NO_TOKEN for none; out of range is dropped with a warning */
    int add_bos, add_eos, add_space_prefix;
    bool strip_after_special; /* white space behind control tokens is swallowed (Phi-3) */
    lode_log log;             /* kept by the vocabulary */
} lode_vocab_desc;

/* Zeroes *d and sets every switch and special id to "not given". */
LODE_API void lode_vocab_desc_init(lode_vocab_desc *d, lode_vocab_kind kind);

/* Refuses an empty or oversized vocabulary and an unknown pre-tokenizer (LODE_E_UNSUPPORTED, names the nearest known).
 * Empty and repeated tokens are harmless: the former are never produced, of the latter the lowest id is. */
LODE_API lode_status lode_vocab_open(lode_vocab **out, const lode_vocab_desc *d, lode_err *err);
LODE_API void lode_vocab_close(lode_vocab *v);

LODE_API lode_vocab_kind lode_vocab_kind_of(const lode_vocab *v);
LODE_API const char *lode_vocab_kind_name(lode_vocab_kind kind); /* "SPM", "BPE" */
LODE_API const char *lode_vocab_pre(const lode_vocab *v);        /* the pre-tokenizer in use; "" for SPM */
LODE_API int32_t lode_vocab_n_tokens(const lode_vocab *v);
LODE_API bool lode_vocab_adds_bos(const lode_vocab *v);
LODE_API bool lode_vocab_adds_eos(const lode_vocab *v);
/* Whether a space is put before text (SPM); decoding takes the first one away again. */
LODE_API bool lode_vocab_adds_space(const lode_vocab *v);

/* The token with a role, LODE_NO_TOKEN when there is none. Roles that the file leaves open are found by well-known
 * texts ("<|im_end|>" ends a turn). */
LODE_API lode_token lode_vocab_special(const lode_vocab *v, lode_special role);
LODE_API const char *lode_special_name(lode_special role);
/* The role's key in GGUF metadata. */
LODE_API const char *lode_special_key(lode_special role);

/* Whether generation ends at this token: a set, made of EOS, EOT, EOM and well-known texts. */
LODE_API bool lode_vocab_is_eog(const lode_vocab *v, lode_token id);
/* Writes at most `cap` ids of that set in rising order and returns how many there are. */
LODE_API size_t lode_vocab_eog(const lode_vocab *v, lode_token *ids, size_t cap);

/* About one token. Ids outside the vocabulary: unused, no text, score 0. */
LODE_API lode_token_type lode_vocab_type(const lode_vocab *v, lode_token id);
LODE_API float lode_vocab_score(const lode_vocab *v, lode_token id);
/* The text as the file has it ("Ġthe"); lives as long as the vocabulary. */
LODE_API lode_slice lode_vocab_text(const lode_vocab *v, lode_token id);
/* The token whose text in the file is exactly this; LODE_NO_TOKEN when there is none. */
LODE_API lode_token lode_vocab_find(const lode_vocab *v, const char *text, size_t n);
/* The bytes that the token stands for (" the"): writes at most `cap` of them to buf and returns how many there are, so
 * that a call with cap 0 asks for the size. Control and unknown tokens give their text when `special` is set, else
 * nothing. The bytes may be part of a character. */
LODE_API size_t lode_vocab_piece(const lode_vocab *v, lode_token id, bool special, char *buf, size_t cap);

/* Growing array of ids; zero-initialise, free with lode_tokens_free. */
typedef struct lode_tokens {
    lode_token *items; /* own */
    size_t n, cap;
} lode_tokens;
LODE_API void lode_tokens_free(lode_tokens *t);

enum {
    LODE_ENCODE_BOS = 1,     /* put BOS first if the model asks for it */
    LODE_ENCODE_EOS = 2,     /* put EOS last if the model asks for it */
    LODE_ENCODE_SPECIAL = 4, /* lode_encode only: control tokens in the text are recognised */
    LODE_ENCODE_ONE_BOS = 8, /* with BOS: not when the text itself starts with the BOS token (rendered chats) */
};
/* The longest text that is taken, in bytes: 256 MiB. */
#define LODE_ENCODE_MAX ((size_t)1 << 28)

/* Appends the ids of text to *out. On failure *out is as it was. v may be NULL, as lode_model_vocab gives it for a
 * model without tokenizer: LODE_E_INPUT. */
LODE_API lode_status lode_encode(const lode_vocab *v, const char *text, size_t n, unsigned flags, lode_tokens *out,
                                 lode_err *err);

/* A stretch of text that says whether control tokens may be recognised in it. */
typedef struct lode_text_part {
    const char *p; /* borrowed */
    size_t n;
    bool special;
} lode_text_part;

/* The same for text in parts: tokenized as if it were one text, except that a control token is only recognised where
 * all of it lies in parts marked special. Rendered chats come so: the template's own text is marked, messages are not.
 */
LODE_API lode_status lode_encode_parts(const lode_vocab *v, const lode_text_part *parts, size_t n_parts, unsigned flags,
                                       lode_tokens *out, lode_err *err);

enum {
    LODE_DETOK_SPECIAL = 1,  /* control tokens show as text */
    LODE_DETOK_CONTINUE = 2, /* the ids continue a text: keep a leading space that SPM adds at the start of texts */
};

/* Ids to text as a stream. Treat the fields as private. */
typedef struct lode_detok {
    const lode_vocab *v; /* borrowed */
    unsigned flags;
    bool started;
    char *buf; /* own */
    size_t n, cap;
    size_t given; /* bytes at the front of buf that the last call handed out */
} lode_detok;

LODE_API void lode_detok_init(lode_detok *d, const lode_vocab *v, unsigned flags);
/* Adds a token; *text is what can be shown now: whole characters, and bytes that can no longer become one as they are.
 * It lives until the next call. Ids outside the vocabulary are LODE_E_INPUT. */
LODE_API lode_status lode_detok_push(lode_detok *d, lode_token id, lode_slice *text, lode_err *err);
/* What was held back: the start of a character that never ended. */
LODE_API lode_slice lode_detok_flush(lode_detok *d);
LODE_API void lode_detok_free(lode_detok *d);

/* The whole at once: malloc'ed text with a NUL behind, its length in *n_text. */
LODE_API lode_status lode_detokenize(const lode_vocab *v, const lode_token *ids, size_t n, unsigned flags, char **text,
                                     size_t *n_text, lode_err *err);

#ifdef __cplusplus
}
#endif
#endif
