/* lode/backend.h - what runs on: registry of backends, devices, memory and execution queues.
 *
 *   lode_runtime    owns everything below it; open one per program
 *   lode_device     one CPU or GPU: properties, memory, what it can compute (lode_device_accepts)
 *   lode_buffer_type  a kind of memory of a device;  lode_buffer  a piece of it
 *   lode_stream     an execution queue of a device: copies and plan segments run in the order given
 *   lode_event      a point in a stream that another stream or the host can wait for
 *
 * Threads: opening and closing the runtime happens on one thread; devices and buffer types may then be used from any
 * thread. A stream, an event and a buffer have one user at a time.
 * Errors: a stream keeps its first failure and reports it at lode_stream_synchronize; nothing aborts. */
#ifndef LODE_BACKEND_H
#define LODE_BACKEND_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_runtime lode_runtime;
typedef struct lode_device lode_device;
typedef struct lode_buffer_type lode_buffer_type;
typedef struct lode_buffer lode_buffer;
typedef struct lode_stream lode_stream;
typedef struct lode_event lode_event;

/* Zero means default throughout. */
typedef struct lode_runtime_desc {
    lode_log log;
    const char *isa;    /* CPU kernels: "portable", "avx2", "avx512", "amx"; NULL: the best that the machine has */
    int n_cpu_devices;  /* virtual CPU devices, "CPU", "CPU1", ...; 0 counts as 1, at most 64 */
    int n_null_devices; /* dummy devices "NULL0", ... for tests, at most 64 */
} lode_runtime_desc;

/* Opens all backends that were linked in. An `isa` that the machine lacks is LODE_E_UNSUPPORTED. */
LODE_API lode_status lode_runtime_open(lode_runtime **out, const lode_runtime_desc *desc, lode_err *err);
LODE_API void lode_runtime_close(lode_runtime *rt);
/* Adds the backend of a shared object that exports `lode_backend_entry`. One with another magic, interface version or
 * table size is refused with what it has and what was expected. */
LODE_API lode_status lode_runtime_load(lode_runtime *rt, const char *path, lode_err *err);
LODE_API int lode_runtime_n_devices(const lode_runtime *rt);
LODE_API lode_device *lode_runtime_device(const lode_runtime *rt, int i);
/* By name, any case. LODE_E_NOT_FOUND lists the names there are. */
LODE_API lode_status lode_runtime_find(const lode_runtime *rt, const char *name, lode_device **out, lode_err *err);
/* An extra function of the device's backend by name, NULL when it has none of that name. */
LODE_API void *lode_device_proc(const lode_device *dev, const char *name);

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

typedef enum { LODE_DEVICE_CPU, LODE_DEVICE_GPU, LODE_DEVICE_IGPU, LODE_DEVICE_NULL } lode_device_type;

typedef struct lode_device_props {
    const char *name;        /* "CPU" */
    const char *description; /* "AMD EPYC 9B45, avx512" */
    const char *backend;     /* "cpu" */
    lode_device_type type;
    size_t memory_free, memory_total; /* bytes; 0 when unknown */
    bool async;                       /* streams return before the work is done */
    bool host_memory;                 /* its default buffers are plain host memory */
    bool from_host_ptr;               /* lode_device_wrap works: weights run from a file's mapping */
    bool events;
} lode_device_props;

LODE_API void lode_device_get_props(const lode_device *dev, lode_device_props *out);
LODE_API const char *lode_device_name(const lode_device *dev);
LODE_API lode_buffer_type *lode_device_buffer_type(const lode_device *dev);
/* A buffer over `size` bytes at `ptr` without copying; the memory stays the caller's and outlives the buffer. The
 * device may only read it when `read_only`. LODE_E_UNSUPPORTED where from_host_ptr is false. */
LODE_API lode_status lode_device_wrap(lode_device *dev, void *ptr, size_t size, bool read_only, lode_buffer **out,
                                      lode_err *err);
/* True iff the device can run this node with these types, shapes and strides; dispatch asks the same question. `why`
 * (may be NULL) gets the reason for a refusal, at most n bytes. */
LODE_API bool lode_device_accepts(const lode_device *dev, const lode_tensor *node, char *why, size_t n);
/* True iff its kernels can read tensors in that kind of memory. */
LODE_API bool lode_device_reads(const lode_device *dev, const lode_buffer_type *type);
/* True iff running this node here pays although its weights lie on another device. */
LODE_API bool lode_device_offloads(const lode_device *dev, const lode_tensor *node);

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

