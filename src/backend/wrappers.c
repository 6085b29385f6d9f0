/* wrappers.c - the public functions of devices, memory, streams and events: checks, then the backend's table, then
 * the generic way where the table has no entry. */
#include "backend/iface.h"
#include "base/mem.h"
#include "base/need.h"

#include <stdlib.h>
#include <string.h>

void lode_device_get_props(const lode_device *dev, lode_device_props *out) {
    *out = (lode_device_props){ 0 };
    dev->ops->props(dev, out);
    out->backend = dev->backend->name;
}

const char *lode_device_name(const lode_device *dev) {
    lode_device_props p = { 0 };
    dev->ops->props(dev, &p);
    return p.name;
}

lode_buffer_type *lode_device_buffer_type(const lode_device *dev) { return dev->ops->buffer_type(dev); }

lode_status lode_device_wrap(lode_device *dev, void *ptr, size_t size, bool read_only, lode_buffer **out,
                             lode_err *err) {
    LODE_TRY(lode_need(dev && out && LODE_HAS(ptr, size), __func__, err));
    if (dev->ops->wrap) return dev->ops->wrap(dev, ptr, size, read_only, out, err);
    return lode_fail(err, LODE_E_UNSUPPORTED, "%s: cannot use host memory without a copy", lode_device_name(dev));
}

bool lode_device_accepts(const lode_device *dev, const lode_tensor *node, char *why, size_t n) {
    return dev->ops->accepts(dev, node, why, n);
}

bool lode_device_reads(const lode_device *dev, const lode_buffer_type *type) { return dev->ops->reads(dev, type); }

bool lode_device_offloads(const lode_device *dev, const lode_tensor *node) {
    return dev->ops->offloads && dev->ops->offloads(dev, node);
}

lode_status lode_device_compile(lode_device *d, const lode_segment_desc *desc, lode_segment **out, lode_err *err) {
    return d->ops->compile(d, desc, out, err);
}

void lode_segment_close(lode_device *d, lode_segment *s) {
    if (s) d->ops->segment_close(s);
}

/* ---- Memory ---- */

const char *lode_buffer_type_name(const lode_buffer_type *t) { return t->ops->name(t); }
size_t lode_buffer_type_alignment(const lode_buffer_type *t) { return t->ops->alignment(t); }
size_t lode_buffer_type_max_size(const lode_buffer_type *t) {
    return t->ops->max_size ? t->ops->max_size(t) : SIZE_MAX;
}
bool lode_buffer_type_is_host(const lode_buffer_type *t) { return t->ops->is_host && t->ops->is_host(t); }

bool lode_buffer_type_size_of(const lode_buffer_type *type, lode_tensor *const *t, int n, size_t *bytes) {
    const size_t align = lode_buffer_type_alignment(type);
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        const size_t one = type->ops->size_of ? type->ops->size_of(type, t[i]) : lode_n_bytes(t[i]);
        if (!lode_align_ok(sum, align, &sum) || !lode_add_ok(sum, one, &sum)) return false;
    }
    *bytes = sum;
    return true;
}

lode_status lode_buffer_open(lode_buffer **out, lode_buffer_type *type, size_t size, lode_err *err) {
    LODE_TRY(lode_need(out && type, __func__, err));
    const size_t most = lode_buffer_type_max_size(type);
    if (size > most)
        return lode_fail(err, LODE_E_NOMEM, "%s: a buffer of %zu bytes is above the device's limit of %zu",
                         lode_buffer_type_name(type), size, most);
    return type->ops->alloc(type, size ? size : 1, out, err);
}

void lode_buffer_close(lode_buffer *b) {
    if (b) b->ops->close(b);
}

size_t lode_buffer_size(const lode_buffer *b) { return b->size; }
lode_buffer_type *lode_buffer_get_type(const lode_buffer *b) { return b->type; }
void *lode_buffer_host(const lode_buffer *b) { return lode_buffer_type_is_host(b->type) ? b->head.base : NULL; }

static lode_status in_range(const lode_buffer *b, size_t off, size_t size, bool write, lode_err *err) {
    if (off > b->size || size > b->size - off)
        return lode_fail(err, LODE_E_INPUT, "%s: %zu bytes at %zu are outside a buffer of %zu bytes",
                         lode_buffer_type_name(b->type), size, off, b->size);
    if (write && b->read_only)
        return lode_fail(err, LODE_E_INPUT, "%s: the buffer is read-only", lode_buffer_type_name(b->type));
    return LODE_OK;
}

