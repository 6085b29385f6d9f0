/* memory.c - buffer types and buffers as the host program sees them. A buffer's context is the lode buffer. */
#include "plugin/ggml/plug.h"

#include "backend/iface.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static gg_our_device *of(gg_buft *t) { return gg_our(gg_the_host.version == 3 ? t->v3.device : t->v2.device); }
static lode_buffer_type *type_of(gg_buft *t) { return lode_device_buffer_type(of(t)->lode); }

static void buffer_free(gg_buffer *b) { lode_buffer_close(b->context); }
static void *buffer_base(gg_buffer *b) { return ((lode_buffer *)b->context)->head.base; }

lode_buffer *gg_lode_buffer(const gg_buffer *b) { return b && b->ops.free == buffer_free ? b->context : NULL; }

bool gg_place_of(const gg_tensor *t, lode_buffer **buffer, size_t *offset) {
    const gg_buffer *b = t->buffer ? t->buffer : t->view_src ? t->view_src->buffer : NULL;
    *buffer = gg_lode_buffer(b);
    if (!*buffer || !t->data) return false;
    const uintptr_t base = (uintptr_t)(*buffer)->head.base, at = (uintptr_t)t->data;
    *offset = at - base;
    return at >= base && *offset <= lode_buffer_size(*buffer);
}

/* The host's calls have no way to fail: what goes wrong is said, once per call. */
static void said(lode_status s, const lode_err *err, const gg_tensor *t) {
    if (s != LODE_OK) gg_say("tensor %.63s: %s", t ? t->name : "(all)", err->text);
}

static size_t offset_of(const gg_buffer *b, const gg_tensor *t) {
    return (size_t)((char *)t->data - ((const lode_buffer *)b->context)->head.base);
}

static void buffer_memset(gg_buffer *b, gg_tensor *t, uint8_t value, size_t off, size_t size) {
    lode_err err = { 0 };
    said(lode_buffer_memset(b->context, offset_of(b, t) + off, value, size, &err), &err, t);
}

static void buffer_set(gg_buffer *b, gg_tensor *t, const void *data, size_t off, size_t size) {
    lode_err err = { 0 };
    said(lode_buffer_set(b->context, offset_of(b, t) + off, data, size, &err), &err, t);
}

static void buffer_get(gg_buffer *b, const gg_tensor *t, void *data, size_t off, size_t size) {
    lode_err err = { 0 };
    said(lode_buffer_get(b->context, offset_of(b, t) + off, data, size, &err), &err, t);
}

static bool buffer_copy(gg_buffer *b, const gg_tensor *src, gg_tensor *dst) {
    lode_err err = { 0 };
    lode_buffer *from;
    size_t at;
    if (!gg_place_of(src, &from, &at)) return false; /* the host goes through its own memory */
    return lode_buffer_copy(from, at, b->context, offset_of(b, dst), gg_the_host.n_bytes(src), &err) == LODE_OK;
}

static void buffer_clear(gg_buffer *b, uint8_t value) {
    lode_err err = { 0 };
    said(lode_buffer_clear(b->context, value, &err), &err, NULL);
}

static const gg_buffer_ops buffer_ops = {
    .free = buffer_free,
    .base = buffer_base,
    .memset = buffer_memset,
    .set = buffer_set,
    .get = buffer_get,
    .copy = buffer_copy,
    .clear = buffer_clear,
};

static gg_buffer *shown(gg_buft *t, lode_buffer *b, size_t size) {
    gg_buffer *g = gg_the_host.buffer_init(t, buffer_ops, b, size);
    if (g) return g;
    gg_say("%s: out of memory", of(t)->name);
    lode_buffer_close(b);
    return NULL;
}

static gg_buffer *type_alloc(gg_buft *t, size_t size) {
    lode_buffer *b;
    lode_err err = { 0 };
    if (lode_buffer_open(&b, type_of(t), size ? size : 1, &err) != LODE_OK) {
        gg_say("%s: %s", of(t)->name, err.text);
        return NULL;
    }
    return shown(t, b, size);
}

gg_buffer *gg_device_wrap(gg_device *d, void *ptr, size_t size, size_t max_tensor) {
    (void)max_tensor;
    lode_buffer *b;
    lode_err err = { 0 };
    if (lode_device_wrap(gg_our(d)->lode, ptr, size, false, &b, &err) != LODE_OK) {
        gg_say("%s: %s", gg_our(d)->name, err.text);
        return NULL;
    }
    return shown(&gg_our(d)->buft, b, size);
}

static const char *type_name(gg_buft *t) { return of(t)->name; }
static size_t type_alignment(gg_buft *t) { return lode_buffer_type_alignment(type_of(t)); }
static size_t type_max_size(gg_buft *t) { return lode_buffer_type_max_size(type_of(t)); }
static bool type_is_host(gg_buft *t) { return lode_buffer_type_is_host(type_of(t)); }

static size_t type_alloc_size(gg_buft *t, const gg_tensor *x) {
    (void)t;
    return gg_the_host.n_bytes(x);
}

static size_t type_alloc_size_n(gg_buft *t, gg_tensor **x, int n) {
    size_t sum = 0, one;
    for (int i = 0; i < n; i++) {
        if (x[i]->data || x[i]->view_src) continue;
        if (!lode_align_ok(type_alloc_size(t, x[i]), type_alignment(t), &one) || !lode_add_ok(sum, one, &sum))
            return SIZE_MAX;
    }
    return sum;
}

void gg_buft_init(gg_our_device *d) {
    if (gg_the_host.version == 3)
        d->buft.v3 = (gg_buft_v3){
            .name = type_name,
            .alloc = type_alloc,
            .alignment = type_alignment,
            .max_size = type_max_size,
            .alloc_size = type_alloc_size,
            .alloc_size_n = type_alloc_size_n,
            .is_host = type_is_host,
            .device = &d->base,
        };
    else
        d->buft.v2 = (gg_buft_v2){
            .name = type_name,
            .alloc = type_alloc,
            .alignment = type_alignment,
            .max_size = type_max_size,
            .alloc_size = type_alloc_size,
            .is_host = type_is_host,
            .device = &d->base,
        };
}
