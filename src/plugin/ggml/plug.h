/* plug.h - the inside of the ggml plug-in: an unmodified ggml program that loads libggml-lode.so gets lode's devices.
 *
 *   entry.c   what the program finds: registry, devices, their names
 *   host.c    the program's functions; its ops and types by name
 *   memory.c  buffer types and buffers
 *   stream.c  streams ("backends" there), events
 *   graph.c   a ggml graph made into ours and planned; plans are kept
 *   fusion.c  what was fused, counted and switched off by programs that ask by name
 *   tr_*.c    one function per kind of op: a ggml node made of our builders; ggml_op.def lists them
 *
 * One runtime per process, opened by the first call and never closed: the program keeps pointers for its whole life.
 * Here alone may statics be kept, the environment be read and standard error be written to. */
#ifndef LODE_PLUGIN_PLUG_H
#define LODE_PLUGIN_PLUG_H

#include "lode/plan.h"
#include "plugin/ggml/abi.h"

#include <stdatomic.h>

/* ---- The host program ---- */

typedef struct gg_host {
    int version; /* of the interface: 2 or 3 */
    bool has_compute_flag, has_uid;
    const char *(*op_name)(int op);
    const char *(*unary_name)(int op);
    const char *(*glu_name)(int op);
    const char *(*type_name)(int type);
    size_t (*n_bytes)(const gg_tensor *t);
    gg_buffer *(*buffer_init)(gg_buft *type, gg_buffer_ops ops, void *context, size_t size);
    /* Optional. */
    void *(*device_by_name)(const char *name);
    size_t (*n_regs)(void);
    gg_reg *(*reg)(size_t i);
    bool (*can_fuse)(const gg_graph *g, const int *nodes, int n, const int *ops, const int *outputs, int n_outputs);
} gg_host;

extern gg_host gg_the_host; /* filled once by gg_host_find */
/* False, with one line on standard error, for a program that lacks what is needed. */
bool gg_host_find(void *caller);
/* The type of a number of the host's; LODE_N_TYPE for one that we do not know. */
lode_type gg_type(int32_t type);

/* One line on standard error, "lode: ...". */
void gg_say(const char *fmt, ...) LODE_PRINTF(1, 2);

/* ---- Devices ---- */

/* Fusion of a device: all of its streams look here. */
enum { GG_FUSIONS = 3 };
typedef struct gg_fusion {
    atomic_bool off, counting;
    atomic_uint_fast64_t counts[GG_FUSIONS]; /* groups that ran as one, by label */
} gg_fusion;

typedef struct gg_our_device {
    gg_device base; /* first */
    gg_buft buft;
    lode_device *lode;
    gg_fusion fusion;
    char name[40];
    char description[160];
} gg_our_device;

gg_our_device *gg_our(gg_device *d);
void gg_buft_init(gg_our_device *d);
/* The lode buffer of one of our buffers, NULL for another's. */
lode_buffer *gg_lode_buffer(const gg_buffer *b);
/* Where a tensor's first byte lies; false when it is not in memory of ours. */
bool gg_place_of(const gg_tensor *t, lode_buffer **buffer, size_t *offset);
gg_buffer *gg_device_wrap(gg_device *d, void *ptr, size_t size, size_t max_tensor);

gg_backend *gg_stream_open(gg_device *d, const char *params);
gg_event *gg_event_open(gg_device *d);
void gg_event_close(gg_device *d, gg_event *e);
void gg_event_synchronize(gg_device *d, gg_event *e);
/* Functions that programs look up by name: threads and abort of a stream. */
void gg_stream_set_threads(gg_backend *b, int n);
void gg_stream_set_abort(gg_backend *b, bool (*abort)(void *), void *user);

/* ---- Fusion, for programs that look into it: the names that ggml's backends share; the handle is a gg_fusion -- */

void *gg_fusion_get(gg_device *d);
void gg_fusion_stats_init(void *handle);
void gg_fusion_stats_reset(void *handle);
int gg_fusion_stats_get(void *handle, const char **labels, uint64_t *counts, int n);
void gg_fusion_set_enabled(void *handle, bool enabled);
/* A plan ran. */
void gg_fusion_count(gg_fusion *f, const lode_plan *p);

/* ---- Graphs ---- */

typedef struct gg_plans gg_plans;                           /* of one stream; owns its plans */
gg_plans *gg_plans_open(lode_stream *s, gg_fusion *fusion); /* fusion: of the stream's device, borrowed */
void gg_plans_close(gg_plans *p);
/* Plans the graph, or finds the plan of an equal one, and runs it. */
lode_status gg_plans_run(gg_plans *p, const gg_graph *g, lode_err *err);
/* Whether a device runs a node of these types, shapes, strides and parameters. */
bool gg_supports(lode_device *d, const gg_tensor *node);
/* Whether it pays to run it there although its weights are the host's. */
bool gg_offloads(lode_device *d, const gg_tensor *node);
#endif
