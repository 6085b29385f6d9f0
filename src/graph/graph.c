/* graph.c - builds graphs: nodes, inputs, views and the checks that op files use. */
#include "graph/graph.h"

#include "base/need.h"
#include "base/str.h"
#include "lode/quant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OP(id, name) extern const lode_op_info lode_op_##name;
#include "graph/op.def"
#undef OP

static const lode_op_info *const infos[LODE_N_OP] = {
    NULL,
#define OP(id, name) &lode_op_##name,
#include "graph/op.def"
#undef OP
};

const lode_op_info *lode_op_info_of(int op) { return op > 0 && op < LODE_N_OP ? infos[op] : NULL; }

const char *lode_op_name(int op) {
    const lode_op_info *o = lode_op_info_of(op);
    return o ? o->name : "none";
}

int lode_op_of_name(const char *name, size_t n) {
    for (int op = 1; op < LODE_N_OP; op++)
        if (strlen(infos[op]->name) == n && memcmp(infos[op]->name, name, n) == 0) return op;
    return LODE_OP_NONE;
}

int64_t lode_op_units(const lode_tensor *t) {
    const lode_op_info *o = infos[t->op];
    return o->units ? o->units(t) : lode_n_rows(t);
}

static lode_tensor *new_tensor(lode_graph *g) {
    lode_tensor *t = lode_arena_alloc(&g->arena, 1, sizeof *t);
    if (!t) {
        lode_graph_fail(g, LODE_E_NOMEM, "graph: out of memory after %d tensors", (int)g->n_ids);
        return NULL;
    }
    for (int i = 0; i < LODE_MAX_DIMS; i++) t->ne[i] = 1;
    t->id = g->n_ids++;
    t->layer = -1;
    return t;
}

lode_status lode_graph_open(lode_graph **out, lode_err *err) {
    LODE_TRY(lode_need(out, __func__, err));
    lode_graph *g = lode_calloc(1, sizeof *g);
    if (g) g->nowhere = new_tensor(g);
    if (!g || !g->nowhere) {
        lode_graph_close(g);
        return lode_fail(err, LODE_E_NOMEM, "graph: out of memory");
    }
    g->nowhere->nb[0] = g->nowhere->nb[1] = g->nowhere->nb[2] = g->nowhere->nb[3] = sizeof(float);
    *out = g;
    return LODE_OK;
}

void lode_graph_close(lode_graph *g) {
    if (!g) return;
    lode_arena_free(&g->arena);
    free(g->nodes.items);
    free(g->inputs.items);
    free(g);
}

lode_status lode_graph_status(const lode_graph *g, lode_err *err) {
    LODE_TRY(lode_need(g, __func__, err));
    return g->err.code ? lode_fail(err, g->err.code, "%s", g->err.text) : LODE_OK;
}

int lode_graph_n_nodes(const lode_graph *g) { return (int)g->nodes.n; }
const lode_tensor *lode_graph_node(const lode_graph *g, int i) {
    return i >= 0 && (size_t)i < g->nodes.n ? g->nodes.items[i] : NULL;
}

void lode_graph_fail(lode_graph *g, lode_status code, const char *fmt, ...) {
    if (g->err.code) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(g->err.text, sizeof g->err.text, fmt, ap);
    va_end(ap);
    g->err.code = code;
}

