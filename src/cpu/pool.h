/* pool.h - the threads of a CPU stream. The caller of lode_pool_run is task 0; the others wait for work, spinning for
 * a moment before they sleep, so that the next token does not pay for a wake-up. */
#ifndef LODE_CPU_POOL_H
#define LODE_CPU_POOL_H

#include "lode/base.h"

typedef struct lode_pool lode_pool;

lode_status lode_pool_open(lode_pool **out, int n_threads, lode_err *err);
void lode_pool_close(lode_pool *p);
int lode_pool_n_threads(const lode_pool *p);
/* Calls fn(ctx, task) for task 0..n_threads-1 at once and returns when all are done. */
void lode_pool_run(lode_pool *p, void (*fn)(void *ctx, int task), void *ctx);
/* Called by every task from within fn, the same number of times: nobody returns before all have come. What was written
 * before is seen after. */
void lode_pool_barrier(lode_pool *p);
#endif
