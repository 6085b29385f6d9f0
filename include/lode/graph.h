/* lode/graph.h - graphs: what is computed, never how or where.
 *
 * A graph is a list of nodes in the order in which they were built; builders below append one node each and return its
 * tensor. Builders are sticky: the first failure is kept in the graph, later calls return a harmless tensor, and
 * lode_graph_status tells once at the end. A graph is made into a plan (plan.h) and may then be closed.
 *
 * Shapes are written innermost first: [d, tokens]. Activations are f32 unless said otherwise. A tensor whose size
 * follows a run-time count (LODE_DYN_*) gives that property to what is computed from it.
 *
 * Ownership: the graph owns the tensors that its builders return; weights and caches are borrowed.
 * Threads: one graph, one thread. */
#ifndef LODE_GRAPH_H
#define LODE_GRAPH_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_graph lode_graph;

LODE_API lode_status lode_graph_open(lode_graph **out, lode_err *err);
LODE_API void lode_graph_close(lode_graph *g);
/* LODE_OK, or the first failure of a builder with its text. */
LODE_API lode_status lode_graph_status(const lode_graph *g, lode_err *err);
LODE_API int lode_graph_n_nodes(const lode_graph *g);
LODE_API const lode_tensor *lode_graph_node(const lode_graph *g, int i); /* NULL outside */
/* Name of an op number ("rms_norm"); "none" for data. */
LODE_API const char *lode_op_name(int op);

/* A tensor that the caller writes before each run. `dyn` says which count its outermost size follows. */
LODE_API lode_tensor *lode_input(lode_graph *g, const char *name, lode_type type, int n_dims, const int64_t *ne,
                                 int dyn);
/* Marks a tensor as read by the caller after a run. */
LODE_API void lode_output(lode_graph *g, lode_tensor *t);
/* Names a tensor for --print, `lode compare` and errors: "l_out-3"; il -1 for no layer. */
LODE_API void lode_tag(lode_tensor *t, const char *name, int il);

/* Views: same memory, other shape. */
/* [d*n, tokens] as [d, n, tokens]. */
LODE_API lode_tensor *lode_heads(lode_graph *g, lode_tensor *x, int64_t d, int64_t n);
/* [d, n, tokens] as [d*n, tokens]; x must be contiguous. */
LODE_API lode_tensor *lode_merge_heads(lode_graph *g, lode_tensor *x);
/* n elements from `from` on of each row: [d, tokens] as [n, tokens] with the old distance between rows. */
LODE_API lode_tensor *lode_columns(lode_graph *g, lode_tensor *x, int64_t from, int64_t n);

/* Any sizes and distances in bytes, starting `off` bytes into x; the caller answers for their staying inside. */
LODE_API lode_tensor *lode_view(lode_graph *g, lode_tensor *x, const int64_t ne[LODE_MAX_DIMS],
                                const size_t nb[LODE_MAX_DIMS], size_t off);

/* Memory that the caller owns: it outlives what is planned from the graph. */
/* Data of like's type, sizes, distances, buffer, offset and flags (a buffer of NULL: only for asking what is
 * supported). */
LODE_API lode_tensor *lode_extern(lode_graph *g, const lode_tensor *like);
/* Makes a node write its result into where's memory, with where's distances between rows; type and sizes must be the
 * same. Returns t. */
LODE_API lode_tensor *lode_into(lode_graph *g, lode_tensor *t, const lode_tensor *where);

/* Rows, copies, layout. */
/* Rows of w [d, n, x, y] (any type) by index: ids i32 [t, x, y] -> [d, t, x, y], f32, or i32 where w is. An index
 * outside 0..n-1 gives a row of zeros. */
LODE_API lode_tensor *lode_get_rows(lode_graph *g, lode_tensor *w, lode_tensor *ids);
/* Writes x [d, t, x, y] (floats) into rows ids (i32 or i64 [t, x', y'], repeated) of target [d, n, x, y], converted to
 * its type, and returns the target as it is afterwards. An index outside writes nothing. */
LODE_API lode_tensor *lode_set_rows(lode_graph *g, lode_tensor *target, lode_tensor *x, lode_tensor *ids);
/* Copies in logical order: same sizes, or sizes ne with as many elements. Floats become any type with an encoder, f32
 * and i32 one another (cut towards zero). */
