/* model.h - what the converter knows of a model: config.json with its checks, and what becomes of it.
 *
 * The steps, each one file: config.c reads and checks the parameters, keys.c writes them as GGUF metadata, rope.c the
 * scaling of positions, names.c pairs tensors with their names, vocab.c writes the tokenizer, convert.c runs all. */
#ifndef LODE_CONVERT_MODEL_H
#define LODE_CONVERT_MODEL_H

#include "convert/convert.h"
#include "convert/json.h"
#include "convert/safetensors.h"
#include "lode/gguf.h"

/* Families share tensors and parameters. */
enum {
    F_LLAMA = 1,
    F_MISTRAL3 = 2,
    F_SMOLLM3 = 4,
    F_QWEN2 = 8,
    F_QWEN3 = 16,
    F_GEMMA = 32,
    F_GEMMA2 = 64,
    F_GEMMA3 = 128,
    F_PHI3 = 256,
    F_GEMMAS = F_GEMMA | F_GEMMA2 | F_GEMMA3,
    F_ROTARY = F_LLAMA | F_MISTRAL3 | F_SMOLLM3, /* q and k rows in rotary pairs */
};

enum { CONVERT_MAX_LAYER = 1024, CONVERT_JSON_MAX = 16 << 20, CONVERT_TOKENIZER_MAX = 256 << 20 };

typedef struct convert_model {
    const lode_convert_desc *desc;
    char *config_path;  /* own */
    json_t *root;       /* own: config.json */
    const json_t *text; /* in root: text_config when there is one, else root itself */
    const json_t *rope; /* in root: rope_parameters or rope_scaling of global layers; NULL for none */
    unsigned family;
    const char *arch; /* "llama" */
    uint64_t n_layer, n_embd, n_ff, n_head, n_head_kv, d_head, n_vocab, n_ctx, n_rot;
    double eps;
    bool tied;                        /* output weights are the embedding's */
    uint64_t window;                  /* 0: none */
    uint8_t local[CONVERT_MAX_LAYER]; /* layer sees the window only */
    uint64_t n_params;                /* of all tensors written */
    lode_gguf_writer *w;              /* own */
    st_set *weights;                  /* own */
    bool has_vocab;
} convert_model;

/* config.json read, checked, families and sizes filled in. */
lode_status convert_config(convert_model *m, lode_err *err);
/* Looks in text_config, then at the top. */
const json_t *convert_get(const convert_model *m, const char *key);
lode_status convert_u64(const convert_model *m, const char *key, uint64_t lo, uint64_t hi, uint64_t *out, bool *found,
                        lode_err *err);
lode_status convert_f64(const convert_model *m, const char *key, double *out, bool *found, lode_err *err);

/* Metadata of the model itself: general.*, ARCH.*. */
lode_status convert_keys(convert_model *m, lode_err *err);
/* "ARCH." and the rest of a key. */
void convert_set_u32(convert_model *m, const char *key, uint64_t v);
void convert_set_f32(convert_model *m, const char *key, double v);
void convert_set_text(convert_model *m, const char *key, const char *text);

/* Keys and factors of scaled positions. Factor tensors: at most two, [n_rot / 2]. */
typedef struct convert_factors {
    const char *name[2]; /* NULL behind the last */
    float *v[2];         /* own */
} convert_factors;
lode_status convert_rope(convert_model *m, convert_factors *f, lode_err *err);
void convert_factors_free(convert_factors *f);

/* A tensor to write. */
typedef enum { CONVERT_AS_IS, CONVERT_Q, CONVERT_K, CONVERT_PLUS1 } convert_change;
typedef struct convert_tensor {
    char name[LODE_MAX_NAME];
    const st_tensor *from; /* NULL: `factors` */
    const float *factors;  /* borrowed */
    convert_change change;
    lode_type type;
    int n_dims;
    int64_t ne[LODE_MAX_DIMS]; /* innermost first */
} convert_tensor;
typedef struct convert_plan {
    convert_tensor *items; /* own */
    size_t n, cap;
} convert_plan;
/* Pairs every tensor with its name; one that is missing, left over or of another shape is refused by name. */
lode_status convert_names(convert_model *m, const convert_factors *f, convert_plan *plan, lode_err *err);

/* The tokenizer and the chat template; sets has_vocab. */
lode_status convert_vocab(convert_model *m, lode_err *err);
#endif
