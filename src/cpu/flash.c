/* flash.c - attention over dense tensors, through the kernels of the paged cache.
 *
 * A unit is a few tokens of one batch against one KV head. Its cells are cut into parts of LODE_ATTN_PART: keys and
 * values that are neither f32 nor f16 are decoded part by part. Where units are too few for the threads, threads claim
 * single parts and whoever finishes a unit's last part merges them. Both ways give the same bits (kern.h). */
#include "ops/flash_attn.h"
#include "base/mem.h"
#include "cpu/kernels.h"
#include "lode/quant.h"

#include <string.h>

enum { UNIT_ROWS = 32, SPLIT_TOKENS = 8, PART_PAGES = LODE_ATTN_PART / LODE_KV_PAGE };

static const lode_flash_attn_desc *desc_of(const lode_tensor *t) { return LODE_PAR(t, lode_flash_attn_desc); }
static const lode_tensor *mask_of(const lode_tensor *t) { return desc_of(t)->has_mask ? t->src[3] : NULL; }
static const lode_tensor *sinks_of(const lode_tensor *t) { return desc_of(t)->has_mask ? t->src[4] : t->src[3]; }
static int64_t group_of(const lode_tensor *t) { return t->src[0]->ne[2] / t->src[1]->ne[2]; }
static int64_t keys_of(const lode_tensor *t) { return t->src[1]->ne[1]; }
static int64_t parts_of(const lode_tensor *t) { return (keys_of(t) + LODE_ATTN_PART - 1) / LODE_ATTN_PART; }

/* Tokens of a unit: its rows fill a tile. */
static int64_t unit_tokens(const lode_tensor *t) {
    const int64_t group = group_of(t); /* 0 where there are no queries */
    return group > 0 && group < UNIT_ROWS ? UNIT_ROWS / group : 1;
}

static bool is_plain(const lode_tensor *t) {
    const lode_type k = t->src[1]->type;
    return k == t->src[2]->type && (k == LODE_F16 || k == LODE_F32);
}

const char *lode_cpu_accepts_flash(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    const lode_tensor *mask = mask_of(t);
    if (mask && mask->ne[2] != 1 && mask->ne[2] != t->src[0]->ne[2]) return "masks repeat over some of the heads";
    return NULL;
}

/* ---- Memory of a thread: page numbers, spans, slopes, decoded keys and values, parts, the kernel's own ---- */

typedef struct {
    int32_t *pages, *lo, *hi;
    float *slopes, *k, *v, *parts;
    void *kern;
} memory;

static size_t round64(size_t n) { return (n + 63) / 64 * 64; }

static size_t part_floats(const lode_tensor *t) {
    return (size_t)(unit_tokens(t) * group_of(t) * parts_of(t)) * (size_t)(t->src[2]->ne[0] + 2);
}

/* Cuts memory at p, or with p NULL says how much it takes. */
static size_t cut(const lode_kern *k, const lode_tensor *t, char *p, memory *m) {
    const size_t n_tok = (size_t)unit_tokens(t), dk = (size_t)t->src[1]->ne[0], dv = (size_t)t->src[2]->ne[0];
    const size_t cells = is_plain(t) ? 0 : LODE_ATTN_PART;
    const size_t sizes[] = {
        (size_t)(keys_of(t) / LODE_KV_PAGE + 1) * sizeof(int32_t),
        n_tok * sizeof(int32_t),
        n_tok * sizeof(int32_t),
        (size_t)group_of(t) * sizeof(float),
        cells * dk * sizeof(float),
        cells * dv * sizeof(float),
        part_floats(t) * sizeof(float),
        k->attn_scratch((int32_t)dk, (int32_t)dv, (int32_t)n_tok, (int32_t)group_of(t)),
    };
    void *at[sizeof sizes / sizeof *sizes];
    size_t end = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        at[i] = p ? p + end : NULL;
        end += round64(sizes[i]);
    }
    if (m) *m = (memory){ at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7] };
    return end;
}

size_t lode_cpu_size_flash(const lode_kern *k, const lode_tensor *t) { return cut(k, t, (char *)0, NULL); }

static int64_t n_units(const lode_tensor *t) {
    const int64_t runs = (t->src[0]->ne[1] + unit_tokens(t) - 1) / unit_tokens(t);
    return runs * t->src[1]->ne[2] * t->src[0]->ne[3];
}

static bool may_split(const lode_tensor *t) { return t->src[0]->ne[1] <= SPLIT_TOKENS && parts_of(t) > 1; }
static size_t counter_bytes(const lode_tensor *t) { return round64((size_t)n_units(t) * sizeof(atomic_int)); }

