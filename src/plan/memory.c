/* memory.c - addresses in scratch memory.
 *
 * One buffer per device. A value's bytes are given back after its last reader and taken by later values: best fit over
 * the free gaps. Inputs and outputs keep theirs for the whole plan. */
#include "plan/plan.h"

#include <stdlib.h>

typedef struct {
    size_t from, to;
} gap;

typedef struct {
    gap *items; /* own, sorted by address */
    size_t n, cap;
    size_t end; /* bytes in use at the most */
} space;

static bool take(space *s, size_t bytes, size_t *at) {
    size_t best = s->n;
    for (size_t i = 0; i < s->n; i++) {
        const size_t have = s->items[i].to - s->items[i].from;
        if (have >= bytes && (best == s->n || have < s->items[best].to - s->items[best].from)) best = i;
    }
    if (best < s->n) {
        *at = s->items[best].from;
        s->items[best].from += bytes;
        if (s->items[best].from == s->items[best].to) {
            for (size_t i = best + 1; i < s->n; i++) s->items[i - 1] = s->items[i];
            s->n--;
        }
        return true;
    }
    if (s->n && s->items[s->n - 1].to == s->end) { /* the last gap grows */
        *at = s->items[--s->n].from;
    } else {
        *at = s->end;
    }
    return lode_add_ok(*at, bytes, &s->end);
}

static bool give(space *s, size_t from, size_t bytes) {
    size_t i = 0;
    while (i < s->n && s->items[i].from < from) i++;
    const size_t to = from + bytes;
    const bool below = i > 0 && s->items[i - 1].to == from, above = i < s->n && s->items[i].from == to;
    if (below && above) {
        s->items[i - 1].to = s->items[i].to;
        for (size_t k = i + 1; k < s->n; k++) s->items[k - 1] = s->items[k];
        s->n--;
    } else if (below) {
        s->items[i - 1].to = to;
    } else if (above) {
        s->items[i].from = from;
    } else {
        const gap g = { from, to };
        if (!LODE_PUSH(s, g)) return false;
        for (size_t k = s->n - 1; k > i; k--) s->items[k] = s->items[k - 1];
        s->items[i] = g;
    }
    return true;
}

static bool is_ours(const lode_tensor *t) { return t->id >= 0 && !t->view_of && !t->buffer; }

/* Position of the last node that reads each tensor; outputs and inputs are read at the end. */
static void last_uses(const lode_plan *p, int *last) {
    for (size_t i = 0; i < p->all.n; i++) last[i] = -1;
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *t = p->nodes.items[i];
        for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++)
            if (lode_plan_owner(t->src[k])->id >= 0) last[lode_plan_owner(t->src[k])->id] = (int)i;
        if (t->id >= 0 && last[t->id] < (int)i) last[t->id] = (int)i;
    }
    for (size_t i = 0; i < p->all.n; i++) {
        const lode_tensor *t = p->all.items[i];
        if (t->flags & (LODE_T_INPUT | LODE_T_OUTPUT)) last[lode_plan_owner(p->all.items[i])->id] = (int)p->nodes.n;
    }
}

typedef struct {
    lode_plan *p;
    space *spaces; /* per stream */
    size_t *sizes; /* per tensor id */
    int *last, *stream;
} layout;

static lode_status assign(layout *l, lode_tensor *t, int stream, lode_err *err) {
    lode_buffer_type *type = lode_device_buffer_type(lode_stream_device(l->p->streams[stream]));
    size_t bytes;
    lode_tensor *one[1] = { t };
    if (!lode_buffer_type_size_of(type, one, 1, &bytes) ||
        !lode_align_ok(bytes ? bytes : 1, lode_buffer_type_alignment(type), &bytes) ||
        !take(&l->spaces[stream], bytes, &t->offset))
        return lode_fail(err, LODE_E_NOMEM, "plan: scratch memory is larger than the address space");
    l->sizes[t->id] = bytes;
    l->stream[t->id] = stream;
    l->p->unshared_bytes += bytes;
    return LODE_OK;
}

static lode_status walk(layout *l, lode_err *err) {
    lode_plan *p = l->p;
    for (size_t i = 0; i < p->all.n; i++)
        if ((p->all.items[i]->flags & LODE_T_INPUT) && is_ours(p->all.items[i]))
            LODE_TRY(assign(l, p->all.items[i], 0, err));
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *t = p->nodes.items[i];
        if (is_ours(t)) LODE_TRY(assign(l, t, p->placed.items[i], err));
        for (int k = -1; k < LODE_MAX_SRC; k++) { /* -1: a result that nobody reads */
            lode_tensor *s = k < 0 ? t : t->src[k];
            if (!s) break;
            s = lode_plan_owner(s);
            if (s->id < 0 || !l->sizes[s->id] || l->last[s->id] != (int)i) continue;
            if (!give(&l->spaces[l->stream[s->id]], s->offset, l->sizes[s->id]))
                return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
            l->last[s->id] = -1;
        }
    }
    return LODE_OK;
}

static lode_status bind(layout *l, lode_err *err) {
    lode_plan *p = l->p;
    for (int i = 0; i < p->desc.n_streams; i++) {
        p->scratch_bytes[i] = l->spaces[i].end;
        if (!l->spaces[i].end) continue;
        lode_buffer_type *type = lode_device_buffer_type(lode_stream_device(p->streams[i]));
        LODE_TRY(lode_buffer_open(&p->scratch[i], type, l->spaces[i].end, err));
    }
    for (size_t i = 0; i < p->all.n; i++) {
        lode_tensor *t = p->all.items[i];
        if (l->sizes[t->id]) t->buffer = p->scratch[l->stream[t->id]];
    }
    for (size_t i = 0; i < p->all.n; i++) {
        lode_tensor *t = p->all.items[i];
        if (!t->view_of) continue;
        t->buffer = t->view_of->buffer;
        t->offset = t->view_of->offset + t->view_off;
    }
    return LODE_OK;
}

lode_status lode_plan_memory(lode_plan *p, lode_err *err) {
    layout l = { .p = p };
    l.spaces = lode_calloc((size_t)p->desc.n_streams, sizeof *l.spaces);
    l.sizes = lode_calloc(p->all.n, sizeof *l.sizes);
    l.last = lode_calloc(p->all.n, sizeof *l.last);
    l.stream = lode_calloc(p->all.n, sizeof *l.stream);
    lode_status s = LODE_OK;
    if (!l.spaces || !l.sizes || !l.last || !l.stream) s = lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
    if (s == LODE_OK) {
        last_uses(p, l.last);
        s = walk(&l, err);
    }
    if (s == LODE_OK) s = bind(&l, err);
    for (int i = 0; l.spaces && i < p->desc.n_streams; i++) free(l.spaces[i].items);
    free(l.spaces);
    free(l.sizes);
    free(l.last);
    free(l.stream);
    return s;
}