LODE_API const char *lode_buffer_type_name(const lode_buffer_type *type);
LODE_API size_t lode_buffer_type_alignment(const lode_buffer_type *type); /* of tensor offsets; a power of two */
LODE_API size_t lode_buffer_type_max_size(const lode_buffer_type *type);  /* largest single buffer */
LODE_API bool lode_buffer_type_is_host(const lode_buffer_type *type);     /* the CPU may touch it, no copy needed */
/* Bytes that a tensor takes in this memory, at least its own; of n tensors laid out together, each aligned. False
 * when the sum wraps. */
LODE_API bool lode_buffer_type_size_of(const lode_buffer_type *type, lode_tensor *const *t, int n, size_t *bytes);

LODE_API lode_status lode_buffer_open(lode_buffer **out, lode_buffer_type *type, size_t size, lode_err *err);
LODE_API void lode_buffer_close(lode_buffer *b);
LODE_API size_t lode_buffer_size(const lode_buffer *b);
LODE_API lode_buffer_type *lode_buffer_get_type(const lode_buffer *b);
/* Host address of the first byte; NULL for memory that the host cannot touch. */
LODE_API void *lode_buffer_host(const lode_buffer *b);
/* Blocking copies of `size` bytes at `off`; a range outside the buffer is LODE_E_INPUT. The caller synchronises first
 * with streams that use the memory. */
LODE_API lode_status lode_buffer_set(lode_buffer *b, size_t off, const void *data, size_t size, lode_err *err);
LODE_API lode_status lode_buffer_get(const lode_buffer *b, size_t off, void *data, size_t size, lode_err *err);
LODE_API lode_status lode_buffer_memset(lode_buffer *b, size_t off, int value, size_t size, lode_err *err);
LODE_API lode_status lode_buffer_clear(lode_buffer *b, int value, lode_err *err);
/* Between any two buffers, through host memory where nothing better exists. */
LODE_API lode_status lode_buffer_copy(const lode_buffer *src, size_t src_off, lode_buffer *dst, size_t dst_off,
                                      size_t size, lode_err *err);

/* Places tensors one after the other in a new buffer of this type, each aligned; sets their buffer and offset. */
LODE_API lode_status lode_buffer_place(lode_buffer **out, lode_buffer_type *type, lode_tensor *const *t, int n,
                                       lode_err *err);

/* ---- Streams and events -------------------------------------------------------------------------------------------
 */

typedef struct lode_stream_desc {
    int n_threads;             /* CPU; 0: what lode_default_threads says */
    bool (*abort)(void *user); /* asked between pieces of work: true stops the run with LODE_E_ABORTED; NULL: never */
    void *abort_user;          /* borrowed */
} lode_stream_desc;

LODE_API lode_status lode_stream_open(lode_stream **out, lode_device *dev, const lode_stream_desc *desc, lode_err *err);
LODE_API void lode_stream_close(lode_stream *s); /* finishes pending work */
LODE_API lode_device *lode_stream_device(const lode_stream *s);
/* Enqueue copies; `data` stays valid until the stream is synchronised. */
LODE_API lode_status lode_stream_set(lode_stream *s, lode_buffer *b, size_t off, const void *data, size_t size,
                                     lode_err *err);
LODE_API lode_status lode_stream_get(lode_stream *s, const lode_buffer *b, size_t off, void *data, size_t size,
                                     lode_err *err);
/* Copy between devices, after the work already on `src_stream` and before later work on `dst_stream`. */
LODE_API lode_status lode_stream_copy(lode_stream *src_stream, const lode_buffer *src, size_t src_off,
                                      lode_stream *dst_stream, lode_buffer *dst, size_t dst_off, size_t size,
                                      lode_err *err);
/* Waits for everything enqueued; returns and clears the stream's first failure. The stream is usable again then. */
LODE_API lode_status lode_stream_synchronize(lode_stream *s, lode_err *err);

LODE_API lode_status lode_event_open(lode_event **out, lode_device *dev, lode_err *err);
LODE_API void lode_event_close(lode_event *e);
LODE_API lode_status lode_event_record(lode_event *e, lode_stream *s, lode_err *err); /* after all work now in s */
LODE_API lode_status lode_event_wait(lode_event *e, lode_stream *s, lode_err *err);   /* later work in s waits */
LODE_API lode_status lode_event_synchronize(lode_event *e, lode_err *err);            /* the host waits */

/* Physical cores that this process may use: affinity and the cgroup's CPU quota are respected; at least 1. */
LODE_API int lode_default_threads(void);

#ifdef __cplusplus
}
#endif
#endif
