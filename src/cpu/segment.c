/* segment.c - nodes made into launches, and the stream that runs them.
 *
 * All threads walk the same list of launches. A barrier stands before a launch only where it touches memory that a
 * launch since the last barrier wrote, or writes what one read: found once, when compiled, from the memory ranges
 * themselves, so reuse of scratch memory is covered too. */
#include "base/clock.h"
#include "base/cpus.h"
#include "base/mem.h"
#include "cpu/cpu.h"
#include "cpu/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const lode_tensor *t;
    const lode_cpu_kernel *kernel; /* NULL: the reference */
    void *shared;
    bool barrier;
} launch;

/* One cache line each: threads claim from them at once. */
typedef struct {
    _Alignas(64) atomic_int next;
} counter;

struct lode_segment {
    launch *launches;  /* own */
    counter *counters; /* own, aligned */
    char *scratch;     /* own, aligned: max_threads * scratch_bytes */
    char *shared;      /* own, aligned */
    size_t scratch_bytes;
    int n, max_threads;
    const lode_kern *k;
};

typedef struct {
    const lode_buffer *buffer;
    size_t from, to;
} range;

typedef struct {
    range *items; /* own */
    size_t n, cap;
} ranges;

/* Bytes between the first and the last element; an upper bound is enough. */
static range range_of(const lode_tensor *t) { return (range){ t->buffer, t->offset, t->offset + lode_n_bytes(t) }; }

static bool overlaps(const ranges *set, range r) {
    for (size_t i = 0; i < set->n; i++)
        if (set->items[i].buffer == r.buffer && set->items[i].from < r.to && r.from < set->items[i].to) return true;
    return false;
}

/* What a launch touches: its result is written, and the sources that its op says it writes; the others are read. */
static bool add_touched(const lode_tensor *t, const ranges *all_writes, ranges *reads, ranges *writes) {
    const unsigned also = lode_op_info_of(t->op)->writes;
    bool ok = LODE_PUSH(writes, range_of(t));
    for (int k = 0; k < LODE_MAX_SRC && t->src[k] && ok; k++) {
        const range r = range_of(t->src[k]);
        if (also >> k & 1) ok = LODE_PUSH(writes, r);
        /* weights that nobody in the segment writes need no looking after, and are most of what is read */
        const bool constant = (t->src[k]->flags & LODE_T_WEIGHT) && !(all_writes && overlaps(all_writes, r));
        if (ok && !constant) ok = LODE_PUSH(reads, r);
    }
    return ok;
}

/* Whether any of `a` overlaps any of `b`. */
static bool meet(const ranges *a, const ranges *b) {
    for (size_t i = 0; i < a->n; i++)
        if (overlaps(b, a->items[i])) return true;
    return false;
}

/* Sets `barrier` of every launch. */
static bool find_barriers(lode_segment *s) {
    ranges reads = { 0 }, writes = { 0 }, r = { 0 }, w = { 0 }, all = { 0 };
    bool ok = true;
    for (int i = 0; i < s->n && ok; i++, r.n = 0) ok = add_touched(s->launches[i].t, NULL, &r, &all);
    for (int i = 0; i < s->n && ok; i++) {
        r.n = w.n = 0;
        ok = add_touched(s->launches[i].t, &all, &r, &w);
        const bool wait = meet(&r, &writes) || meet(&w, &writes) || meet(&w, &reads);
        s->launches[i].barrier = wait;
        if (wait) reads.n = writes.n = 0;
        for (size_t k = 0; k < r.n && ok; k++) ok = LODE_PUSH(&reads, r.items[k]);
        for (size_t k = 0; k < w.n && ok; k++) ok = LODE_PUSH(&writes, w.items[k]);
    }
    free(reads.items);
    free(writes.items);
    free(r.items);
    free(w.items);
    free(all.items);
    return ok;
}

static size_t round64(size_t n) { return (n + 63) / 64 * 64; }

lode_status lode_cpu_compile(const lode_kern *k, const lode_segment_desc *desc, lode_segment **out, lode_err *err) {
    lode_segment *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "cpu: out of memory");
    s->k = k;
    s->n = desc->n_nodes;
    s->max_threads = desc->max_threads;
    s->launches = lode_calloc((size_t)s->n, sizeof *s->launches);
    s->counters = lode_aligned_alloc((size_t)s->n * sizeof *s->counters, 64);
    size_t shared = 0;
    bool ok = s->launches && s->counters;
    for (int i = 0; i < s->n && ok; i++) {
        const char *why;
        launch *l = &s->launches[i];
        l->t = desc->nodes[i];
        l->kernel = lode_cpu_choose(k, l->t, &why);
        if (!l->kernel) continue;
        const size_t scratch = round64(l->kernel->scratch(k, l->t));
        if (scratch > s->scratch_bytes) s->scratch_bytes = scratch;
        l->shared = (void *)(uintptr_t)shared; /* an offset until the memory is there */
        shared += round64(l->kernel->shared(k, l->t));
    }
    if (ok) {
        s->scratch = lode_aligned_alloc(s->scratch_bytes * (size_t)s->max_threads, 64);
        s->shared = lode_aligned_alloc(shared, 64);
        ok = s->scratch && s->shared && find_barriers(s);
    }
    if (!ok) {
        lode_cpu_segment_close(s);
        return lode_fail(err, LODE_E_NOMEM, "cpu: out of memory for a segment of %d nodes", desc->n_nodes);
    }
    memset(s->shared, 0, shared);
    for (int i = 0; i < s->n; i++) s->launches[i].shared = s->shared + (uintptr_t)s->launches[i].shared;
    *out = s;
    return LODE_OK;
}

