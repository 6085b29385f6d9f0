/* attend.c - attention over the paged cache.
 *
 * A unit is a run of tokens of one sequence against one KV head; they share its keys and values. When a step has too
 * few units for the threads (decoding), each unit's cells are cut into parts at fixed places, threads claim parts, and
 * whoever finishes a unit's last part merges them. Both ways give the same bits (kern.h). */
#include "base/mem.h"
#include "cpu/kernels.h"

#include <string.h>

/* Tokens of a unit: 16 rows of queries fill the tiles of the kernels. Steps of up to PART_TOKENS may be cut into
 * parts; more tokens always make enough units. */
enum { UNIT_TOKENS = 16, PART_TOKENS = 8 };

const char *lode_cpu_accepts_attend(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    const lode_type kv = t->src[1]->type;
    if (kv != LODE_F16 && kv != LODE_F32) return "the cache is neither f32 nor f16";
    if (t->src[0]->ne[0] % 8 != 0 || t->src[0]->ne[0] > 256) return "the head size is not a multiple of 8 up to 256";
    return NULL;
}

static const lode_attend_desc *desc_of(const lode_tensor *t) { return (const lode_attend_desc *)(const void *)t->par; }
static int32_t heads_per_kv(const lode_tensor *t) { return (int32_t)t->src[0]->ne[1] / desc_of(t)->n_kv_head; }

/* Spans come as rows of four numbers; the kernels want lowest and highest cells as two arrays. */
typedef struct {
    int32_t lo[UNIT_TOKENS], hi[UNIT_TOKENS];
} unit_spans;

static size_t spans_bytes(void) { return (sizeof(unit_spans) + 63) / 64 * 64; }

size_t lode_cpu_size_attend(const lode_kern *k, const lode_tensor *t) {
    const int32_t d = (int32_t)t->src[0]->ne[0];
    return spans_bytes() + k->attn_scratch(d, d, UNIT_TOKENS, heads_per_kv(t));
}

static int64_t max_parts(const lode_tensor *t) { return t->src[1]->ne[1] / LODE_ATTN_PART + 2; }

static size_t part_floats(const lode_tensor *t) {
    return (size_t)max_parts(t) * (size_t)heads_per_kv(t) * (size_t)(t->src[0]->ne[0] + 2);
}

static size_t n_counters(const lode_tensor *t) { return (size_t)(PART_TOKENS * desc_of(t)->n_kv_head + 15) / 16 * 16; }

size_t lode_cpu_size_attend_shared(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    const int64_t tokens = t->src[0]->ne[2] < PART_TOKENS ? t->src[0]->ne[2] : PART_TOKENS;
    return n_counters(t) * sizeof(atomic_int) +
           (size_t)tokens * (size_t)desc_of(t)->n_kv_head * part_floats(t) * sizeof(float);
}

static const int32_t *span_of(const lode_tensor *t, int64_t token) {
    return (const int32_t *)(const void *)lode_host_row(t->src[4], token, 0, 0);
}

static lode_attn_args args_of(const lode_cpu_work *w, int64_t token, int32_t n_tok, int32_t kv) {
    const lode_tensor *t = w->t, *q = t->src[0], *k = t->src[1], *v = t->src[2];
    const lode_attend_desc *d = desc_of(t);
    const int32_t group = heads_per_kv(t), dh = (int32_t)q->ne[0];
    unit_spans *spans = w->scratch;
    for (int32_t i = 0; i < n_tok; i++) {
        const int32_t *s = span_of(t, token + i);
        spans->lo[i] = s[d->windowed ? LODE_SPAN_FROM_WINDOW : LODE_SPAN_FROM];
        spans->hi[i] = s[LODE_SPAN_TO];
    }
    return (lode_attn_args){
        .q = (const float *)(const void *)lode_host_row(q, (int64_t)kv * group, token, 0),
        .q_tok_stride = q->nb[2],
        .q_head_stride = q->nb[1],
        .out = (float *)(void *)lode_host_row(t, token, 0, 0) + (size_t)kv * (size_t)group * (size_t)dh,
        .out_tok_stride = t->nb[1],
        .out_head_stride = (size_t)dh * sizeof(float),
        .k = lode_host(k) + (size_t)kv * (size_t)dh * k->nb[0],
        .v = lode_host(v) + (size_t)kv * (size_t)dh * v->nb[0],
        .k_stride = k->nb[1],
        .v_stride = v->nb[1],
        .kv_type = k->type,
        .pages = (const int32_t *)(const void *)lode_host_row(t->src[3], span_of(t, token)[LODE_SPAN_SEQ], 0, 0),
        .lo = spans->lo,
        .hi = spans->hi,
        .scale = d->scale,
        .softcap = d->softcap,
        .n_tok = n_tok,
        .n_head = group,
        .d_k = dh,
        .d_v = dh,
        .scratch = (char *)w->scratch + spans_bytes(),
    };
}

