/* graph.c - the host's graphs made into plans, and kept: decoding one token after the other plans once.
 *
 * A result is computed where the host put it; a source is the node that computed it, a view of such a node, or memory.
 * So fusion sees the edges, and memory is what orders everything else. The host may look at any result afterwards
 * unless it says that only one node reads it. */
#include "plugin/ggml/plug.h"
#include "plugin/ggml/translate.h"

#include "base/mem.h"
#include "lode/plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t a, b;
} key;

static void mix(key *k, const void *data, size_t n) {
    const unsigned char *p = data;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t x;
        memcpy(&x, p, sizeof x);
        k->a = (k->a ^ x) * 0x9E3779B97F4A7C15u;
        k->a ^= k->a >> 29;
        k->b = (k->b + x) * 0xC2B2AE3D27D4EB4Fu;
        k->b ^= k->b >> 31;
    }
}

/* Type, sizes, distances and address: 8 bytes each. */
static void mix_memory(key *k, const gg_tensor *t) {
    lode_buffer *buffer;
    size_t offset = 0;
    gg_place_of(t, &buffer, &offset); /* memory may have been freed and given out again, in another size */
    const int64_t head[5] = { t->type, (int64_t)(intptr_t)t->data, (int64_t)(intptr_t)buffer, (int64_t)offset,
                              buffer ? (int64_t)lode_buffer_size(buffer) : 0 };
    mix(k, head, sizeof head);
    mix(k, t->ne, sizeof t->ne);
    mix(k, t->nb, sizeof t->nb);
}

