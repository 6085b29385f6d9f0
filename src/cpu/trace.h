/* trace.h - one event per launch and thread in Chrome's trace format. */
#ifndef LODE_CPU_TRACE_H
#define LODE_CPU_TRACE_H

#include "lode/backend.h"

typedef struct lode_cpu_trace lode_cpu_trace;

lode_status lode_cpu_trace_open(lode_cpu_trace **out, const char *path, int n_threads, lode_err *err);
/* Finishes the file; LODE_E_IO when it could not be written. */
lode_status lode_cpu_trace_close(lode_cpu_trace *tr, lode_err *err);
void lode_cpu_trace_add(lode_cpu_trace *tr, int task, const lode_tensor *t, const char *kernel, int64_t from_ns,
                        int64_t to_ns);
/* What the backend gives out as LODE_PROC_TRACE_START and LODE_PROC_TRACE_STOP. */
lode_status lode_cpu_trace_start(lode_stream *stream, const char *path, lode_err *err);
lode_status lode_cpu_trace_stop(lode_stream *stream, lode_err *err);
#endif