size_t lode_cpu_size_flash_shared(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    return may_split(t) ? counter_bytes(t) + (size_t)n_units(t) * part_floats(t) * sizeof(float) : 0;
}

/* ---- One unit ---- */

/* The cells that a mask shows a token, from the first to the last. */
static void span_of(const uint16_t *mask, int64_t keys, int32_t *lo, int32_t *hi) {
    enum { HIDDEN = 0xFC00 }; /* -inf */
    int64_t a = 0, b = keys;
    while (b > 0 && mask[b - 1] == HIDDEN) b--;
    while (a < b && mask[a] == HIDDEN) a++;
    *lo = (int32_t)a;
    *hi = (int32_t)b;
}

typedef struct {
    int64_t token, kv_head, batch;
    lode_attn_args a;
} unit;

static void open_mask(const lode_tensor *t, unit *u, const memory *m) {
    const lode_tensor *mask = mask_of(t);
    for (int32_t i = 0; i < u->a.n_tok; i++) {
        m->lo[i] = 0;
        m->hi[i] = (int32_t)keys_of(t);
        if (mask && mask->ne[2] == 1)
            span_of((const void *)lode_host_row(mask, u->token + i, 0, u->batch % mask->ne[3]), keys_of(t), &m->lo[i],
                    &m->hi[i]);
    }
    if (!mask) return;
    const int64_t head = mask->ne[2] == 1 ? 0 : u->kv_head * u->a.n_head;
    u->a.mask = (const void *)lode_host_row(mask, u->token, head, u->batch % mask->ne[3]);
    u->a.mask_tok_stride = mask->nb[1];
    u->a.mask_head_stride = mask->ne[2] == 1 ? 0 : mask->nb[2];
    for (int32_t h = 0; h < u->a.n_head; h++)
        m->slopes[h] = lode_alibi_slope(desc_of(t)->max_bias, u->kv_head * u->a.n_head + h, t->src[0]->ne[2]);
    u->a.slopes = desc_of(t)->max_bias == 0.0f ? NULL : m->slopes;
}

static unit open_unit(const lode_cpu_work *w, const memory *m, int64_t i) {
    const lode_tensor *t = w->t, *q = t->src[0], *k = t->src[1], *v = t->src[2], *sinks = sinks_of(t);
    const int64_t n_kv = k->ne[2], n_tok = unit_tokens(t), group = group_of(t);
    unit u = { .kv_head = i % n_kv, .batch = i / n_kv % q->ne[3], .token = i / n_kv / q->ne[3] * n_tok };
    const int64_t head = u.kv_head * group, left = q->ne[1] - u.token;
    u.a = (lode_attn_args){
        .q = (const void *)lode_host_row(q, u.token, head, u.batch),
        .q_tok_stride = q->nb[1],
        .q_head_stride = q->nb[2],
        .out = (void *)lode_host_row(t, head, u.token, u.batch),
        .out_tok_stride = t->nb[2],
        .out_head_stride = t->nb[1],
        .k = lode_host_row(k, 0, u.kv_head, u.batch),
        .v = lode_host_row(v, 0, u.kv_head, u.batch),
        .k_stride = k->nb[1],
        .v_stride = v->nb[1],
        .kv_type = k->type,
        .pages = m->pages,
        .lo = m->lo,
        .hi = m->hi,
        .sinks = sinks ? (const float *)(const void *)lode_host(sinks) + head : NULL,
        .scale = desc_of(t)->scale,
        .softcap = desc_of(t)->softcap,
        .n_tok = (int32_t)(left < n_tok ? left : n_tok),
        .n_head = (int32_t)group,
        .d_k = (int32_t)k->ne[0],
        .d_v = (int32_t)v->ne[0],
        .scratch = m->kern,
        .part = m->parts,
    };
    open_mask(t, &u, m);
    return u;
}

static void decode(const lode_kern *k, const lode_tensor *t, const char *from, int64_t n, float *to) {
    for (int64_t c = 0; c < n; c++, from += t->nb[1], to += t->ne[0]) {
        if (t->type == LODE_F16)
            k->f16_to_f32((const void *)from, to, t->ne[0]);
        else if (t->type == LODE_BF16)
            k->bf16_to_f32((const void *)from, to, t->ne[0]);
        else
            lode_decode_row(t->type, from, to, t->ne[0]);
    }
}

