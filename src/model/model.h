/* model.h - the inside of models: hyperparameters, architecture files and what they build with.
 *
 * An architecture is a line in arch.def and a file arch/NAME.c that says which tensors a file must hold (a table) and
 * how a step is computed (build). The loader, its checks and `lode inspect` read the same table. */
#ifndef LODE_MODEL_MODEL_H
#define LODE_MODEL_MODEL_H

#include "base/mem.h"
#include "graph/graph.h"
#include "lode/model.h"

#include <stdatomic.h>

/* 0 stands for absent, unless `finish` in hparams.c gives a default. */
typedef struct lode_hparams {
#define HPARAM(field, kind, key, needed) lode_hparam_##kind field;
    /* clang-format off */
#define lode_hparam_u32 uint32_t
#define lode_hparam_f32 float
    /* clang-format on */
#include "model/hparam.def"
#undef HPARAM
#undef lode_hparam_u32
#undef lode_hparam_f32
    uint32_t n_vocab; /* from the embedding's shape */
    uint32_t
        window_period; /* of each so many layers the last sees everything, the others the window; 0: all windowed */
    bool longrope;
    lode_rope_desc rope, rope_local; /* ready to use; local: layers with a window */
    bool local_window[1024];         /* by layer */
} lode_hparams;

enum { LODE_MAX_LAYERS = 1024 };

/* A matrix with what may stand beside it in the file: NAME.weight, NAME.bias, NAME.scale (one number for all). */
typedef struct lode_linear {
    lode_tensor *w, *bias, *scale;
    bool scale_last; /* (w x + bias) scale instead of (w x) scale + bias */
} lode_linear;

/* One tensor that a file holds. `*` in the name stands for the layer. `shape` is words: embd vocab q kv qkv head ff ff2
 * rot2, or a number. `otherwise`: NULL when it must be there, "" when it may be absent, or the name of a substitute. */
typedef struct lode_tensor_rule {
    const char *name;
    uint32_t where; /* offset into weights or, with LODE_PER_LAYER, into layer */
    const char *shape, *otherwise;
} lode_tensor_rule;
#define LODE_PER_LAYER 0x80000000u
#define LODE_LINEAR 0x40000000u     /* a lode_linear; the name is without ".weight" */
#define LODE_UNSCALED 0x20000000u   /* its scale is not used: so the reference computes this architecture */
#define LODE_SCALE_LAST 0x08000000u /* its bias is scaled, too */
#define LODE_IGNORED 0x10000000u    /* may be there, is not read */
#define LODE_WHERE 0x07FFFFFFu

struct lode_build;
typedef struct lode_arch {
    const char *name;
    size_t weights_size, layer_size; /* structs of lode_tensor pointers */
    const lode_tensor_rule *tensors; /* ends with a NULL name */
    lode_rope_order rope_order;
    bool attn_softcap, final_softcap; /* whether these keys of the file count */
    /* Checks and derives what only this architecture knows; may be NULL. */
    lode_status (*prepare)(lode_hparams *hp, lode_err *err);
    /* Logits [vocab, outputs] of a step. */
    lode_tensor *(*build)(struct lode_build *b, const void *weights, const void *layers);
} lode_arch;

const lode_arch *lode_arch_find(const char *name, size_t n); /* NULL when there is none */

struct lode_model {
    atomic_int refs;
    lode_log log;
    lode_gguf *gguf; /* own */
    lode_device *device;
    const lode_arch *arch;
    lode_hparams hp;
    struct lode_vocab *vocab; /* own, or NULL */
    lode_arena arena;         /* own: tensors, weights and layers */
    void *weights, *layers;
    struct {
        lode_tensor **items; /* own array */
        size_t n, cap;
    } tensors;
    struct {
        lode_buffer **items; /* own: one per part that is used in place, and one for copies */
        size_t n, cap;
    } buffers;
    char *name; /* in arena */
    char vocab_note[512];
};

lode_status lode_hparams_read(lode_hparams *hp, const lode_gguf *g, const lode_arch *arch, lode_err *err);

/* What a step is built with. Inputs are the graph's; caches are the session's. */
typedef struct lode_build {
    lode_graph *g;
    const lode_hparams *hp;
    lode_tensor *tokens, *pos, *slots; /* i32 [t] */
    lode_tensor *pages, *spans;        /* see lode_attend */
    lode_tensor *out_ids;              /* i32 [outputs]: tokens whose logits are wanted */
    lode_tensor *q_scale;              /* f32 [1, 1, t] of architectures with attn_temp_scale, else NULL */
    lode_tensor *const *k, *const *v;  /* [n_layer] caches [d_head * n_head_kv, n_cells] */
    lode_tensor *rope_factors;         /* set by build for layers without a window; NULL for none */
    bool *turned;                      /* [n_layer]: set for layers whose keys were turned by their positions */
    int64_t n_ctx_seq;                 /* longest sequence that the session allows: longrope chooses by it */
    lode_rope_order rope_order;
} lode_build;

/* ---- blocks.c: pieces that several architectures share ---- */

lode_tensor *lode_build_embed(lode_build *b, lode_tensor *tok_embd);
lode_tensor *lode_build_norm(lode_build *b, lode_tensor *x, lode_tensor *w);
/* w x, times its scale and plus its bias where it has them. */
lode_tensor *lode_build_linear(lode_build *b, const lode_linear *l, lode_tensor *x);
/* Heads q or k turned by the angles of layer il. */
lode_tensor *lode_build_rope(lode_build *b, int il, lode_tensor *x);
/* Stores k, v [d_head, n_head_kv, t], attends with q [d_head, n_head, t] -> [d_head * n_head, t]. */
lode_tensor *lode_build_attend(lode_build *b, int il, lode_tensor *q, lode_tensor *k, lode_tensor *v);
/* In the last layer only the rows go on whose logits are wanted: applies to both values. */
void lode_build_keep(lode_build *b, int il, lode_tensor **x, lode_tensor **y);
#endif
