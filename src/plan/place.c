/* place.c - a device for each node.
 *
 * Weights and caches have a place already: a node goes to the device that holds most bytes of them, if it accepts the
 * node. A node without such inputs stays where the first of its computed inputs is. Otherwise the first device in
 * order of preference that accepts it. Values that a device cannot read are copied into its memory by `copy` nodes,
 * which run on the reading side's segment border. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static int stream_of_buffer(const lode_plan *p, const lode_buffer *b) {
    for (int i = 0; i < p->desc.n_streams; i++)
        if (b->type->device == lode_stream_device(p->streams[i])) return i;
    return -1;
}

/* Index of the node that computes t (through views), -1 for leaves. */
static int node_of(const lode_plan *p, const lode_tensor *t) {
    while (t->op == LODE_OP_NONE && t->view_of && t->src[0]) t = t->src[0];
    if (t->op == LODE_OP_NONE) return -1;
    for (size_t i = 0; i < p->nodes.n; i++)
        if (p->nodes.items[i] == t) return (int)i;
    return -1;
}

static bool accepts_at(const lode_plan *p, int stream, const lode_tensor *t) {
    return stream >= 0 && lode_device_accepts(lode_stream_device(p->streams[stream]), t, NULL, 0);
}

static int choose(const lode_plan *p, const lode_tensor *t) {
    int best = -1;
    size_t most = 0;
    for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++) {
        const lode_buffer *b = lode_plan_owner(t->src[k])->buffer;
        const size_t bytes = b ? lode_n_bytes(t->src[k]) : 0;
        if (bytes <= most) continue;
        const int s = stream_of_buffer(p, b);
        if (!accepts_at(p, s, t)) continue;
        most = bytes;
        best = s;
    }
    for (int i = 0; i < p->desc.n_streams && best >= 0; i++) /* a preferred device may take the work over */
        if (i < best && lode_device_offloads(lode_stream_device(p->streams[i]), t) && accepts_at(p, i, t)) return i;
    if (best >= 0) return best;
    for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++) {
        const int n = node_of(p, t->src[k]);
        if (n >= 0 && accepts_at(p, p->placed.items[n], t)) return p->placed.items[n];
    }
    lode_plan_accepts(p, t, &best);
    return best;
}

static lode_status refuse(const lode_plan *p, const lode_tensor *t, lode_err *err) {
    char why[128] = "", shape[80];
    lode_device_accepts(lode_stream_device(p->streams[0]), t, why, sizeof why);
    return lode_fail(err, LODE_E_UNSUPPORTED, "plan: no device accepts %s -> %s%s%s: %s", lode_op_name(t->op),
                     lode_shape_text(t, shape, sizeof shape), t->name[0] ? " of " : "", t->name, why);
}

/* The tensor through which stream `at` reads t: t itself, or a copy that was inserted before. */
typedef struct {
    const lode_tensor *from;
    int stream;
    lode_tensor *to;
} copied;

typedef struct {
    copied *items;
    size_t n, cap;
} copies;

static bool readable(const lode_plan *p, const lode_tensor *t, int t_stream, int at) {
    const lode_device *d = lode_stream_device(p->streams[at]);
    const lode_buffer *b = lode_plan_owner(t)->buffer;
    const lode_buffer_type *type = b ? b->type : lode_device_buffer_type(lode_stream_device(p->streams[t_stream]));
    return lode_device_reads(d, type);
}

static lode_status push_node(lode_plan *p, lode_tensor *t, int stream, lode_err *err) {
    if (!LODE_PUSH(&p->nodes, t) || !LODE_PUSH(&p->placed, (int8_t)stream))
        return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    return LODE_OK;
}

/* Replaces source k of t by a copy in the memory of t's device where that cannot read it. */
static lode_status import(lode_plan *p, copies *c, lode_tensor *t, int k, int at, lode_err *err) {
    lode_tensor *s = t->src[k];
    const int from_node = node_of(p, s);
    const int from = from_node >= 0 ? p->placed.items[from_node] : 0; /* inputs lie with the first device */
    if (readable(p, s, from, at)) return LODE_OK;
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].from == s && c->items[i].stream == at) {
            t->src[k] = c->items[i].to;
            return LODE_OK;
        }
    if (lode_plan_owner(s)->flags & LODE_T_STATE)
        return lode_fail(err, LODE_E_UNSUPPORTED, "plan: %s reads a cache that lies on another device",
                         lode_op_name(t->op));
    if (s->view_of && !lode_is_contiguous(s))
        return lode_fail(err, LODE_E_UNSUPPORTED, "plan: %s reads a strided view from another device",
                         lode_op_name(t->op));
    lode_tensor *y = lode_plan_new_tensor(p);
    if (!y) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    const int32_t id = y->id;
    *y = *s;
    y->id = id;
    y->op = LODE_COPY;
    y->flags = 0;
    y->view_of = NULL;
    y->buffer = NULL;
    y->view_off = y->offset = 0;
    memset(y->src, 0, sizeof y->src);
    memset(y->par, 0, sizeof y->par);
    y->src[0] = s;
    const copied entry = { s, at, y };
    if (!LODE_PUSH(c, entry)) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    t->src[k] = y;
    return push_node(p, y, at, err);
}

/* Whether node i is a copy whose source its device cannot read. */
static bool is_border(const lode_plan *p, size_t i) {
    const lode_tensor *t = p->nodes.items[i];
    if (t->op != LODE_COPY || p->desc.n_streams == 1) return false;
    const int from = node_of(p, t->src[0]);
    return !readable(p, t->src[0], from >= 0 ? p->placed.items[from] : 0, p->placed.items[i]);
}

static lode_status cut(lode_plan *p, lode_err *err) {
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_plan_segment *last = p->segments.n ? &p->segments.items[p->segments.n - 1] : NULL;
        const lode_plan_segment s = {
            .stream = p->placed.items[i], .first = (int)i, .n = 1, .border = is_border(p, i)
        };
        if (last && last->stream == s.stream && !s.border && !last->border) {
            last->n++;
            continue;
        }
        if (!LODE_PUSH(&p->segments, s)) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    }
    return LODE_OK;
}

lode_status lode_plan_place(lode_plan *p, lode_err *err) {
    const lode_tensors given = p->nodes;
    p->nodes = (lode_tensors){ 0 };
    copies c = { 0 };
    lode_status s = LODE_OK;
    for (size_t i = 0; i < given.n && s == LODE_OK; i++) {
        lode_tensor *t = given.items[i];
        const int at = p->desc.n_streams == 1 ? (accepts_at(p, 0, t) ? 0 : -1) : choose(p, t);
        if (at < 0) s = refuse(p, t, err);
        for (int k = 0; k < LODE_MAX_SRC && t->src[k] && s == LODE_OK && p->desc.n_streams > 1; k++)
            s = import(p, &c, t, k, at, err);
        if (s == LODE_OK) s = push_node(p, t, at, err);
    }
    free(given.items);
    free(c.items);
    return s == LODE_OK ? cut(p, err) : s;
}