const char *lode_shape_text(const lode_tensor *t, char *buf, size_t n) {
    int last = LODE_MAX_DIMS - 1;
    while (last > 0 && t->ne[last] == 1) last--;
    size_t at = (size_t)snprintf(buf, n, "%s[", lode_type_name(t->type));
    for (int i = 0; i <= last && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%lld", i ? ", " : "", (long long)t->ne[i]);
    if (at < n) snprintf(buf + at, n - at, "]");
    return buf;
}

lode_status lode_want(const lode_tensor *t, bool cond, const char *what, lode_err *err) {
    if (cond) return LODE_OK;
    char text[256] = "", shape[80];
    size_t at = 0;
    for (int i = 0; i < LODE_MAX_SRC && t->src[i] && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ", " : "",
                               lode_shape_text(t->src[i], shape, sizeof shape));
    return lode_fail(err, LODE_E_SHAPE, "%s(%s): %s", lode_op_name(t->op), text, what);
}

lode_status lode_want_type(const lode_tensor *t, int src, lode_type type, lode_err *err) {
    if (t->src[src]->type == type) return LODE_OK;
    return lode_fail(err, LODE_E_TYPE, "%s: input %d is %s, expected %s", lode_op_name(t->op), src,
                     lode_type_name(t->src[src]->type), lode_type_name(type));
}

lode_status lode_want_floats(const lode_tensor *t, int src, lode_err *err) {
    if (lode_type_can_decode(t->src[src]->type)) return LODE_OK;
    return lode_fail(err, LODE_E_TYPE, "%s: input %d is %s, expected a type of floats", lode_op_name(t->op), src,
                     lode_type_name(t->src[src]->type));
}

lode_status lode_want_rows(const lode_tensor *t, int src, lode_err *err) {
    const lode_tensor *s = t->src[src];
    return lode_want(t, s->nb[0] == (size_t)lode_type_bytes(s->type), "rows must be dense", err);
}

lode_status lode_dense(lode_tensor *t, lode_err *err) {
    size_t bytes;
    bool ok = lode_row_bytes(t->type, t->ne[0], &bytes);
    t->nb[0] = (size_t)lode_type_bytes(t->type);
    for (int i = 1; ok && i < LODE_MAX_DIMS; i++) {
        t->nb[i] = bytes;
        ok = t->ne[i] >= 0 && lode_mul_ok(bytes, (size_t)t->ne[i], &bytes);
    }
    return lode_want(t, ok, "the result's sizes are not whole blocks or too large", err);
}

lode_status lode_like(lode_tensor *t, int src, lode_type type, lode_err *err) {
    t->type = type;
    memcpy(t->ne, t->src[src]->ne, sizeof t->ne);
    return lode_dense(t, err);
}

void lode_inherit_dyn(lode_tensor *t) {
    for (int i = 0; i < LODE_MAX_SRC && t->src[i] && !t->dyn; i++) {
        const lode_tensor *s = t->src[i];
        if (!s->dyn || s->ne[s->dyn_dim] != t->ne[s->dyn_dim]) continue;
        t->dyn = s->dyn;
        t->dyn_dim = s->dyn_dim;
    }
}

lode_tensor *lode_op_new(lode_graph *g, lode_op op, const void *par, size_t par_bytes, lode_tensor *const *src, int n) {
    if (g->err.code) return g->nowhere;
    const lode_op_info *o = infos[op];
    lode_tensor *t = new_tensor(g);
    if (!t) return g->nowhere;
    t->op = (uint16_t)op;
    if (par_bytes > 0) memcpy(t->par, par, par_bytes);
    for (int i = 0; i < n; i++) {
        if (!src[i] && i < o->n_src) {
            lode_graph_fail(g, LODE_E_INPUT, "%s: input %d is missing", o->name, i);
            return g->nowhere;
        }
        t->src[i] = src[i];
    }
    if (o->infer(t, &g->err) != LODE_OK || !LODE_PUSH(&g->nodes, t)) {
        lode_graph_fail(g, LODE_E_NOMEM, "graph: out of memory");
        return g->nowhere;
    }
    lode_inherit_dyn(t);
    return t;
}

lode_tensor *lode_op_new1(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a) {
    return lode_op_new(g, op, par, n, (lode_tensor *[]){ a }, 1);
}

lode_tensor *lode_op_new2(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a, lode_tensor *b) {
    return lode_op_new(g, op, par, n, (lode_tensor *[]){ a, b }, 2);
}

lode_tensor *lode_op_new3(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a, lode_tensor *b,
                          lode_tensor *c) {
    return lode_op_new(g, op, par, n, (lode_tensor *[]){ a, b, c }, 3);
}

/* Whether a builder has nothing to do: a mistake was made before, or something is missing, which is one. */
static bool stuck(lode_graph *g, bool have, const char *what) {
    if (!have) lode_graph_fail(g, LODE_E_INPUT, "%s: an input is missing", what);
    return g->err.code != LODE_OK;
}

lode_tensor *lode_input(lode_graph *g, const char *name, lode_type type, int n_dims, const int64_t *ne, int dyn) {
    if (stuck(g, name && ne, "input")) return g->nowhere;
    if (n_dims < 1 || n_dims > LODE_MAX_DIMS || dyn < LODE_DYN_NONE || dyn >= LODE_N_DYN) {
        lode_graph_fail(g, LODE_E_INPUT, "input %s: %d sizes that follow count %d, expected 1 to %d and one of %d",
                        name, n_dims, dyn, LODE_MAX_DIMS, LODE_N_DYN);
        return g->nowhere;
    }
    lode_tensor *t = new_tensor(g);
    if (!t) return g->nowhere;
    t->type = type;
    t->flags = LODE_T_INPUT;
    for (int i = 0; i < n_dims; i++) t->ne[i] = ne[i];
    t->dyn = (int8_t)dyn;
    t->dyn_dim = (int8_t)(n_dims - 1);
    snprintf(t->name, sizeof t->name, "%s", name);
    if (lode_dense(t, &g->err) != LODE_OK) return g->nowhere;
    if (!LODE_PUSH(&g->inputs, t)) lode_graph_fail(g, LODE_E_NOMEM, "graph: out of memory");
    return t;
}

void lode_output(lode_graph *g, lode_tensor *t) {
    if (!stuck(g, t, "output")) t->flags |= LODE_T_OUTPUT;
}

void lode_tag(lode_tensor *t, const char *name, int il) {
    if (il >= 0)
        snprintf(t->name, sizeof t->name, "%s-%d", name, il);
    else
        snprintf(t->name, sizeof t->name, "%s", name);
    t->layer = (int16_t)il;
}

/* A view of x with x's shape; views of views point at the tensor that owns the memory. */
static lode_tensor *view(lode_graph *g, lode_tensor *x) {
    if (g->err.code) return NULL;
    lode_tensor *t = new_tensor(g);
    if (!t) return NULL;
    t->type = x->type;
    memcpy(t->ne, x->ne, sizeof t->ne);
    memcpy(t->nb, x->nb, sizeof t->nb);
    t->view_of = x->view_of ? x->view_of : x;
    t->view_off = x->view_of ? x->view_off : 0;
    t->src[0] = x;
    t->dyn = x->dyn;
    t->dyn_dim = x->dyn_dim;
    t->layer = x->layer;
    return t;
}

lode_tensor *lode_heads(lode_graph *g, lode_tensor *x, int64_t d, int64_t n) {
    if (stuck(g, x, "heads")) return g->nowhere;
    if (d < 1 || x->ne[0] % d != 0 || x->ne[0] / d != n || x->ne[2] != 1 || x->ne[3] != 1 ||
        lode_type_block(x->type) != 1) {
        char shape[80];
        lode_graph_fail(g, LODE_E_SHAPE, "heads: %s is not %lld heads of %lld", lode_shape_text(x, shape, sizeof shape),
                        (long long)n, (long long)d);
    }
    lode_tensor *t = view(g, x);
    if (!t) return g->nowhere;
    t->ne[0] = d;
    t->ne[1] = n;
    t->ne[2] = x->ne[1];
    t->nb[1] = x->nb[0] * (size_t)d;
    t->nb[2] = x->nb[1];
    t->nb[3] = x->nb[1] * (size_t)x->ne[1];
    if (t->dyn) t->dyn_dim = 2;
    return t;
}

lode_tensor *lode_merge_heads(lode_graph *g, lode_tensor *x) {
    if (stuck(g, x, "merge_heads")) return g->nowhere;
    if (x->nb[1] != x->nb[0] * (size_t)x->ne[0] || x->ne[3] != 1) {
        char shape[80];
        lode_graph_fail(g, LODE_E_SHAPE, "merge_heads: the heads of %s do not lie side by side",
                        lode_shape_text(x, shape, sizeof shape));
    }
    lode_tensor *t = view(g, x);
    if (!t) return g->nowhere;
    t->ne[0] = x->ne[0] * x->ne[1];
    t->ne[1] = x->ne[2];
    t->ne[2] = 1;
    t->nb[1] = x->nb[2];
    t->nb[2] = t->nb[3] = x->nb[2] * (size_t)x->ne[2];
    if (t->dyn) t->dyn_dim = 1;
    return t;
}

lode_tensor *lode_columns(lode_graph *g, lode_tensor *x, int64_t from, int64_t n) {
    if (stuck(g, x, "columns")) return g->nowhere;
    if (from < 0 || n < 1 || from > x->ne[0] - n || lode_type_block(x->type) != 1) {
        char shape[80];
        lode_graph_fail(g, LODE_E_SHAPE, "columns: %lld from %lld on of %s", (long long)n, (long long)from,
                        lode_shape_text(x, shape, sizeof shape));
    }
    lode_tensor *t = view(g, x);
    if (!t) return g->nowhere;
    t->ne[0] = n;
    t->view_off += (size_t)from * x->nb[0];
    return t;
}

lode_tensor *lode_view(lode_graph *g, lode_tensor *x, const int64_t ne[LODE_MAX_DIMS], const size_t nb[LODE_MAX_DIMS],
                       size_t off) {
    if (stuck(g, x && ne && nb, "view")) return g->nowhere;
    lode_tensor *t = view(g, x);
    if (!t) return g->nowhere;
    memcpy(t->ne, ne, sizeof t->ne);
    memcpy(t->nb, nb, sizeof t->nb);
    t->view_off += off;
    t->dyn = LODE_DYN_NONE;
    return t;
}

lode_tensor *lode_extern(lode_graph *g, const lode_tensor *like) {
    if (stuck(g, like, "extern")) return g->nowhere;
    lode_tensor *t = new_tensor(g);
    if (!t) return g->nowhere;
    const int32_t id = t->id;
    *t = *like;
    t->id = id;
    t->op = LODE_OP_NONE;
    t->n_use = 0;
    return t;
}

lode_tensor *lode_into(lode_graph *g, lode_tensor *t, const lode_tensor *where) {
    if (stuck(g, t && where, "into")) return t ? t : g->nowhere;
    if (t->op == LODE_OP_NONE) return t;
    char have[80], want[80];
    const bool fits = t->type == where->type && memcmp(t->ne, where->ne, sizeof t->ne) == 0;
    const bool dense = where->nb[0] == (size_t)lode_type_bytes(where->type) || infos[t->op]->strided;
    if (!fits || !dense) {
        lode_graph_fail(g, LODE_E_SHAPE, "%s: a result %s cannot go into %s%s", lode_op_name(t->op),
                        lode_shape_text(t, have, sizeof have), lode_shape_text(where, want, sizeof want),
                        fits ? ", whose rows are not dense" : "");
        return g->nowhere;
    }
    memcpy(t->nb, where->nb, sizeof t->nb);
    if (t->view_of) return t; /* it lies in its target already */
    t->buffer = where->buffer;
    t->offset = where->offset;
    return t;
}