LODE_API lode_tensor *lode_copy(lode_graph *g, lode_tensor *x, lode_type type);
LODE_API lode_tensor *lode_copy_as(lode_graph *g, lode_tensor *x, lode_type type, const int64_t ne[LODE_MAX_DIMS]);
/* a (packed) with b written or added at `offset` bytes, b's dimensions 1 to 3 being nb bytes apart there. */
typedef struct lode_region {
    size_t nb[LODE_MAX_DIMS - 1], offset;
} lode_region;
LODE_API lode_tensor *lode_set(lode_graph *g, lode_tensor *a, lode_tensor *b, const lode_region *region);
LODE_API lode_tensor *lode_acc(lode_graph *g, lode_tensor *a, lode_tensor *b, const lode_region *region);
/* b behind a along a dimension; x again and again up to sizes ne, multiples of its own. Any type; blocks stay whole. */
LODE_API lode_tensor *lode_concat(lode_graph *g, lode_tensor *a, lode_tensor *b, int dim);
LODE_API lode_tensor *lode_repeat(lode_graph *g, lode_tensor *x, const int64_t ne[LODE_MAX_DIMS]);
/* f32 from here on. lo and hi elements around each dimension: zeros, or what lies at the other end. */
typedef struct lode_pad_desc {
    int32_t lo[LODE_MAX_DIMS], hi[LODE_MAX_DIMS], circular;
} lode_pad_desc;
LODE_API lode_tensor *lode_pad(lode_graph *g, lode_tensor *x, const lode_pad_desc *desc);
/* Rows mirrored at their ends, the end elements not doubled. */
LODE_API lode_tensor *lode_pad_reflect(lode_graph *g, lode_tensor *x, int left, int right);
/* Element i of each dimension moves to i + shift, around the end. */
LODE_API lode_tensor *lode_roll(lode_graph *g, lode_tensor *x, const int32_t shift[LODE_MAX_DIMS]);
/* Rows [n, 1, ...] as diagonals [n, n, ...]; `value` where column > past + row; one triangle, zeros elsewhere. */
typedef enum { LODE_TRI_UPPER_DIAG, LODE_TRI_UPPER, LODE_TRI_LOWER_DIAG, LODE_TRI_LOWER } lode_tri_kind;
LODE_API lode_tensor *lode_diag(lode_graph *g, lode_tensor *x);
LODE_API lode_tensor *lode_diag_mask(lode_graph *g, lode_tensor *x, int past, float value);
LODE_API lode_tensor *lode_tri(lode_graph *g, lode_tensor *x, lode_tri_kind kind);
/* Images [w, h, c, n] in sizes ne; dimensions 2 and 3 by the nearest element. */
typedef enum { LODE_NEAREST, LODE_BILINEAR, LODE_BICUBIC } lode_upscale_mode;
typedef struct lode_upscale_desc {
    int64_t ne[LODE_MAX_DIMS];
    lode_upscale_mode mode;
    int32_t align_corners, antialias; /* the latter with bilinear alone */
} lode_upscale_desc;
LODE_API lode_tensor *lode_upscale(lode_graph *g, lode_tensor *x, const lode_upscale_desc *desc);

/* Element by element. Types f32, f16 and bf16; values are computed in f32 and rounded once to the type of the first
 * input, which the result has. */