lode_status lode_buffer_set(lode_buffer *b, size_t off, const void *data, size_t size, lode_err *err) {
    LODE_TRY(lode_need(b && LODE_HAS(data, size), __func__, err));
    LODE_TRY(in_range(b, off, size, true, err));
    return size ? b->ops->set(b, off, data, size, err) : LODE_OK;
}

lode_status lode_buffer_get(const lode_buffer *b, size_t off, void *data, size_t size, lode_err *err) {
    LODE_TRY(lode_need(b && LODE_HAS(data, size), __func__, err));
    LODE_TRY(in_range(b, off, size, false, err));
    return size ? b->ops->get(b, off, data, size, err) : LODE_OK;
}

lode_status lode_buffer_memset(lode_buffer *b, size_t off, int value, size_t size, lode_err *err) {
    LODE_TRY(lode_need(b, __func__, err));
    LODE_TRY(in_range(b, off, size, true, err));
    return size ? b->ops->memset(b, off, value, size, err) : LODE_OK;
}

lode_status lode_buffer_clear(lode_buffer *b, int value, lode_err *err) {
    LODE_TRY(lode_need(b, __func__, err));
    return lode_buffer_memset(b, 0, value, b->size, err);
}

/* Piece by piece, so that a copy of any size needs 64 KiB. */
static lode_status bounce(const lode_buffer *src, size_t src_off, lode_buffer *dst, size_t dst_off, size_t size,
                          lode_err *err) {
    enum { PIECE = 64 * 1024 };
    void *host = malloc(PIECE);
    if (!host) return lode_fail(err, LODE_E_NOMEM, "copy: out of memory");
    lode_status s = LODE_OK;
    for (size_t at = 0; at < size && s == LODE_OK; at += PIECE) {
        const size_t n = size - at < PIECE ? size - at : PIECE;
        s = src->ops->get(src, src_off + at, host, n, err);
        if (s == LODE_OK) s = dst->ops->set(dst, dst_off + at, host, n, err);
    }
    free(host);
    return s;
}

lode_status lode_buffer_copy(const lode_buffer *src, size_t src_off, lode_buffer *dst, size_t dst_off, size_t size,
                             lode_err *err) {
    LODE_TRY(lode_need(src && dst, __func__, err));
    LODE_TRY(in_range(src, src_off, size, false, err));
    LODE_TRY(in_range(dst, dst_off, size, true, err));
    const char *from = lode_buffer_host(src);
    if (from) return lode_buffer_set(dst, dst_off, from + src_off, size, err);
    char *to = lode_buffer_host(dst);
    if (to) return lode_buffer_get(src, src_off, to + dst_off, size, err);
    if (dst->ops->copy_from && dst->ops->copy_from(dst, dst_off, src, src_off, size)) return LODE_OK;
    return bounce(src, src_off, dst, dst_off, size, err);
}

lode_status lode_buffer_place(lode_buffer **out, lode_buffer_type *type, lode_tensor *const *t, int n, lode_err *err) {
    LODE_TRY(lode_need(out && type && LODE_HAS(t, n), __func__, err));
    for (int i = 0; i < n; i++) LODE_TRY(lode_need(t[i], __func__, err));
    const size_t align = lode_buffer_type_alignment(type);
    size_t bytes;
    if (!lode_buffer_type_size_of(type, t, n, &bytes))
        return lode_fail(err, LODE_E_NOMEM, "%s: the tensors' sizes add up beyond the address space",
                         lode_buffer_type_name(type));
    LODE_TRY(lode_buffer_open(out, type, bytes, err));
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        at = (at + align - 1) & ~(align - 1);
        t[i]->buffer = *out;
        t[i]->offset = at;
        at += type->ops->size_of ? type->ops->size_of(type, t[i]) : lode_n_bytes(t[i]);
    }
    return LODE_OK;
}

/* ---- Streams and events ---- */

lode_status lode_stream_open(lode_stream **out, lode_device *dev, const lode_stream_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out && dev, __func__, err));
    const lode_stream_desc none = { 0 };
    return dev->ops->stream_open(dev, desc ? desc : &none, out, err);
}