void lode_cpu_segment_close(lode_segment *s) {
    if (!s) return;
    free(s->launches);
    lode_aligned_free(s->counters);
    lode_aligned_free(s->scratch);
    lode_aligned_free(s->shared);
    free(s);
}

const char *lode_cpu_kernel_name(const lode_segment *s, int node) {
    return s->launches[node].kernel ? s->launches[node].kernel->name : "ref";
}

/* ---- Stream -------------------------------------------------------------------------------------------------------
 */

typedef struct {
    lode_stream base; /* first */
    lode_pool *pool;  /* own */
    lode_segment *running;
    lode_cpu_trace *trace; /* own; NULL for none */
    atomic_int stop_at;    /* the launch before which the run ends; NEVER: it does not */
} cpu_stream;

enum { NEVER = INT_MAX };

static void run_ref(const lode_cpu_work *w) {
    int64_t from, to;
    lode_cpu_share(w, lode_op_units(w->t), &from, &to);
    if (from < to) lode_op_info_of(w->t->op)->ref(w->t, from, to);
}

static void walk(void *ctx, int task) {
    cpu_stream *c = ctx;
    lode_segment *s = c->running;
    lode_cpu_work w = { .k = s->k, .task = task, .n_tasks = lode_pool_n_threads(c->pool) };
    w.scratch = s->scratch + (size_t)task * s->scratch_bytes;
    for (int i = 0; i < s->n; i++) {
        const launch *l = &s->launches[i];
        if (l->barrier) {
            if (task == 0 && c->base.desc.abort && c->base.desc.abort(c->base.desc.abort_user))
                atomic_store_explicit(&c->stop_at, i, memory_order_relaxed);
            lode_pool_barrier(c->pool);
            /* Not any stop: a thread that is late here may see that of the next barrier, which it has to reach. */
            if (atomic_load_explicit(&c->stop_at, memory_order_relaxed) == i) return;
        }
        const int64_t start = c->trace ? lode_clock_ns() : 0;
        w.t = l->t;
        w.shared = l->shared;
        w.next = &s->counters[i].next;
        if (l->kernel)
            l->kernel->run(&w);
        else
            run_ref(&w);
        if (c->trace) lode_cpu_trace_add(c->trace, task, l->t, lode_cpu_kernel_name(s, i), start, lode_clock_ns());
    }
}

static lode_status cpu_run(lode_stream *stream, lode_segment *s, lode_err *err) {
    cpu_stream *c = (cpu_stream *)(void *)stream;
    if (lode_pool_n_threads(c->pool) > s->max_threads)
        return lode_fail(err, LODE_E_INPUT, "cpu: a segment for %d threads on a stream of %d", s->max_threads,
                         lode_pool_n_threads(c->pool));
    for (int i = 0; i < s->n; i++) atomic_store_explicit(&s->counters[i].next, 0, memory_order_relaxed);
    atomic_store_explicit(&c->stop_at, NEVER, memory_order_relaxed);
    c->running = s;
    lode_pool_run(c->pool, walk, c);
    if (atomic_load_explicit(&c->stop_at, memory_order_relaxed) != NEVER)
        return lode_fail(err, LODE_E_ABORTED, "the run was stopped by the caller");
    return LODE_OK;
}

static void cpu_stream_close(lode_stream *stream) {
    cpu_stream *c = (cpu_stream *)(void *)stream;
    lode_cpu_trace_stop(stream, NULL);
    lode_pool_close(c->pool);
    free(c);
}

static const lode_stream_ops cpu_stream_ops = { .close = cpu_stream_close, .run = cpu_run };

lode_status lode_cpu_trace_start(lode_stream *stream, const char *path, lode_err *err) {
    cpu_stream *c = (cpu_stream *)(void *)stream;
    LODE_TRY(lode_cpu_trace_stop(stream, err));
    return lode_cpu_trace_open(&c->trace, path, lode_pool_n_threads(c->pool), err);
}

lode_status lode_cpu_trace_stop(lode_stream *stream, lode_err *err) {
    cpu_stream *c = (cpu_stream *)(void *)stream;
    lode_cpu_trace *tr = c->trace;
    c->trace = NULL;
    return lode_cpu_trace_close(tr, err);
}

lode_status lode_cpu_stream_open(lode_device *d, const lode_stream_desc *desc, lode_stream **out, lode_err *err) {
    cpu_stream *c = lode_calloc(1, sizeof *c);
    if (!c) return lode_fail(err, LODE_E_NOMEM, "cpu: out of memory");
    c->base = (lode_stream){ .ops = &cpu_stream_ops, .device = d, .desc = *desc };
    if (c->base.desc.n_threads == 0) c->base.desc.n_threads = lode_default_threads();
    const lode_status s = lode_pool_open(&c->pool, c->base.desc.n_threads, err);
    if (s != LODE_OK) {
        free(c);
        return s;
    }
    *out = &c->base;
    return LODE_OK;
}

int lode_default_threads(void) { return lode_cpus(); }
