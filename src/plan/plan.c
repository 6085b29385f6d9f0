/* plan.c - opens plans: copies the graph, runs the passes, bakes; and runs them. */
#include "plan/plan.h"
#include "base/need.h"

#include <stdlib.h>
#include <string.h>

lode_tensor *lode_plan_new_tensor(lode_plan *p) {
    lode_tensor *t = lode_arena_alloc(&p->arena, 1, sizeof *t);
    if (!t || !LODE_PUSH(&p->all, t)) return NULL;
    t->id = (int32_t)p->all.n - 1;
    t->layer = -1;
    for (int i = 0; i < LODE_MAX_DIMS; i++) t->ne[i] = 1;
    return t;
}

bool lode_plan_accepts(const lode_plan *p, const lode_tensor *t, int *stream) {
    for (int i = 0; i < p->desc.n_streams; i++)
        if (lode_device_accepts(lode_stream_device(p->streams[i]), t, NULL, 0)) {
            if (stream) *stream = i;
            return true;
        }
    return false;
}

lode_status lode_plan_make_node(lode_plan *p, int op, const void *par, lode_tensor *const *src, lode_tensor **out,
                                lode_err *err) {
    lode_tensor *t = lode_plan_new_tensor(p);
    if (!t) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    t->op = (uint16_t)op;
    if (par) memcpy(t->par, par, sizeof t->par);
    for (int i = 0; i < LODE_MAX_SRC && src[i]; i++) t->src[i] = src[i];
    LODE_TRY(lode_op_info_of(op)->infer(t, err));
    lode_inherit_dyn(t);
    *out = t;
    return LODE_OK;
}

/* A source of the graph as the plan's tensor: graph tensors have copies, weights and caches are used as they are. */
static lode_tensor *mine(const lode_plan *p, lode_tensor *t) { return t && t->id >= 0 ? p->by_id.items[t->id] : t; }

/* Copies t and what it needs that is not in the list of nodes: inputs and views. */
static lode_status copy_tensor(lode_plan *p, const lode_tensor *t, lode_err *err) {
    for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++)
        if (t->src[k]->id >= 0 && !p->by_id.items[t->src[k]->id]) LODE_TRY(copy_tensor(p, t->src[k], err));
    lode_tensor *c = lode_plan_new_tensor(p);
    if (!c) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    const int32_t id = c->id;
    *c = *t;
    c->id = id;
    c->n_use = 0;
    for (int k = 0; k < LODE_MAX_SRC; k++) c->src[k] = mine(p, t->src[k]);
    c->view_of = mine(p, t->view_of);
    p->by_id.items[t->id] = c;
    if (c->dyn && c->ne[c->dyn_dim] > p->cap[c->dyn]) p->cap[c->dyn] = c->ne[c->dyn_dim];
    return LODE_OK;
}

static lode_status copy_graph(lode_plan *p, const lode_graph *g, lode_err *err) {
    p->by_id.items = lode_calloc((size_t)g->n_ids, sizeof *p->by_id.items);
    if (!p->by_id.items) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    p->by_id.n = (size_t)g->n_ids;
    for (size_t i = 0; i < g->inputs.n; i++) LODE_TRY(copy_tensor(p, g->inputs.items[i], err));
    for (size_t i = 0; i < g->nodes.n; i++) {
        LODE_TRY(copy_tensor(p, g->nodes.items[i], err));
        if (!LODE_PUSH(&p->nodes, p->by_id.items[g->nodes.items[i]->id]))
            return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    }
    return LODE_OK;
}

static lode_status bake(lode_plan *p, lode_err *err) {
    for (size_t i = 0; i < p->segments.n; i++) {
        lode_plan_segment *s = &p->segments.items[i];
        lode_stream *stream = p->streams[s->stream];
        if (s->border) continue;
        const lode_segment_desc d = {
            .nodes = p->nodes.items + s->first,
            .n_nodes = s->n,
            .max_threads = stream->desc.n_threads,
        };
        LODE_TRY(lode_device_compile(lode_stream_device(stream), &d, &s->compiled, err));
    }
    return LODE_OK;
}

static lode_status build(lode_plan *p, const lode_graph *g, lode_err *err) {
    LODE_TRY(copy_graph(p, g, err));
    lode_plan_note_graph(p);
    LODE_TRY(lode_plan_lower(p, err));
    LODE_TRY(lode_plan_place(p, err));
    LODE_TRY(lode_plan_memory(p, err));
    LODE_TRY(bake(p, err));
    memcpy(p->count, p->cap, sizeof p->count);
    return LODE_OK;
}

