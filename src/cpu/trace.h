/* trace.h - one line per launch and thread in Chrome's trace format. The CPU device gives it out by the name
 * "lode_cpu_stream_set_trace". */
#ifndef LODE_CPU_TRACE_H
#define LODE_CPU_TRACE_H

#include "lode/backend.h"

typedef struct lode_cpu_trace lode_cpu_trace;

lode_status lode_cpu_trace_open(lode_cpu_trace **out, const char *path, int n_threads, lode_err *err);
/* Finishes the file; LODE_E_IO when it could not be written. */
lode_status lode_cpu_trace_close(lode_cpu_trace *tr, lode_err *err);
void lode_cpu_trace_add(lode_cpu_trace *tr, int task, const lode_tensor *t, const char *kernel, int64_t from_ns,
                        int64_t to_ns);
void lode_cpu_stream_set_trace(lode_stream *stream, lode_cpu_trace *trace);
#endif