/* a + b, a - b, a b, a / b: b is f32 or of a's type, and is repeated to a's sizes (index modulo size). */
LODE_API lode_tensor *lode_add(lode_graph *g, lode_tensor *a, lode_tensor *b);
LODE_API lode_tensor *lode_sub(lode_graph *g, lode_tensor *a, lode_tensor *b);
LODE_API lode_tensor *lode_mul(lode_graph *g, lode_tensor *a, lode_tensor *b);
LODE_API lode_tensor *lode_div(lode_graph *g, lode_tensor *a, lode_tensor *b);
/* a f32 [n, k, t] plus column ids[k, t] (i32) of b f32 [n, e]; an id outside 0..e-1 adds nothing. */
LODE_API lode_tensor *lode_add_id(lode_graph *g, lode_tensor *a, lode_tensor *b, lode_tensor *ids);
/* s x, and s x + c. */
LODE_API lode_tensor *lode_scale(lode_graph *g, lode_tensor *x, float s);
LODE_API lode_tensor *lode_scale_offset(lode_graph *g, lode_tensor *x, float s, float c);
/* x, but at least lo and at most hi. */
LODE_API lode_tensor *lode_clamp(lode_graph *g, lode_tensor *x, float lo, float hi);
/* x where x > 0, else slope x (Maas et al. 2013). */
LODE_API lode_tensor *lode_leaky_relu(lode_graph *g, lode_tensor *x, float slope);
/* x > 0: alpha_p x^2 + beta x; else alpha_n (exp(min(x, eps)) - 1 - x) + beta x (Huang and Schlag 2024). */
typedef struct lode_xielu_desc {
    float alpha_n, alpha_p, beta, eps;
} lode_xielu_desc;
LODE_API lode_tensor *lode_xielu(lode_graph *g, lode_tensor *x, const lode_xielu_desc *desc);
/* cap * tanh(x / cap) (Gemma 2 report, 2024). */
LODE_API lode_tensor *lode_softcap(lode_graph *g, lode_tensor *x, float cap);
/* c everywhere, in type and sizes of `like`; f32 [n]: start + step i for all i with a value before stop. */
LODE_API lode_tensor *lode_fill(lode_graph *g, lode_tensor *like, float c);
LODE_API lode_tensor *lode_arange(lode_graph *g, float start, float stop, float step);
/* Functions of one element: lode_abs, lode_silu, lode_gelu, ...; unary.def says what each is. */
#define UNARY(id, name, meaning) LODE_API lode_tensor *lode_##name(lode_graph *g, lode_tensor *x);
#include "unary.def"
#undef UNARY
/* act(gate) * value, both of one shape (Shazeer 2020). In the last two, u = min(gate, limit) and w = clamp(value,
 * -limit, limit): u sigmoid(alpha u) (w + 1), and silu(u) w. */
LODE_API lode_tensor *lode_reglu(lode_graph *g, lode_tensor *gate, lode_tensor *value);
LODE_API lode_tensor *lode_geglu_erf(lode_graph *g, lode_tensor *gate, lode_tensor *value);
LODE_API lode_tensor *lode_geglu_quick(lode_graph *g, lode_tensor *gate, lode_tensor *value);
LODE_API lode_tensor *lode_swiglu_oai(lode_graph *g, lode_tensor *gate, lode_tensor *value, float alpha, float limit);
LODE_API lode_tensor *lode_swiglu_clamp(lode_graph *g, lode_tensor *gate, lode_tensor *value, float limit);

/* x / sqrt(mean(x^2) + eps) along rows (Zhang and Sennrich 2019). */
LODE_API lode_tensor *lode_rms_norm(lode_graph *g, lode_tensor *x, float eps);
/* Likewise, f32, any strides: (x - mean) / sqrt(variance + eps) (Ba et al. 2016); x / max(|x|, eps); the first over
 * dimensions 0, 1 and each of n_groups groups of channels of dimension 2 (Wu and He 2018). */
LODE_API lode_tensor *lode_layer_norm(lode_graph *g, lode_tensor *x, float eps);
LODE_API lode_tensor *lode_l2_norm(lode_graph *g, lode_tensor *x, float eps);
LODE_API lode_tensor *lode_group_norm(lode_graph *g, lode_tensor *x, int n_groups, float eps);
/* Of f32 x: sum of everything -> [1]; sum and mean of each row -> [1, ...]; running sums along rows; place of the
 * largest value of each row of a matrix, i32 [rows]. */
LODE_API lode_tensor *lode_sum(lode_graph *g, lode_tensor *x);
LODE_API lode_tensor *lode_sum_rows(lode_graph *g, lode_tensor *x);
LODE_API lode_tensor *lode_mean(lode_graph *g, lode_tensor *x);
LODE_API lode_tensor *lode_cumsum(lode_graph *g, lode_tensor *x);
LODE_API lode_tensor *lode_argmax(lode_graph *g, lode_tensor *x);
/* How many elements of two i32 tensors of one shape are equal, i64 [1]. */
LODE_API lode_tensor *lode_count_equal(lode_graph *g, lode_tensor *a, lode_tensor *b);

