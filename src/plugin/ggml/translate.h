/* translate.h - what a translator gets and gives: one node of the host's made of lode's builders. */
#ifndef LODE_PLUGIN_TRANSLATE_H
#define LODE_PLUGIN_TRANSLATE_H

#include "graph/graph.h"
#include "plugin/ggml/abi.h"

#include <string.h>

/* The host's node. Sources are tensors of g, in the host's order; those that are missing are NULL. */
typedef struct gg_node {
    lode_graph *g;
    lode_tensor *src[GG_SRC];
    lode_tensor like; /* what the result must be: type, sizes, distances; also where it lies when that is known */
    const int32_t *par;
} gg_node;

static inline float gg_f(const gg_node *n, int slot) {
    float f;
    memcpy(&f, n->par + slot, sizeof f);
    return f;
}

/* Returns the node that computes the result; its last node is moved into the host's memory afterwards. What cannot be
 * said in our ops fails the graph, which the host hears as "not supported": gg_no. */
typedef lode_tensor *gg_translate_fn(const gg_node *n);

/* Calls it, when the node has the source that translators look into: only arange has none. */
lode_tensor *gg_translated(gg_translate_fn *f, const gg_node *n);
/* Fails the graph: `what` is what we do not take. */
lode_tensor *gg_no(const gg_node *n, const char *what);

/* The translator of an op, NULL for none. `second` is par[0] of UNARY and GLU nodes. */
gg_translate_fn *gg_translator(int op, int second);
/* The op computes nothing: views and data. */
bool gg_is_view(int op);

#define GGML_OP(host, fn) gg_translate_fn gg_tr_##fn;
#define GGML_UNARY(host, fn) gg_translate_fn gg_tr_##fn;
#define GGML_GLU(host, fn) gg_translate_fn gg_tr_##fn;
#include "plugin/ggml/ggml_op.def"
#undef GGML_OP
#undef GGML_UNARY
#undef GGML_GLU
#endif