/* What a plan depends on, all of it: which tensors are the same tensor stands in their addresses in the host. */
static key key_of(const gg_graph *g) {
    key k = { (uint64_t)g->n_nodes, 1 };
    for (int i = 0; i < g->n_nodes; i++) {
        const gg_tensor *t = g->nodes[i];
        const int64_t head[3] = { (int64_t)(intptr_t)t, t->op, t->flags };
        mix(&k, head, sizeof head);
        if (gg_is_view(t->op)) continue;
        mix(&k, t->par, sizeof t->par);
        mix_memory(&k, t);
        mix(&k, t->src, sizeof t->src);
        for (int s = 0; s < GG_SRC; s++)
            if (t->src[s]) mix_memory(&k, t->src[s]);
    }
    return k;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* The host's tensors and what they are in our graph: open addressing on the pointer. */
typedef struct {
    const gg_tensor *host;
    lode_tensor *ours;
    int node;      /* index in the host's graph, -1 for data */
    int n_readers; /* sources that name it */
    int reader;    /* the node that does, when it is always the same; else -1 */
} item;

typedef struct {
    const gg_graph *from;
    lode_graph *g;
    item *items; /* own */
    size_t cap;  /* a power of two */
    lode_err *err;
} builder;

static item *find(const builder *b, const gg_tensor *t) {
    size_t at = ((uintptr_t)t >> 4) * 0x9E3779B97F4A7C15u >> 20 & (b->cap - 1);
    while (b->items[at].host && b->items[at].host != t) at = (at + 1) & (b->cap - 1);
    item *i = &b->items[at];
    if (!i->host) *i = (item){ .host = t, .node = -1, .reader = -1 };
    return i;
}

static bool is_empty(const gg_tensor *t) { return !t->ne[0] || !t->ne[1] || !t->ne[2] || !t->ne[3]; }

static bool is_work(const gg_tensor *t) {
    if (gg_is_view(t->op) || is_empty(t)) return false;
    return !gg_the_host.has_compute_flag || (t->flags & GG_FLAG_COMPUTE);
}

/* Whether sizes and distances are such that nobody's counting overflows. */
static bool is_countable(const lode_tensor *t) {
    size_t n = 1, end = 0, to;
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        if (t->ne[i] < 0 || !lode_mul_ok(n, (size_t)t->ne[i], &n) || n > INT64_MAX / 16) return false;
    for (int i = 0; n > 0 && i < LODE_MAX_DIMS; i++)
        if (!lode_mul_ok((size_t)t->ne[i] - 1, t->nb[i], &to) || !lode_add_ok(end, to, &end)) return false;
    return end < INT64_MAX && t->ne[0] % lode_type_block(t->type) == 0;
}

/* Type, shape and distances. */
static lode_status describe(const gg_tensor *t, lode_tensor *out, lode_err *err) {
    *out = (lode_tensor){ .type = gg_type(t->type), .layer = -1 };
    if (out->type == LODE_N_TYPE)
        return lode_fail(err, LODE_E_UNSUPPORTED, "tensor %.63s has type %d, which lode does not know", t->name,
                         t->type);
    for (int i = 0; i < GG_DIMS; i++) {
        out->ne[i] = t->ne[i];
        out->nb[i] = t->nb[i];
    }
    memcpy(out->name, t->name, sizeof out->name - 1);
    if (is_countable(out)) return LODE_OK;
    return lode_fail(err, LODE_E_SHAPE, "tensor %.63s: its sizes are below 0, no whole blocks, or too large", t->name);
}

/* The same with its place, checked: inside one of our buffers from its first to its last byte. */
static lode_status locate(const gg_tensor *t, lode_tensor *out, lode_err *err) {
    LODE_TRY(describe(t, out, err));
    if (!gg_place_of(t, &out->buffer, &out->offset))
        return lode_fail(err, LODE_E_INPUT, "tensor %.63s does not lie in memory of this device", t->name);
    const size_t bytes = is_empty(t) ? 0 : lode_n_bytes(out), size = lode_buffer_size(out->buffer);
    if (bytes > size - out->offset)
        return lode_fail(err, LODE_E_INPUT, "tensor %.63s ends %zu bytes behind its buffer of %zu", t->name,
                         bytes - (size - out->offset), size);
    const gg_buffer *b = t->buffer ? t->buffer : t->view_src->buffer;
    if (b->usage == GG_USAGE_WEIGHTS) out->flags = LODE_T_WEIGHT;
    return LODE_OK;
}

/* A result whose elements share memory has no meaning: from the smallest distance to the largest, each steps over all
 * that the ones before reach. */
static lode_status check_result(const gg_tensor *t, const lode_tensor *like, lode_err *err) {
    size_t reach = (size_t)lode_type_bytes(like->type);
    bool done[LODE_MAX_DIMS] = { false };
    for (int k = 0; k < LODE_MAX_DIMS; k++) {
        int at = -1;
        for (int i = 0; i < LODE_MAX_DIMS; i++)
            if (!done[i] && (at < 0 || like->nb[i] < like->nb[at])) at = i;
        done[at] = true;
        const int64_t n = at == 0 ? like->ne[0] / lode_type_block(like->type) : like->ne[at];
        if (n <= 1) continue;
        if (like->nb[at] < reach)
            return lode_fail(err, LODE_E_SHAPE, "tensor %.63s: its distances make elements overlap", t->name);
        reach += (size_t)(n - 1) * like->nb[at];
    }
    return LODE_OK;
}

static lode_tensor *source(builder *b, const gg_tensor *t) {
    item *i = find(b, t);
    if (i->ours) return i->ours;
    lode_tensor like;
    if (locate(t, &like, b->err) != LODE_OK) {
        lode_graph_fail(b->g, b->err->code, "%s", b->err->text);
        return b->g->nowhere;
    }
    const item *root = t->view_src ? find(b, t->view_src) : NULL;
    if (root && root->ours && root->ours->op != LODE_OP_NONE && root->ours->type == like.type)
        i->ours = lode_view(b->g, root->ours, like.ne, like.nb,
                            (size_t)((const char *)t->data - (const char *)t->view_src->data));
    else
        i->ours = lode_extern(b->g, &like);
    return i->ours;
}

/* Whether nobody but one node of this graph ever reads node i: then fusion may leave it out. */
static bool is_private(const builder *b, const item *i) {
    if (i->reader < 0 || !gg_the_host.can_fuse || (i->host->flags & GG_FLAG_OUTPUT)) return false;
    if (!is_work(b->from->nodes[i->reader])) return false;
    const int nodes[2] = { i->node, i->reader };
    const int ops[2] = { i->host->op, b->from->nodes[i->reader]->op };
    return gg_the_host.can_fuse(b->from, nodes, 2, ops, &i->reader, 1);
}

static lode_status add_node(builder *b, int at) {
    const gg_tensor *t = b->from->nodes[at];
    gg_node n = { .g = b->g, .par = t->par };
    gg_translate_fn *translate = gg_translator(t->op, t->par[0]);
    if (!translate)
        return lode_fail(b->err, LODE_E_UNSUPPORTED, "node %.63s: no op of lode's does %s", t->name,
                         gg_the_host.op_name(t->op));
    LODE_TRY(locate(t, &n.like, b->err));
    LODE_TRY(check_result(t, &n.like, b->err));
    for (int s = 0; s < GG_SRC; s++) /* a cast names itself as its second source */
        if (t->src[s] && t->src[s] != t) n.src[s] = source(b, t->src[s]);
    lode_tensor *r = lode_into(b->g, gg_translated(translate, &n), &n.like);
    LODE_TRY(lode_graph_status(b->g, b->err));
    item *i = find(b, t);
    i->ours = r;
    memcpy(r->name, n.like.name, sizeof r->name);
    if (!is_private(b, i)) r->flags |= LODE_T_OUTPUT;
    return LODE_OK;
}

static void note_readers(builder *b) {
    for (int i = 0; i < b->from->n_nodes; i++) find(b, b->from->nodes[i])->node = i;
    for (int i = 0; i < b->from->n_nodes; i++)
        for (int s = 0; s < GG_SRC; s++) {
            const gg_tensor *src = b->from->nodes[i]->src[s];
            item *x = src ? find(b, src) : NULL;
            if (!x) continue;
            x->reader = x->n_readers == 0 || x->reader == i ? i : -1;
            x->n_readers++;
        }
}

/* Slots for all nodes and all their sources, at most half full. */
static bool make_room(builder *b) {
    size_t n = 16;
    for (int i = 0; i < b->from->n_nodes; i++) {
        n += 2;
        for (int s = 0; s < GG_SRC; s++) n += b->from->nodes[i]->src[s] != NULL ? 2 : 0; /* it and what it views */
    }
    for (b->cap = 64; b->cap < 2 * n;) b->cap *= 2;
    b->items = lode_calloc(b->cap, sizeof *b->items);
    return b->items != NULL;
}

static lode_status build(builder *b) {
    if (!make_room(b))
        return lode_fail(b->err, LODE_E_NOMEM, "out of memory for a graph of %d nodes", b->from->n_nodes);
    LODE_TRY(lode_graph_open(&b->g, b->err));
    note_readers(b);
    for (int i = 0; i < b->from->n_nodes; i++)
        if (is_work(b->from->nodes[i])) LODE_TRY(add_node(b, i));
    return LODE_OK;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

enum { KEPT = 32 };

typedef struct {
    key k;
    uint64_t uid;  /* of the host's graph when it was last run; 0: none */
    uint64_t used; /* when */
    bool no_fuse;
    lode_plan *plan; /* own; NULL: the graph computes nothing */
} kept;

struct gg_plans {
    lode_stream *stream;
    gg_fusion *fusion; /* of the device */
    kept items[KEPT];
    int n;
    uint64_t clock;
};

gg_plans *gg_plans_open(lode_stream *s, gg_fusion *fusion) {
    gg_plans *p = lode_calloc(1, sizeof *p);
    if (!p) return NULL;
    p->stream = s;
    p->fusion = fusion;
    return p;
}

void gg_plans_close(gg_plans *p) {
    if (!p) return;
    for (int i = 0; i < p->n; i++) lode_plan_close(p->items[i].plan);
    free(p);
}

static void print_line(void *user, const char *line) {
    (void)user;
    gg_say("%s", line);
}

static void print_plan(const lode_plan *p) {
    const char *stage = getenv("LODE_GGML_PRINT");
    const lode_print_stage s = stage ? lode_print_stage_of(stage) : LODE_N_PRINT;
    if (s != LODE_N_PRINT) lode_plan_print(p, s, false, print_line, NULL);
}

static lode_status make_plan(lode_stream *stream, const gg_graph *g, bool no_fuse, lode_plan **out, lode_err *err) {
    builder b = { .from = g, .err = err };
    lode_status s = build(&b);
    *out = NULL;
    const lode_plan_desc d = { .streams = &stream, .n_streams = 1, .no_fuse = no_fuse };
    if (s == LODE_OK && lode_graph_n_nodes(b.g) > 0) s = lode_plan_open(out, b.g, &d, err);
    if (*out) print_plan(*out);
    lode_graph_close(b.g);
    free(b.items);
    return s;
}

/* By the program's number of the graph, or by its structure when `k` is given. */
static kept *find_plan(gg_plans *p, const gg_graph *g, const key *k, bool no_fuse) {
    const uint64_t uid = gg_the_host.has_uid ? g->uid : 0;
    for (int i = 0; i < p->n; i++) {
        kept *x = &p->items[i];
        if (x->no_fuse != no_fuse) continue;
        if (k ? x->k.a == k->a && x->k.b == k->b : uid && x->uid == uid) return x;
    }
    return NULL;
}

/* A free place, or that of the plan that has not run for longest. */
static kept *make_place(gg_plans *p) {
    if (p->n < KEPT) return &p->items[p->n++];
    kept *old = &p->items[0];
    for (int i = 1; i < p->n; i++)
        if (p->items[i].used < old->used) old = &p->items[i];
    lode_plan_close(old->plan);
    *old = (kept){ 0 };
    return old;
}

lode_status gg_plans_run(gg_plans *p, const gg_graph *g, lode_err *err) {
    const bool no_fuse = p->fusion->off;
    kept *found = find_plan(p, g, NULL, no_fuse);
    if (!found) {
        const key k = key_of(g);
        found = find_plan(p, g, &k, no_fuse);
        if (!found) {
            lode_plan *plan;
            LODE_TRY(make_plan(p->stream, g, no_fuse, &plan, err));
            found = make_place(p);
            *found = (kept){ .k = k, .plan = plan, .no_fuse = no_fuse };
        }
        found->uid = gg_the_host.has_uid ? g->uid : 0;
    }
    found->used = ++p->clock;
    if (!found->plan) return LODE_OK;
    gg_fusion_count(p->fusion, found->plan);
    return lode_plan_run(found->plan, err);
}

/* ---- What is supported ------------------------------------------------------------------------------------------- */

static bool accepts_all(lode_device *d, const lode_graph *g, lode_err *err) {
    char why[128] = "";
    for (int i = 0; i < lode_graph_n_nodes(g); i++)
        if (!lode_device_accepts(d, lode_graph_node(g, i), why, sizeof why)) {
            lode_fail(err, LODE_E_UNSUPPORTED, "%s: %s", lode_op_name(lode_graph_node(g, i)->op), why);
            return false;
        }
    return true;
}

/* The node alone, on memory that is nowhere yet. */
static lode_status builds(const gg_tensor *t, lode_graph *g, lode_err *err) {
    gg_translate_fn *translate = gg_translator(t->op, t->par[0]);
    gg_node n = { .g = g, .par = t->par };
    if (!translate) return lode_fail(err, LODE_E_UNSUPPORTED, "no op of lode's does this");
    LODE_TRY(describe(t, &n.like, err));
    if (is_empty(t)) return LODE_OK;
    for (int s = 0; s < GG_SRC; s++) {
        lode_tensor like;
        if (!t->src[s] || t->src[s] == t) continue;
        LODE_TRY(describe(t->src[s], &like, err));
        n.src[s] = lode_extern(g, &like);
    }
    lode_into(g, gg_translated(translate, &n), &n.like);
    return lode_graph_status(g, err);
}

bool gg_supports(lode_device *d, const gg_tensor *t) {
    if (gg_is_view(t->op)) return true;
    lode_err err = { 0 };
    lode_graph *g = NULL;
    const bool ok = lode_graph_open(&g, &err) == LODE_OK && builds(t, g, &err) == LODE_OK && accepts_all(d, g, &err);
    lode_graph_close(g);
    const char *print = ok ? NULL : getenv("LODE_GGML_PRINT");
    if (print && strcmp(print, "refused") == 0)
        gg_say("refused %s of %.63s: %s", gg_the_host.op_name(t->op), t->name, err.text);
    return ok;
}

bool gg_offloads(lode_device *d, const gg_tensor *t) {
    if (gg_is_view(t->op)) return false;
    lode_err err = { 0 };
    lode_graph *g = NULL;
    bool ok = lode_graph_open(&g, &err) == LODE_OK && builds(t, g, &err) == LODE_OK;
    const int n = ok ? lode_graph_n_nodes(g) : 0;
    ok = n > 0 && lode_device_offloads(d, lode_graph_node(g, n - 1));
    lode_graph_close(g);
    return ok;
}
