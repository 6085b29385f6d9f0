/* fusion.c - what programs may ask about fusion, by names that ggml's backends share: how many groups of their nodes
 * ran as one, by what they are made of, and to leave it for comparison. Labels are the program's names of the ops. */
#include "plugin/ggml/plug.h"

#include "plan/plan.h"

enum { NORM_MUL, GATE_MUL, MATMUL_ADD, NONE };
_Static_assert((int)NONE == (int)GG_FUSIONS, "one counter for each label");

static const char *const labels_of[GG_FUSIONS] = { "RMS_NORM+MUL", "UNARY+MUL", "MUL_MAT+ADD" };

/* Rules that only take our own quantising into a node join no nodes of the program's. */
static const unsigned char row_of[] = {
    [LODE_RULE_NORM_MUL_QUANT] = NONE,   [LODE_RULE_SWIGLU_QUANT] = NONE, [LODE_RULE_GEGLU_QUANT] = NONE,
    [LODE_RULE_NORM_MUL] = NORM_MUL,     [LODE_RULE_SWIGLU] = GATE_MUL,   [LODE_RULE_GEGLU] = GATE_MUL,
    [LODE_RULE_MATMUL_ADD] = MATMUL_ADD,
};
_Static_assert(sizeof row_of == LODE_N_RULES, "a new rule gets a line here");

void *gg_fusion_get(gg_device *d) { return d && d->open == gg_stream_open ? &gg_our(d)->fusion : NULL; }

void gg_fusion_stats_init(void *handle) {
    gg_fusion *f = handle;
    if (f) f->counting = true;
}

void gg_fusion_stats_reset(void *handle) {
    gg_fusion *f = handle;
    for (int i = 0; f && i < GG_FUSIONS; i++) f->counts[i] = 0;
}

int gg_fusion_stats_get(void *handle, const char **labels, uint64_t *counts, int n) {
    gg_fusion *f = handle;
    const int rows = f && f->counting ? GG_FUSIONS : 0;
    if (!labels) return rows;
    int i = 0;
    for (; i < rows && i < n; i++) {
        labels[i] = labels_of[i];
        if (counts) counts[i] = f->counts[i];
    }
    return i;
}

void gg_fusion_set_enabled(void *handle, bool enabled) {
    gg_fusion *f = handle;
    if (f) f->off = !enabled;
}

void gg_fusion_count(gg_fusion *f, const lode_plan *p) {
    if (!f->counting) return;
    for (int r = 0; r < LODE_N_RULES; r++)
        if (row_of[r] != NONE) f->counts[row_of[r]] += (uint64_t)p->n_fired[r];
}
