/* stream.c - what the host program calls a backend: one stream of one device with its plans, and events. */
#include "plugin/ggml/plug.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    gg_backend base;
    gg_our_device *device;
    lode_stream *stream; /* own */
    gg_plans *plans;     /* own */
    int n_threads;       /* 0: the device's default */
    bool (*abort)(void *);
    void *abort_user;
} stream;

static stream *of(gg_backend *b) { return b->context; }

static bool asks_to_stop(void *user) {
    const stream *s = user;
    return s->abort && s->abort(s->abort_user);
}

static void shut(stream *s) {
    gg_plans_close(s->plans);
    lode_stream_close(s->stream);
    s->plans = NULL;
    s->stream = NULL;
}

/* Opens stream and plans where they are not open: at first use, and after the number of threads has changed. */
static lode_status opened(stream *s, lode_err *err) {
    if (s->plans) return LODE_OK;
    const lode_stream_desc d = { .n_threads = s->n_threads, .abort = asks_to_stop, .abort_user = s };
    LODE_TRY(lode_stream_open(&s->stream, s->device->lode, &d, err));
    s->plans = gg_plans_open(s->stream, &s->device->fusion);
    if (s->plans) return LODE_OK;
    shut(s);
    return lode_fail(err, LODE_E_NOMEM, "out of memory");
}

static const char *stream_name(gg_backend *b) { return of(b)->device->name; }

static void stream_free(gg_backend *b) {
    shut(of(b));
    free(of(b));
}

static int compute(gg_backend *b, gg_graph *g) {
    lode_err err = { 0 };
    lode_status s = opened(of(b), &err);
    if (s == LODE_OK) s = gg_plans_run(of(b)->plans, g, &err);
    if (s == LODE_OK) return GG_OK;
    if (s == LODE_E_ABORTED) return GG_ABORTED;
    gg_say("%s: %s", of(b)->device->name, err.text);
    return s == LODE_E_NOMEM ? GG_ALLOC_FAILED : GG_FAILED;
}

static void synchronize(gg_backend *b) {
    lode_err err = { 0 };
    if (of(b)->stream && lode_stream_synchronize(of(b)->stream, &err) != LODE_OK)
        gg_say("%s: %s", of(b)->device->name, err.text);
}

/* Where a tensor lies, the stream open; false with one line said. */
static bool reach(gg_backend *b, const gg_tensor *t, lode_buffer **buffer, size_t *at) {
    lode_err err = { 0 };
    if (!gg_place_of(t, buffer, at))
        lode_fail(&err, LODE_E_INPUT, "it does not lie in memory of %s", of(b)->device->name);
    else if (opened(of(b), &err) == LODE_OK)
        return true;
    gg_say("tensor %.63s: %s", t->name, err.text);
    return false;
}

static void set_async(gg_backend *b, gg_tensor *t, const void *data, size_t off, size_t size) {
    lode_err err = { 0 };
    lode_buffer *buffer;
    size_t at;
    if (reach(b, t, &buffer, &at) && lode_stream_set(of(b)->stream, buffer, at + off, data, size, &err) != LODE_OK)
        gg_say("tensor %.63s: %s", t->name, err.text);
}

static void get_async(gg_backend *b, const gg_tensor *t, void *data, size_t off, size_t size) {
    lode_err err = { 0 };
    lode_buffer *buffer;
    size_t at;
    if (reach(b, t, &buffer, &at) && lode_stream_get(of(b)->stream, buffer, at + off, data, size, &err) != LODE_OK)
        gg_say("tensor %.63s: %s", t->name, err.text);
}

static bool copy_async(gg_backend *from, gg_backend *to, const gg_tensor *src, gg_tensor *dst) {
    lode_err err = { 0 };
    lode_buffer *a, *b;
    size_t a_at, b_at;
    if (from->ops.compute != compute || to->ops.compute != compute) return false;
    if (!gg_place_of(src, &a, &a_at) || !gg_place_of(dst, &b, &b_at)) return false;
    if (opened(of(from), &err) != LODE_OK || opened(of(to), &err) != LODE_OK) return false;
    return lode_stream_copy(of(from)->stream, a, a_at, of(to)->stream, b, b_at, gg_the_host.n_bytes(src), &err) ==
           LODE_OK;
}

static void event_record(gg_backend *b, gg_event *e) {
    lode_err err = { 0 };
    if (opened(of(b), &err) != LODE_OK || lode_event_record(e->context, of(b)->stream, &err) != LODE_OK)
        gg_say("%s: event: %s", of(b)->device->name, err.text);
}

static void event_wait(gg_backend *b, gg_event *e) {
    lode_err err = { 0 };
    if (opened(of(b), &err) != LODE_OK || lode_event_wait(e->context, of(b)->stream, &err) != LODE_OK)
        gg_say("%s: event: %s", of(b)->device->name, err.text);
}

/* The order of nodes is the plan's business: the host's stays as it is. */
static void optimize(gg_backend *b, gg_graph *g, void *params) {
    (void)b;
    (void)g;
    (void)params;
}

static const uint8_t guid[16] = { 0x6c, 0x6f, 0x64, 0x65, 0x9d, 0x31, 0x4e, 0x0a,
                                  0x8b, 0x57, 0x10, 0xc2, 0x5f, 0xe4, 0x77, 0x01 };

gg_backend *gg_stream_open(gg_device *d, const char *params) {
    (void)params;
    stream *s = lode_calloc(1, sizeof *s);
    if (!s) {
        gg_say("%s: out of memory", gg_our(d)->name);
        return NULL;
    }
    s->device = gg_our(d);
    s->base = (gg_backend){
        .guid = guid,
        .ops = {
            .name = stream_name,
            .free = stream_free,
            .set_async = set_async,
            .get_async = get_async,
            .copy_async = copy_async,
            .synchronize = synchronize,
            .compute = compute,
            .event_record = event_record,
            .event_wait = event_wait,
            .optimize = optimize,
        },
        .device = d,
        .context = s,
    };
    return &s->base;
}

void gg_stream_set_threads(gg_backend *b, int n) {
    if (!b || b->ops.compute != compute || n < 1 || of(b)->n_threads == n) return;
    of(b)->n_threads = n;
    shut(of(b));
}

void gg_stream_set_abort(gg_backend *b, bool (*abort)(void *), void *user) {
    if (!b || b->ops.compute != compute) return;
    of(b)->abort = abort;
    of(b)->abort_user = user;
}

gg_event *gg_event_open(gg_device *d) {
    lode_err err = { 0 };
    gg_event *e = lode_calloc(1, sizeof *e);
    lode_event *ours;
    if (!e || lode_event_open(&ours, gg_our(d)->lode, &err) != LODE_OK) {
        gg_say("%s: event: %s", gg_our(d)->name, e ? err.text : "out of memory");
        free(e);
        return NULL;
    }
    *e = (gg_event){ .device = d, .context = ours };
    return e;
}

void gg_event_close(gg_device *d, gg_event *e) {
    (void)d;
    if (e) lode_event_close(e->context);
    free(e);
}

void gg_event_synchronize(gg_device *d, gg_event *e) {
    lode_err err = { 0 };
    if (lode_event_synchronize(e->context, &err) != LODE_OK) gg_say("%s: event: %s", gg_our(d)->name, err.text);
}
