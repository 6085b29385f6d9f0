/* plan.h - the passes that make a plan, in order:
 *   copy    the graph's tensors become the plan's own                          plan.c
 *   lower   fuse by rule.def, insert quant_act, expand what no device accepts   lower.c, rule.c
 *   place   a device for each node, copies between devices, segments           place.c
 *   memory  scratch memory of each device, addresses                           memory.c
 *   bake    devices compile their segments                                      plan.c
 * Each pass keeps what it decided for --print. */
#ifndef LODE_PLAN_PLAN_H
#define LODE_PLAN_PLAN_H

#include "backend/iface.h"
#include "base/mem.h"
#include "base/str.h"
#include "graph/graph.h"
#include "lode/plan.h"

enum { LODE_PLAN_STREAMS = 16 };

typedef struct lode_tensors {
    lode_tensor **items; /* own array */
    size_t n, cap;
} lode_tensors;

/* Nodes first..first+n-1 on one device; or, at a border, the one copy that brings a value over from another device. */
typedef struct lode_plan_segment {
    int stream, first, n;
    bool border;
    lode_segment *compiled; /* own */
} lode_plan_segment;

/* The rules of rule.def, in its order. */
enum {
#define RULE(op, pattern) LODE_RULE_##op,
#include "graph/rule.def"
#undef RULE
    LODE_N_RULES
};

struct lode_plan {
    lode_arena arena; /* own: tensors */
    lode_plan_desc desc;
    lode_stream *streams[LODE_PLAN_STREAMS];
    lode_tensors all;   /* every tensor of the graph's copy, views included */
    lode_tensors nodes; /* in order */
    lode_tensors by_id; /* index: id in the graph */
    struct {
        int8_t *items; /* own: stream of each node */
        size_t n, cap;
    } placed;
    struct {
        lode_plan_segment *items; /* own */
        size_t n, cap;
    } segments;
    lode_buffer *scratch[LODE_PLAN_STREAMS]; /* own */
    size_t scratch_bytes[LODE_PLAN_STREAMS], unshared_bytes;
    int64_t cap[LODE_N_DYN], count[LODE_N_DYN];
    lode_str fused_log, graph_log; /* own: lines of lower, and the graph as given when asked for */
    int n_fired[LODE_N_RULES];     /* how often each rule made a node */
};

/* The tensor that owns t's memory: t itself, or what it is a view of. */
static inline lode_tensor *lode_plan_owner(const lode_tensor *t) {
    return t->view_of ? t->view_of : (lode_tensor *)(uintptr_t)t;
}

/* A new tensor of the plan; NULL when out of memory. */
lode_tensor *lode_plan_new_tensor(lode_plan *p);
/* Whether any of the plan's devices accepts the node; `stream` (may be NULL) gets the first one that does. */
bool lode_plan_accepts(const lode_plan *p, const lode_tensor *t, int *stream);
/* Makes a node of an op on given sources: infers, accepts nothing by itself. Not added to the list. */
lode_status lode_plan_make_node(lode_plan *p, int op, const void *par, lode_tensor *const *src, lode_tensor **out,
                                lode_err *err);

/* Keeps the graph as given, for LODE_PRINT_GRAPH. */
void lode_plan_note_graph(lode_plan *p);
lode_status lode_plan_lower(lode_plan *p, lode_err *err);
lode_status lode_plan_place(lode_plan *p, lode_err *err);
lode_status lode_plan_memory(lode_plan *p, lode_err *err);

/* One rule of rule.def. */
typedef struct lode_rule {
    int op;
    const char *pattern;
} lode_rule;
extern const lode_rule lode_rules[LODE_N_RULES];

enum { LODE_MATCH_NODES = 8 };
typedef struct lode_match {
    lode_tensor *in[LODE_MAX_SRC];
    lode_tensor *eaten[LODE_MATCH_NODES]; /* top node first */
    int n_in, n_eaten;
    const unsigned char *par; /* parameters of the inner op that has some, or of the top */
} lode_match;
/* Whether `top` is what the pattern describes; inner nodes must have no other reader and must not be outputs. */
bool lode_rule_match(const lode_rule *r, lode_tensor *top, lode_match *m);
/* The rule that defines a fused op; NULL for a plain one. */
const lode_rule *lode_rule_of(int op);
/* Builds the nodes that a fused node means, in order of computation, into `into`; the last computes t's value in t. */
lode_status lode_rule_expand(lode_plan *p, lode_tensor *t, lode_tensors *into, lode_err *err);
#endif