void lode_stream_close(lode_stream *s) {
    if (!s) return;
    lode_stream_synchronize(s, NULL);
    s->ops->close(s);
}

lode_device *lode_stream_device(const lode_stream *s) { return s->device; }

lode_status lode_stream_synchronize(lode_stream *s, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    return s->ops->synchronize ? s->ops->synchronize(s, err) : LODE_OK;
}

lode_status lode_stream_set(lode_stream *s, lode_buffer *b, size_t off, const void *data, size_t size, lode_err *err) {
    LODE_TRY(lode_need(s && b && LODE_HAS(data, size), __func__, err));
    LODE_TRY(in_range(b, off, size, true, err));
    if (s->ops->set) return s->ops->set(s, b, off, data, size, err);
    LODE_TRY(lode_stream_synchronize(s, err));
    return lode_buffer_set(b, off, data, size, err);
}

lode_status lode_stream_get(lode_stream *s, const lode_buffer *b, size_t off, void *data, size_t size, lode_err *err) {
    LODE_TRY(lode_need(s && b && LODE_HAS(data, size), __func__, err));
    LODE_TRY(in_range(b, off, size, false, err));
    if (s->ops->get) return s->ops->get(s, b, off, data, size, err);
    LODE_TRY(lode_stream_synchronize(s, err));
    return lode_buffer_get(b, off, data, size, err);
}

lode_status lode_stream_copy(lode_stream *src_stream, const lode_buffer *src, size_t src_off, lode_stream *dst_stream,
                             lode_buffer *dst, size_t dst_off, size_t size, lode_err *err) {
    LODE_TRY(lode_need(src_stream && src && dst_stream && dst, __func__, err));
    LODE_TRY(in_range(src, src_off, size, false, err));
    LODE_TRY(in_range(dst, dst_off, size, true, err));
    if (dst_stream->ops->copy && dst_stream->ops->copy(src_stream, src, src_off, dst_stream, dst, dst_off, size))
        return LODE_OK;
    LODE_TRY(lode_stream_synchronize(src_stream, err));
    LODE_TRY(lode_stream_synchronize(dst_stream, err));
    return lode_buffer_copy(src, src_off, dst, dst_off, size, err);
}

lode_status lode_stream_run(lode_stream *s, lode_segment *segment, lode_err *err) {
    return s->ops->run(s, segment, err);
}

/* Events of a device that has none: a recorded point is reached by finishing its whole stream. */
static void plain_event_close(lode_event *e) { free(e); }

static lode_status plain_event_record(lode_event *e, lode_stream *s, lode_err *err) {
    (void)err;
    e->stream = s->ops->synchronize ? s : NULL; /* one that is never behind has reached it, and may be closed */
    return LODE_OK;
}

static lode_status plain_event_synchronize(lode_event *e, lode_err *err) {
    return e->stream ? lode_stream_synchronize(e->stream, err) : LODE_OK;
}

static lode_status plain_event_wait(lode_event *e, lode_stream *s, lode_err *err) {
    (void)s;
    return plain_event_synchronize(e, err);
}

static const lode_event_ops plain_event_ops = {
    .close = plain_event_close,
    .record = plain_event_record,
    .wait = plain_event_wait,
    .synchronize = plain_event_synchronize,
};

lode_status lode_event_open(lode_event **out, lode_device *dev, lode_err *err) {
    LODE_TRY(lode_need(out && dev, __func__, err));
    if (dev->ops->event_open) return dev->ops->event_open(dev, out, err);
    lode_event *e = lode_calloc(1, sizeof *e);
    if (!e) return lode_fail(err, LODE_E_NOMEM, "event: out of memory");
    e->ops = &plain_event_ops;
    e->device = dev;
    *out = e;
    return LODE_OK;
}

void lode_event_close(lode_event *e) {
    if (e) e->ops->close(e);
}

lode_status lode_event_record(lode_event *e, lode_stream *s, lode_err *err) {
    LODE_TRY(lode_need(e && s, __func__, err));
    return e->ops->record(e, s, err);
}

lode_status lode_event_wait(lode_event *e, lode_stream *s, lode_err *err) {
    LODE_TRY(lode_need(e && s, __func__, err));
    return e->ops->wait(e, s, err);
}

lode_status lode_event_synchronize(lode_event *e, lode_err *err) {
    LODE_TRY(lode_need(e, __func__, err));
    return e->ops->synchronize(e, err);
}