/* Matrix products. w [k, n, a, b] (any type with values, dense rows) times x f32 [k, t, c, d] -> f32 [n, t, c, d]:
 * y[j, t] = sum_k w[k, j] * x[k, t]. c and d are multiples of a and b: c/a neighbouring batches share a matrix. */
LODE_API lode_tensor *lode_matmul(lode_graph *g, lode_tensor *w, lode_tensor *x);
/* Mixture of experts: w [k, n, experts], x f32 [k, u', t], ids i32 [u, t], u' divides u -> f32 [n, u, t]:
 * y[:, e, t] = w[:, :, ids[e, t]] x[:, e modulo u', t]. Ids lie in 0..experts-1. */
LODE_API lode_tensor *lode_matmul_id(lode_graph *g, lode_tensor *w, lode_tensor *x, lode_tensor *ids);
/* f32 [k, t] to q8a rows, the form in which the fast matmul kernels read activations. Inserted by the plan. */
LODE_API lode_tensor *lode_quant_act(lode_graph *g, lode_tensor *x);

/* Rotary position embedding (Su et al. 2021). Pairs are (i, i + n_rot/2) in NEOX order, (2i, 2i+1) in NORM order. */
typedef enum { LODE_ROPE_NORM, LODE_ROPE_NEOX } lode_rope_order;
/* Which of several positions of a token a pair turns by (Qwen2-VL, 2024): pos holds all first ones, then all second,
 * third and fourth ones; sections say how many pairs follow each. BLOCKS: the first sections[0] pairs the first
 * position and so on, again and again; INTERLEAVED: pairs in threes, each of a third following its own while its
 * section lasts, the fourth then; VISION: as BLOCKS, the frequencies starting anew with each section. */
typedef enum { LODE_ROPE_ONE, LODE_ROPE_BLOCKS, LODE_ROPE_INTERLEAVED, LODE_ROPE_VISION } lode_rope_multi;
typedef struct lode_rope_desc {
    int32_t n_rot;     /* leading elements of each head that turn, even; the rest is copied */
    float base;        /* frequency base, 10000 for the paper */
    float scale;       /* positions are multiplied by this; 1 for none (linear scaling: 1/factor) */
    float ext_factor;  /* YaRN (Peng et al. 2023): 0 off, 1 on */
    float attn_factor; /* multiplies cos and sin; 0 counts as 1 */
    float beta_fast, beta_slow;
    int32_t n_ctx_orig; /* context of training, for YaRN */
    lode_rope_multi multi;
    int32_t sections[4];
    int32_t inverse; /* turns back */
} lode_rope_desc;
/* Angles: pos i32 [t] ([4 t] with several positions), factors f32 [n_rot/2] (frequencies are divided by them) or NULL
 * -> pairs (cos, sin), f32 [n_rot, t]. Equal tables of different layers become one in the plan. */
LODE_API lode_tensor *lode_rope_table(lode_graph *g, lode_tensor *pos, lode_tensor *factors,
                                      const lode_rope_desc *desc);
/* x [d_head, n_head, t, b] (f32, f16) turned by a table [n_rot, t], from element `offset` of each head on; what lies
 * outside is copied. */
LODE_API lode_tensor *lode_rope(lode_graph *g, lode_tensor *x, lode_tensor *table, lode_rope_order order);
LODE_API lode_tensor *lode_rope_from(lode_graph *g, lode_tensor *x, lode_tensor *table, lode_rope_order order,
                                     int offset);

/* Writes row t of x f32 [d, t] (or [d_head, n, t]) into row slots[t] of cache [d, n_cells] (f32, f16 or bf16), and
 * returns the cache as it is afterwards. A slot of -1 writes nothing. */
LODE_API lode_tensor *lode_kv_store(lode_graph *g, lode_tensor *cache, lode_tensor *x, lode_tensor *slots);

