/* abi.h - the binary interface between a ggml program and a backend that it loads, versions 2 and 3, as far as this
 * plug-in uses it. Layouts are facts of ggml (ggml.h, ggml-backend-impl.h); the names are ours. No header of ggml's is
 * needed and no number of an enum is written down that can move: ops and types are found by their names (host.h). */
#ifndef LODE_PLUGIN_ABI_H
#define LODE_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GG_SRC = 10, GG_PAR = 16, GG_DIMS = 4 };
enum { GG_FLAG_OUTPUT = 2, GG_FLAG_COMPUTE = 16 };                        /* of a tensor */
enum { GG_ALLOC_FAILED = -2, GG_FAILED = -1, GG_OK = 0, GG_ABORTED = 1 }; /* of a run */
enum { GG_DEVICE_CPU, GG_DEVICE_GPU, GG_DEVICE_IGPU, GG_DEVICE_ACCEL };   /* of a device */
enum { GG_USAGE_ANY, GG_USAGE_WEIGHTS, GG_USAGE_COMPUTE };                /* of a buffer */

typedef struct gg_buffer gg_buffer;
typedef struct gg_buft gg_buft;
typedef struct gg_backend gg_backend;
typedef struct gg_device gg_device;
typedef struct gg_reg gg_reg;

typedef struct gg_tensor {
    int32_t type;
    gg_buffer *buffer;
    int64_t ne[GG_DIMS];
    size_t nb[GG_DIMS];
    int32_t op, par[GG_PAR], flags;
    struct gg_tensor *src[GG_SRC];
    struct gg_tensor *view_src;
    size_t view_offs;
    void *data;
    char name[64];
    void *extra;
    char padding[8];
} gg_tensor;
_Static_assert(sizeof(gg_tensor) == 336, "layout of a ggml tensor on 64-bit machines");

/* A graph. Behind `nodes` only hosts of version 3 are looked at. */
typedef struct gg_graph {
    int size, n_nodes, n_leafs;
    gg_tensor **nodes, **grads, **grad_accs, **leafs;
    int32_t *use_counts;
    size_t set_size;
    void *set_used, *set_keys;
    int order;
    uint64_t uid; /* equal and not 0: the same graph */
} gg_graph;

typedef struct gg_buffer_ops {
    void (*free)(gg_buffer *b);
    void *(*base)(gg_buffer *b);
    int (*init_tensor)(gg_buffer *b, gg_tensor *t);
    void (*memset)(gg_buffer *b, gg_tensor *t, uint8_t value, size_t off, size_t size);
    void (*set)(gg_buffer *b, gg_tensor *t, const void *data, size_t off, size_t size);
    void (*get)(gg_buffer *b, const gg_tensor *t, void *data, size_t off, size_t size);
    void (*set_2d)(void);
    void (*get_2d)(void);
    bool (*copy)(gg_buffer *b, const gg_tensor *src, gg_tensor *dst);
    void (*clear)(gg_buffer *b, uint8_t value);
    void (*reset)(gg_buffer *b);
} gg_buffer_ops;

/* Made by the host (ggml_backend_buffer_init). */
struct gg_buffer {
    gg_buffer_ops ops;
    gg_buft *type;
    void *context;
    size_t size;
    int usage;
};

/* Buffer types: version 3 added the two entries that take several tensors. */
typedef struct gg_buft_v2 {
    const char *(*name)(gg_buft *t);
    gg_buffer *(*alloc)(gg_buft *t, size_t size);
    size_t (*alignment)(gg_buft *t);
    size_t (*max_size)(gg_buft *t);
    size_t (*alloc_size)(gg_buft *t, const gg_tensor *x);
    bool (*is_host)(gg_buft *t);
    gg_device *device;
    void *context;
} gg_buft_v2;

typedef struct gg_buft_v3 {
    const char *(*name)(gg_buft *t);
    gg_buffer *(*alloc)(gg_buft *t, size_t size);
    gg_buffer *(*alloc_n)(gg_buft *t, gg_tensor **x, int n);
    size_t (*alignment)(gg_buft *t);
    size_t (*max_size)(gg_buft *t);
    size_t (*alloc_size)(gg_buft *t, const gg_tensor *x);
    size_t (*alloc_size_n)(gg_buft *t, gg_tensor **x, int n);
    bool (*is_host)(gg_buft *t);
    gg_device *device;
    void *context;
} gg_buft_v3;

struct gg_buft {
    union {
        gg_buft_v2 v2;
        gg_buft_v3 v3;
    };
};

typedef struct gg_event {
    gg_device *device;
    void *context;
} gg_event;

typedef struct gg_backend_ops {
    const char *(*name)(gg_backend *b);
    void (*free)(gg_backend *b);
    void (*set_async)(gg_backend *b, gg_tensor *t, const void *data, size_t off, size_t size);
    void (*get_async)(gg_backend *b, const gg_tensor *t, void *data, size_t off, size_t size);
    void (*set_2d_async)(void);
    void (*get_2d_async)(void);
    bool (*copy_async)(gg_backend *from, gg_backend *to, const gg_tensor *src, gg_tensor *dst);
    void (*synchronize)(gg_backend *b);
    void (*plans[4])(void); /* not called by any host */
    int (*compute)(gg_backend *b, gg_graph *g);
    void (*event_record)(gg_backend *b, gg_event *e);
    void (*event_wait)(gg_backend *b, gg_event *e);
    void (*optimize)(gg_backend *b, gg_graph *g, void *params); /* params: since version 3 */
} gg_backend_ops;

struct gg_backend {
    const uint8_t *guid;
    gg_backend_ops ops;
    gg_device *device;
    void *context;
};

/* What ggml_backend_get_features lists; the last has no name. */
typedef struct gg_feature {
    const char *name, *value;
} gg_feature;

typedef struct gg_props {
    const char *name, *description;
    size_t memory_free, memory_total;
    int type;
    const char *device_id;
    struct {
        bool async, host_buffer, from_host_ptr, events, mmap; /* mmap: since version 3 */
    } caps;
} gg_props;

struct gg_device {
    const char *(*name)(gg_device *d);
    const char *(*description)(gg_device *d);
    void (*memory)(gg_device *d, size_t *free, size_t *total);
    int (*type)(gg_device *d);
    void (*props)(gg_device *d, gg_props *out);
    gg_backend *(*open)(gg_device *d, const char *params);
    gg_buft *(*buffer_type)(gg_device *d);
    gg_buft *(*host_buffer_type)(gg_device *d);
    gg_buffer *(*wrap)(gg_device *d, void *ptr, size_t size, size_t max_tensor);
    bool (*supports_op)(gg_device *d, const gg_tensor *node);
    bool (*supports_buft)(gg_device *d, gg_buft *t);
    bool (*offload_op)(gg_device *d, const gg_tensor *node);
    gg_event *(*event_open)(gg_device *d);
    void (*event_close)(gg_device *d, gg_event *e);
    void (*event_synchronize)(gg_device *d, gg_event *e);
    gg_reg *reg;
    void *context;
};

struct gg_reg {
    int version;
    const char *(*name)(gg_reg *r);
    size_t (*n_devices)(gg_reg *r);
    gg_device *(*device)(gg_reg *r, size_t i);
    void *(*proc)(gg_reg *r, const char *name);
    void *context;
};
#endif
