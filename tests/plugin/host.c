/* host.c - the exported side of the small ggml program of host.h. */
#include "tests/plugin/host.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

static const char *const ops[] = {
    "NONE", "WARP", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "UNARY", "GLU",
#define GGML_OP(host, fn) host,
#define GGML_UNARY(host, fn)
#define GGML_GLU(host, fn)
#include "plugin/ggml/ggml_op.def"
#undef GGML_OP
#undef GGML_UNARY
};
static const char *const unaries[] = {
    "WOBBLE",
#define GGML_OP(host, fn)
#define GGML_UNARY(host, fn) host,
#include "plugin/ggml/ggml_op.def"
#undef GGML_UNARY
#undef GGML_GLU
};
static const char *const glus[] = {
#define GGML_UNARY(host, fn)
#define GGML_GLU(host, fn) host,
#include "plugin/ggml/ggml_op.def"
};
static const struct {
    const char *name;
    size_t bytes, block;
} types[] = { { "zzz", 3, 1 },    { "i32", 4, 1 }, { "f16", 2, 1 },   { "f32", 4, 1 },
              { "q4_0", 18, 32 }, { "i64", 8, 1 }, { "q8_0", 34, 32 } };

enum {
    N_OPS = sizeof ops / sizeof *ops,
    N_UNARIES = sizeof unaries / sizeof *unaries,
    N_GLUS = sizeof glus / sizeof *glus,
    N_TYPES = sizeof types / sizeof *types
};

static int number(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

SHOWN int fake_op(const char *name);
SHOWN int fake_op(const char *name) { return number(ops, N_OPS, name); }
SHOWN int fake_unary(const char *name);
SHOWN int fake_unary(const char *name) { return number(unaries, N_UNARIES, name); }
SHOWN int fake_glu(const char *name);
SHOWN int fake_glu(const char *name) { return number(glus, N_GLUS, name); }

SHOWN int fake_type(const char *name);
SHOWN int fake_type(const char *name) {
    for (int i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) return i;
    return -1;
}

SHOWN gg_reg fake_registry = { .version = 3 };
SHOWN const char *fake_taken_device = "CPU";

SHOWN gg_reg *fake_init(gg_reg *(*entry)(void));
SHOWN gg_reg *fake_init(gg_reg *(*entry)(void)) {
    gg_reg *volatile r = entry(); /* not a tail call: the plug-in looks who called */
    return r;
}

/* ---- What the plug-in looks up ---- */

SHOWN const char *ggml_op_name(int op);
SHOWN const char *ggml_op_name(int op) { return op >= 0 && op < N_OPS ? ops[op] : NULL; }
SHOWN const char *ggml_unary_op_name(int op);
SHOWN const char *ggml_unary_op_name(int op) { return op >= 0 && op < N_UNARIES ? unaries[op] : NULL; }
SHOWN const char *ggml_glu_op_name(int op);
SHOWN const char *ggml_glu_op_name(int op) { return op >= 0 && op < N_GLUS ? glus[op] : NULL; }
SHOWN const char *ggml_type_name(int type);
SHOWN const char *ggml_type_name(int type) { return type >= 0 && type < N_TYPES ? types[type].name : NULL; }

SHOWN size_t ggml_nbytes(const gg_tensor *t);
SHOWN size_t ggml_nbytes(const gg_tensor *t) {
    size_t n = types[t->type].bytes + ((size_t)t->ne[0] / types[t->type].block - 1) * t->nb[0];
    for (int i = 0; i < GG_DIMS; i++) {
        if (t->ne[i] == 0) return 0;
        n += i > 0 ? (size_t)(t->ne[i] - 1) * t->nb[i] : 0;
    }
    return n;
}

SHOWN gg_buffer *ggml_backend_buffer_init(gg_buft *type, gg_buffer_ops o, void *context, size_t size);
SHOWN gg_buffer *ggml_backend_buffer_init(gg_buft *type, gg_buffer_ops o, void *context, size_t size) {
    gg_buffer *b = malloc(sizeof *b);
    if (b) *b = (gg_buffer){ .ops = o, .type = type, .context = context, .size = size };
    return b;
}

SHOWN void *ggml_backend_dev_by_name(const char *name);
SHOWN void *ggml_backend_dev_by_name(const char *name) {
    return strcmp(name, fake_taken_device) == 0 ? &fake_registry : NULL;
}

SHOWN size_t ggml_backend_reg_count(void);
SHOWN size_t ggml_backend_reg_count(void) { return 1; }
SHOWN gg_reg *ggml_backend_reg_get(size_t i);
SHOWN gg_reg *ggml_backend_reg_get(size_t i) { return i == 0 ? &fake_registry : NULL; }

/* Their presence says what the program knows. */
SHOWN bool ggml_op_alloc_size_may_expand(int op);
SHOWN bool ggml_op_alloc_size_may_expand(int op) { return op < 0; }
SHOWN uint64_t ggml_graph_next_uid(void);
SHOWN uint64_t ggml_graph_next_uid(void) { return 1; }
SHOWN void ggml_build_forward_select(void);
SHOWN void ggml_build_forward_select(void) {}

/* Two nodes, of which nobody but the second reads the first. */
SHOWN bool ggml_can_fuse_subgraph_ext(const gg_graph *g, const int *nodes, int n, const int *o, const int *out,
                                      int n_out);
SHOWN bool ggml_can_fuse_subgraph_ext(const gg_graph *g, const int *nodes, int n, const int *o, const int *out,
                                      int n_out) {
    const gg_tensor *a = g->nodes[nodes[0]];
    int uses = 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int s = 0; s < GG_SRC; s++) uses += g->nodes[i]->src[s] == a;
    return n == 2 && n_out == 1 && out[0] == nodes[1] && a->op == o[0] && uses == 1 && !(a->flags & GG_FLAG_OUTPUT);
}