/* Attention over a paged cache. Cells of a sequence are counted from 0; cell i lies in row
 * pages[i / LODE_PAGE] * LODE_PAGE + i % LODE_PAGE of the caches. */
enum { LODE_PAGE = 64 };
/* Columns of `spans`, i32 [LODE_SPAN_N, t]: which row of `pages` is the token's sequence; the token sees cells
 * [from, to), or [from_window, to) in layers with a sliding window. */
enum { LODE_SPAN_SEQ, LODE_SPAN_FROM, LODE_SPAN_FROM_WINDOW, LODE_SPAN_TO, LODE_SPAN_N };
typedef struct lode_attend_desc {
    float scale;      /* of q.k, usually 1/sqrt(d_head) */
    float softcap;    /* 0: none; else scores become softcap * tanh(score / softcap) */
    int32_t windowed; /* read LODE_SPAN_FROM_WINDOW instead of LODE_SPAN_FROM */
    int32_t n_kv_head;
} lode_attend_desc;
typedef struct lode_attend_src {
    lode_tensor *q;     /* f32 [d_head, n_head, t] */
    lode_tensor *k, *v; /* f32 or f16 [d_head * n_kv_head, n_cells] */
    lode_tensor *pages; /* i32 [max pages per sequence, sequences] */
    lode_tensor *spans; /* i32 [LODE_SPAN_N, t] */
} lode_attend_src;
/* softmax(scale * q.k) v -> f32 [d_head * n_head, t]. A token that sees no cell gets zeros. */
LODE_API lode_tensor *lode_attend(lode_graph *g, const lode_attend_src *src, const lode_attend_desc *desc);

/* Attention over dense tensors. */
typedef struct lode_flash_attn_desc {
    float scale;      /* of q.k */
    float max_bias;   /* ALiBi (Press et al. 2021): 0 none, else slopes of heads start at 2^-(max_bias / heads) */
    float softcap;    /* as in attend */
    int32_t has_mask; /* set by the builder */
} lode_flash_attn_desc;
typedef struct lode_flash_attn_src {
    lode_tensor *q;     /* f32 [d, t, heads, b] */
    lode_tensor *k, *v; /* any types with values, dense rows: [d, keys, kv heads, b], [dv, keys, kv heads, b] */
    lode_tensor *mask;  /* f16 [keys, t or more, ...], repeated over heads and batches, added to the scores; or NULL */
    lode_tensor *sinks; /* f32 [heads]: scores that take part without a value; or NULL */
} lode_flash_attn_src;
/* softmax(scale q.k + slope mask) v -> f32 [dv, heads, t, b]. A row that sees nothing gets zeros. */
LODE_API lode_tensor *lode_flash_attn(lode_graph *g, const lode_flash_attn_src *src, const lode_flash_attn_desc *desc);
/* q f32 [d, heads, t, n], k (any type with values) [d, 1, keys, n], w f32 [heads, t, 1, n], mask f16 [keys, t, 1, ...]
 * -> f32 [keys, t, 1, n]: sum over heads of w max(0, q.k), plus the mask (DeepSeek-V3.2, 2025). */
LODE_API lode_tensor *lode_lightning_indexer(lode_graph *g, lode_tensor *q, lode_tensor *k, lode_tensor *w,
                                             lode_tensor *mask);
/* softmax(scale x + slope mask) along rows of x f32 [n, t, heads, b]; mask f32 or f16 [n, t or more, ...] repeated over
 * heads and batches, or NULL (then max_bias is 0); sinks f32 [heads] or NULL. */
LODE_API lode_tensor *lode_soft_max(lode_graph *g, lode_tensor *x, lode_tensor *mask, lode_tensor *sinks,
                                    const lode_flash_attn_desc *desc);

/* Order of rows, f32: indices i32 of all elements in order (equal values by index), or of the k largest ones, largest
 * first. */
LODE_API lode_tensor *lode_argsort(lode_graph *g, lode_tensor *x, bool descending);
LODE_API lode_tensor *lode_top_k(lode_graph *g, lode_tensor *x, int64_t k);

/* Recurrences, all f32. States come in, and the states after the last tokens go out behind the results: n_states of
 * them, newest first; of one that would lie before the first token nothing is written. */
