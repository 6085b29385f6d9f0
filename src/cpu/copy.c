/* copy.c - copies: runs of a row, with the instruction set's conversions where both sides are dense, and plain loops
 * over elements of two or four bytes where one is not. */
#include "ops/copy.h"
#include "cpu/kernels.h"

#include <string.h>

static bool dense(const lode_tensor *t) { return t->nb[0] == (size_t)lode_type_bytes(t->type); }

static void gather4(char *y, size_t y_step, const char *x, size_t x_step, int64_t n) {
    for (int64_t i = 0; i < n; i++, y += y_step, x += x_step) memcpy(y, x, 4);
}

static void gather2(char *y, size_t y_step, const char *x, size_t x_step, int64_t n) {
    for (int64_t i = 0; i < n; i++, y += y_step, x += x_step) memcpy(y, x, 2);
}

static void run(const void *ctx, const lode_tensor *t, char *row, int64_t d0, const char *from, int64_t s0, int64_t n) {
    const lode_kern *k = ctx;
    const lode_tensor *s = t->src[0];
    char *y = row + (size_t)d0 * t->nb[0];
    const char *x = from + (size_t)s0 * s->nb[0];
    const bool both = dense(t) && dense(s), same = t->type == s->type && lode_type_block(t->type) == 1 && !both;
    if (same && lode_type_bytes(t->type) == 4)
        gather4(y, t->nb[0], x, s->nb[0], n);
    else if (same && lode_type_bytes(t->type) == 2)
        gather2(y, t->nb[0], x, s->nb[0], n);
    else if (both && s->type == LODE_F32 && t->type == LODE_F16)
        k->f32_to_f16((const void *)x, (void *)y, n);
    else if (both && s->type == LODE_F16 && t->type == LODE_F32)
        k->f16_to_f32((const void *)x, (void *)y, n);
    else if (both && s->type == LODE_F32 && t->type == LODE_BF16)
        k->f32_to_bf16((const void *)x, (void *)y, n);
    else if (both && s->type == LODE_BF16 && t->type == LODE_F32)
        k->bf16_to_f32((const void *)x, (void *)y, n);
    else
        lode_copy_run(NULL, t, row, d0, from, s0, n);
}

void lode_cpu_run_copy(const lode_cpu_work *w) {
    int64_t from, to;
    lode_cpu_share(w, lode_copy_units(w->t), &from, &to);
    lode_copy_walk(w->t, from, to, run, w->k);
}
