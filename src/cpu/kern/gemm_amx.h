/* gemm_amx.h - the panel kernel on AMX tiles: 16 rows of weights times 16 columns of activations at once.
 *
 * A panel step (gemm_body.h) already lies as the second operand of a tile product wants it: four neighbouring values of
 * each of 16 rows side by side. So a step is one product of tiles into exact 32-bit sums, one row of the result per
 * column, and then the same multiply-adds in floats as everywhere: the bits are those of the AVX-512 kernels. Forms
 * with halves would need two products of half the depth and stay on AVX-512.
 *
 * Source: Intel Architecture Instruction Set Extensions Programming Reference, chapter 3 (AMX).
 *
 * Ladder (Xeon, Emerald Rapids, 2 vCPUs, one thread, 512 columns, k = 1536; GMAC/s; bench/kern_bench.c). AVX-512: Q4_1
 * 118-140, Q8_0 150, Q4_K 158, Q6_K 127.
 *   1 a step at a time: Q4_1 206-219, Q8_0 214-225, Q4_K 217-226; in halves Q6_K 70-108, so it has none.
 *   2 the tiles one step ahead of the floats: Q4_1 208, Q8_0 200, Q4_K 205-218.
 *   3 two steps at once in other tiles: Q4_1 142, Q8_0 165.
 *   4 chunks of 12 steps, so that columns and panels stay in the first-level cache: Q4_1 201, Q8_0 203.
 * Tiles alone (loads, product, store) reach 360, floats alone 330-370. */
#ifndef LODE_CPU_KERN_GEMM_AMX_H
#define LODE_CPU_KERN_GEMM_AMX_H
#include <stdatomic.h>

enum { TILE_COLS = 16 };

KERN_INLINE bool has_tiles(int form) { return form == FORM_S || form == FORM_SM; }

/* Tiles are state of the thread: sums in 0, activations in 1, weights in 2. */
static void tiles_begin(void) {
    static const struct { /* operand of LDTILECFG */
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = { 1, 0, { 0 }, { 64, 32, 64 }, { 16, 16, 8 } };
    _tile_loadconfig(&shapes);
}

static void tiles_end(void) { _tile_release(); }

/* What compilers are not told: the tile instructions read and write memory. */
KERN_INLINE void tile_fence(void) { atomic_signal_fence(memory_order_seq_cst); }

/* One panel times TILE_COLS columns. */
KERN_INLINE void panel_tiles(int form, int offset, const panel_job *j) {
    _Alignas(64) int32_t sums[TILE_COLS][16];
    vf acc[TILE_COLS];
#pragma GCC unroll 16
    for (int c = 0; c < TILE_COLS; c++) acc[c] = vf_zero();
    const vi *p = j->panel;
    const uint8_t *x = j->x;
    for (int64_t i = j->n_steps; i > 0; i--, p += panel_vectors(form), x += sizeof(q8a_block)) {
        tile_fence();
        _tile_zero(0);
        _tile_loadd(1, ((const q8a_block *)(const void *)x)->qs, j->x_stride);
        _tile_loadd(2, p, 64);
        _tile_dpbsud(0, 1, 2);
        _tile_stored(0, sums, 64);
        tile_fence();
        const step u = panel_scales(form, p);
#pragma GCC unroll 16
        for (int c = 0; c < TILE_COLS; c++) {
            const q8a_block *b = (const q8a_block *)(const void *)(x + (size_t)c * j->x_stride);
            const vi dot = vi_load(sums[c]);
            const vi sum = offset ? vi_sub(dot, vi_set1(offset * (b->s0 + b->s1))) : dot;
            acc[c] = step_finish(form, &u, b, sum, sum, acc[c]);
        }
    }
#pragma GCC unroll 16
    for (int c = 0; c < TILE_COLS; c++) vf_store((float *)(void *)((uint8_t *)j->y + (size_t)c * j->y_stride), acc[c]);
}
#endif
