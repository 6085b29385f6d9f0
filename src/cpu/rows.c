/* rows.c - ops that treat each row by itself: element-wise, norms, gates, conversions. Rows are shared out among the
 * threads by number; the arithmetic is the instruction set's (kern.h). */
#include "base/mem.h"
#include "cpu/kernels.h"
#include "graph/elem.h"
#include "lode/quant.h"
#include "ops/binary.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "ops/rows.h"

#include <string.h>

const char *lode_cpu_accepts_any(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    (void)t;
    return NULL;
}

const char *lode_cpu_accepts_dense_rows(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    return t->src[0]->nb[0] == (size_t)lode_type_bytes(t->src[0]->type) ? NULL : "rows are not dense";
}

const char *lode_cpu_accepts_f32_rows(const lode_kern *k, const lode_tensor *t) {
    return t->src[0]->type == LODE_F32 ? lode_cpu_accepts_dense_rows(k, t) : "want f32";
}

const char *lode_cpu_accepts_f32_pair(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    for (int i = 0; i < 2; i++)
        if (t->src[i]->type != LODE_F32 || t->src[i]->nb[0] != sizeof(float)) return "want dense rows of f32";
    return NULL;
}

const char *lode_cpu_accepts_one_weight_row(const lode_kern *k, const lode_tensor *t) {
    const char *why = lode_cpu_accepts_f32_pair(k, t);
    if (why) return why;
    return t->src[1]->ne[0] == t->ne[0] && lode_n_rows(t->src[1]) == 1 ? NULL : "the weight is not one row";
}

const char *lode_cpu_accepts_plain_cache(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    return t->type == LODE_F32 || t->type == LODE_F16 ? NULL : "the cache is neither f32 nor f16";
}

size_t lode_cpu_size_one_row(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    return (size_t)t->ne[0] * sizeof(float);
}

static const float *in_row(const lode_tensor *t, int src, int64_t r) {
    return (const float *)(const void *)lode_host_nth_row(t->src[src], r);
}

static float *out_row(const lode_tensor *t, int64_t r) { return (float *)(void *)lode_host_nth_row(t, r); }

void lode_cpu_run_rms_norm(const lode_cpu_work *w) {
    const lode_rms_norm_par *par = (const lode_rms_norm_par *)(const void *)w->t->par;
    EACH_ROW(w, r) w->k->rms_norm(in_row(w->t, 0, r), NULL, out_row(w->t, r), w->t->ne[0], par->eps);
}

void lode_cpu_run_layer_norm(const lode_cpu_work *w) {
    const float eps = LODE_PAR(w->t, lode_rms_norm_par)->eps;
    EACH_ROW(w, r) w->k->layer_norm(in_row(w->t, 0, r), NULL, NULL, out_row(w->t, r), w->t->ne[0], eps);
}

void lode_cpu_run_l2_norm(const lode_cpu_work *w) {
    const float eps = LODE_PAR(w->t, lode_rms_norm_par)->eps;
    EACH_ROW(w, r) w->k->l2_norm(in_row(w->t, 0, r), out_row(w->t, r), w->t->ne[0], eps);
}

void lode_cpu_run_norm_mul(const lode_cpu_work *w) {
    const lode_rms_norm_par *par = (const lode_rms_norm_par *)(const void *)w->t->par;
    const float *weight = in_row(w->t, 1, 0);
    EACH_ROW(w, r) w->k->rms_norm(in_row(w->t, 0, r), weight, out_row(w->t, r), w->t->ne[0], par->eps);
}

void lode_cpu_run_norm_mul_quant(const lode_cpu_work *w) {
    const lode_rms_norm_par *par = (const lode_rms_norm_par *)(const void *)w->t->par;
    const float *weight = in_row(w->t, 1, 0);
    EACH_ROW(w, r) {
        w->k->rms_norm(in_row(w->t, 0, r), weight, w->scratch, w->t->ne[0], par->eps);
        w->k->quantize_q8a(w->scratch, lode_host_nth_row(w->t, r), w->t->ne[0]);
    }
}

void lode_cpu_run_swiglu_quant(const lode_cpu_work *w) {
    EACH_ROW(w, r) {
        w->k->swiglu(in_row(w->t, 0, r), in_row(w->t, 1, r), w->scratch, w->t->ne[0]);
        w->k->quantize_q8a(w->scratch, lode_host_nth_row(w->t, r), w->t->ne[0]);
    }
}

void lode_cpu_run_geglu_quant(const lode_cpu_work *w) {
    EACH_ROW(w, r) {
        w->k->geglu(in_row(w->t, 0, r), in_row(w->t, 1, r), w->scratch, w->t->ne[0]);
        w->k->quantize_q8a(w->scratch, lode_host_nth_row(w->t, r), w->t->ne[0]);
    }
}

void lode_cpu_run_quant_act(const lode_cpu_work *w) {
    EACH_ROW(w, r) w->k->quantize_q8a(in_row(w->t, 0, r), lode_host_nth_row(w->t, r), w->t->ne[0]);
}