/* Tokens from `token` on that belong to one unit: same sequence, none without cells. A token that sees nothing (a
 * padding token) is a unit of its own. */
static int32_t unit_length(const lode_tensor *t, int64_t token) {
    const int32_t *first = span_of(t, token);
    const int lo = desc_of(t)->windowed ? LODE_SPAN_FROM_WINDOW : LODE_SPAN_FROM;
    int32_t n = 1;
    if (first[LODE_SPAN_TO] <= first[lo]) return 1;
    for (; n < UNIT_TOKENS && token + n < t->src[0]->ne[2]; n++) {
        const int32_t *s = span_of(t, token + n);
        if (s[LODE_SPAN_SEQ] != first[LODE_SPAN_SEQ] || s[LODE_SPAN_TO] <= s[lo]) break;
    }
    return n;
}

static void run_unit(const lode_cpu_work *w, int64_t token, int32_t n_tok, int32_t kv) {
    const lode_attn_args a = args_of(w, token, n_tok, kv);
    if (a.hi[0] > a.lo[0]) {
        w->k->attn(&a);
        return;
    }
    for (int32_t h = 0; h < a.n_head; h++) memset((char *)a.out + (size_t)h * a.out_head_stride, 0, (size_t)a.d_v * 4);
}

static void run_units(const lode_cpu_work *w) {
    const int32_t n_kv = desc_of(w->t)->n_kv_head;
    int64_t token = 0, first = 0; /* unit `first` is the first one of the run at `token` */
    for (int64_t unit = lode_cpu_claim(w);; unit = lode_cpu_claim(w)) {
        int32_t n_tok = 0;
        while (token < w->t->src[0]->ne[2]) {
            n_tok = unit_length(w->t, token);
            if (unit < first + n_kv) break;
            first += n_kv;
            token += n_tok;
        }
        if (token >= w->t->src[0]->ne[2]) return;
        run_unit(w, token, n_tok, (int32_t)(unit - first));
    }
}

/* Every token by itself, every unit in parts. */
static void run_parts(const lode_cpu_work *w, int64_t n_tokens) {
    const int32_t n_kv = desc_of(w->t)->n_kv_head;
    atomic_int *left = w->shared;
    float *parts = (float *)(void *)((char *)w->shared + n_counters(w->t) * sizeof(atomic_int));
    int64_t unit = 0, first = 0;
    for (int64_t claimed = lode_cpu_claim(w); unit < n_tokens * n_kv;) {
        lode_attn_args a = args_of(w, unit / n_kv, 1, (int32_t)(unit % n_kv));
        const bool empty = a.hi[0] <= a.lo[0];
        const int32_t n = empty ? 1 : lode_attn_n_parts(&a);
        if (claimed >= first + n) {
            first += n;
            unit++;
            continue;
        }
        a.part = parts + (size_t)unit * part_floats(w->t);
        if (empty)
            run_unit(w, unit / n_kv, 1, (int32_t)(unit % n_kv));
        else
            w->k->attn_part(&a, (int32_t)(claimed - first));
        if (!empty && atomic_fetch_add_explicit(&left[unit], 1, memory_order_acq_rel) == n - 1) {
            w->k->attn_merge(&a);
            atomic_store_explicit(&left[unit], 0, memory_order_relaxed);
        }
        claimed = lode_cpu_claim(w);
    }
}

void lode_cpu_run_attend(const lode_cpu_work *w) {
    const int64_t tokens = w->t->src[0]->ne[2];
    if (tokens <= PART_TOKENS && tokens * desc_of(w->t)->n_kv_head < 2 * (int64_t)w->n_tasks && w->n_tasks > 1)
        run_parts(w, tokens);
    else
        run_units(w);
}
