/* tr_rows.c - rows by index, copies, layout. */
#include "plugin/ggml/translate.h"

lode_tensor *gg_tr_get_rows(const gg_node *n) { return lode_get_rows(n->g, n->src[0], n->src[1]); }