/* x [k-1+t, c, s], w [k, c] -> [c, t, s]: causal filters. */
LODE_API lode_tensor *lode_ssm_conv(lode_graph *g, lode_tensor *x, lode_tensor *w);
/* Mamba and Mamba-2 (Gu and Dao 2023, 2024): -> one row: y in x's order, then states [n, d, h, s]. */
typedef struct lode_ssm_scan_src {
    lode_tensor *state; /* [n, d, h, any] */
    lode_tensor *x;     /* [d, h, t, s] */
    lode_tensor *dt;    /* [h, t, s], before softplus */
    lode_tensor *a;     /* [1, h] or [n, h] */
    lode_tensor *b, *c; /* [n, g, t, s], g divides h */
    lode_tensor *ids;   /* i32 [s]: which state each sequence starts from; one outside: zeros */
} lode_ssm_scan_src;
LODE_API lode_tensor *lode_ssm_scan(lode_graph *g, const lode_ssm_scan_src *src, int n_states);
/* Matrix states: heads of size s; inputs [s, h, t] unless said, state [s * s * h, n] -> [s h, t + s n]: t rows of
 * results, then the states. RWKV-6 (Peng et al. 2024): k, v, r, u [s, h], w, state. RWKV-7 (2025): r, w, k, v, a, b,
 * state. Gated linear attention (Yang et al. 2023): k, v, q, g, state; results times scale. */
LODE_API lode_tensor *lode_wkv6(lode_graph *g, lode_tensor *const src[6]);
LODE_API lode_tensor *lode_wkv7(lode_graph *g, lode_tensor *const src[7]);
LODE_API lode_tensor *lode_gla(lode_graph *g, lode_tensor *const src[5], float scale);
/* Gated delta rule (Yang et al. 2024): q, k [s, hq, t, n], v [s, h, t, n], g [1 or s, h, t, n] (logarithms), beta [1,
 * h, t, n], state [s, s, h, n] -> [s h, t n + n_states s n]. Head h reads q and k of head h modulo hq. */
LODE_API lode_tensor *lode_gated_delta_net(lode_graph *g, lode_tensor *const src[6], int n_states);
/* x with a x = b: a [n, n, ...] lower triangular, b [k, n, ...]. */
LODE_API lode_tensor *lode_solve_tri(lode_graph *g, lode_tensor *a, lode_tensor *b);

/* Hyper-connections (Zhu et al. 2024), f32: several residual streams. */
/* mix [24, t], scale [3], base [24] -> [4, 4, t]: softmax of the last 16 numbers, then rows and columns made to sum to
 * 1 in turn (Sinkhorn and Knopp 1967). */
LODE_API lode_tensor *lode_hyper_comb(lode_graph *g, lode_tensor *mix, lode_tensor *scale, lode_tensor *base, float eps,
                                      int iterations);
/* x [n, s, t] -> [n, t]: scale times the sum over streams of x w, w [s, t] or, gated, sigmoid of [n, s, t]. */
LODE_API lode_tensor *lode_hyper_pre(lode_graph *g, lode_tensor *x, lode_tensor *w, float scale, bool gated);
/* x [n, t], streams [n, s, t], post [s, t], comb [s, s, t] or NULL -> [n, s, t]. */
LODE_API lode_tensor *lode_hyper_post(lode_graph *g, lode_tensor *x, lode_tensor *streams, lode_tensor *post,
                                      lode_tensor *comb);

/* Convolution, pooling, images. Images are f32 [w, h, c, n], or [w, h, d, c n] in 3-D; kernels f32 or f16; zeros lie
 * outside. Along each dimension the result has (size + 2 pad - dilation (kernel - 1) - 1) / stride + 1 elements. */
typedef struct lode_conv_axis {
    int32_t stride, pad, dilation;
} lode_conv_axis;
typedef struct lode_conv_desc {
    lode_conv_axis axis[3]; /* w, h, d */
    int32_t channels;       /* c, in 3-D */
    int32_t type;           /* im2col: type of the result, f32 or f16 */
} lode_conv_desc;
/* Columns for a kernel of k's sizes (its data is not read): [c kh kw, ow, oh, n] of [w, h, c, n] with k [kw, kh, c,
 * any]; [c kw, ow, n] of x [w, c, n] with k [kw, c, any]; [c kd kh kw, ow, oh, od n] of [w, h, d, c n] with k [kw, kh,
 * kd, c any]. */
