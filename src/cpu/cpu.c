/* cpu.c - the CPU backend: devices, their memory and what they accept. */
#include "cpu/cpu.h"

#include "base/cpus.h"
#include "base/mem.h"
#include "cpu/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    lode_device device;
    lode_buffer_type type;
    const lode_kern *k;
    char name[16], description[128];
} cpu_device;

typedef struct {
    cpu_device *items; /* own */
    int n;
} cpu_ctx;

static cpu_device *cpu_of(const lode_device *d) { return d->ctx; }

static void cpu_props(const lode_device *d, lode_device_props *out) {
    out->name = cpu_of(d)->name;
    out->description = cpu_of(d)->description;
    out->type = LODE_DEVICE_CPU;
    out->memory_free = lode_memory_free();
    out->memory_total = lode_memory_total();
    out->host_memory = true;
    out->from_host_ptr = true;
}

static lode_buffer_type *cpu_buffer_type(const lode_device *d) { return &cpu_of(d)->type; }
static const char *cpu_type_name(const lode_buffer_type *t) { return cpu_of(t->device)->name; }
static bool cpu_is_host(const lode_buffer_type *t) {
    (void)t;
    return true;
}

/* A cache line and the widest vector register. */
static size_t cpu_alignment(const lode_buffer_type *t) {
    (void)t;
    return 64;
}

static lode_status cpu_alloc(lode_buffer_type *t, size_t size, lode_buffer **out, lode_err *err) {
    return lode_host_buffer_open(t, size, out, err);
}

static lode_status cpu_wrap(lode_device *d, void *ptr, size_t size, bool read_only, lode_buffer **out, lode_err *err) {
    return lode_host_buffer_wrap(&cpu_of(d)->type, ptr, size, read_only, out, err);
}

static bool cpu_accepts(const lode_device *d, const lode_tensor *node, char *why, size_t n) {
    const char *reason;
    const lode_op_info *o = lode_op_info_of(node->op);
    if (lode_cpu_choose(cpu_of(d)->k, node, &reason)) return true;
    /* columns are quantised for the sake of integer kernels alone: without one, F32 columns are exact and faster */
    const bool quantised = node->src[0] && node->src[1] && node->src[1]->type == LODE_Q8A;
    if (o && o->ref && !quantised) return true;
    if (why) snprintf(why, n, "%s", reason);
    return false;
}

static bool cpu_reads(const lode_device *d, const lode_buffer_type *t) {
    (void)d;
    return lode_buffer_type_is_host(t);
}

static lode_status cpu_compile(lode_device *d, const lode_segment_desc *desc, lode_segment **out, lode_err *err) {
    return lode_cpu_compile(cpu_of(d)->k, desc, out, err);
}

static const lode_buffer_type_ops cpu_type_ops = {
    .name = cpu_type_name,
    .alloc = cpu_alloc,
    .alignment = cpu_alignment,
    .is_host = cpu_is_host,
};

static const lode_device_ops cpu_device_ops = {
    .props = cpu_props,
    .buffer_type = cpu_buffer_type,
    .wrap = cpu_wrap,
    .accepts = cpu_accepts,
    .reads = cpu_reads,
    .compile = cpu_compile,
    .segment_close = lode_cpu_segment_close,
    .kernel_name = lode_cpu_kernel_name,
    .stream_open = lode_cpu_stream_open,
};

static lode_status cpu_open(void **out, const lode_runtime_desc *desc, lode_err *err) {
    const lode_kern *k;
    LODE_TRY(lode_kern_by_name(&k, desc->isa, err));
    cpu_ctx *c = lode_calloc(1, sizeof *c);
    const int n = desc->n_cpu_devices > 0 ? desc->n_cpu_devices : 1;
    if (c) c->items = lode_calloc((size_t)n, sizeof *c->items);
    if (!c || !c->items) {
        free(c);
        return lode_fail(err, LODE_E_NOMEM, "cpu: out of memory");
    }
    char name[96];
    lode_cpu_name(name, sizeof name);
    for (c->n = 0; c->n < n; c->n++) {
        cpu_device *d = &c->items[c->n];
        if (c->n == 0)
            snprintf(d->name, sizeof d->name, "CPU");
        else
            snprintf(d->name, sizeof d->name, "CPU%d", c->n);
        snprintf(d->description, sizeof d->description, "%s, %s", name, k->name);
        d->k = k;
        d->device = (lode_device){ .ops = &cpu_device_ops, .ctx = d };
        d->type = (lode_buffer_type){ .ops = &cpu_type_ops, .device = &d->device };
    }
    *out = c;
    return LODE_OK;
}

static void cpu_close(void *ctx) {
    cpu_ctx *c = ctx;
    free(c->items);
    free(c);
}

static int cpu_n_devices(void *ctx) { return ((cpu_ctx *)ctx)->n; }
static lode_device *cpu_device_at(void *ctx, int i) { return &((cpu_ctx *)ctx)->items[i].device; }

static void *cpu_proc(void *ctx, const char *name) {
    (void)ctx;
    const lode_trace_start_fn start = lode_cpu_trace_start;
    const lode_trace_stop_fn stop = lode_cpu_trace_stop;
    void *p = NULL; /* ISO C has no cast between function and object pointers */
    if (strcmp(name, LODE_PROC_TRACE_START) == 0) memcpy(&p, &start, sizeof p);
    if (strcmp(name, LODE_PROC_TRACE_STOP) == 0) memcpy(&p, &stop, sizeof p);
    return p;
}

const lode_backend *lode_backend_cpu(void);

const lode_backend *lode_backend_cpu(void) {
    static const lode_backend backend = {
        .magic = LODE_BACKEND_MAGIC,
        .abi = LODE_BACKEND_ABI,
        .size = sizeof(lode_backend),
        .name = "cpu",
        .open = cpu_open,
        .close = cpu_close,
        .n_devices = cpu_n_devices,
        .device = cpu_device_at,
        .proc = cpu_proc,
    };
    return &backend;
}
