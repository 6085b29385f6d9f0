/* trace.c - collects events per thread, writes them when closed. */
#include "cpu/trace.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[LODE_MAX_NAME];
    const char *op, *kernel;
    int64_t from_ns, to_ns;
} event;

typedef struct {
    event *items; /* own */
    size_t n, cap;
    char pad[40]; /* lists of different threads on different cache lines */
} events;

struct lode_cpu_trace {
    lode_out out;      /* own */
    events *of_thread; /* own */
    int n_threads;
};

lode_status lode_cpu_trace_open(lode_cpu_trace **out, const char *path, int n_threads, lode_err *err) {
    lode_cpu_trace *tr = lode_calloc(1, sizeof *tr);
    if (!tr) return lode_fail(err, LODE_E_NOMEM, "trace: out of memory");
    tr->n_threads = n_threads;
    tr->of_thread = lode_calloc((size_t)n_threads, sizeof *tr->of_thread);
    lode_status s = tr->of_thread ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "trace: out of memory");
    if (s == LODE_OK) s = lode_out_open(&tr->out, path, err);
    if (s != LODE_OK) {
        free(tr->of_thread);
        free(tr);
        return s;
    }
    *out = tr;
    return LODE_OK;
}

void lode_cpu_trace_add(lode_cpu_trace *tr, int task, const lode_tensor *t, const char *kernel, int64_t from_ns,
                        int64_t to_ns) {
    event e = { .op = lode_op_name(t->op), .kernel = kernel, .from_ns = from_ns, .to_ns = to_ns };
    memcpy(e.name, t->name, sizeof e.name);
    if (!LODE_PUSH(&tr->of_thread[task], e)) return; /* a trace without its end is still a trace */
}

static lode_status write_event(lode_cpu_trace *tr, int thread, const event *e, bool first, lode_err *err) {
    char line[512];
    const int n =
        snprintf(line, sizeof line,
                 "%s\n{\"name\":\"%s%s%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f}",
                 first ? "" : ",", e->op, e->name[0] ? " " : "", e->name, e->kernel, thread, (double)e->from_ns / 1e3,
                 (double)(e->to_ns - e->from_ns) / 1e3);
    return lode_out_write(&tr->out, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, err);
}

lode_status lode_cpu_trace_close(lode_cpu_trace *tr, lode_err *err) {
    if (!tr) return LODE_OK;
    lode_status s = lode_out_write(&tr->out, "{\"traceEvents\":[", 16, err);
    bool first = true;
    for (int i = 0; i < tr->n_threads; i++) {
        for (size_t k = 0; k < tr->of_thread[i].n && s == LODE_OK; k++) {
            s = write_event(tr, i, &tr->of_thread[i].items[k], first, err);
            first = false;
        }
        free(tr->of_thread[i].items);
    }
    if (s == LODE_OK) s = lode_out_write(&tr->out, "\n]}\n", 4, err);
    if (s == LODE_OK)
        s = lode_out_commit(&tr->out, err);
    else
        lode_out_discard(&tr->out);
    free(tr->of_thread);
    free(tr);
    return s;
}