void lode_cpu_run_get_rows(const lode_cpu_work *w) {
    const lode_tensor *t = w->t, *from = t->src[0];
    EACH_ROW(w, r) {
        const char *row = lode_get_rows_at(t, r);
        if (!row)
            memset(out_row(t, r), 0, (size_t)t->ne[0] * sizeof(float));
        else if (lode_type_bytes(from->type) == sizeof(float)) /* f32, i32 */
            memcpy(out_row(t, r), row, (size_t)t->ne[0] * sizeof(float));
        else if (from->type == LODE_F16)
            w->k->f16_to_f32((const void *)row, out_row(t, r), t->ne[0]);
        else
            lode_decode_row(from->type, row, out_row(t, r), t->ne[0]);
    }
}

void lode_cpu_run_set_rows(const lode_cpu_work *w) {
    const lode_tensor *t = w->t, *x = t->src[1];
    const bool f32 = x->type == LODE_F32 && x->nb[0] == sizeof(float);
    float buf[LODE_PIECE];
    int64_t r, end;
    for (lode_cpu_share(w, lode_op_units(t), &r, &end); r < end; r++) {
        char *row = lode_set_rows_at(t, r);
        const char *values = lode_host_nth_row(x, r);
        if (row && f32 && t->type == LODE_F16) {
            w->k->f32_to_f16((const void *)values, (void *)row, t->ne[0]);
            continue;
        }
        for (int64_t i = 0, n; i < t->ne[0] && row; i += n) {
            n = t->ne[0] - i < LODE_PIECE ? t->ne[0] - i : LODE_PIECE;
            lode_store(t, row, i, n, lode_peek(x, values, i, n, buf));
        }
    }
}

void lode_cpu_run_rope_table(const lode_cpu_work *w) {
    int64_t from, to;
    lode_cpu_share(w, w->t->ne[0] / 2, &from, &to);
    lode_rope_table_fill(w->t, (int)from, (int)to);
}

/* The heads of one token, f32: all at once when nothing lies before the turned part. */
static void rope_token(const lode_cpu_work *w, int64_t i2, int64_t i3) {
    const lode_tensor *t = w->t, *x = t->src[0];
    const lode_rope_par *par = LODE_PAR(t, lode_rope_par);
    const size_t skip = (size_t)par->offset * sizeof(float);
    const int32_t dims[3] = { (int32_t)t->ne[1], (int32_t)t->ne[0] - par->offset, (int32_t)t->src[1]->ne[0] };
    const char *in = lode_host_row(x, 0, i2, i3);
    char *out = lode_host_row(t, 0, i2, i3);
    for (int64_t h = 0; skip && in != out && h < t->ne[1]; h++)
        memcpy(out + (size_t)h * t->nb[1], in + (size_t)h * x->nb[1], skip);
    w->k->rope((const float *)(const void *)(in + skip), x->nb[1],
               (const float *)(const void *)lode_host_row(t->src[1], i2, 0, 0), (float *)(void *)(out + skip), t->nb[1],
               dims, par->order == LODE_ROPE_NEOX ? LODE_ROPE_HALVES : LODE_ROPE_PAIRS);
}

void lode_cpu_run_rope(const lode_cpu_work *w) {
    int64_t i, end;
    for (lode_cpu_share(w, w->t->ne[2] * w->t->ne[3], &i, &end); i < end; i++)
        rope_token(w, i % w->t->ne[2], i / w->t->ne[2]);
}

/* Heads of short floats: turned in a copy. */
void lode_cpu_run_rope_short(const lode_cpu_work *w) {
    const lode_tensor *t = w->t;
    const lode_rope_par *par = LODE_PAR(t, lode_rope_par);
    const int32_t dims[3] = { 1, (int32_t)t->ne[0] - par->offset, (int32_t)t->src[1]->ne[0] };
    float *head = w->scratch;
    EACH_ROW(w, r) {
        const float *cs = (const float *)(const void *)lode_host_row(t->src[1], r / t->ne[1] % t->ne[2], 0, 0);
        const char *in = lode_host_nth_row(t->src[0], r);
        char *out = lode_host_nth_row(t, r);
        if (t->type == LODE_F16)
            w->k->f16_to_f32((const void *)in, head, t->ne[0]);
        else
            lode_load(t->src[0], in, 0, t->ne[0], head);
        w->k->rope(head + par->offset, 0, cs, head + par->offset, 0, dims,
                   par->order == LODE_ROPE_NEOX ? LODE_ROPE_HALVES : LODE_ROPE_PAIRS);
        if (t->type == LODE_F16)
            w->k->f32_to_f16(head, (void *)out, t->ne[0]);
        else
            lode_store(t, out, 0, t->ne[0], head);
    }
}

void lode_cpu_run_kv_store(const lode_cpu_work *w) {
    const lode_tensor *t = w->t, *x = t->src[1];
    const int32_t *slots = (const int32_t *)(const void *)lode_host(t->src[2]);
    const size_t step = x->ne[0] * x->ne[1] == t->ne[0] ? x->nb[2] : x->nb[1]; /* heads side by side, or rows */
    int64_t i, end;
    for (lode_cpu_share(w, t->src[2]->ne[0], &i, &end); i < end; i++) {
        if (slots[i] < 0 || slots[i] >= t->ne[1]) continue;
        const float *from = (const float *)(const void *)(lode_host(x) + (size_t)i * step);
        char *to = lode_host_row(t, slots[i], 0, 0);
        if (t->type == LODE_F32)
            memcpy(to, from, (size_t)t->ne[0] * sizeof *from);
        else
            w->k->f32_to_f16(from, (uint16_t *)(void *)to, t->ne[0]);
    }
}
