/* lower.c - rewrites the nodes into what the devices do best.
 *
 * Order: equal nodes become one; rules fuse; activations of integer matmuls get quantised; rules fuse once more (norm
 * and quantise in one); what no device accepts is expanded by its rule. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static void replace_uses(lode_plan *p, const lode_tensor *old, lode_tensor *with) {
    for (size_t i = 0; i < p->all.n; i++) {
        lode_tensor *t = p->all.items[i];
        for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++)
            if (t->src[k] == old) t->src[k] = with;
        if (t->view_of == old) t->view_of = with;
    }
}

/* Readers of each tensor of the plan; a view counts as a reader of what it views, and its readers keep it alive. */
static void count_uses(lode_plan *p) {
    for (size_t i = 0; i < p->all.n; i++) p->all.items[i]->n_use = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *const *src = p->nodes.items[i]->src;
        for (int k = 0; k < LODE_MAX_SRC && src[k]; k++)
            for (lode_tensor *s = src[k]; s && s->id >= 0; s = s->op == LODE_OP_NONE && s->view_of ? s->src[0] : NULL)
                s->n_use++;
    }
}

typedef struct {
    const lode_buffer *buffer;
    size_t from, to;
} range;

static range range_of(const lode_tensor *t) {
    const lode_tensor *o = lode_plan_owner(t);
    const size_t at = t->view_of ? o->offset + t->view_off : t->offset;
    return (range){ o->buffer, at, at + lode_n_bytes(t) };
}

/* Memory that the caller assigned; the plan's own has no address yet and is never given to two values at once. */
static bool overlap(range a, range b) { return a.buffer && a.buffer == b.buffer && a.from < b.to && b.from < a.to; }

/* Whether a node in [from, to) other than those of `but` writes what `s` is. */
static bool written_between(const lode_plan *p, const lode_tensor *s, size_t from, size_t to, const lode_match *but) {
    for (size_t i = from; i < to; i++) {
        bool own = false;
        for (int k = 0; but && k < but->n_eaten; k++) own = own || but->eaten[k] == p->nodes.items[i];
        if (!own && overlap(range_of(p->nodes.items[i]), range_of(s))) return true;
    }
    return false;
}

static size_t position(const lode_plan *p, const lode_tensor *t) {
    size_t i = 0;
    while (i < p->nodes.n && p->nodes.items[i] != t) i++;
    return i;
}

/* Where the caller assigned memory, it counted on the order of single nodes: an input of the first may be overwritten
 * before the last one runs, also by the last one's own result. */
static bool memory_allows(const lode_plan *p, const lode_match *m, int op) {
    const lode_tensor *top = m->eaten[0];
    const size_t last = position(p, top);
    size_t first = last;
    for (int k = 1; k < m->n_eaten; k++) {
        const size_t i = position(p, m->eaten[k]);
        first = i < first ? i : first;
    }
    for (int k = 0; k < m->n_in; k++) {
        const range in = range_of(m->in[k]), out = range_of(top);
        const bool same = in.from == out.from && in.to == out.to && lode_op_info_of(op)->in_place;
        if (overlap(in, out) && !same) return false;
        if (in.buffer && written_between(p, m->in[k], first, last, m)) return false;
    }
    return true;
}

/* Ops whose repetition is common and worth finding: all layers turn by the same angles. */
static bool same_node(const lode_tensor *a, const lode_tensor *b) {
    return a->op == b->op && memcmp(a->src, b->src, sizeof a->src) == 0 && memcmp(a->par, b->par, sizeof a->par) == 0 &&
           a->type == b->type && memcmp(a->ne, b->ne, sizeof a->ne) == 0;
}

static bool sources_stay(const lode_plan *p, const lode_tensor *t, size_t from, size_t to) {
    for (int s = 0; s < LODE_MAX_SRC && t->src[s]; s++)
        if (written_between(p, t->src[s], from, to, NULL)) return false;
    return true;
}

static void merge_equal(lode_plan *p, int op) {
    size_t kept = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *t = p->nodes.items[i], *twin = NULL;
        for (size_t k = 0; t->op == op && k < kept && !twin; k++)
            if (same_node(p->nodes.items[k], t) && sources_stay(p, t, k, i)) twin = p->nodes.items[k];
        if (twin)
            replace_uses(p, t, twin);
        else
            p->nodes.items[kept++] = t;
    }
    p->nodes.n = kept;
}

static void remove_nodes(lode_plan *p, lode_tensor *const *gone, int n) {
    size_t kept = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        bool drop = false;
        for (int k = 0; k < n; k++) drop = drop || p->nodes.items[i] == gone[k];
        if (!drop) p->nodes.items[kept++] = p->nodes.items[i];
    }
    p->nodes.n = kept;
}

