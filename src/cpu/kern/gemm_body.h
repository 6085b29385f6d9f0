/* gemm_body.h - quantised matrix kernels of the x86 sets, all types: included by gemm_avx512.c and gemm_avx2.c.
 *
 * One sum for one output: per step of 32 values an exact integer dot product, then one multiply-add in floats (two or
 * three where the form says so), steps in order. There are two ways through the same sums, bit for bit equal:
 *   direct  up to GEMM_DIRECT columns: a tile of rows is unpacked in registers and used at once, whole rows of 16 bytes
 *           against the activations, the four partial sums of a row added by shuffles;
 *   panel   more columns: tiles are unpacked once into scratch, four neighbouring values of every row side by side, and
 *           multiplied with up to GEMM_COLS columns at a time, whose values are broadcast.
 *
 * Ladder (Zen 5, 4.15 GHz, 2 vCPUs, read bandwidth 40 GB/s on one and 47-51 on two; 2026-12-01; bench/kern_bench.c).
 * Direct, one column, one core, weights in the cache, GB/s of weights:
 *   1 quads, dot products, shuffle sums, scales from the quads' first words: Q4_0 49, Q4_1 53, Q5_0 45, Q5_1 49, Q8_0
 * 62, Q2_K 25, Q3_K 23, Q4_K 51, Q5_K 42, Q6_K 35. From memory on two cores all but the last small types run at 95-100
 * % of the read bandwidth: a whole SmolLM2 step (91 MB of Q4_1 and Q8_0, 211 products) takes 1.91 ms, 50.5 GB/s. 2
 * prefetch distance 2, 8, 16, 32 KB and into L1 or L2: L1 is better for the 256-value types (Q6_K 36 against 30), the
 *     rest is noise. Prefetching without allocation for all but 8-32 MB, so that the rest stays in the L3: no gain
 * here. Panel, 512 columns, one core, GMAC/s (Q4_1, k = 1536): 1 8 dot products in one chain, 16 columns: 130; 8
 * columns: 155 2 two chains of 4: 245; with every loop over columns unrolled (else the sums live in memory): 270-340, 8
 * columns as good as 16 and without spills under clang. The units for dot products and multiply-adds allow 390. 3 rows
 * in groups of 16 to 128 before the columns pass: within 3 %. */
#ifndef LODE_CPU_KERN_GEMM_BODY_H
#define LODE_CPU_KERN_GEMM_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/unpack.h"
#include "quant/q8a.h"

enum {
    GEMM_ROWS = 4 * VQ,
    GEMM_DIRECT = 4,
    GEMM_COLS = 8,
    GEMM_GROUP_BYTES = 96 * 1024,
    GEMM_GROUP_MAX = 8,
    GEMM_AHEAD = 8 * 1024
};

/* Vectors of one step in a panel: quants, then s, s1, m, mi as the form has them. */
KERN_INLINE int panel_vectors(int form) { return form == FORM_S ? 9 : form == FORM_HM ? 12 : 10; }

KERN_INLINE vi x_sums(const q8a_block *x) {
    int32_t s;
    memcpy(&s, &x->s0, 4);
    return vi_set1(s);
}
KERN_INLINE vi pair16(int lo, int hi) { return vi_set1((int32_t)((uint32_t)(uint16_t)lo | (uint32_t)hi << 16)); }

/* The float part of a step: i0, i1 are the integer sums (only i0 unless the form has halves). */
KERN_INLINE vf step_finish(int form, const step *u, const q8a_block *x, vi i0, vi i1, vf acc) {
    const vf d = vf_set1(x->d);
    acc = vf_fma(vf_from_i(i0), vf_mul(u->s, d), acc);
    if (form == FORM_SM) acc = vf_fma(u->m, vf_set1(x->ds), acc);
    if (form == FORM_H || form == FORM_HM) acc = vf_fma(vf_from_i(i1), vf_mul(u->s1, d), acc);
    if (form == FORM_HM) acc = vf_fma(vf_from_i(vi_dot16(vi_zero(), u->mi, x_sums(x))), vf_mul(u->m, d), acc);
    return acc;
}