lode_status lode_plan_open(lode_plan **out, const lode_graph *g, const lode_plan_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out && g && desc && LODE_HAS(desc->streams, desc->n_streams), __func__, err));
    LODE_TRY(lode_graph_status(g, err));
    if (desc->n_streams < 1 || desc->n_streams > LODE_PLAN_STREAMS)
        return lode_fail(err, LODE_E_INPUT, "plan: %d streams, expected 1..%d", desc->n_streams, LODE_PLAN_STREAMS);
    for (int i = 0; i < desc->n_streams; i++) LODE_TRY(lode_need(desc->streams[i], __func__, err));
    lode_plan *p = lode_calloc(1, sizeof *p);
    if (!p) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    p->desc = *desc;
    memcpy(p->streams, desc->streams, (size_t)desc->n_streams * sizeof *p->streams);
    p->desc.streams = p->streams;
    const lode_status s = build(p, g, err);
    if (s != LODE_OK) {
        lode_plan_close(p);
        return s;
    }
    *out = p;
    return LODE_OK;
}

void lode_plan_close(lode_plan *p) {
    if (!p) return;
    for (size_t i = 0; i < p->segments.n; i++)
        lode_segment_close(lode_stream_device(p->streams[p->segments.items[i].stream]), p->segments.items[i].compiled);
    for (int i = 0; i < LODE_PLAN_STREAMS; i++) lode_buffer_close(p->scratch[i]);
    free(p->segments.items);
    free(p->placed.items);
    free(p->nodes.items);
    free(p->all.items);
    free(p->by_id.items);
    lode_str_free(&p->fused_log);
    lode_str_free(&p->graph_log);
    lode_arena_free(&p->arena);
    free(p);
}

lode_tensor *lode_plan_tensor(const lode_plan *p, const lode_tensor *t) {
    lode_tensor *m = t->id >= 0 && (size_t)t->id < p->by_id.n ? p->by_id.items[t->id] : NULL;
    return m && m->buffer ? m : NULL;
}

lode_status lode_plan_set_count(lode_plan *p, int dyn, int64_t count, lode_err *err) {
    LODE_TRY(lode_need(p, __func__, err));
    if (dyn <= LODE_DYN_NONE || dyn >= LODE_N_DYN || count < 0 || count > p->cap[dyn])
        return lode_fail(err, LODE_E_INPUT, "plan: count %lld of kind %d is outside 0..%lld", (long long)count, dyn,
                         (long long)(dyn > 0 && dyn < LODE_N_DYN ? p->cap[dyn] : 0));
    if (p->count[dyn] == count) return LODE_OK;
    p->count[dyn] = count;
    for (size_t i = 0; i < p->all.n; i++)
        if (p->all.items[i]->dyn == dyn) p->all.items[i]->ne[p->all.items[i]->dyn_dim] = count;
    return LODE_OK;
}

lode_status lode_plan_write(lode_plan *p, const lode_tensor *t, const void *data, size_t bytes, lode_err *err) {
    LODE_TRY(lode_need(p && t && LODE_HAS(data, bytes), __func__, err));
    const lode_tensor *m = lode_plan_tensor(p, t);
    if (!m) return lode_fail(err, LODE_E_INPUT, "plan: this tensor is not an input");
    return lode_buffer_set(m->buffer, m->offset, data, bytes, err);
}

lode_status lode_plan_read(lode_plan *p, const lode_tensor *t, size_t off, void *data, size_t bytes, lode_err *err) {
    LODE_TRY(lode_need(p && t && LODE_HAS(data, bytes), __func__, err));
    const lode_tensor *m = lode_plan_tensor(p, t);
    if (!m) return lode_fail(err, LODE_E_INPUT, "plan: this tensor is not an output");
    return lode_buffer_get(m->buffer, m->offset + off, data, bytes, err);
}

/* The value that a border copy brings over: blocking, both sides finished. */
static lode_status run_border(const lode_tensor *t, lode_err *err) {
    const lode_tensor *from = t->src[0];
    return lode_buffer_copy(from->buffer, from->offset, t->buffer, t->offset, lode_n_bytes(from), err);
}

lode_status lode_plan_run(lode_plan *p, lode_err *err) {
    LODE_TRY(lode_need(p, __func__, err));
    for (size_t i = 0; i < p->segments.n; i++) {
        const lode_plan_segment *s = &p->segments.items[i];
        if (s->border) {
            for (int k = 0; k < p->desc.n_streams; k++) LODE_TRY(lode_stream_synchronize(p->streams[k], err));
            LODE_TRY(run_border(p->nodes.items[s->first], err));
        } else {
            LODE_TRY(lode_stream_run(p->streams[s->stream], s->compiled, err));
        }
    }
    for (int k = 0; k < p->desc.n_streams; k++) LODE_TRY(lode_stream_synchronize(p->streams[k], err));
    return LODE_OK;
}

void lode_plan_get_stats(const lode_plan *p, lode_plan_stats *out) {
    *out = (lode_plan_stats){ .n_nodes = (int)p->nodes.n, .n_segments = (int)p->segments.n };
    for (int i = 0; i < p->desc.n_streams; i++) out->scratch_bytes += p->scratch_bytes[i];
}

void lode_plan_visit_outputs(const lode_plan *p, lode_plan_visit_fn visit, void *user) {
    for (size_t i = 0; i < p->nodes.n; i++)
        if ((p->nodes.items[i]->flags & LODE_T_OUTPUT) && p->nodes.items[i]->name[0]) visit(user, p->nodes.items[i]);
}