/* Part p of the parts that the unit's spans touch: decoded first, where need be. */
static void run_part(const lode_cpu_work *w, const memory *m, const unit *u, int32_t first, int32_t p) {
    lode_attn_args a = u->a;
    const lode_tensor *k = w->t->src[1], *v = w->t->src[2];
    if (!is_plain(w->t)) {
        const int64_t from = (int64_t)(first + p) * LODE_ATTN_PART, left = keys_of(w->t) - from;
        const int64_t n = left < LODE_ATTN_PART ? left : LODE_ATTN_PART;
        decode(w->k, k, (const char *)a.k + (size_t)from * k->nb[1], n, m->k);
        decode(w->k, v, (const char *)a.v + (size_t)from * v->nb[1], n, m->v);
        a.k = m->k;
        a.v = m->v;
        a.k_stride = (size_t)k->ne[0] * sizeof(float);
        a.v_stride = (size_t)v->ne[0] * sizeof(float);
        a.kv_type = LODE_F32;
        for (int32_t i = 0; i < PART_PAGES && from / LODE_KV_PAGE + i <= keys_of(w->t) / LODE_KV_PAGE; i++)
            m->pages[from / LODE_KV_PAGE + i] = i;
    }
    w->k->attn_part(&a, p);
}

/* The first part that any token sees, and how many there are up to the last; 0 when nothing is seen. */
static int32_t parts_seen(const lode_attn_args *a, int32_t *first) {
    int32_t lo = INT32_MAX, hi = 0;
    for (int32_t i = 0; i < a->n_tok; i++) {
        if (a->lo[i] < a->hi[i] && a->lo[i] < lo) lo = a->lo[i];
        if (a->lo[i] < a->hi[i] && a->hi[i] > hi) hi = a->hi[i];
    }
    *first = hi > 0 ? lo / LODE_ATTN_PART : 0;
    return hi > 0 ? (hi + LODE_ATTN_PART - 1) / LODE_ATTN_PART - *first : 0;
}

/* Tokens that see nothing must not widen the range of the others: they see nothing where the others begin. */
static void narrow(const unit *u, const memory *m, int32_t first) {
    for (int32_t i = 0; i < u->a.n_tok; i++)
        if (m->lo[i] >= m->hi[i]) m->lo[i] = m->hi[i] = first * LODE_ATTN_PART;
}

static void blank(const unit *u) {
    for (int32_t i = 0; i < u->a.n_tok; i++)
        for (int32_t h = 0; h < u->a.n_head; h++)
            memset((char *)u->a.out + (size_t)i * u->a.out_tok_stride + (size_t)h * u->a.out_head_stride, 0,
                   (size_t)u->a.d_v * sizeof(float));
}

static void run_units(const lode_cpu_work *w, const memory *m) {
    const int64_t n = n_units(w->t);
    for (int64_t i; (i = lode_cpu_claim(w)) < n;) {
        const unit u = open_unit(w, m, i);
        int32_t first;
        const int32_t parts = parts_seen(&u.a, &first);
        narrow(&u, m, first);
        for (int32_t p = 0; p < parts; p++) run_part(w, m, &u, first, p);
        if (parts > 0)
            w->k->attn_merge(&u.a);
        else
            blank(&u);
    }
}

static void run_split(const lode_cpu_work *w, const memory *m) {
    const int64_t n = n_units(w->t);
    atomic_int *done = w->shared;
    float *shared = (float *)(void *)((char *)w->shared + counter_bytes(w->t));
    int64_t before = 0, claimed = lode_cpu_claim(w);
    for (int64_t i = 0; i < n; i++) {
        unit u = open_unit(w, m, i);
        int32_t first;
        const int32_t parts = parts_seen(&u.a, &first), pieces = parts > 0 ? parts : 1;
        narrow(&u, m, first);
        u.a.part = shared + (size_t)i * part_floats(w->t);
        for (; claimed < before + pieces; claimed = lode_cpu_claim(w)) {
            if (parts == 0) {
                blank(&u);
                continue;
            }
            run_part(w, m, &u, first, (int32_t)(claimed - before));
            if (atomic_fetch_add_explicit(&done[i], 1, memory_order_acq_rel) != parts - 1) continue;
            w->k->attn_merge(&u.a);
            atomic_store_explicit(&done[i], 0, memory_order_relaxed);
        }
        before += pieces;
    }
}

void lode_cpu_run_flash(const lode_cpu_work *w) {
    memory m;
    cut(w->k, w->t, w->scratch, &m);
    for (int64_t i = 0; i <= keys_of(w->t) / LODE_KV_PAGE; i++) m.pages[i] = (int32_t)i;
    if (may_split(w->t) && n_units(w->t) < 2 * (int64_t)w->n_tasks && w->n_tasks > 1)
        run_split(w, &m);
    else
        run_units(w, &m);
}
