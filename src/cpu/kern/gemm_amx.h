/* gemm_amx.h - the panel kernel on AMX tiles: 16 rows of weights times 16 columns of activations at once.
 *
 * A panel step (gemm_body.h) already lies as the second operand of a tile product wants it: four neighbouring values of
 * each of 16 rows side by side. So a step is one product of tiles (two, of 16 values, where the form has halves) into
 * exact 32-bit sums, one row of the result per column, and then the same multiply-adds in floats as everywhere: the
 * bits are those of the AVX-512 kernels.
 *
 * Tiles are state of the thread: tiles_begin loads the shapes, tiles_end gives the registers back.
 * Source: Intel Architecture Instruction Set Extensions Programming Reference, chapter 3 (AMX).
 *
 * Ladder: bench/kern_bench.c, in gemm_body.h. */
#ifndef LODE_CPU_KERN_GEMM_AMX_H
#define LODE_CPU_KERN_GEMM_AMX_H
#include <stdatomic.h>

enum { TILE_COLS = 16 };

/* Operand of LDTILECFG. Tiles 0 and 1 hold sums, 2 and 3 activations, 4 and 5 weights. */
typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

KERN_INLINE int has_halves(int form) { return form == FORM_H || form == FORM_HM; }

static void tiles_begin(int form) {
    static const tile_config whole = { 1, 0, { 0 }, { 64, 64, 32, 32, 64, 64 }, { 16, 16, 16, 16, 8, 8 } };
    static const tile_config half = { 1, 0, { 0 }, { 64, 64, 16, 16, 64, 64 }, { 16, 16, 16, 16, 4, 4 } };
    _tile_loadconfig(has_halves(form) ? &half : &whole);
}

static void tiles_end(void) { _tile_release(); }

/* What compilers are not told: the tile instructions read and write memory. */
KERN_INLINE void tile_fence(void) { atomic_signal_fence(memory_order_seq_cst); }

/* Sums of one step: sums[0] of the whole or of the first half, sums[1] of the second. */
KERN_INLINE void tile_sums(int form, int32_t (*sums)[TILE_COLS][16], const vi *panel, const int8_t *x, size_t stride) {
    _tile_zero(0);
    _tile_loadd(2, x, stride);
    _tile_loadd(4, panel, 64);
    _tile_dpbsud(0, 2, 4);
    _tile_stored(0, sums[0], 64);
    if (has_halves(form)) {
        _tile_zero(1);
        _tile_loadd(3, x + 16, stride);
        _tile_loadd(5, panel + 4, 64);
        _tile_dpbsud(1, 3, 5);
        _tile_stored(1, sums[1], 64);
    }
}

KERN_INLINE vf tile_finish(int form, int offset, const step *u, const q8a_block *x, vi i0, vi i1, vf acc) {
    if (offset && has_halves(form)) {
        i0 = vi_sub(i0, vi_set1(offset * x->s0));
        i1 = vi_sub(i1, vi_set1(offset * x->s1));
    } else if (offset) {
        i0 = vi_sub(i0, vi_set1(offset * (x->s0 + x->s1)));
    }
    return step_finish(form, u, x, i0, i1, acc);
}

/* One panel times TILE_COLS columns. */
KERN_INLINE void panel_tiles(int form, int offset, const panel_job *j) {
    _Alignas(64) int32_t sums[2][TILE_COLS][16];
    vf acc[TILE_COLS];
#pragma GCC unroll 16
    for (int c = 0; c < TILE_COLS; c++) acc[c] = vf_zero();
    const vi *p = j->panel;
    const uint8_t *x = j->x;
    for (int64_t i = j->n_steps; i > 0; i--, p += panel_vectors(form), x += sizeof(q8a_block)) {
        tile_fence();
        tile_sums(form, sums, p, ((const q8a_block *)(const void *)x)->qs, j->x_stride);
        tile_fence();
        const step u = panel_scales(form, p);
#pragma GCC unroll 16
        for (int c = 0; c < TILE_COLS; c++)
            acc[c] = tile_finish(form, offset, &u, (const q8a_block *)(const void *)(x + (size_t)c * j->x_stride),
                                 vi_load(sums[0][c]), has_halves(form) ? vi_load(sums[1][c]) : vi_zero(), acc[c]);
    }
#pragma GCC unroll 16
    for (int c = 0; c < TILE_COLS; c++) vf_store((float *)(void *)((uint8_t *)j->y + (size_t)c * j->y_stride), acc[c]);
}
#endif
