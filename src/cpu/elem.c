/* elem.c - element-wise ops: rows in pieces that stay in the first-level cache, as floats, through the instruction
 * set's functions. Dense f32 is read and written where it lies. */
#include "graph/elem.h"
#include "cpu/kernels.h"
#include "ops/binary.h"
#include "ops/scale.h"
#include "ops/softcap.h"

#include <math.h>

typedef void one_fn(const float *x, float *y, int64_t n);
typedef void two_fn(const float *a, const float *b, float *y, int64_t n);

/* What the instruction sets have no function of their own for, and any compiler vectorises. */
#define PLAIN(name, expr)                                   \
    static void name(const float *x, float *y, int64_t n) { \
        for (int64_t i = 0; i < n; i++) y[i] = expr;        \
    }
PLAIN(plain_abs, fabsf(x[i]))
PLAIN(plain_sgn, (float)((x[i] > 0.0f) - (x[i] < 0.0f)))
PLAIN(plain_neg, -x[i])
PLAIN(plain_step, x[i] > 0.0f ? 1.0f : 0.0f)
PLAIN(plain_sqr, x[i] * x[i])
PLAIN(plain_sqrt, sqrtf(x[i]))
PLAIN(plain_hardsigmoid, fminf(1.0f, fmaxf(0.0f, (x[i] + 3.0f) / 6.0f)))
PLAIN(plain_hardswish, x[i] * fminf(1.0f, fmaxf(0.0f, (x[i] + 3.0f) / 6.0f)))

static one_fn *one_of(const lode_kern *k, int op) {
    const struct {
        int op;
        one_fn *fn;
    } table[] = {
        { LODE_SILU, k->silu },
        { LODE_GELU, k->gelu },
        { LODE_GELU_ERF, k->gelu_erf },
        { LODE_RELU, k->relu },
        { LODE_SIGMOID, k->sigmoid },
        { LODE_TANH, k->tanh },
        { LODE_EXP, k->exp },
        { LODE_ABS, plain_abs },
        { LODE_SGN, plain_sgn },
        { LODE_NEG, plain_neg },
        { LODE_STEP, plain_step },
        { LODE_SQR, plain_sqr },
        { LODE_SQRT, plain_sqrt },
        { LODE_HARDSWISH, plain_hardswish },
        { LODE_HARDSIGMOID, plain_hardsigmoid },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op) return table[i].fn;
    return NULL;
}

static two_fn *two_of(const lode_kern *k, int op) {
    const struct {
        int op;
        two_fn *fn;
    } table[] = {
        { LODE_ADD, k->add }, { LODE_SUB, k->sub },       { LODE_MUL, k->mul },
        { LODE_DIV, k->div }, { LODE_SWIGLU, k->swiglu }, { LODE_GEGLU, k->geglu },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op) return table[i].fn;
    return NULL;
}

static bool dense(const lode_tensor *t) { return t->nb[0] == (size_t)lode_type_bytes(t->type); }

/* n elements of a row as floats: where they lie, or in buf. */
static const float *load(const lode_kern *k, const lode_tensor *t, const char *row, int64_t i, int64_t n, float *buf) {
    const void *at = row + (size_t)i * t->nb[0];
    if (t->type == LODE_F16 && dense(t))
        k->f16_to_f32(at, buf, n);
    else if (t->type == LODE_BF16 && dense(t))
        k->bf16_to_f32(at, buf, n);
    else
        return lode_peek(t, row, i, n, buf);
    return buf;
}

/* Where the functions may write: the row itself when it is dense f32. */
static float *target(const lode_tensor *t, char *row, int64_t i, float *buf) {
    return t->type == LODE_F32 && dense(t) ? (float *)(void *)row + i : buf;
}

static void finish(const lode_kern *k, const lode_tensor *t, char *row, int64_t i, int64_t n, const float *y) {
    void *at = row + (size_t)i * t->nb[0];
    if (y == at) return;
    if (t->type == LODE_F16 && dense(t))
        k->f32_to_f16(y, at, n);
    else
        lode_store(t, row, i, n, y);
}

#define EACH_PIECE(t, i, n) \
    for (int64_t i = 0, n; n = (t)->ne[0] - i < LODE_PIECE ? (t)->ne[0] - i : LODE_PIECE, i < (t)->ne[0]; i += n)

const char *lode_cpu_accepts_float_rows(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    return lode_is_float(t->src[0]->type) ? NULL : "want f32, f16 or bf16";
}

const char *lode_cpu_accepts_unary(const lode_kern *k, const lode_tensor *t) {
    return one_of(k, t->op) ? lode_cpu_accepts_float_rows(k, t) : "no vector function";
}

const char *lode_cpu_accepts_binary(const lode_kern *k, const lode_tensor *t) {
    return two_of(k, t->op) ? lode_cpu_accepts_float_rows(k, t) : "no vector function";
}

/* n elements by an op of one input. */
typedef void piece_fn(const lode_cpu_work *w, const float *x, float *y, int64_t n);

static void map_rows(const lode_cpu_work *w, piece_fn *fn) {
    const lode_tensor *t = w->t;
    float x[LODE_PIECE], y[LODE_PIECE];
    EACH_ROW(w, r) {
        const char *in = lode_host_nth_row(t->src[0], r);
        char *out = lode_host_nth_row(t, r);
        EACH_PIECE(t, i, n) {
            float *to = target(t, out, i, y);
            fn(w, load(w->k, t->src[0], in, i, n, x), to, n);
            finish(w->k, t, out, i, n, to);
        }
    }
}

static void unary(const lode_cpu_work *w, const float *x, float *y, int64_t n) { one_of(w->k, w->t->op)(x, y, n); }

static void scale(const lode_cpu_work *w, const float *x, float *y, int64_t n) {
    const lode_scale_par *par = LODE_PAR(w->t, lode_scale_par);
    w->k->scale(x, y, n, par->s, par->c);
}

static void softcap(const lode_cpu_work *w, const float *x, float *y, int64_t n) {
    w->k->softcap(x, y, n, LODE_PAR(w->t, lode_softcap_par)->cap);
}

void lode_cpu_run_unary(const lode_cpu_work *w) { map_rows(w, unary); }
void lode_cpu_run_scale(const lode_cpu_work *w) { map_rows(w, scale); }
void lode_cpu_run_softcap(const lode_cpu_work *w) { map_rows(w, softcap); }

/* b's part of a row: as it lies, or repeated into buf. */
static const float *load_second(const lode_kern *k, const lode_tensor *b, const char *row, int64_t i, int64_t n,
                                int64_t whole, float *buf) {
    if (b->ne[0] == whole) return load(k, b, row, i, n, buf);
    lode_load_repeated(b, row, i, n, buf);
    return buf;
}

void lode_cpu_run_binary(const lode_cpu_work *w) {
    two_fn *fn = two_of(w->k, w->t->op);
    const lode_tensor *t = w->t, *b = t->src[1];
    float x[LODE_PIECE], z[LODE_PIECE], y[LODE_PIECE];
    EACH_ROW(w, r) {
        const char *in = lode_host_nth_row(t->src[0], r), *second = lode_host_repeated_row(b, t, r);
        char *out = lode_host_nth_row(t, r);
        EACH_PIECE(t, i, n) {
            float *to = target(t, out, i, y);
            fn(load(w->k, t->src[0], in, i, n, x), load_second(w->k, b, second, i, n, t->ne[0], z), to, n);
            finish(w->k, t, out, i, n, to);
        }
    }
}
