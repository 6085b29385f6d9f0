/* lode/tensor.h - element types and tensors.
 *
 * A tensor has a type and up to four sizes ne[0..3], innermost first: a matrix of K columns and N rows is [K, N], a
 * batch of token embeddings [d, tokens], attention heads [d_head, heads, tokens]. nb[i] is the distance in bytes
 * between neighbours along dimension i; nb[0] is the size of one block of the type.
 *
 * A view is a tensor that shares another's memory, never a step of the computation. */
#ifndef LODE_TENSOR_H
#define LODE_TENSOR_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types; the list is types.def. */
typedef enum {
#define TYPE(id, name, file, elements, bytes) LODE_##id,
#include "types.def"
#undef TYPE
    LODE_N_TYPE
} lode_type;

enum { LODE_MAX_DIMS = 4, LODE_MAX_SRC = 8, LODE_MAX_NAME = 64, LODE_MAX_PAR = 96 };

/* Name ("q4_k"), elements per block, bytes per block, number in GGUF files (-1: none) of a type. */
LODE_API const char *lode_type_name(lode_type t);
LODE_API int lode_type_block(lode_type t);
LODE_API int lode_type_bytes(lode_type t);
LODE_API int lode_type_file_id(lode_type t);

/* The type of a GGUF type number or of a name (any case); LODE_N_TYPE when there is none. */
LODE_API lode_type lode_type_of_file_id(uint32_t id);
LODE_API lode_type lode_type_of_name(const char *name);
/* What the world calls a GGUF type number, known to this library or not ("IQ2_XXS"); "unknown" when nobody does. */
LODE_API const char *lode_file_type_name(uint32_t id);

/* Bytes of n elements in a row (n is a multiple of the block), checked: false when n is not or the size wraps. */
LODE_API bool lode_row_bytes(lode_type t, int64_t n, size_t *bytes);

struct lode_buffer;

/* A tensor. The struct lives in the arena of its graph or model; `buffer` is borrowed. */
typedef struct lode_tensor {
    lode_type type;
    uint16_t op;    /* lode_op; LODE_OP_NONE for data: weights, inputs, caches */
    uint16_t flags; /* LODE_T_* */
    int64_t ne[LODE_MAX_DIMS];
    size_t nb[LODE_MAX_DIMS];
    struct lode_tensor *src[LODE_MAX_SRC];
    struct lode_tensor *view_of; /* the tensor whose memory this one shares, NULL for none; never itself a view */
    size_t view_off;             /* bytes from the start of view_of */
    struct lode_buffer *buffer;  /* NULL until placed */
    size_t offset;               /* bytes from the start of `buffer` */
    union {
        unsigned char par[LODE_MAX_PAR]; /* the op's parameter struct */
        double align_;
    };
    int32_t id;     /* index in its graph, -1 outside one */
    int32_t n_use;  /* readers inside the graph */
    int8_t dyn;     /* which run-time count one of its sizes follows: LODE_DYN_* */
    int8_t dyn_dim; /* and which size that is: the outermost in use */
    int16_t layer;  /* of its tag, -1 */
    char name[LODE_MAX_NAME];
} lode_tensor;

/* Sizes that change from run to run of one plan, up to the size that the plan was made for. */
enum { LODE_DYN_NONE, LODE_DYN_TOKENS, LODE_DYN_OUTPUTS, LODE_N_DYN };

enum {
    LODE_T_INPUT = 1,  /* written by the caller before each run */
    LODE_T_OUTPUT = 2, /* read by the caller after a run: its memory is not reused */
    LODE_T_WEIGHT = 4, /* constant while the model lives */
    LODE_T_STATE = 8,  /* lives across runs: KV cache */
};

/* Number of elements, of rows (ne[1]*ne[2]*ne[3]), of bytes from the first to the last element. */
LODE_API int64_t lode_n_elements(const lode_tensor *t);
LODE_API int64_t lode_n_rows(const lode_tensor *t);
LODE_API size_t lode_n_bytes(const lode_tensor *t);
/* Rows lie one after the other without gaps. */
LODE_API bool lode_is_contiguous(const lode_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
