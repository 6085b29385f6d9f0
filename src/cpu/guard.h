/* guard.h - for tests of kernels: every tensor of a plan moves to a buffer of its own between two bands of a pattern,
 * and after a run every byte that no node may write must be what it was.
 *
 *   guard_open   after lode_plan_open: moves the tensors, results and bands filled
 *   guard_arm    inputs written, before the run: keeps all bytes
 *   guard_check  after the run: says which tensor changed where it must not
 *
 * Result memory is filled with `fill` until then: with 0xFF an element that nobody writes is a NaN. */
#ifndef LODE_CPU_GUARD_H
#define LODE_CPU_GUARD_H

#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A band is longer than any vector store and whole alignments of every device. Its byte is neither 0 nor 0xFF and
 * follows from `fill`, so that runs with different ones differ where somebody reads a band: four of 0xCB or of 0x61 are
 * floats that show, -1e7 and 3e20. */
enum { GUARD_BAND = 256, GUARD_MAX = 32 };

typedef struct {
    const lode_tensor *t; /* owner of the memory */
    lode_buffer *buffer;  /* own */
    size_t bytes;         /* of the tensor; the buffer has a band more on both sides */
    unsigned char *want;  /* own: the buffer before the run */
    bool *may;            /* own: bytes of the buffer that a node writes */
} guarded;

typedef struct {
    guarded items[GUARD_MAX];
    int n;
} guard;

/* Marks the elements of a node's result, which may be a view of other memory. */
static inline void guard_allow(guarded *o, const lode_tensor *t) {
    const size_t one = (size_t)lode_type_bytes(t->type);
    const int64_t blocks = t->ne[0] / lode_type_block(t->type), rows = lode_n_rows(t);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t i1 = r % t->ne[1], i2 = r / t->ne[1] % t->ne[2], i3 = r / t->ne[1] / t->ne[2];
        const size_t at =
            GUARD_BAND + t->view_off + (size_t)i1 * t->nb[1] + (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
        for (int64_t b = 0; b < blocks; b++) memset(o->may + at + (size_t)b * t->nb[0], 1, one);
    }
}

/* What a node writes of the tensor: its result, and the sources that its op says it writes. */
static inline void guard_allow_of(guarded *o, const lode_tensor *node) {
    if (lode_plan_owner(node) == o->t) guard_allow(o, node);
    for (int k = 0; k < LODE_MAX_SRC && node->src[k]; k++)
        if ((lode_op_info_of(node->op)->writes >> k & 1) && lode_plan_owner(node->src[k]) == o->t)
            guard_allow(o, node->src[k]);
}

static inline lode_status guard_move(guard *g, const lode_plan *p, lode_tensor *t, int fill, lode_err *err) {
    if (g->n == GUARD_MAX) return lode_fail(err, LODE_E_INPUT, "guard: more than %d tensors", GUARD_MAX);
    guarded *o = &g->items[g->n++];
    *o = (guarded){ .t = t, .bytes = lode_n_bytes(t) };
    const size_t all = o->bytes + 2 * GUARD_BAND;
    o->want = lode_calloc(all, 1);
    o->may = lode_calloc(all, sizeof *o->may);
    if (!o->want || !o->may) return lode_fail(err, LODE_E_NOMEM, "guard: out of memory");
    LODE_TRY(lode_buffer_open(&o->buffer, lode_buffer_get_type(t->buffer), all, err));
    t->buffer = o->buffer;
    t->offset = GUARD_BAND;
    LODE_TRY(lode_buffer_clear(o->buffer, fill ^ 0x34, err));
    LODE_TRY(lode_buffer_memset(o->buffer, GUARD_BAND, fill, o->bytes, err));
    for (size_t i = 0; i < p->nodes.n; i++) guard_allow_of(o, p->nodes.items[i]);
    return LODE_OK;
}

/* Kernels look addresses up when they run, and barriers between nodes of shared memory only become superfluous. */
static inline lode_status guard_open(guard *g, lode_plan *p, int fill, lode_err *err) {
    g->n = 0;
    for (size_t i = 0; i < p->all.n; i++) {
        lode_tensor *t = p->all.items[i];
        if (t->buffer && !t->view_of) LODE_TRY(guard_move(g, p, t, fill, err));
    }
    for (size_t i = 0; i < p->all.n; i++) {
        lode_tensor *t = p->all.items[i];
        if (!t->view_of) continue;
        t->buffer = t->view_of->buffer;
        t->offset = t->view_of->offset + t->view_off;
    }
    return LODE_OK;
}

static inline lode_status guard_arm(guard *g, lode_err *err) {
    for (int i = 0; i < g->n; i++) {
        guarded *o = &g->items[i];
        LODE_TRY(lode_buffer_get(o->buffer, 0, o->want, o->bytes + 2 * GUARD_BAND, err));
    }
    return LODE_OK;
}

static inline bool guard_look(const guarded *o, char *what, size_t n) {
    lode_err e;
    const size_t all = o->bytes + 2 * GUARD_BAND;
    unsigned char *got = lode_calloc(all, 1);
    bool same = got && lode_buffer_get(o->buffer, 0, got, all, &e) == LODE_OK;
    if (!same) snprintf(what, n, "its memory cannot be read");
    for (size_t i = 0; i < all && same; i++) {
        if (got[i] == o->want[i] || o->may[i]) continue;
        same = false;
        const long long at = (long long)i - GUARD_BAND;
        const char *part = o->t->op == LODE_OP_NONE ? "input " : "result of ";
        const char *name = o->t->op == LODE_OP_NONE ? o->t->name : lode_op_name(o->t->op);
        snprintf(what, n, "byte %lld of %s%s (%zu bytes) was written: %02x, was %02x", at, part, name, o->bytes, got[i],
                 o->want[i]);
    }
    free(got);
    return same;
}

/* False with the first byte that changed and must not: before, behind or between the elements of a result, or in an
 * input. */
static inline bool guard_check(const guard *g, char *what, size_t n) {
    for (int i = 0; i < g->n; i++)
        if (!guard_look(&g->items[i], what, n)) return false;
    return true;
}

/* The plan must not run afterwards. */
static inline void guard_close(guard *g) {
    for (int i = 0; i < g->n; i++) {
        lode_buffer_close(g->items[i].buffer);
        free(g->items[i].want);
        free(g->items[i].may);
    }
    g->n = 0;
}
#endif
