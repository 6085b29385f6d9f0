/* attn_body.h - attention in simd.h's words: included by kern_SET.c.
 *
 * Up to ATTN_ROWS query rows (token, head) of one KV head form a tile and share the loads of keys and values. A row's
 * state is (m, l, o): the largest score, the sum of e^(score - m), and the sum of e^(score - m) * v. Per chunk of 64
 * cells the keys are transposed once to [d_k][64], so a score sums over d in order in one lane; values are added cell
 * by cell. Cells that a row may not see have score -inf, which adds exact zeros, and chunks that it does not see at all
 * leave its state alone: a row has the same bits in every tile.
 *
 * Ladder (Zen 5 at 4.15 GHz, one core, F16 cache; 2026-12-01; GMAC/s of the 131 that the multiply-adds allow):
 *   1 as above: 512 tokens of 3 heads of 64: 73, of 4 heads of 256: 91; one token on 128 cells: 39, AVX2 27
 *   2 two and three left-over rows together instead of one by one: one token 46, AVX2 28 */
#ifndef LODE_CPU_KERN_ATTN_BODY_H
#define LODE_CPU_KERN_ATTN_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/vmath.h"
#include "lode/quant.h"

#include <math.h>

enum { ATTN_ROWS = 32, ATTN_R = VW == 16 ? 4 : 2, ATTN_CELLS = LODE_KV_PAGE, ATTN_BLOCK = 4 * VW };

/* A tile at work; its memory is the call's scratch. */
typedef struct {
    const lode_attn_args *a;
    int32_t row0, n_rows;
    int32_t d_pad;                    /* d_v rounded up to whole vectors */
    float *kt;                        /* [d_k][64] */
    float *vf32;                      /* [64][d_pad], only when d_v is no multiple of the vector */
    float *s;                         /* [ATTN_ROWS][64] scores, then weights */
    float *o, *o_all;                 /* [ATTN_ROWS][d_pad] of this part, of all parts */
    float m[ATTN_ROWS], l[ATTN_ROWS]; /* of this part */
    float m_all[ATTN_ROWS], l_all[ATTN_ROWS], fade[ATTN_ROWS]; /* of all parts; e^(old m - new m) of this chunk */
} attn_tile;

KERN_INLINE int32_t round_up(int32_t n, int32_t to) { return (n + to - 1) / to * to; }

static size_t attn_scratch(int32_t d_k, int32_t d_v, int32_t n_tok, int32_t n_head) {
    (void)n_tok, (void)n_head;
    const size_t pad = (size_t)round_up(d_v, VW);
    return sizeof(float) *
           ((size_t)ATTN_CELLS * (size_t)d_k + ATTN_CELLS * pad + ATTN_ROWS * ATTN_CELLS + 2 * ATTN_ROWS * pad);
}

static void tile_init(attn_tile *t, const lode_attn_args *a, int32_t row0) {
    t->a = a;
    t->row0 = row0;
    const int32_t left = a->n_tok * a->n_head - row0;
    t->n_rows = left < ATTN_ROWS ? left : ATTN_ROWS;
    t->d_pad = round_up(a->d_v, VW);
    t->kt = a->scratch;
    t->vf32 = t->kt + ATTN_CELLS * a->d_k;
    t->s = t->vf32 + ATTN_CELLS * t->d_pad;
    t->o = t->s + ATTN_ROWS * ATTN_CELLS;
    t->o_all = t->o + ATTN_ROWS * t->d_pad;
}

KERN_INLINE int32_t row_lo(const attn_tile *t, int r) { return t->a->lo[(t->row0 + r) / t->a->n_head]; }
KERN_INLINE int32_t row_hi(const attn_tile *t, int r) { return t->a->hi[(t->row0 + r) / t->a->n_head]; }

KERN_INLINE const float *q_row(const attn_tile *t, int r) {
    const lode_attn_args *a = t->a;
    const size_t tok = (size_t)((t->row0 + r) / a->n_head), head_ = (size_t)((t->row0 + r) % a->n_head);
    return (const float *)(const void *)((const uint8_t *)a->q + tok * a->q_tok_stride + head_ * a->q_head_stride);
}