KERN_INLINE vf direct_step(int form, int offset, int max, const step *u, const q8a_block *x, vf acc) {
    const vi lo = vi_bcast128(x->qs), hi = vi_bcast128(x->qs + 16);
    vi a[4], i0, i1 = vi_zero();
    if (form == FORM_H || form == FORM_HM) {
        for (int z = 0; z < 4; z++) a[z] = vi_dot(u->q[4 + z], hi, max);
        i1 = sum4(a);
        if (offset) i1 = vi_sub(i1, vi_set1(offset * x->s1));
        for (int z = 0; z < 4; z++) a[z] = vi_dot(u->q[z], lo, max);
        i0 = sum4(a);
        if (offset) i0 = vi_sub(i0, vi_set1(offset * x->s0));
    } else {
        for (int z = 0; z < 4; z++) a[z] = vi_dot2(u->q[z], lo, u->q[4 + z], hi, max);
        i0 = sum4(a);
        if (offset) i0 = vi_sub(i0, vi_set1(offset * (x->s0 + x->s1)));
    }
    return step_finish(form, u, x, i0, i1, acc);
}

KERN_INLINE void panel_put(int form, vi *p, const step *u) {
    transpose4(p, u->q);
    transpose4(p + 4, u->q + 4);
    p[8] = vi_bits(u->s);
    if (form == FORM_SM) p[9] = vi_bits(u->m);
    if (form == FORM_H || form == FORM_HM) p[9] = vi_bits(u->s1);
    if (form == FORM_HM) {
        p[10] = vi_bits(u->m);
        p[11] = u->mi;
    }
}

/* The scales of a step of a panel; q is left out. */
KERN_INLINE step panel_scales(int form, const vi *p) {
    step u;
    u.s = vf_bits(vi_load(p + 8));
    u.m = form == FORM_SM ? vf_bits(vi_load(p + 9)) : form == FORM_HM ? vf_bits(vi_load(p + 10)) : u.s;
    u.s1 = form == FORM_H || form == FORM_HM ? vf_bits(vi_load(p + 9)) : u.s;
    u.mi = form == FORM_HM ? vi_load(p + 11) : vi_zero();
    return u;
}

KERN_INLINE vf panel_step(int form, int offset, int max, const step *u, const q8a_block *x, vf acc) {
    if (form == FORM_H || form == FORM_HM) {
        const vi i0 = offset ? vi_dot16(vi_zero(), x_sums(x), pair16(-offset, 0)) : vi_zero();
        const vi i1 = offset ? vi_dot16(vi_zero(), x_sums(x), pair16(0, -offset)) : vi_zero();
        return step_finish(form, u, x, vi_dots(i0, u->q, x->qs, 4, max), vi_dots(i1, u->q + 4, x->qs + 16, 4, max),
                           acc);
    }
    const vi i0 =
        vi_dots(offset ? vi_dot16(vi_zero(), x_sums(x), pair16(-offset, -offset)) : vi_zero(), u->q, x->qs, 8, max);
    return step_finish(form, u, x, i0, i0, acc);
}

typedef struct {
    const vi *panel;
    const uint8_t *x;
    size_t x_stride;
    float *y; /* the tile's first row of the first column */
    size_t y_stride;
    int64_t n_steps;
} panel_job;

/* One panel times n columns (n is a constant where this is called). */
KERN_INLINE void panel_cols(int form, int offset, int max, int n, const panel_job *j) {
    vf acc[GEMM_COLS];
    const size_t x_stride = j->x_stride, y_stride = j->y_stride;
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) acc[c] = vf_zero();
    const vi *p = j->panel;
    const uint8_t *x = j->x;
    for (int64_t i = j->n_steps; i > 0; i--, p += panel_vectors(form), x += sizeof(q8a_block)) {
        step u = panel_scales(form, p);
#pragma GCC unroll 8
        for (int g = 0; g < 8; g++) u.q[g] = vi_load(p + g);
#pragma GCC unroll 8
        for (int c = 0; c < n; c++)
            acc[c] =
                panel_step(form, offset, max, &u, (const q8a_block *)(const void *)(x + (size_t)c * x_stride), acc[c]);
    }
#pragma GCC unroll 8
    for (int c = 0; c < n; c++) vf_store((float *)(void *)((uint8_t *)j->y + (size_t)c * y_stride), acc[c]);
}

