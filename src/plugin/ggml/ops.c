/* ops.c - which translator belongs to which of the host's numbers, found by name when a number is first seen. */
#include "plugin/ggml/plug.h"
#include "plugin/ggml/translate.h"

typedef enum { PLAIN, UNARY, GLU } kind;

static const struct {
    kind kind;
    const char *name;
    gg_translate_fn *fn;
} rows[] = {
#define GGML_OP(host, fn) { PLAIN, host, gg_tr_##fn },
#define GGML_UNARY(host, fn) { UNARY, host, gg_tr_##fn },
#define GGML_GLU(host, fn) { GLU, host, gg_tr_##fn },
#include "plugin/ggml/ggml_op.def"
#undef GGML_OP
#undef GGML_UNARY
#undef GGML_GLU
};

static gg_translate_fn *of_name(kind k, const char *name) {
    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == k && strcmp(rows[i].name, name) == 0) return rows[i].fn;
    return NULL;
}

gg_translate_fn *gg_translator(int op, int second) {
    const char *name = gg_the_host.op_name(op);
    if (!name) return NULL;
    if (strcmp(name, "UNARY") == 0) return of_name(UNARY, gg_the_host.unary_name(second));
    if (strcmp(name, "GLU") == 0) return of_name(GLU, gg_the_host.glu_name(second));
    return of_name(PLAIN, name);
}

static bool names_a_view(int op) {
    static const char *const views[] = { "NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE" };
    const char *name = gg_the_host.op_name(op);
    for (size_t i = 0; name && i < sizeof views / sizeof *views; i++)
        if (strcmp(name, views[i]) == 0) return true;
    return false;
}

bool gg_is_view(int op) {
    enum { KNOWN = 256, YES = 1, NO };
    static atomic_schar cache[KNOWN]; /* streams on several threads fill it with the same values */
    if (op < 0 || op >= KNOWN) return false;
    signed char is = atomic_load_explicit(&cache[op], memory_order_relaxed);
    if (!is) {
        is = names_a_view(op) ? YES : NO;
        atomic_store_explicit(&cache[op], is, memory_order_relaxed);
    }
    return is == YES;
}

lode_tensor *gg_translated(gg_translate_fn *f, const gg_node *n) {
    if (n->src[0] || f == gg_tr_arange) return f(n);
    return gg_no(n, "a node without sources");
}

lode_tensor *gg_no(const gg_node *n, const char *what) {
    lode_graph_fail(n->g, LODE_E_UNSUPPORTED, "%s", what);
    return n->g->nowhere;
}