KERN_INLINE float *out_row(const lode_attn_args *a, int32_t row) {
    const size_t tok = (size_t)(row / a->n_head), head_ = (size_t)(row % a->n_head);
    return (float *)(void *)((uint8_t *)a->out + tok * a->out_tok_stride + head_ * a->out_head_stride);
}

KERN_INLINE vf kv_load(lode_type type, const uint8_t *cell, int d) {
    return type == LODE_F16 ? vf_load_f16((const uint16_t *)(const void *)cell + d)
                            : vf_load((const float *)(const void *)cell + d);
}
KERN_INLINE float kv_one(lode_type type, const uint8_t *cell, int d) {
    return type == LODE_F16 ? lode_f16_to_f32(((const uint16_t *)(const void *)cell)[d])
                            : ((const float *)(const void *)cell)[d];
}

/* Keys of the first n cells at k to kt[d][cell], whole vectors of cells: the last one again where there are no more,
 * whose scores are not used. */
KERN_INLINE void transpose_keys(attn_tile *t, lode_type type, const uint8_t *k, int n_cells) {
    const int d_k = t->a->d_k, whole = d_k / VW * VW;
    const size_t stride = t->a->k_stride;
    for (int c = 0; c < n_cells; c += VW) {
        for (int d = 0; d < whole; d += VW) {
            vf r[VW];
            for (int i = 0; i < VW; i++)
                r[i] = kv_load(type, k + (size_t)(c + i < n_cells ? c + i : n_cells - 1) * stride, d);
            vf_transpose(r);
            for (int i = 0; i < VW; i++) vf_store(t->kt + (d + i) * ATTN_CELLS + c, r[i]);
        }
        for (int d = whole; d < d_k; d++)
            for (int i = 0; i < VW && c + i < n_cells; i++)
                t->kt[d * ATTN_CELLS + c + i] = kv_one(type, k + (size_t)(c + i) * stride, d);
    }
}

static void pad_values(attn_tile *t, const uint8_t *v, int n_cells) {
    const int d_v = t->a->d_v;
    for (int c = 0; c < n_cells; c++) {
        float *to = t->vf32 + c * t->d_pad;
        for (int d = 0; d < t->d_pad; d++)
            to[d] = d < d_v ? kv_one(t->a->kv_type, v + (size_t)c * t->a->v_stride, d) : 0.0f;
    }
}

/* q * k of n rows (a constant where called) against one block of cells. */
KERN_INLINE void scores(attn_tile *t, const int *rows, int n, int cell) {
    const float *q[ATTN_R], *kt = t->kt + cell;
    vf acc[ATTN_R][4];
    const int d_k = t->a->d_k;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) {
        q[i] = q_row(t, rows[i]);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) acc[i][j] = vf_zero();
    }
    for (int d = 0; d < d_k; d++, kt += ATTN_CELLS) {
        vf k[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) k[j] = vf_load(kt + j * VW);
#pragma GCC unroll 4
        for (int i = 0; i < n; i++) {
            const vf x = vf_set1(q[i][d]);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++) acc[i][j] = vf_fma(x, k[j], acc[i][j]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < n; i++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) vf_store(t->s + rows[i] * ATTN_CELLS + cell + j * VW, acc[i][j]);
}

/* e^x; 0 when x is the difference of two -inf, that of a row without a score. */
KERN_INLINE float exp_1(float x) {
    float y[VW];
    vf_store(y, v_exp(vf_set1(x)));
    return x <= 0.0f || x > 0.0f ? y[0] : 0.0f;
}

/* The row's mask on its first n scores of a chunk. */
static void add_mask(attn_tile *t, int r, int32_t cell0, int n) {
    const lode_attn_args *a = t->a;
    const size_t tok = (size_t)((t->row0 + r) / a->n_head), head_ = (size_t)((t->row0 + r) % a->n_head);
    const uint8_t *at = (const uint8_t *)a->mask + tok * a->mask_tok_stride + head_ * a->mask_head_stride;
    const uint16_t *mask = (const uint16_t *)(const void *)at + cell0;
    float *s = t->s + r * ATTN_CELLS;
    const vf slope = vf_set1(a->slopes ? a->slopes[head_] : 1.0f);
    int i = 0;
    for (; i + VW <= n; i += VW) vf_store(s + i, vf_fma(vf_load_f16(mask + i), slope, vf_load(s + i)));
    for (; i < n; i++) s[i] = lode_f16_to_f32(mask[i]) * (a->slopes ? a->slopes[head_] : 1.0f) + s[i];
}