#if defined(__AMX_INT8__)
#include "cpu/kern/gemm_amx.h"
#else
enum { TILE_COLS = 0 }; /* none */
KERN_INLINE bool has_tiles(int form) { return (void)form, false; }
static void tiles_begin(void) {}
static void tiles_end(void) {}
KERN_INLINE void panel_tiles(int form, int offset, const panel_job *j) { (void)form, (void)offset, (void)j; }
#endif

typedef void (*panel_fn)(const panel_job *j, int n);

/* The shapes of the panel kernel that serve every type of one form, offset and range. */
#define PANEL_KERNEL(name, form, offset, max)     \
    static void name(const panel_job *j, int n) { \
        if (has_tiles(form) && n == TILE_COLS)    \
            panel_tiles(form, offset, j);         \
        else if (n == 8)                          \
            panel_cols(form, offset, max, 8, j);  \
        else if (n == 4)                          \
            panel_cols(form, offset, max, 4, j);  \
        else if (n == 2)                          \
            panel_cols(form, offset, max, 2, j);  \
        else                                      \
            panel_cols(form, offset, max, 1, j);  \
    }

PANEL_KERNEL(q4_0_panel, FORM_S, q4_0_offset, q4_0_max)
PANEL_KERNEL(q5_0_panel, FORM_S, q5_0_offset, q5_0_max)
PANEL_KERNEL(q8_0_panel, FORM_S, q8_0_offset, q8_0_max)
PANEL_KERNEL(panel_sm, FORM_SM, 0, 31)
PANEL_KERNEL(q3_k_panel, FORM_H, q3_k_offset, q3_k_max)
PANEL_KERNEL(q6_k_panel, FORM_H, q6_k_offset, q6_k_max)
PANEL_KERNEL(q2_k_panel, FORM_HM, 0, q2_k_max)
PANEL_KERNEL(mxfp4_panel, FORM_S, mxfp4_offset, mxfp4_max)
PANEL_KERNEL(nvfp4_panel, FORM_H, nvfp4_offset, nvfp4_max)
PANEL_KERNEL(q2_0_panel, FORM_S, q2_0_offset, q2_0_max)
#define q4_1_panel panel_sm
#define q5_1_panel panel_sm
#define q4_k_panel panel_sm
#define q5_k_panel panel_sm
#define iq4_nl_panel q8_0_panel
#define iq4_xs_panel q8_0_panel
#define q1_0_panel q2_0_panel
#define tq2_0_panel q2_0_panel

/* ---- Around the kernels, the same for all types ----------------------------------------------------------------- */

typedef struct {
    size_t block_bytes;
    int form, steps; /* steps in a block of the format */
    void (*direct)(const lode_gemm_args *a, int64_t row0, int64_t row1, int64_t col0, int n_cols);
    void (*unpack)(const lode_gemm_args *a, int64_t row, vi *panel);
    panel_fn panel;
} gemm_type;

KERN_INLINE size_t panel_bytes(int form, int64_t k) {
    return (size_t)(k / 32) * (size_t)panel_vectors(form) * sizeof(vi);
}

/* Tiles that are unpacked before the columns pass: as many as stay in the second-level cache beside the columns. */
static int64_t group_tiles(const gemm_type *t, int64_t k) {
    const int64_t n = (int64_t)(GEMM_GROUP_BYTES / panel_bytes(t->form, k));
    return n < 1 ? 1 : n > GEMM_GROUP_MAX ? GEMM_GROUP_MAX : n;
}

static size_t row_bytes(const gemm_type *t, int64_t k) { return (size_t)(k / (32 * t->steps)) * t->block_bytes; }

static size_t panels_bytes(const gemm_type *t, int64_t k) {
    return (size_t)group_tiles(t, k) * panel_bytes(t->form, k);
}

/* Panels, then a tile's copy of the last few rows and their outputs. */
static size_t scratch_bytes(const gemm_type *t, int64_t k) {
    const size_t pad = (GEMM_ROWS * row_bytes(t, k) + 63) / 64 * 64;
    return panels_bytes(t, k) + pad + sizeof(float) * GEMM_COLS * GEMM_ROWS;
}

/* How far ahead of its rows a loop asks for memory: the next tile, or the one after when tiles are small. */
KERN_INLINE size_t prefetch_distance(size_t stride) {
    const size_t tile_bytes = GEMM_ROWS * stride;
    return tile_bytes >= GEMM_AHEAD ? tile_bytes : (GEMM_AHEAD + tile_bytes - 1) / tile_bytes * tile_bytes;
}
KERN_INLINE void prefetch(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i += 64) __builtin_prefetch(p + i);
}

