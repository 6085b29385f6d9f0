/* rule.c - reads rule.def in both directions. */
#include "plan/plan.h"

#include <ctype.h>
#include <string.h>

const lode_rule lode_rules[LODE_N_RULES] = {
#define RULE(op, pattern) { LODE_##op, pattern },
#include "graph/rule.def"
#undef RULE
};

const lode_rule *lode_rule_of(int op) {
    for (int i = 0; i < LODE_N_RULES; i++)
        if (lode_rules[i].op == op) return &lode_rules[i];
    return NULL;
}

static const char *skip(const char *p) {
    while (*p == ' ' || *p == ',') p++;
    return p;
}

static size_t word(const char *p) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    return n;
}

/* Ops whose inputs may stand either way round. */
static bool commutes(int op) { return op == LODE_ADD || op == LODE_MUL; }

/* A flipped match of add and mul is right only when both inputs have the result's type and shape: the
 * second one repeats. */
static bool may_flip(const lode_tensor *t) {
    return commutes(t->op) && t->src[0]->type == t->src[1]->type &&
           memcmp(t->src[0]->ne, t->src[1]->ne, sizeof t->src[0]->ne) == 0;
}

/* Matches the pattern at p against t; returns the text behind it, NULL when it does not match. */
static const char *match_at(const char *p, lode_tensor *t, lode_match *m, bool top) {
    p = skip(p);
    const size_t n = word(p);
    if (p[n] != '(') {
        const int k = *p - 'a';
        if (m->in[k] && m->in[k] != t) return NULL;
        m->in[k] = t;
        if (k >= m->n_in) m->n_in = k + 1;
        return p + n;
    }
    if (t->op != lode_op_of_name(p, n) || m->n_eaten == LODE_MATCH_NODES) return NULL;
    if (!top && (t->n_use != 1 || (t->flags & LODE_T_OUTPUT))) return NULL;
    m->eaten[m->n_eaten++] = t;
    const lode_match before = *m;
    const int n_src = lode_op_info_of(t->op)->n_src;
    for (int flip = 0; flip < (may_flip(t) ? 2 : 1); flip++) {
        *m = before;
        const char *r = p + n + 1;
        for (int i = 0; r && i < n_src; i++) r = match_at(r, t->src[flip ? n_src - 1 - i : i], m, false);
        if (r) return skip(r) + 1; /* behind the ')' */
    }
    return NULL;
}

static bool has_par(const lode_tensor *t) {
    for (int i = 0; i < LODE_MAX_PAR; i++)
        if (t->par[i]) return true;
    return false;
}

bool lode_rule_match(const lode_rule *r, lode_tensor *top, lode_match *m) {
    memset(m, 0, sizeof *m);
    if (!match_at(r->pattern, top, m, true)) return false;
    m->par = top->par;
    for (int i = 1; i < m->n_eaten; i++)
        if (has_par(m->eaten[i])) m->par = m->eaten[i]->par;
    return true;
}

/* Ops that take parameters: the fused node's belong to the one of these in its pattern. */
static bool takes_par(int op) { return op == LODE_RMS_NORM || op == LODE_NORM_MUL; }

typedef struct {
    lode_plan *p;
    lode_tensor *fused;
    lode_tensors *into;
    lode_err *err;
    lode_status status;
} expansion;

/* Builds what the pattern at *p describes; NULL after a failure. */
static lode_tensor *build_at(expansion *x, const char **p, bool top) {
    const char *at = skip(*p);
    const size_t n = word(at);
    if (at[n] != '(') {
        *p = at + n;
        return x->fused->src[*at - 'a'];
    }
    const int op = lode_op_of_name(at, n);
    lode_tensor *src[LODE_MAX_SRC] = { 0 }, *t = NULL;
    *p = at + n + 1;
    for (int i = 0; i < lode_op_info_of(op)->n_src && x->status == LODE_OK; i++) src[i] = build_at(x, p, false);
    *p = skip(*p) + 1;
    if (x->status != LODE_OK) return NULL;
    x->status = lode_plan_make_node(x->p, op, takes_par(op) ? x->fused->par : NULL, src, &t, x->err);
    if (x->status != LODE_OK) return NULL;
    if (top) { /* readers hold the fused tensor itself: it becomes the last node */
        x->fused->op = t->op;
        memcpy(x->fused->par, t->par, sizeof t->par);
        memcpy(x->fused->src, t->src, sizeof t->src);
        t = x->fused;
    }
    if (!LODE_PUSH(x->into, t)) x->status = lode_fail(x->err, LODE_E_NOMEM, "plan: out of memory");
    return t;
}

lode_status lode_rule_expand(lode_plan *p, lode_tensor *t, lode_tensors *into, lode_err *err) {
    const lode_rule *r = lode_rule_of(t->op);
    if (!r) return LODE_OK;
    expansion x = { .p = p, .fused = t, .into = into, .err = err };
    const char *at = r->pattern;
    build_at(&x, &at, true);
    return x.status;
}