/* Tries a rule at node i; true when it fired. */
static bool try_rule(lode_plan *p, const lode_rule *r, lode_tensor *top) {
    lode_match m;
    if (!lode_rule_match(r, top, &m) || !memory_allows(p, &m, r->op)) return false;
    lode_tensor fused = *top;
    fused.op = (uint16_t)r->op;
    memcpy(fused.par, m.par, sizeof fused.par);
    memcpy(fused.src, m.in, sizeof fused.src);
    const char *name = lode_op_name(r->op);
    lode_err ignored;
    lode_tensor probe = fused;
    if (lode_op_info_of(r->op)->infer(&probe, &ignored) != LODE_OK) return false;
    char why[128] = "";
    bool accepted = false;
    for (int i = 0; i < p->desc.n_streams && !accepted; i++)
        accepted = lode_device_accepts(lode_stream_device(p->streams[i]), &fused, why, sizeof why);
    if (!accepted) {
        lode_str_printf(&p->fused_log, "refuse %-15s <- %s: %s\n", name, r->pattern, why);
        return false;
    }
    *top = fused;
    remove_nodes(p, m.eaten + 1, m.n_eaten - 1);
    p->n_fired[r - lode_rules]++;
    lode_str_printf(&p->fused_log, "fuse   %-15s <- %s%s%s\n", name, r->pattern, top->name[0] ? "  " : "", top->name);
    return true;
}

static void fuse(lode_plan *p) {
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *top = p->nodes.items[i];
        for (int r = 0; r < LODE_N_RULES; r++) {
            if (!try_rule(p, &lode_rules[r], top)) continue;
            count_uses(p);
            while (i > 0 && p->nodes.items[i < p->nodes.n ? i : p->nodes.n - 1] != top) i--;
            r = -1; /* the fused node may be part of a longer pattern */
        }
    }
}

static bool is_matmul(const lode_tensor *t) {
    return t->op == LODE_MATMUL || t->op == LODE_MATMUL_ADD || t->op == LODE_MATMUL_ID;
}

/* Gives matmuls whose device has an integer kernel their activations as q8a. */
static lode_status quantise(lode_plan *p, lode_err *err) {
    for (size_t i = 0; i < p->nodes.n; i++) {
        lode_tensor *t = p->nodes.items[i];
        if (!is_matmul(t) || t->src[1]->type != LODE_F32 || lode_type_block(t->src[0]->type) == 1) continue;
        if (t->src[1]->ne[0] % lode_type_block(LODE_Q8A) != 0) continue;
        lode_tensor *q;
        LODE_TRY(lode_plan_make_node(p, LODE_QUANT_ACT, NULL, (lode_tensor *[LODE_MAX_SRC]){ t->src[1] }, &q, err));
        lode_tensor want = *t;
        want.src[1] = q;
        if (!lode_plan_accepts(p, &want, NULL)) continue;
        t->src[1] = q;
        if (!LODE_PUSH(&p->nodes, NULL)) return lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
        memmove(p->nodes.items + i + 1, p->nodes.items + i, (p->nodes.n - 1 - i) * sizeof *p->nodes.items);
        p->nodes.items[i++] = q;
    }
    merge_equal(p, LODE_QUANT_ACT);
    return LODE_OK;
}

/* Replaces each fused node that no device accepts by what it means, as deep as need be. */
static lode_status expand(lode_plan *p, lode_err *err) {
    lode_tensors out = { 0 };
    lode_status s = LODE_OK;
    for (size_t i = 0; i < p->nodes.n && s == LODE_OK;) {
        lode_tensor *t = p->nodes.items[i];
        if (lode_plan_accepts(p, t, NULL) || !lode_rule_of(t->op)) {
            if (!LODE_PUSH(&out, t)) s = lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
            i++;
            continue;
        }
        lode_str_printf(&p->fused_log, "expand %-15s -> %s\n", lode_op_name(t->op), lode_rule_of(t->op)->pattern);
        lode_tensors parts = { 0 };
        s = lode_rule_expand(p, t, &parts, err);
        for (size_t k = 1; k < parts.n && s == LODE_OK; k++) { /* parts replace t in place; the first takes its slot */
            if (!LODE_PUSH(&p->nodes, NULL)) s = lode_fail(err, LODE_E_NOMEM, "plan: out of memory");
        }
        if (s == LODE_OK) {
            memmove(p->nodes.items + i + parts.n, p->nodes.items + i + 1,
                    (p->nodes.n - i - parts.n) * sizeof *p->nodes.items);
            memcpy(p->nodes.items + i, parts.items, parts.n * sizeof *parts.items);
        }
        free(parts.items);
    }
    free(p->nodes.items);
    p->nodes = out;
    return s;
}

lode_status lode_plan_lower(lode_plan *p, lode_err *err) {
    merge_equal(p, LODE_ROPE_TABLE);
    count_uses(p);
    if (!p->desc.no_fuse) fuse(p);
    if (!p->desc.act_f32) LODE_TRY(quantise(p, err));
    count_uses(p);
    if (!p->desc.no_fuse) fuse(p);
    LODE_TRY(expand(p, err));
    count_uses(p);
    return LODE_OK;
}
