/* iface.h - what a backend implements: six tables of functions.
 *
 * A backend is linked in by a line in backends.def, or loaded from a shared object that exports
 * `const lode_backend *lode_backend_entry(void)`. Entries marked "optional" may be NULL: the wrappers in wrappers.c
 * then do the generic thing, so callers never test. Contracts stand in lode/backend.h; here only what a backend must
 * know besides. */
#ifndef LODE_BACKEND_IFACE_H
#define LODE_BACKEND_IFACE_H

#include "graph/host.h"
#include "lode/backend.h"

#define LODE_BACKEND_MAGIC 0x45444F4Cu /* "LODE" */
enum { LODE_BACKEND_ABI = 1 };

typedef struct lode_segment lode_segment;

/* 1. Registry entry. */
typedef struct lode_backend {
    uint32_t magic, abi;
    size_t size; /* sizeof(lode_backend) of the one who compiled it */
    const char *name;
    lode_status (*open)(void **ctx, const lode_runtime_desc *desc, lode_err *err);
    void (*close)(void *ctx);
    int (*n_devices)(void *ctx);
    lode_device *(*device)(void *ctx, int i);   /* valid until close */
    void *(*proc)(void *ctx, const char *name); /* optional */
} lode_backend;

typedef const lode_backend *(*lode_backend_entry_fn)(void);

/* What a device is asked to compile: nodes in order, all accepted by it, with their memory assigned. Tensors stay
 * where they are; sizes with a run-time count change between runs. */
typedef struct lode_segment_desc {
    lode_tensor *const *nodes; /* borrowed, live as long as the segment */
    int n_nodes;
    int max_threads;
} lode_segment_desc;

/* 2. Device. */
typedef struct lode_device_ops {
    void (*props)(const lode_device *d, lode_device_props *out);
    lode_buffer_type *(*buffer_type)(const lode_device *d);
    lode_status (*wrap)(lode_device *d, void *ptr, size_t size, bool read_only, lode_buffer **out,
                        lode_err *err);                                                  /* optional */
    bool (*accepts)(const lode_device *d, const lode_tensor *node, char *why, size_t n); /* pure and cheap */
    bool (*reads)(const lode_device *d, const lode_buffer_type *type);
    bool (*offloads)(const lode_device *d, const lode_tensor *node); /* optional: never */
    lode_status (*compile)(lode_device *d, const lode_segment_desc *desc, lode_segment **out, lode_err *err);
    void (*segment_close)(lode_segment *s);
    const char *(*kernel_name)(const lode_segment *s, int node);
    lode_status (*stream_open)(lode_device *d, const lode_stream_desc *desc, lode_stream **out, lode_err *err);
    lode_status (*event_open)(lode_device *d, lode_event **out, lode_err *err); /* optional: events that synchronise */
} lode_device_ops;

struct lode_device {
    const lode_device_ops *ops;
    const lode_backend *backend;
    void *ctx; /* the backend's */
};

/* 3. Buffer type. */
typedef struct lode_buffer_type_ops {
    const char *(*name)(const lode_buffer_type *t);
    lode_status (*alloc)(lode_buffer_type *t, size_t size, lode_buffer **out, lode_err *err); /* size > 0 */
    size_t (*alignment)(const lode_buffer_type *t);
    size_t (*max_size)(const lode_buffer_type *t);                           /* optional: no limit */
    size_t (*size_of)(const lode_buffer_type *t, const lode_tensor *tensor); /* optional: its bytes */
    bool (*is_host)(const lode_buffer_type *t);                              /* optional: false */
} lode_buffer_type_ops;

struct lode_buffer_type {
    const lode_buffer_type_ops *ops;
    lode_device *device; /* borrowed */
};

/* 4. Buffer. Ranges were checked by the wrapper. */
typedef struct lode_buffer_ops {
    void (*close)(lode_buffer *b); /* frees b too */
    lode_status (*memset)(lode_buffer *b, size_t off, int value, size_t size, lode_err *err);
    lode_status (*set)(lode_buffer *b, size_t off, const void *data, size_t size, lode_err *err);
    lode_status (*get)(const lode_buffer *b, size_t off, void *data, size_t size, lode_err *err);
    /* Optional. True when done; false sends the copy through host memory. */
    bool (*copy_from)(lode_buffer *dst, size_t dst_off, const lode_buffer *src, size_t src_off, size_t size);
} lode_buffer_ops;

struct lode_buffer {
    lode_buffer_head
        head; /* first: lode_host() reads it. A device without host memory has an address of its own here */
    const lode_buffer_ops *ops;
    lode_buffer_type *type;
    size_t size;
    bool read_only;
    void *own; /* what close frees, the backend's */
};

/* 5. Stream. */
typedef struct lode_stream_ops {
    void (*close)(lode_stream *s); /* frees s too */
    lode_status (*set)(lode_stream *s, lode_buffer *b, size_t off, const void *data, size_t size,
                       lode_err *err); /* optional */
    lode_status (*get)(lode_stream *s, const lode_buffer *b, size_t off, void *data, size_t size,
                       lode_err *err); /* optional */
    /* Optional. On the destination's stream; false: the wrapper synchronises both and copies. */
    bool (*copy)(lode_stream *src_s, const lode_buffer *src, size_t src_off, lode_stream *dst_s, lode_buffer *dst,
                 size_t dst_off, size_t size);
    /* Enqueues a segment of this stream's device; a failure is returned at once or kept for synchronize. */
    lode_status (*run)(lode_stream *s, lode_segment *segment, lode_err *err);
    lode_status (*synchronize)(lode_stream *s, lode_err *err); /* optional: streams that are never behind */
} lode_stream_ops;

struct lode_stream {
    const lode_stream_ops *ops;
    lode_device *device; /* borrowed */
    lode_stream_desc desc;
};

/* 6. Event. */
typedef struct lode_event_ops {
    void (*close)(lode_event *e); /* frees e too */
    lode_status (*record)(lode_event *e, lode_stream *s, lode_err *err);
    lode_status (*wait)(lode_event *e, lode_stream *s, lode_err *err);
    lode_status (*synchronize)(lode_event *e, lode_err *err);
} lode_event_ops;

struct lode_event {
    const lode_event_ops *ops;
    lode_device *device; /* borrowed */
    lode_stream *stream; /* recorded on; borrowed; generic events only */
};

/* Plain host memory for devices whose memory it is: buffers over malloc and over the caller's memory. */
lode_status lode_host_buffer_open(lode_buffer_type *type, size_t size, lode_buffer **out, lode_err *err);
lode_status lode_host_buffer_wrap(lode_buffer_type *type, void *ptr, size_t size, bool read_only, lode_buffer **out,
                                  lode_err *err);

/* Extra functions that a backend may give out by these names: a trace of a stream's launches in Chrome's format. */
#define LODE_PROC_TRACE_START "lode_trace_start"
#define LODE_PROC_TRACE_STOP "lode_trace_stop"
typedef lode_status (*lode_trace_start_fn)(lode_stream *s, const char *path, lode_err *err);
typedef lode_status (*lode_trace_stop_fn)(lode_stream *s, lode_err *err); /* finishes the file */

/* Segments are compiled and run through these (plan only). */
lode_status lode_device_compile(lode_device *d, const lode_segment_desc *desc, lode_segment **out, lode_err *err);
void lode_segment_close(lode_device *d, lode_segment *s);
lode_status lode_stream_run(lode_stream *s, lode_segment *segment, lode_err *err);
#endif