/* Scores of row r to weights e^(s - m); the row's m, l and fade. */
static void weights(attn_tile *t, int r, int32_t cell0) {
    const lode_attn_args *a = t->a;
    float *s = t->s + r * ATTN_CELLS;
    const int lo = row_lo(t, r) > cell0 ? row_lo(t, r) - cell0 : 0, end = row_hi(t, r) - cell0;
    const int hi = end < ATTN_CELLS ? end : ATTN_CELLS;
    const vf scale = vf_set1(a->softcap > 0.0f ? a->scale / a->softcap : a->scale), cap = vf_set1(a->softcap);
    for (int i = 0; i < ATTN_CELLS; i += VW) {
        vf v = vf_mul(vf_load(s + i), scale);
        if (a->softcap > 0.0f) v = vf_mul(cap, v_tanh(v));
        vf_store(s + i, v);
    }
    if (a->mask) add_mask(t, r, cell0, hi);
    for (int i = 0; i < lo; i++) s[i] = -INFINITY;
    for (int i = hi; i < ATTN_CELLS; i++) s[i] = -INFINITY;
    vf top = vf_load(s);
    for (int i = VW; i < ATTN_CELLS; i += VW) top = vf_max(top, vf_load(s + i));
    const float peak = vf_hmax(top), m = peak > t->m[r] ? peak : t->m[r];
    const vf vm = vf_set1(m > -INFINITY ? m : 0.0f);
    vf sum = vf_zero();
    for (int i = 0; i < ATTN_CELLS; i += VW) {
        const vf p = v_exp(vf_sub(vf_load(s + i), vm));
        vf_store(s + i, p);
        sum = vf_add(sum, p);
    }
    t->fade[r] = exp_1(t->m[r] - m);
    t->m[r] = m;
    t->l[r] = t->l[r] * t->fade[r] + vf_sum(sum);
}

/* Values of a chunk: cells c0 <= c < c1, `stride` bytes apart. */
typedef struct {
    lode_type type;
    const uint8_t *v;
    size_t stride;
    int c0, c1;
} values;

