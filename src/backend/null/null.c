/* null.c - dummy devices for tests. Memory of their own that the host may not touch, references as kernels, and
 * failures on request: what the plan and the engine do with a second device shows without one. */
#include "backend/iface.h"
#include "backend/null/null.h"
#include "base/mem.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    lode_device device; /* first: found from the device's pointer */
    lode_buffer_type type;
    char name[16];
    lode_null_faults faults;
} null_device;

typedef struct {
    null_device *items; /* own */
    int n;
} null_ctx;

struct lode_segment {
    lode_tensor *const *nodes; /* borrowed */
    int n;
};

static null_device *null_of(const lode_device *d) { return d->ctx; }

static void null_props(const lode_device *d, lode_device_props *out) {
    out->name = null_of(d)->name;
    out->description = "dummy device for tests";
    out->type = LODE_DEVICE_NULL;
    out->async = true;
}

static lode_buffer_type *null_buffer_type(const lode_device *d) { return &null_of(d)->type; }
static const char *null_type_name(const lode_buffer_type *t) { return null_of(t->device)->name; }
static size_t null_alignment(const lode_buffer_type *t) {
    (void)t;
    return 256;
}

static lode_status null_alloc(lode_buffer_type *t, size_t size, lode_buffer **out, lode_err *err) {
    null_device *d = null_of(t->device);
    if (d->faults.fail_alloc > 0 && --d->faults.fail_alloc == 0)
        return lode_fail(err, LODE_E_NOMEM, "%s: out of memory (asked for by a test)", d->name);
    return lode_host_buffer_open(t, size, out, err);
}

/* Nothing else may run fused forms by reference: they have none, so rules get expanded. */
static bool null_accepts(const lode_device *d, const lode_tensor *node, char *why, size_t n) {
    (void)d;
    const lode_op_info *o = lode_op_info_of(node->op);
    if (o && o->ref) return true;
    if (why) snprintf(why, n, "no reference");
    return false;
}

static bool null_reads(const lode_device *d, const lode_buffer_type *t) { return t == &null_of(d)->type; }

static lode_status null_compile(lode_device *d, const lode_segment_desc *desc, lode_segment **out, lode_err *err) {
    (void)d;
    lode_segment *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "null: out of memory");
    s->nodes = desc->nodes;
    s->n = desc->n_nodes;
    *out = s;
    return LODE_OK;
}

static void null_segment_close(lode_segment *s) { free(s); }

static const char *null_kernel_name(const lode_segment *s, int node) {
    (void)s;
    (void)node;
    return "ref";
}

static void null_stream_close(lode_stream *s) { free(s); }

static lode_status null_run(lode_stream *s, lode_segment *segment, lode_err *err) {
    null_device *d = null_of(s->device);
    if (d->faults.fail_run > 0 && --d->faults.fail_run == 0)
        return lode_fail(err, LODE_E_DEVICE, "%s: the run failed (asked for by a test)", d->name);
    for (int i = 0; i < segment->n; i++) {
        const lode_tensor *t = segment->nodes[i];
        lode_op_info_of(t->op)->ref(t, 0, lode_op_units(t));
    }
    return LODE_OK;
}

static const lode_stream_ops null_stream_ops = { .close = null_stream_close, .run = null_run };

static lode_status null_stream_open(lode_device *d, const lode_stream_desc *desc, lode_stream **out, lode_err *err) {
    lode_stream *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "null: out of memory");
    s->ops = &null_stream_ops;
    s->device = d;
    s->desc = *desc;
    *out = s;
    return LODE_OK;
}

static const lode_buffer_type_ops null_type_ops = {
    .name = null_type_name,
    .alloc = null_alloc,
    .alignment = null_alignment,
};

static const lode_device_ops null_device_ops = {
    .props = null_props,
    .buffer_type = null_buffer_type,
    .accepts = null_accepts,
    .reads = null_reads,
    .compile = null_compile,
    .segment_close = null_segment_close,
    .kernel_name = null_kernel_name,
    .stream_open = null_stream_open,
};

static lode_status null_open(void **out, const lode_runtime_desc *desc, lode_err *err) {
    null_ctx *c = lode_calloc(1, sizeof *c);
    if (c) c->items = lode_calloc((size_t)desc->n_null_devices, sizeof *c->items);
    if (!c || !c->items) {
        free(c);
        return lode_fail(err, LODE_E_NOMEM, "null: out of memory");
    }
    c->n = desc->n_null_devices;
    for (int i = 0; i < c->n; i++) {
        null_device *d = &c->items[i];
        snprintf(d->name, sizeof d->name, "NULL%d", i);
        d->device = (lode_device){ .ops = &null_device_ops, .ctx = d };
        d->type = (lode_buffer_type){ .ops = &null_type_ops, .device = &d->device };
    }
    *out = c;
    return LODE_OK;
}

static void null_close(void *ctx) {
    null_ctx *c = ctx;
    free(c->items);
    free(c);
}

static int null_n_devices(void *ctx) { return ((null_ctx *)ctx)->n; }
static lode_device *null_device_at(void *ctx, int i) { return &((null_ctx *)ctx)->items[i].device; }

void lode_null_set_faults(lode_device *d, const lode_null_faults *faults) { null_of(d)->faults = *faults; }

const lode_backend *lode_backend_null(void);

const lode_backend *lode_backend_null(void) {
    static const lode_backend backend = {
        .magic = LODE_BACKEND_MAGIC,
        .abi = LODE_BACKEND_ABI,
        .size = sizeof(lode_backend),
        .name = "null",
        .open = null_open,
        .close = null_close,
        .n_devices = null_n_devices,
        .device = null_device_at,
    };
    return &backend;
}
