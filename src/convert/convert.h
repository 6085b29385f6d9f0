/* convert.h - a Hugging Face model folder made into a GGUF file that this library and llama.cpp read.
 *
 * Reads config.json, *.safetensors (one file or several with an index), tokenizer.json, tokenizer_config.json,
 * generation_config.json and chat_template.jinja. A folder without tokenizer.json gives a file without a tokenizer.
 * The output appears under its name only when it is whole. */
#ifndef LODE_CONVERT_CONVERT_H
#define LODE_CONVERT_CONVERT_H

#include "lode/tensor.h"

typedef struct lode_convert_desc {
    const char *in_dir;
    const char *out_path;
    lode_type type;   /* LODE_F32, LODE_F16, LODE_BF16 or LODE_Q8_0; norms and vectors stay in F32 */
    const char *pre;  /* name of the BPE pre-tokenizer when it is not recognised ("qwen2"); NULL: from tokenizer.json */
    const char *name; /* general.name; NULL: the folder's name */
    void (*progress)(void *user, float done, const char *tensor); /* before each tensor; NULL: none */
    bool (*abort)(void *user); /* asked between rows: true ends with LODE_E_ABORTED and leaves no file; NULL: never */
    void *user;                /* borrowed, for both */
    lode_log log;
} lode_convert_desc;

/* Errors name the file, the key or tensor, what it holds and what was expected. An unknown architecture lists those
 * that can be converted. */
lode_status lode_convert(const lode_convert_desc *desc, lode_err *err);
/* "F32, F16, BF16, Q8_0" and whether `t` is one of them. */
const char *lode_convert_types(void);
bool lode_convert_can(lode_type t);
/* The architectures that can be converted, by their names in config.json, comma-separated, into buf. */
const char *lode_convert_archs(char *buf, size_t n);

#endif
