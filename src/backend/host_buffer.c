/* host_buffer.c - buffers of plain host memory, for devices whose memory that is. */
#include "backend/iface.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A cache line and the widest vector register of the CPUs that we know. */
enum { HOST_ALIGN = 64 };

static void host_close(lode_buffer *b) {
    lode_aligned_free(b->own);
    free(b);
}

static lode_status host_memset(lode_buffer *b, size_t off, int value, size_t size, lode_err *err) {
    (void)err;
    memset(b->head.base + off, value, size);
    return LODE_OK;
}

static lode_status host_set(lode_buffer *b, size_t off, const void *data, size_t size, lode_err *err) {
    (void)err;
    memmove(b->head.base + off, data, size);
    return LODE_OK;
}

static lode_status host_get(const lode_buffer *b, size_t off, void *data, size_t size, lode_err *err) {
    (void)err;
    memmove(data, b->head.base + off, size);
    return LODE_OK;
}

static const lode_buffer_ops host_ops = {
    .close = host_close,
    .memset = host_memset,
    .set = host_set,
    .get = host_get,
};

lode_status lode_host_buffer_wrap(lode_buffer_type *type, void *ptr, size_t size, bool read_only, lode_buffer **out,
                                  lode_err *err) {
    lode_buffer *b = lode_calloc(1, sizeof *b);
    if (!b) return lode_fail(err, LODE_E_NOMEM, "buffer: out of memory");
    b->head.base = ptr;
    b->ops = &host_ops;
    b->type = type;
    b->size = size;
    b->read_only = read_only;
    *out = b;
    return LODE_OK;
}

lode_status lode_host_buffer_open(lode_buffer_type *type, size_t size, lode_buffer **out, lode_err *err) {
    void *p = lode_aligned_alloc(size, HOST_ALIGN);
    if (!p) return lode_fail(err, LODE_E_NOMEM, "buffer: cannot allocate %zu bytes", size);
    const lode_status s = lode_host_buffer_wrap(type, p, size, false, out, err);
    if (s != LODE_OK)
        lode_aligned_free(p);
    else
        (*out)->own = p;
    return s;
}
