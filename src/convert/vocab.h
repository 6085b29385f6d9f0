/* vocab.h - the tokenizer's files while they are converted: shared by vocab.c, pretok.c and special.c. */
#ifndef LODE_CONVERT_VOCAB_H
#define LODE_CONVERT_VOCAB_H

#include "convert/model.h"

typedef struct convert_source {
    convert_model *m;    /* borrowed */
    char *path;          /* own: of tokenizer.json */
    json_t *tokenizer;   /* own */
    json_t *config;      /* own: tokenizer_config.json; NULL when there is none */
    json_t *generation;  /* own: generation_config.json; NULL when there is none */
    const json_t *model; /* in tokenizer: "model" */
    const json_t *vocab; /* in model */
} convert_source;

/* The id of a token by its text, added tokens first; -1 when there is none. */
int64_t convert_token_id(const convert_source *s, const char *text, size_t n);

/* tokenizer.ggml.pre: which of the known pre-tokenizers tokenizer.json describes. LODE_E_UNSUPPORTED says what it has.
 */
lode_status convert_pretok(const convert_source *s, const char **name, lode_err *err);

/* Ids of special tokens, whether BOS and EOS are added. */
void convert_special(const convert_source *s);
/* Chat templates and sampling defaults: needs no tokenizer.json. */
lode_status convert_generation(const convert_source *s, lode_err *err);
#endif