static const void *col_at(const lode_gemm_args *a, int64_t c) {
    return (const uint8_t *)a->x + (size_t)c * a->x_stride;
}
static float *y_at(const lode_gemm_args *a, int64_t c, int64_t r) {
    return (float *)(void *)((uint8_t *)a->y + (size_t)c * a->y_stride) + r;
}

static void group_cols(const gemm_type *t, const lode_gemm_args *a, const int64_t *rows, int64_t n_tiles) {
    const size_t each = panel_bytes(t->form, a->k);
    const bool tiles = has_tiles(t->form) && a->n_cols >= TILE_COLS;
    if (tiles) tiles_begin();
    for (int64_t c = 0; c < a->n_cols;) {
        const int64_t left = a->n_cols - c;
        const int n = tiles && left >= TILE_COLS ? TILE_COLS : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        for (int64_t i = 0; i < n_tiles; i++) {
            const panel_job j = {
                .panel = (const vi *)(const void *)((const uint8_t *)a->scratch + (size_t)i * each),
                .x = col_at(a, c),
                .x_stride = a->x_stride,
                .y = y_at(a, c, rows[i]),
                .y_stride = a->y_stride,
                .n_steps = a->k / 32,
            };
            t->panel(&j, n);
        }
        c += n;
    }
    if (tiles) tiles_end();
}

/* Whole tiles; the last one overlaps its neighbour when the range is not a multiple of the tile: it writes the same
 * values again. */
static void run_tiles(const gemm_type *t, const lode_gemm_args *a, int64_t row0, int64_t row1) {
    if (a->n_cols <= GEMM_DIRECT) {
        const int64_t whole = row0 + (row1 - row0) / GEMM_ROWS * GEMM_ROWS;
        t->direct(a, row0, whole, 0, (int)a->n_cols);
        if (whole < row1) t->direct(a, row1 - GEMM_ROWS, row1, 0, (int)a->n_cols);
        return;
    }
    const int64_t group = group_tiles(t, a->k);
    int64_t rows[GEMM_GROUP_MAX], n = 0;
    for (int64_t r = row0; r < row1; r += GEMM_ROWS) {
        rows[n] = r + GEMM_ROWS <= row1 ? r : row1 - GEMM_ROWS;
        t->unpack(a, rows[n], (vi *)(void *)((uint8_t *)a->scratch + (size_t)n * panel_bytes(t->form, a->k)));
        if (++n == group || r + GEMM_ROWS >= row1) {
            group_cols(t, a, rows, n);
            n = 0;
        }
    }
}

/* Fewer rows than a tile: they are copied into one whose other rows are zero. */
static void run_few(const gemm_type *t, const lode_gemm_args *a, int64_t row0, int64_t row1) {
    const size_t bytes = row_bytes(t, a->k), pad = (GEMM_ROWS * bytes + 63) / 64 * 64;
    uint8_t *w = (uint8_t *)a->scratch + panels_bytes(t, a->k);
    float *y = (float *)(void *)(w + pad);
    memset(w, 0, GEMM_ROWS * bytes);
    for (int64_t r = row0; r < row1; r++)
        memcpy(w + (size_t)(r - row0) * bytes, (const uint8_t *)a->w + (size_t)r * a->w_stride, bytes);
    for (int64_t c = 0; c < a->n_cols; c += GEMM_COLS) {
        lode_gemm_args b = *a;
        b.w = w;
        b.w_stride = bytes;
        b.x = col_at(a, c);
        b.y = y;
        b.y_stride = GEMM_ROWS * sizeof(float);
        b.n_cols = a->n_cols - c < GEMM_COLS ? a->n_cols - c : GEMM_COLS;
        run_tiles(t, &b, 0, GEMM_ROWS);
        for (int64_t i = 0; i < b.n_cols; i++)
            memcpy(y_at(a, c + i, row0), y + i * GEMM_ROWS, (size_t)(row1 - row0) * sizeof(float));
    }
}

static void run(const gemm_type *t, const lode_gemm_args *a, int64_t row0, int64_t row1) {
    if (row1 - row0 >= GEMM_ROWS)
        run_tiles(t, a, row0, row1);
    else if (row1 > row0)
        run_few(t, a, row0, row1);
}
#endif
