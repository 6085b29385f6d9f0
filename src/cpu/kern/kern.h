/* kern.h - the CPU's arithmetic as plain functions on raw pointers, one table of them per instruction set.
 *
 * Nothing here knows graphs, tensors, threads or memory management. Every function is pure: it reads its arguments,
 * writes its outputs (and its scratch) and may run on any thread. Rows need no alignment beyond that of their element
 * (quantised rows: none); strides are in bytes.
 *
 * Determinism: each output value is one fixed sequence of operations of its own inputs. It does not depend on how many
 * columns, rows, tokens or heads a call has, nor on where a range was cut; it does depend on the table (the ISA). */
#ifndef LODE_CPU_KERN_H
#define LODE_CPU_KERN_H

#include "lode/tensor.h"

/* ---- Matrix times columns: y[c][r] = sum_k w[r][k] * x[c][k] ---------------------------------------------------- */

typedef struct {
    const void *w;   /* weight row 0: k elements of the kernel's type, in the file's layout */
    size_t w_stride; /* bytes between weight rows */
    const void *x;   /* column 0: k activations, Q8A or F32 (see the table below) */
    size_t x_stride; /* bytes between columns */
    float *y;        /* y of column 0, row 0: always the whole matrix's row 0, also when a call does rows 64..128 */
    size_t y_stride; /* bytes between columns of y */
    int64_t k;       /* a multiple of the weight type's block */
    int64_t n_cols;  /* at least 1 */
    void *scratch;   /* gemm_scratch() bytes, aligned to 64, one per thread */
} lode_gemm_args;

/* Computes y for rows row0 <= r < row1 (any range; cut at multiples of row_tile for speed) and all columns. */
typedef void (*lode_gemm_fn)(const lode_gemm_args *a, int64_t row0, int64_t row1);

/* ---- Attention -------------------------------------------------------------------------------------------------- */

/* KV cells are addressed through pages of LODE_KV_PAGE cells: cell i of a sequence (i counts from its first token)
 * lies at k + ((size_t)pages[i / LODE_KV_PAGE] * LODE_KV_PAGE + i % LODE_KV_PAGE) * k_stride, the same for v.
 * Softmax runs over chunks of LODE_KV_PAGE cells and is merged over parts of LODE_ATTN_PART cells, both aligned to the
 * index in the sequence. So a part may be computed by any thread. */
enum { LODE_KV_PAGE = 64, LODE_ATTN_PART = 512, LODE_ATTN_MAX_D = 1024 };

/* Queries of consecutive tokens of one sequence against one KV head. Row (t, h) of q is
 * q + t * q_tok_stride + h * q_head_stride, out likewise. */
typedef struct {
    const float *q; /* d_k floats a row */
    size_t q_tok_stride, q_head_stride;
    float *out; /* d_v floats a row */
    size_t out_tok_stride, out_head_stride;
    const void *k, *v;         /* this KV head inside cell 0 of page 0 */
    size_t k_stride, v_stride; /* bytes between cells */
    lode_type kv_type;         /* LODE_F16 or LODE_F32 */
    const int32_t *pages;      /* page table of the sequence */
    const int32_t *lo, *hi;    /* [n_tok] each token sees the cells lo <= i < hi; none: zeros */
    const float *sinks;        /* [n_head] logit that takes part in the softmax without a value, or NULL */
    /* Added to the scores after softcap, times slopes[head] (NULL: 1): the f16 of cell i for row (t, h) is
     * mask[t * mask_tok_stride / 2 + h * mask_head_stride / 2 + i]; -inf hides a cell. NULL for none. */
    const uint16_t *mask;
    size_t mask_tok_stride, mask_head_stride; /* bytes */
    const float *slopes;
    float scale, softcap;  /* score = softcap ? softcap * tanh(scale * qk / softcap) : scale * qk */
    int32_t n_tok, n_head; /* query heads that share this KV head */
    int32_t d_k, d_v;      /* at most LODE_ATTN_MAX_D */
    void *scratch;         /* attn_scratch() bytes, aligned to 64, one per thread */
    float *part;           /* attn_part, attn_merge only: n_parts * n_tok * n_head * (d_v + 2) floats */
} lode_attn_args;

/* ---- Rows of floats --------------------------------------------------------------------------------------------- */

typedef enum { LODE_ROPE_PAIRS, LODE_ROPE_HALVES } lode_rope_kind; /* (2i, 2i+1) or (i, i + n_rot/2) */

