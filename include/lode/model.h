/* lode/model.h - models: a GGUF file made ready to run.
 *
 * A model is immutable after loading and may be shared by any number of sessions and threads. Weights stay in the
 * file's mapping where the device can read them there. Counted: retain and close balance. */
#ifndef LODE_MODEL_H
#define LODE_MODEL_H

#include "backend.h"
#include "gguf.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_model lode_model;
struct lode_vocab; /* tok.h */

typedef struct lode_model_desc {
    lode_runtime *runtime; /* borrowed, outlives the model */
    const char *path;      /* the first file of a split model; a folder is refused with a hint at `lode convert` */
    lode_device *device;   /* where the weights lie; NULL: the runtime's first device */
    lode_log log;
    void (*progress)(void *user, float done); /* 0..1; NULL for none */
    void *progress_user;
} lode_model_desc;

/* Opens, checks and places a model. Errors name the file, the key or tensor, what it holds and what was expected. An
 * unknown architecture lists those that are supported. */
LODE_API lode_status lode_model_open(lode_model **out, const lode_model_desc *desc, lode_err *err);
LODE_API lode_model *lode_model_retain(lode_model *m);
LODE_API void lode_model_close(lode_model *m);

/* What a model is. Strings live as long as the model. */
typedef struct lode_model_info {
    const char *arch, *name; /* "llama", "SmolLM2 135M Instruct" ("" when the file says none) */
    const char *type;        /* "Q4_1": the type that most weight bytes have */
    int n_layer, n_embd, n_head, n_head_kv, d_head, n_ff, n_vocab, n_ctx_train, window;
    uint64_t n_params, weight_bytes;
    uint64_t decode_bytes;  /* weights that one decoded token reads */
    uint64_t kv_bytes_cell; /* KV cache of one token with F16 */
} lode_model_info;
LODE_API void lode_model_get_info(const lode_model *m, lode_model_info *out);

LODE_API const lode_gguf *lode_model_gguf(const lode_model *m);
/* NULL when the file has no tokenizer, or one that is not supported: ids in, logits out. */
LODE_API const struct lode_vocab *lode_model_vocab(const lode_model *m);
/* Why there is no tokenizer, one line; "" when there is one. */
LODE_API const char *lode_model_vocab_note(const lode_model *m);
/* The chat template of the file (not NUL-terminated); n = 0 when it has none. */
LODE_API lode_slice lode_model_chat_template(const lode_model *m);
LODE_API lode_device *lode_model_device(const lode_model *m);
/* Names of the architectures that this library runs, comma-separated. */
LODE_API const char *lode_arch_names(void);

#ifdef __cplusplus
}
#endif
#endif
