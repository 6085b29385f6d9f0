/* vocab.h - the tokenizer that a GGUF file carries. */
#ifndef LODE_MODEL_VOCAB_H
#define LODE_MODEL_VOCAB_H

#include "lode/gguf.h"
#include "lode/tok.h"

/* Makes the vocabulary of a file; it keeps nothing of the file. Warnings go to `log` (may be NULL). A file without a
 * tokenizer is LODE_E_NOT_FOUND, legal for those who work with ids alone; one of a kind that is not built here is
 * LODE_E_UNSUPPORTED and names the kind. */
lode_status lode_vocab_open_gguf(lode_vocab **out, const lode_gguf *g, const lode_log *log, lode_err *err);
#endif
