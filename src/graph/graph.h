/* graph.h - the inside of graphs: op table, node construction, rule checks.
 *
 * An op is one line in op.def and one file in src/ops/ that defines `lode_op_NAME`. A device never sees a lode_graph:
 * it gets the nodes of a plan. */
#ifndef LODE_GRAPH_GRAPH_H
#define LODE_GRAPH_GRAPH_H

#include "base/mem.h"
#include "lode/graph.h"

typedef enum {
    LODE_OP_NONE,
#define OP(id, name) LODE_##id,
#include "graph/op.def"
#undef OP
    LODE_N_OP
} lode_op;

struct lode_case;

/* The one declaration of an op. */
typedef struct lode_op_info {
    const char *name, *doc;
    int n_src; /* inputs that must be there; more may follow */
    /* Type rule, then shape rule: fills type, ne, view_of of t from its sources. */
    lode_status (*infer)(lode_tensor *t, lode_err *err);
    /* Meaning: pieces [from, to) of all `units`, each independent of the others: plain loops on host memory, long sums
     * in double, no memory of its own. NULL for a fused op: its rule is its meaning. */
    void (*ref)(const lode_tensor *t, int64_t from, int64_t to);
    int64_t (*units)(const lode_tensor *t); /* NULL: the rows of the result */
    bool in_place;                          /* the result may lie exactly where a source of its size lies */
    bool strided;                           /* the result's rows need not be dense */
    uint8_t writes;                         /* bit i: source i is written, too */
    /* Test cases, one per '|' (ops/case.h), and the node that a case means. */
    const char *cases;
    lode_tensor *(*make)(lode_graph *g, const struct lode_case *c);
} lode_op_info;

const lode_op_info *lode_op_info_of(int op);     /* NULL for LODE_OP_NONE and numbers outside the list */
int lode_op_of_name(const char *name, size_t n); /* LODE_OP_NONE when there is none */
/* Pieces that the reference of t's op can be cut into. */
int64_t lode_op_units(const lode_tensor *t);

struct lode_graph {
    lode_arena arena; /* own: tensors */
    struct {
        lode_tensor **items; /* own array */
        size_t n, cap;
    } nodes, inputs;
    int32_t n_ids;
    lode_err err;         /* sticky */
    lode_tensor *nowhere; /* what builders return after a failure */
};

/* Appends a node. `par` is copied; sources end with the first NULL of src[LODE_MAX_SRC] from n on. */
lode_tensor *lode_op_new(lode_graph *g, lode_op op, const void *par, size_t par_bytes, lode_tensor *const *src, int n);
/* The same for one to three sources. */
lode_tensor *lode_op_new1(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a);
lode_tensor *lode_op_new2(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a, lode_tensor *b);
lode_tensor *lode_op_new3(lode_graph *g, lode_op op, const void *par, size_t n, lode_tensor *a, lode_tensor *b,
                          lode_tensor *c);
/* Gives a new node the run-time size of its first source that has one, where the sizes agree. */
void lode_inherit_dyn(lode_tensor *t);
/* Keeps the first failure. */
void lode_graph_fail(lode_graph *g, lode_status code, const char *fmt, ...) LODE_PRINTF(3, 4);

/* Rule checks; each failure names the op, its input and the shapes. */
lode_status lode_want_type(const lode_tensor *t, int src, lode_type type, lode_err *err);
lode_status lode_want_floats(const lode_tensor *t, int src, lode_err *err); /* any type but integers */
lode_status lode_want_rows(const lode_tensor *t, int src, lode_err *err);   /* nb[0] is the block: rows are dense */
lode_status lode_want(const lode_tensor *t, bool cond, const char *what, lode_err *err);
/* Whether n is a multiple of `of`, which is 0 in an empty tensor. */
static inline bool lode_is_multiple(int64_t n, int64_t of) { return of > 0 && n % of == 0; }
/* Whether a tensor has these sizes. */
static inline bool lode_has_sizes(const lode_tensor *t, int64_t n0, int64_t n1, int64_t n2, int64_t n3) {
    return t->ne[0] == n0 && t->ne[1] == n1 && t->ne[2] == n2 && t->ne[3] == n3;
}
/* Result like source k: type f32 unless said, same ne, dense. */
lode_status lode_like(lode_tensor *t, int src, lode_type type, lode_err *err);
/* Fills nb for dense rows of t->type; fails when sizes are not whole blocks or wrap. */
lode_status lode_dense(lode_tensor *t, lode_err *err);
/* Parameters of a node as its op's struct. */
#define LODE_PAR(t, type) ((const type *)(const void *)(t)->par)
/* "[576, 3]" of a tensor into buf. */
const char *lode_shape_text(const lode_tensor *t, char *buf, size_t n);

#endif