typedef struct lode_kern {
    const char *name; /* "portable", "avx2", "avx512", "amx" */
    int row_tile;     /* rows that a gemm does together */

    /* By weight type. gemm: quantised weights take Q8A columns; F32, F16 and BF16 take F32 columns.
     * gemm_f32: F32 columns for every type of floats. NULL where there is none (integers, Q8A; gemm also for types
     * without integer kernels). */
    lode_gemm_fn gemm[LODE_N_TYPE], gemm_f32[LODE_N_TYPE];
    /* Scratch of one thread for either function, for any number of rows and up to n_cols columns. */
    size_t (*gemm_scratch)(lode_type t, int64_t k, int64_t n_cols, bool f32_columns);

    /* F32 row to Q8A blocks; n a multiple of 32. */
    void (*quantize_q8a)(const float *x, void *y, int64_t n);

    /* attn: everything of args->n_tok tokens. Or in parts, which gives the same bits: attn_part for each
     * 0 <= p < n_parts = attn_n_parts(lowest lo, highest hi) on any threads, then attn_merge. */
    void (*attn)(const lode_attn_args *a);
    void (*attn_part)(const lode_attn_args *a, int32_t p);
    void (*attn_merge)(const lode_attn_args *a);
    size_t (*attn_scratch)(int32_t d_k, int32_t d_v, int32_t n_tok, int32_t n_head);

    /* y may be x in all of these. w, b: NULL for none. n >= 1. */
    void (*rms_norm)(const float *x, const float *w, float *y, int64_t n, float eps);
    void (*layer_norm)(const float *x, const float *w, const float *b, float *y, int64_t n, float eps);
    void (*l2_norm)(const float *x, float *y, int64_t n, float eps);
    /* y = softmax(scale * x + mask), cap > 0: cap * tanh(scale * x / cap) first. mask: NULL for none. */
    void (*softmax)(const float *x, const float *mask, float *y, int64_t n, float scale, float cap);
    void (*add)(const float *a, const float *b, float *y, int64_t n);
    void (*sub)(const float *a, const float *b, float *y, int64_t n);
    void (*mul)(const float *a, const float *b, float *y, int64_t n);
    void (*div)(const float *a, const float *b, float *y, int64_t n);
    void (*scale)(const float *x, float *y, int64_t n, float s, float bias); /* y = s * x + bias */
    void (*mad)(const float *x, float *y, int64_t n, float s);               /* y += s * x */
    void (*silu)(const float *x, float *y, int64_t n);
    void (*gelu)(const float *x, float *y, int64_t n);     /* tanh form */
    void (*gelu_erf)(const float *x, float *y, int64_t n); /* exact form */
    void (*relu)(const float *x, float *y, int64_t n);
    void (*sigmoid)(const float *x, float *y, int64_t n);
    void (*tanh)(const float *x, float *y, int64_t n);
    void (*exp)(const float *x, float *y, int64_t n);
    void (*softcap)(const float *x, float *y, int64_t n, float cap);         /* cap * tanh(x / cap) */
    void (*swiglu)(const float *gate, const float *up, float *y, int64_t n); /* silu(gate) * up */
    void (*geglu)(const float *gate, const float *up, float *y, int64_t n);  /* gelu(gate) * up, tanh form */
    /* cs: n_rot / 2 pairs (cos, sin). Each of the n_head heads of d_head floats turns its first n_rot values; the
     * others are copied. Heads are x_stride and y_stride bytes apart. */
    void (*rope)(const float *x, size_t x_stride, const float *cs, float *y, size_t y_stride, const int32_t dims[3],
                 lode_rope_kind kind); /* dims: n_head, d_head, n_rot */
    void (*f32_to_f16)(const float *x, uint16_t *y, int64_t n);
    void (*f16_to_f32)(const uint16_t *x, float *y, int64_t n);
    void (*f32_to_bf16)(const float *x, uint16_t *y, int64_t n);
    void (*bf16_to_f32)(const uint16_t *x, float *y, int64_t n);
    int64_t (*argmax)(const float *x, int64_t n); /* lowest index of the largest value; NaN never wins */
} lode_kern;

/* Number of parts of a call: parts are numbered from the one that holds the lowest lo. */
int32_t lode_attn_n_parts(const lode_attn_args *a);

/* ---- Which tables this program and machine have ------------------------------------------------------------------ */

/* NULL when the build has none. */
const lode_kern *lode_kern_portable(void);
const lode_kern *lode_kern_avx2(void);
const lode_kern *lode_kern_avx512(void);
const lode_kern *lode_kern_amx(void);

/* The best table that this machine runs; never NULL. */
const lode_kern *lode_kern_best(void);
/* The table of a name, for --isa; refused with the reason when the name is unknown, not built or not in this machine.
 * NULL or "" is the best. */
lode_status lode_kern_by_name(const lode_kern **out, const char *name, lode_err *err);
#endif
