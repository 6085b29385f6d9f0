/* cpu.h - the inside of the CPU backend: what a kernel gets and how it is listed.
 *
 * kernels.def lists the kernels in order of preference; the first that accepts a node runs it, the op's reference is
 * last. A kernel is called once per thread; it takes its share by task number or by claiming units. Between kernels
 * that depend on each other the segment puts a barrier. */
#ifndef LODE_CPU_CPU_H
#define LODE_CPU_CPU_H

#include "backend/iface.h"
#include "cpu/kern/kern.h"
#include "cpu/pool.h"
#include "graph/graph.h"

#include <stdatomic.h>

typedef struct lode_cpu_work {
    const lode_tensor *t;
    const lode_kern *k;
    int task, n_tasks;
    void *scratch;    /* this thread's, `scratch` bytes of the kernel */
    void *shared;     /* the launch's, `shared` bytes of the kernel, zeroed once when compiled */
    atomic_int *next; /* 0 before each run: for claiming units */
} lode_cpu_work;

typedef struct lode_cpu_kernel {
    int op;
    const char *name;
    const char *(*refuses)(const lode_kern *k, const lode_tensor *t); /* NULL: accepts; else why not */
    void (*run)(const lode_cpu_work *w);
    size_t (*scratch)(const lode_kern *k, const lode_tensor *t); /* per thread; NULL for none */
    size_t (*shared)(const lode_kern *k, const lode_tensor *t);  /* per launch; NULL for none */
} lode_cpu_kernel;

/* The kernel for a node; NULL when only its reference is left or nothing. `why` gets the last refusal. */
const lode_cpu_kernel *lode_cpu_choose(const lode_kern *k, const lode_tensor *t, const char **why);

/* Segments: segment.c. */
lode_status lode_cpu_compile(const lode_kern *k, const lode_segment_desc *desc, lode_segment **out, lode_err *err);
void lode_cpu_segment_close(lode_segment *s);
const char *lode_cpu_kernel_name(const lode_segment *s, int node);
lode_status lode_cpu_stream_open(lode_device *d, const lode_stream_desc *desc, lode_stream **out, lode_err *err);

/* This task's part of n units: [*from, *to). */
static inline void lode_cpu_share(const lode_cpu_work *w, int64_t n, int64_t *from, int64_t *to) {
    *from = n * w->task / w->n_tasks;
    *to = n * (w->task + 1) / w->n_tasks;
}

/* The next unit that nobody has taken. */
static inline int lode_cpu_claim(const lode_cpu_work *w) {
    return atomic_fetch_add_explicit(w->next, 1, memory_order_relaxed);
}
#endif