LODE_API lode_tensor *lode_im2col(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
LODE_API lode_tensor *lode_im2col_1d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
LODE_API lode_tensor *lode_im2col_3d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
/* Columns [k oc, t] (f32, f16, bf16) added up at their places: [(t-1) stride + k - 2 pad, oc]. */
LODE_API lode_tensor *lode_col2im_1d(lode_graph *g, lode_tensor *x, int oc, int stride, int pad);
/* k [kw, kh, c, oc] -> f32 [ow, oh, oc, n]; k [kw, kh, 1, c], each channel by itself; k [kw, kh, kd, c oc] (index oc c
 * + c) -> [ow, oh, od, oc n]. */
LODE_API lode_tensor *lode_conv_2d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
LODE_API lode_tensor *lode_conv_2d_dw(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
LODE_API lode_tensor *lode_conv_3d(lode_graph *g, lode_tensor *k, lode_tensor *x, const lode_conv_desc *desc);
/* Transposed: k [kw, oc, c], x [w, c] -> [(w-1) stride + kw, oc]; k [kw, kh, oc, c], x [w, h, c, n] likewise. */
LODE_API lode_tensor *lode_conv_transpose_1d(lode_graph *g, lode_tensor *k, lode_tensor *x, int stride);
LODE_API lode_tensor *lode_conv_transpose_2d(lode_graph *g, lode_tensor *k, lode_tensor *x, int stride);
/* Largest or mean of windows along rows, or of rows and columns. In 1-D a mean counts the elements inside, in 2-D the
 * whole window. */
typedef enum { LODE_POOL_MAX, LODE_POOL_MEAN } lode_pool_kind;
typedef struct lode_pool_desc {
    lode_pool_kind kind;
    int32_t kernel[2], stride[2], pad[2]; /* w, h */
} lode_pool_desc;
LODE_API lode_tensor *lode_pool_1d(lode_graph *g, lode_tensor *x, const lode_pool_desc *desc);
LODE_API lode_tensor *lode_pool_2d(lode_graph *g, lode_tensor *x, const lode_pool_desc *desc);
/* t f32 [n] -> f32 [dim, n]: cos, then sin of t period^(-2j/dim) (Vaswani et al. 2017); an odd last element is 0. */
LODE_API lode_tensor *lode_timestep_embedding(lode_graph *g, lode_tensor *t, int dim, int period);

/* Training. a [m, k, ...] (any type), b f32 [n, k, ...] -> f32 [m, n, ...]: sum of outer products; a's batches are
 * shared as in matmul. dy times silu's derivative at x. Steps into w: alpha and decay; alpha, beta1, beta2, eps, decay,
 * and the corrections of both moments, which are written, too. */
LODE_API lode_tensor *lode_out_prod(lode_graph *g, lode_tensor *a, lode_tensor *b);
LODE_API lode_tensor *lode_silu_back(lode_graph *g, lode_tensor *dy, lode_tensor *x);
LODE_API lode_tensor *lode_sgd_step(lode_graph *g, lode_tensor *w, lode_tensor *grad, lode_tensor *numbers);
LODE_API lode_tensor *lode_adamw_step(lode_graph *g, lode_tensor *w, lode_tensor *grad, lode_tensor *const moments[2],
                                      lode_tensor *numbers);

/* Fused forms, as rule.def defines them. Models may write them at once; the plan expands what a device lacks. */
LODE_API lode_tensor *lode_norm_mul(lode_graph *g, lode_tensor *x, lode_tensor *w, float eps);
LODE_API lode_tensor *lode_swiglu(lode_graph *g, lode_tensor *gate, lode_tensor *up);
LODE_API lode_tensor *lode_geglu(lode_graph *g, lode_tensor *gate, lode_tensor *up);
LODE_API lode_tensor *lode_matmul_add(lode_graph *g, lode_tensor *w, lode_tensor *x, lode_tensor *c);

#ifdef __cplusplus
}
#endif
#endif