/* o = o * fade + weights * values for n rows and w vectors from element d (type, n and w are constants). */
KERN_INLINE void add_values(attn_tile *t, const int *rows, int n, int w, const values *from, int d) {
    vf acc[ATTN_R][4];
    const float *p[ATTN_R];
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) {
        p[i] = t->s + rows[i] * ATTN_CELLS;
#pragma GCC unroll 4
        for (int j = 0; j < w; j++)
            acc[i][j] = vf_mul(vf_load(t->o + rows[i] * t->d_pad + d + j * VW), vf_set1(t->fade[rows[i]]));
    }
    const uint8_t *v = from->v + (size_t)from->c0 * from->stride;
    for (int c = from->c0; c < from->c1; c++, v += from->stride) {
        vf x[4];
#pragma GCC unroll 4
        for (int j = 0; j < w; j++) x[j] = kv_load(from->type, v, d + j * VW);
#pragma GCC unroll 4
        for (int i = 0; i < n; i++) {
            const vf y = vf_set1(p[i][c]);
#pragma GCC unroll 4
            for (int j = 0; j < w; j++) acc[i][j] = vf_fma(y, x[j], acc[i][j]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < n; i++)
#pragma GCC unroll 4
        for (int j = 0; j < w; j++) vf_store(t->o + rows[i] * t->d_pad + d + j * VW, acc[i][j]);
}

KERN_INLINE void add_values_n(attn_tile *t, const int *rows, int n, const values *from) {
    int d = 0;
    for (; d + 4 * VW <= t->d_pad; d += 4 * VW) add_values(t, rows, n, 4, from, d);
    for (; d < t->d_pad; d += VW) add_values(t, rows, n, 1, from, d);
}

KERN_INLINE void add_values_rows(attn_tile *t, const int *rows, int n_rows, const values *from) {
    int i = 0;
    for (; i + ATTN_R <= n_rows; i += ATTN_R) add_values_n(t, rows + i, ATTN_R, from);
    if (n_rows - i == 3)
        add_values_n(t, rows + i, ATTN_R < 3 ? ATTN_R : 3, from);
    else if (n_rows - i == 2)
        add_values_n(t, rows + i, 2, from);
    else if (n_rows - i == 1)
        add_values_n(t, rows + i, 1, from);
}

static void tile_values(attn_tile *t, const int *rows, int n_rows, const uint8_t *v, const int cells[2]) {
    const lode_attn_args *a = t->a;
    const size_t pad_bytes = sizeof(float) * (size_t)t->d_pad;
    if (t->d_pad != a->d_v) {
        pad_values(t, v, cells[1]);
        add_values_rows(t, rows, n_rows, &(values){ LODE_F32, (uint8_t *)t->vf32, pad_bytes, cells[0], cells[1] });
    } else if (a->kv_type == LODE_F16) {
        add_values_rows(t, rows, n_rows, &(values){ LODE_F16, v, a->v_stride, cells[0], cells[1] });
    } else {
        add_values_rows(t, rows, n_rows, &(values){ LODE_F32, v, a->v_stride, cells[0], cells[1] });
    }
}

/* The chunk of 64 cells from cell0 (one page) for the rows that see any of them. */
static void tile_chunk(attn_tile *t, int32_t cell0) {
    const lode_attn_args *a = t->a;
    int rows[ATTN_ROWS], n_rows = 0, c0 = ATTN_CELLS, c1 = 0;
    for (int r = 0; r < t->n_rows; r++) {
        const int lo = row_lo(t, r) - cell0, hi = row_hi(t, r) - cell0;
        if (lo >= ATTN_CELLS || hi <= 0) continue;
        rows[n_rows++] = r;
        c0 = lo < c0 ? lo : c0;
        c1 = hi > c1 ? hi : c1;
    }
    if (n_rows == 0) return;
    c0 = c0 < 0 ? 0 : c0;
    c1 = c1 > ATTN_CELLS ? ATTN_CELLS : c1;
    const size_t page = (size_t)a->pages[cell0 / LODE_KV_PAGE] * LODE_KV_PAGE;
    const uint8_t *k = (const uint8_t *)a->k + page * a->k_stride, *v = (const uint8_t *)a->v + page * a->v_stride;
    if (a->kv_type == LODE_F16)
        transpose_keys(t, LODE_F16, k, c1);
    else
        transpose_keys(t, LODE_F32, k, c1);
    for (int cell = 0; cell < c1; cell += ATTN_BLOCK) {
        int i = 0;
        for (; i + ATTN_R <= n_rows; i += ATTN_R) scores(t, rows + i, ATTN_R, cell);
        if (n_rows - i == 3)
            scores(t, rows + i, ATTN_R < 3 ? ATTN_R : 3, cell);
        else if (n_rows - i == 2)
            scores(t, rows + i, 2, cell);
        else if (n_rows - i == 1)
            scores(t, rows + i, 1, cell);
    }
    for (int i = 0; i < n_rows; i++) weights(t, rows[i], cell0);
    tile_values(t, rows, n_rows, v, (const int[2]){ c0, c1 });
}

/* The tile's state over the cells of part `part` (numbered from cell 0). */
static void tile_part(attn_tile *t, int32_t part) {
    int32_t lo = INT32_MAX, hi = 0;
    for (int r = 0; r < t->n_rows; r++) {
        t->m[r] = -INFINITY;
        t->l[r] = 0.0f;
        lo = row_lo(t, r) < lo ? row_lo(t, r) : lo;
        hi = row_hi(t, r) > hi ? row_hi(t, r) : hi;
    }
    memset(t->o, 0, sizeof(float) * (size_t)(t->n_rows * t->d_pad));
    const int32_t first = part * LODE_ATTN_PART, end = first + LODE_ATTN_PART;
    lo = lo / ATTN_CELLS * ATTN_CELLS;
    for (int32_t c = lo > first ? lo : first; c < hi && c < end; c += ATTN_CELLS) tile_chunk(t, c);
}

/* (m, l, o) = the state of both: the one step in which parts come together. A part without cells changes nothing. */
static void merge(float *m, float *l, float *o, const float part[2], const float *o_part, int32_t d_v) {
    if (part[1] == 0.0f) return;
    const float top = part[0] > *m ? part[0] : *m, e0 = exp_1(*m - top), e1 = exp_1(part[0] - top);
    const vf v0 = vf_set1(e0), v1 = vf_set1(e1);
    *m = top;
    *l = *l * e0 + part[1] * e1;
    for (int32_t d = 0; d < d_v; d += VW)
        vf_store_n(o + d, vf_fma(vf_load_n(o_part + d, d_v - d), v1, vf_mul(vf_load_n(o + d, d_v - d), v0)), d_v - d);
}

static void finish(const lode_attn_args *a, int32_t row, float m, float l, const float *o) {
    float *out = out_row(a, row), mul = 1.0f;
    if (a->sinks) {
        const float sink = a->sinks[row % a->n_head], top = sink > m ? sink : m;
        mul = exp_1(m - top);
        l = l * mul + exp_1(sink - top);
    }
    const vf s = vf_set1(l > 0.0f ? mul / l : 0.0f);
    for (int32_t d = 0; d < a->d_v; d += VW) vf_store_n(out + d, vf_mul(vf_load_n(o + d, a->d_v - d), s), a->d_v - d);
}

/* First part and the one after the last of a call. */
static void part_range(const lode_attn_args *a, int32_t *first, int32_t *end) {
    int32_t lo = INT32_MAX, hi = 0;
    for (int32_t i = 0; i < a->n_tok; i++) {
        lo = a->lo[i] < lo ? a->lo[i] : lo;
        hi = a->hi[i] > hi ? a->hi[i] : hi;
    }
    *first = lo / LODE_ATTN_PART;
    *end = (hi + LODE_ATTN_PART - 1) / LODE_ATTN_PART;
}

static void attn(const lode_attn_args *a) {
    int32_t first, end;
    part_range(a, &first, &end);
    for (int32_t row0 = 0; row0 < a->n_tok * a->n_head; row0 += ATTN_ROWS) {
        attn_tile t;
        tile_init(&t, a, row0);
        memset(t.o_all, 0, sizeof(float) * (size_t)(t.n_rows * t.d_pad));
        for (int r = 0; r < t.n_rows; r++) {
            t.m_all[r] = -INFINITY;
            t.l_all[r] = 0.0f;
        }
        for (int32_t p = first; p < end; p++) {
            tile_part(&t, p);
            for (int r = 0; r < t.n_rows; r++)
                merge(&t.m_all[r], &t.l_all[r], t.o_all + r * t.d_pad, (float[]){ t.m[r], t.l[r] }, t.o + r * t.d_pad,
                      a->d_v);
        }
        for (int r = 0; r < t.n_rows; r++) finish(a, row0 + r, t.m_all[r], t.l_all[r], t.o_all + r * t.d_pad);
    }
}

/* Row `row` of part p in args->part: m, l, o. */
KERN_INLINE float *part_row(const lode_attn_args *a, int32_t p, int32_t row) {
    return a->part + ((size_t)p * (size_t)(a->n_tok * a->n_head) + (size_t)row) * (size_t)(a->d_v + 2);
}

static void attn_part(const lode_attn_args *a, int32_t p) {
    int32_t first, end;
    part_range(a, &first, &end);
    for (int32_t row0 = 0; row0 < a->n_tok * a->n_head; row0 += ATTN_ROWS) {
        attn_tile t;
        tile_init(&t, a, row0);
        tile_part(&t, first + p);
        for (int r = 0; r < t.n_rows; r++) {
            float *to = part_row(a, p, row0 + r);
            to[0] = t.m[r];
            to[1] = t.l[r];
            memcpy(to + 2, t.o + r * t.d_pad, sizeof(float) * (size_t)a->d_v);
        }
    }
}

static void attn_merge(const lode_attn_args *a) {
    int32_t first, end;
    part_range(a, &first, &end);
    for (int32_t row = 0; row < a->n_tok * a->n_head; row++) {
        float o[LODE_ATTN_MAX_D], m = -INFINITY, l = 0.0f;
        memset(o, 0, sizeof *o * (size_t)a->d_v);
        for (int32_t p = 0; p < end - first; p++) {
            const float *from = part_row(a, p, row);
            merge(&m, &l, o, from, from + 2, a->d_v);
        }
        finish(a, row, m, l, o);
    }
}
#endif
