/* pool.c - threads, start of work and barriers by atomics. */
#include "cpu/pool.h"

#include "base/cpus.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Spins before giving the processor away. A pause is 20-60 ns: about 100 us, longer than sampling takes between two
 * tokens; a barrier yields sooner, because a missing thread that was descheduled needs our processor. */
enum { SPINS_IDLE = 3000, SPINS_BARRIER = 2000 };

typedef struct {
    lode_pool *pool;
    int task;
} worker;

struct lode_pool {
    int n;
    pthread_t *threads; /* own: n - 1 */
    worker *workers;    /* own */
    void (*fn)(void *ctx, int task);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int n_started, n_sleeping;    /* under lock */
    _Alignas(64) atomic_uint job; /* counts runs */
    atomic_bool quit;
    _Alignas(64) atomic_int arrived;
    _Alignas(64) atomic_uint round;
};

void lode_pool_barrier(lode_pool *p) {
    if (p->n == 1) return;
    const unsigned round = atomic_load_explicit(&p->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&p->arrived, 1, memory_order_acq_rel) == p->n - 1) {
        atomic_store_explicit(&p->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&p->round, round + 1, memory_order_release);
        return;
    }
    for (int spin = 0; atomic_load_explicit(&p->round, memory_order_acquire) == round; spin++) {
        if (spin < SPINS_BARRIER)
            lode_cpu_relax();
        else
            sched_yield();
    }
}

static bool wait_for_job(lode_pool *p, unsigned seen) {
    for (int spin = 0; spin < SPINS_IDLE; spin++) {
        if (atomic_load_explicit(&p->job, memory_order_acquire) != seen) return true;
        lode_cpu_relax();
    }
    pthread_mutex_lock(&p->lock);
    p->n_sleeping++;
    while (atomic_load_explicit(&p->job, memory_order_acquire) == seen) pthread_cond_wait(&p->wake, &p->lock);
    p->n_sleeping--;
    pthread_mutex_unlock(&p->lock);
    return true;
}

static void *worker_main(void *arg) {
    const worker *w = arg;
    lode_pool *p = w->pool;
    for (unsigned seen = 0; wait_for_job(p, seen); seen++) {
        if (atomic_load_explicit(&p->quit, memory_order_acquire)) return NULL;
        p->fn(p->ctx, w->task);
        lode_pool_barrier(p);
    }
    return NULL;
}

/* Starts the workers on what fn and ctx say. */
static void post(lode_pool *p) {
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add_explicit(&p->job, 1, memory_order_acq_rel);
    if (p->n_sleeping > 0) pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void lode_pool_run(lode_pool *p, void (*fn)(void *ctx, int task), void *ctx) {
    p->fn = fn;
    p->ctx = ctx;
    if (p->n > 1) post(p);
    fn(ctx, 0);
    lode_pool_barrier(p);
}

int lode_pool_n_threads(const lode_pool *p) { return p->n; }

lode_status lode_pool_open(lode_pool **out, int n_threads, lode_err *err) {
    enum { MOST = 1024 };
    if (n_threads < 1 || n_threads > MOST)
        return lode_fail(err, LODE_E_INPUT, "threads: %d is outside 1..%d", n_threads, MOST);
    lode_pool *p = lode_aligned_alloc(sizeof *p, 64);
    if (!p) return lode_fail(err, LODE_E_NOMEM, "threads: out of memory");
    memset(p, 0, sizeof *p);
    p->n = n_threads;
    p->threads = lode_calloc((size_t)n_threads, sizeof *p->threads);
    p->workers = lode_calloc((size_t)n_threads, sizeof *p->workers);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    lode_status s = p->threads && p->workers ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "threads: out of memory");
    for (int i = 1; i < n_threads && s == LODE_OK; i++) {
        p->workers[i] = (worker){ p, i };
        if (pthread_create(&p->threads[i - 1], NULL, worker_main, &p->workers[i]) != 0)
            s = lode_fail(err, LODE_E_NOMEM, "threads: the system refused thread %d of %d; use fewer (-t)", i + 1,
                          n_threads);
        else
            p->n_started++;
    }
    if (s != LODE_OK) {
        lode_pool_close(p);
        return s;
    }
    *out = p;
    return LODE_OK;
}

void lode_pool_close(lode_pool *p) {
    if (!p) return;
    atomic_store_explicit(&p->quit, true, memory_order_release);
    if (p->n_started > 0) post(p);
    for (int i = 0; i < p->n_started; i++) pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    free(p->threads);
    free(p->workers);
    lode_aligned_free(p);
}
