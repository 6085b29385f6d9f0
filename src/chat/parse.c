/* parse.c - tokens to trees, by recursive descent with a bounded depth. */
#include "chat/parse.h"

#include "chat/lex.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const token *t;
    lode_arena *arena;
    lode_err *err;
    bool failed;
    int depth;
    int uses;      /* USES_* of the macro that is being read */
    node *nothing; /* where nodes go after a failure */
} parser;

static node *expression(parser *p);
static node *body(parser *p, const char *const *ends);
static node *postfix(parser *p, node *n, bool filters);

static node *fail(parser *p, const char *want) {
    if (!p->failed) {
        const int n = p->t->n < 40 ? (int)p->t->n : 40;
        lode_fail(p->err, LODE_E_FORMAT, "chat template, line %d: expected %s, found '%.*s'", p->t->line, want, n,
                  p->t->kind == T_END ? "the end" : p->t->p);
    }
    p->failed = true;
    return NULL;
}

static node *make(parser *p, node_kind kind) {
    node *n = p->failed ? NULL : lode_arena_alloc(p->arena, 1, sizeof *n);
    if (!n) {
        if (!p->failed) lode_fail(p->err, LODE_E_NOMEM, "chat template: out of memory");
        p->failed = true;
        return NULL;
    }
    n->kind = kind;
    n->line = p->t->line;
    return n;
}

/* A node even after a failure, so that callers need no checks. */
static node *node_of(parser *p, node_kind kind) {
    node *n = make(p, kind);
    return n ? n : p->nothing;
}

static bool is(const parser *p, token_kind kind, const char *text) {
    return p->t->kind == kind && p->t->n == strlen(text) && memcmp(p->t->p, text, p->t->n) == 0;
}

static bool punct(parser *p, const char *text) {
    if (!is(p, T_PUNCT, text)) return false;
    p->t++;
    return true;
}

static bool keyword(parser *p, const char *text) {
    if (!is(p, T_NAME, text)) return false;
    p->t++;
    return true;
}

static void expect(parser *p, const char *text) {
    if (!p->failed && !punct(p, text)) fail(p, text);
}

static void add_kid(parser *p, node *n, node *kid, const char *name) {
    if (p->failed) return;
    if ((n->n & (n->n - 1)) == 0) { /* full at powers of two */
        const size_t cap = n->n ? (size_t)n->n * 2 : 1;
        node **kids = lode_arena_alloc(p->arena, cap, sizeof *kids);
        const char **names = lode_arena_alloc(p->arena, cap, sizeof *names);
        if (!kids || !names) {
            lode_fail(p->err, LODE_E_NOMEM, "chat template: out of memory");
            p->failed = true;
            return;
        }
        if (n->n) {
            memcpy(kids, n->kids, (size_t)n->n * sizeof *kids);
            memcpy(names, n->names, (size_t)n->n * sizeof *names);
        }
        n->kids = kids;
        n->names = names;
    }
    n->kids[n->n] = kid;
    n->names[n->n++] = name;
}

static const char *name_text(parser *p) {
    if (p->t->kind != T_NAME) {
        fail(p, "a name");
        return "";
    }
    const char *s = lode_arena_strdup(p->arena, p->t->p, p->t->n);
    p->t++;
    return s ? s : "";
}

/* (a, b=c, ...): the opening parenthesis was read. */
static void arguments(parser *p, node *call) {
    while (!p->failed && !punct(p, ")")) {
        const char *name = NULL;
        if (p->t->kind == T_NAME && p->t[1].kind == T_PUNCT && p->t[1].n == 1 && p->t[1].p[0] == '=') {
            name = name_text(p);
            p->t++;
        }
        add_kid(p, call, expression(p), name);
        if (!is(p, T_PUNCT, ")")) expect(p, ",");
    }
}

static node *sequence(parser *p, const char *close, node_kind kind, node *first) {
    node *n = node_of(p, kind);
    if (first) add_kid(p, n, first, NULL);
    while (!p->failed && !punct(p, close)) {
        add_kid(p, n, expression(p), NULL);
        if (!is(p, T_PUNCT, close)) expect(p, ",");
    }
    return n;
}

static node *primary(parser *p) {
    const token *t = p->t;
    if (t->kind == T_STRING) {
        node *n = node_of(p, N_STRING);
        lode_str all = { 0 };
        for (; p->t->kind == T_STRING; p->t++) lode_str_add(&all, p->t->p, p->t->n); /* neighbours join */
        n->text = lode_arena_strdup(p->arena, all.n ? all.p : "", all.n);
        n->text_n = all.n;
        lode_str_free(&all);
        return n->text ? n : fail(p, "memory");
    }
    if (t->kind == T_NUMBER) {
        node *n = node_of(p, N_NUMBER);
        char buf[64];
        size_t len = 0;
        for (size_t i = 0; i < t->n && len + 1 < sizeof buf; i++)
            if (t->p[i] != '_') buf[len++] = t->p[i];
        buf[len] = '\0';
        const char letter = buf[0] == '0' ? (char)(buf[1] | 32) : '\0';
        const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
        n->value = base == 10 && strpbrk(buf, ".eE") ? v_float(strtod(buf, NULL))
                                                     : v_int(strtoll(base == 10 ? buf : buf + 2, NULL, base));
        p->t++;
        return n;
    }
    if (t->kind == T_NAME) {
        static const struct {
            const char *name;
            val value;
        } constants[] = { { "true", { .k = V_BOOL, .b = true } },
                          { "True", { .k = V_BOOL, .b = true } },
                          { "false", { .k = V_BOOL } },
                          { "False", { .k = V_BOOL } },
                          { "none", { .k = V_NONE } },
                          { "None", { .k = V_NONE } } };
        for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
            if (keyword(p, constants[i].name)) {
                node *n = node_of(p, N_CONST);
                n->value = constants[i].value;
                return n;
            }
        node *n = node_of(p, N_NAME);
        n->text = name_text(p);
        n->text_n = strlen(n->text);
        if (!strcmp(n->text, "varargs")) p->uses |= USES_VARARGS;
        if (!strcmp(n->text, "kwargs")) p->uses |= USES_KWARGS;
        return n;
    }
    if (punct(p, "(")) {
        if (punct(p, ")")) return node_of(p, N_TUPLE);
        node *first = expression(p);
        if (punct(p, ",")) return sequence(p, ")", N_TUPLE, first);
        expect(p, ")");
        return first;
    }
    if (punct(p, "[")) return sequence(p, "]", N_LIST, NULL);
    if (punct(p, "{")) {
        node *n = node_of(p, N_DICT);
        while (!p->failed && !punct(p, "}")) {
            add_kid(p, n, expression(p), NULL);
            expect(p, ":");
            add_kid(p, n, expression(p), NULL);
            if (!is(p, T_PUNCT, "}")) expect(p, ",");
        }
        return n;
    }
    return fail(p, "an expression");
}

/* [b] or [b:c:d] behind a value; the bracket was read. */
static node *subscript(parser *p, node *of) {
    node *part[3] = { 0 };
    int colons = 0;
    while (!p->failed && !punct(p, "]")) {
        if (punct(p, ":")) {
            if (++colons > 2) return fail(p, "]");
            continue;
        }
        if (part[colons]) return fail(p, "]");
        part[colons] = expression(p);
    }
    node *n = node_of(p, colons ? N_SLICE : N_INDEX);
    n->a = of;
    n->b = part[0];
    for (int i = 0; i < 3 && colons; i++) add_kid(p, n, part[i], NULL);
    if (!colons && !part[0]) return fail(p, "an index");
    return n;
}

static node *filter_of(parser *p, node *of) {
    node *n = node_of(p, N_FILTER);
    n->a = of;
    n->text = name_text(p);
    if (punct(p, "(")) arguments(p, n);
    return n;
}

/* is [not] name [arguments]; `is` was read. */
static node *test_of(parser *p, node *of) {
    node *n = node_of(p, N_TEST);
    n->a = of;
    n->op = keyword(p, "not");
    n->text = name_text(p);
    if (punct(p, "(")) {
        arguments(p, n);
    } else if (p->t->kind == T_STRING || p->t->kind == T_NUMBER || is(p, T_PUNCT, "[") || is(p, T_PUNCT, "{") ||
               (p->t->kind == T_NAME && !is(p, T_NAME, "and") && !is(p, T_NAME, "or") && !is(p, T_NAME, "else") &&
                !is(p, T_NAME, "if") && !is(p, T_NAME, "is") && !is(p, T_NAME, "not") && !is(p, T_NAME, "in"))) {
        add_kid(p, n, postfix(p, primary(p), false), NULL);
    }
    return n;
}

static node *postfix(parser *p, node *n, bool filters) {
    while (!p->failed) {
        if (punct(p, ".")) {
            node *a = node_of(p, N_ATTR);
            a->a = n;
            if (p->t->kind == T_NUMBER) { /* x.0 */
                a->kind = N_INDEX;
                a->b = primary(p);
            } else {
                a->text = name_text(p);
                a->text_n = strlen(a->text);
            }
            n = a;
        } else if (punct(p, "[")) {
            n = subscript(p, n);
        } else if (punct(p, "(")) {
            node *call = node_of(p, N_CALL);
            call->a = n;
            arguments(p, call);
            n = call;
        } else if (filters && punct(p, "|")) {
            n = filter_of(p, n);
        } else if (filters && keyword(p, "is")) {
            n = test_of(p, n);
        } else {
            break;
        }
    }
    return n;
}

static node *binary(parser *p, binary_op op, node *a, node *b) {
    node *n = node_of(p, N_BINARY);
    n->op = (int)op;
    n->a = a;
    n->b = b;
    return n;
}

/* A value with what stands before and behind it. Filters and tests apply to the value with its sign. */
static node *unary_of(parser *p, bool filters) {
    if (++p->depth > MAX_DEPTH) return fail(p, "less nesting");
    node *n;
    if (punct(p, "-")) {
        n = node_of(p, N_NEG);
        n->a = unary_of(p, false);
    } else if (punct(p, "+")) {
        n = unary_of(p, false);
    } else {
        n = primary(p);
    }
    n = postfix(p, n, filters);
    p->depth--;
    return n;
}

static node *power(parser *p) {
    node *n = unary_of(p, true);
    while (!p->failed && punct(p, "**")) n = binary(p, OP_POW, n, unary_of(p, true));
    return n;
}

typedef struct {
    const char *text;
    binary_op op;
} op_row;

static node *chain(parser *p, node *(*next)(parser *), const op_row *rows, size_t n_rows) {
    node *n = next(p);
    for (size_t i = 0; i < n_rows && !p->failed; i++)
        if (punct(p, rows[i].text)) {
            n = binary(p, rows[i].op, n, next(p));
            i = (size_t)-1;
        }
    return n;
}

static node *product(parser *p) {
    static const op_row rows[] = { { "*", OP_MUL }, { "/", OP_DIV }, { "//", OP_INTDIV }, { "%", OP_MOD } };
    return chain(p, power, rows, 4);
}

static node *joined(parser *p) {
    static const op_row rows[] = { { "~", OP_CONCAT } };
    return chain(p, product, rows, 1);
}

static node *sum(parser *p) {
    static const op_row rows[] = { { "+", OP_ADD }, { "-", OP_SUB } };
    return chain(p, joined, rows, 2);
}

/* a < b < c is a < b and b < c. */
static node *comparison(parser *p) {
    static const op_row rows[] = { { "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },
                                   { ">=", OP_GE }, { "<", OP_LT },  { ">", OP_GT } };
    node *left = sum(p), *all = NULL;
    while (!p->failed) {
        int op = -1;
        for (int i = 0; i < 6 && op < 0; i++)
            if (punct(p, rows[i].text)) op = (int)rows[i].op;
        if (op < 0 && keyword(p, "in")) op = OP_IN;
        if (op < 0 && is(p, T_NAME, "not") && p->t[1].kind == T_NAME && p->t[1].n == 2 &&
            memcmp(p->t[1].p, "in", 2) == 0) {
            p->t += 2;
            op = OP_NOT_IN;
        }
        if (op < 0) break;
        node *right = sum(p), *one = binary(p, (binary_op)op, left, right);
        if (all) {
            node *both = node_of(p, N_AND);
            both->a = all;
            both->b = one;
            one = both;
        }
        all = one;
        left = right;
    }
    return all ? all : left;
}

static node *negation(parser *p) {
    if (!keyword(p, "not")) return comparison(p);
    if (++p->depth > MAX_DEPTH) return fail(p, "less nesting");
    node *n = node_of(p, N_NOT);
    n->a = negation(p);
    p->depth--;
    return n;
}

static node *logic(parser *p, node *(*next)(parser *), const char *word, node_kind kind) {
    node *n = next(p);
    while (!p->failed && keyword(p, word)) {
        node *both = node_of(p, kind);
        both->a = n;
        both->b = next(p);
        n = both;
    }
    return n;
}

static node *conjunction(parser *p) { return logic(p, negation, "and", N_AND); }

static node *expression(parser *p) {
    if (++p->depth > MAX_DEPTH) return fail(p, "less nesting");
    node *n = logic(p, conjunction, "or", N_OR);
    while (!p->failed && keyword(p, "if")) {
        node *cond = node_of(p, N_COND);
        cond->a = n;
        cond->b = logic(p, conjunction, "or", N_OR);
        if (keyword(p, "else")) cond->c = expression(p);
        n = cond;
    }
    p->depth--;
    return n;
}

static node *disjunction(parser *p) { return logic(p, conjunction, "or", N_OR); }

/* One, or a tuple without parentheses. */
static node *expressions(parser *p, node *(*one)(parser *)) {
    node *first = one(p);
    if (!is(p, T_PUNCT, ",")) return first;
    node *t = node_of(p, N_TUPLE);
    add_kid(p, t, first, NULL);
    while (!p->failed && punct(p, ",") && p->t->kind != T_CLOSE_OUT && p->t->kind != T_CLOSE_STMT)
        add_kid(p, t, one(p), NULL);
    return t;
}

/* ---- Statements ---- */

static void close_stmt(parser *p) {
    if (p->failed) return;
    if (p->t->kind == T_CLOSE_STMT)
        p->t++;
    else
        fail(p, "%}");
}

/* Reads {% NAME %}, which body() stopped at. */
static bool end_tag(parser *p, const char *name) {
    if (p->failed || !(p->t->kind == T_OPEN_STMT && p->t[1].kind == T_NAME && p->t[1].n == strlen(name) &&
                       memcmp(p->t[1].p, name, p->t[1].n) == 0))
        return false;
    p->t += 2;
    return true;
}

static void must_end(parser *p, const char *name) {
    if (end_tag(p, name)) {
        if (p->t->kind == T_NAME) p->t++; /* {% endblock name %} */
        close_stmt(p);
    } else {
        fail(p, name);
    }
}

static node *if_stmt(parser *p) {
    static const char *const ends[] = { "elif", "else", "endif", NULL };
    node *n = node_of(p, N_IF);
    n->a = expression(p);
    close_stmt(p);
    n->b = body(p, ends);
    if (++p->depth > MAX_DEPTH) return fail(p, "less nesting");
    if (end_tag(p, "elif")) {
        n->c = if_stmt(p);
    } else {
        if (end_tag(p, "else")) {
            close_stmt(p);
            n->c = body(p, ends);
        }
        must_end(p, "endif");
    }
    p->depth--;
    return n;
}

static node *for_stmt(parser *p) {
    static const char *const ends[] = { "else", "endfor", NULL };
    node *n = node_of(p, N_FOR);
    const bool paren = punct(p, "(");
    do add_kid(p, n, primary(p), NULL);
    while (!p->failed && punct(p, ","));
    if (paren) expect(p, ")");
    if (!keyword(p, "in")) return fail(p, "in");
    n->a = expressions(p, disjunction);
    if (keyword(p, "if")) n->extra = expression(p);
    n->op = keyword(p, "recursive");
    close_stmt(p);
    n->b = body(p, ends);
    if (end_tag(p, "else")) {
        close_stmt(p);
        n->c = body(p, ends);
    }
    must_end(p, "endfor");
    return n;
}

static node *set_stmt(parser *p) {
    static const char *const ends[] = { "endset", NULL };
    node *n = node_of(p, N_SET);
    do add_kid(p, n, postfix(p, primary(p), false), NULL);
    while (!p->failed && punct(p, ","));
    if (punct(p, "=")) {
        n->a = expressions(p, expression);
        close_stmt(p);
        return n;
    }
    n->kind = N_SET_BLOCK;
    while (!p->failed && punct(p, "|")) n->extra = filter_of(p, n->extra);
    close_stmt(p);
    n->b = body(p, ends);
    must_end(p, "endset");
    return n;
}

/* name(a, b=1): parameters with defaults. */
static void parameters(parser *p, node *n) {
    while (!p->failed && !punct(p, ")")) {
        const char *name = name_text(p);
        add_kid(p, n, punct(p, "=") ? expression(p) : NULL, name);
        if (!is(p, T_PUNCT, ")")) expect(p, ",");
    }
}

static node *macro_body(parser *p, node *macro, const char *const *ends) {
    const int outside = p->uses;
    p->uses = 0;
    node *n = body(p, ends);
    macro->op = p->uses;
    p->uses = outside;
    return n;
}

static node *macro_stmt(parser *p) {
    static const char *const ends[] = { "endmacro", NULL };
    node *n = node_of(p, N_MACRO);
    n->text = name_text(p);
    expect(p, "(");
    parameters(p, n);
    close_stmt(p);
    n->b = macro_body(p, n, ends);
    must_end(p, "endmacro");
    return n;
}

static node *call_stmt(parser *p) {
    static const char *const ends[] = { "endcall", NULL };
    node *n = node_of(p, N_CALL_BLOCK);
    if (punct(p, "(")) parameters(p, n);
    n->a = expression(p);
    close_stmt(p);
    n->b = macro_body(p, n, ends);
    must_end(p, "endcall");
    return n;
}

static node *filter_stmt(parser *p) {
    static const char *const ends[] = { "endfilter", NULL };
    node *n = node_of(p, N_FILTER_BLOCK);
    n->extra = filter_of(p, NULL);
    while (!p->failed && punct(p, "|")) n->extra = filter_of(p, n->extra);
    close_stmt(p);
    n->b = body(p, ends);
    must_end(p, "endfilter");
    return n;
}

static node *generation_stmt(parser *p) {
    static const char *const ends[] = { "endgeneration", NULL };
    node *n = node_of(p, N_SCOPE);
    close_stmt(p);
    n->b = body(p, ends);
    must_end(p, "endgeneration");
    return n;
}

static node *with_stmt(parser *p) {
    static const char *const ends[] = { "endwith", NULL };
    node *n = node_of(p, N_WITH);
    while (!p->failed && p->t->kind == T_NAME) {
        const char *name = name_text(p);
        expect(p, "=");
        add_kid(p, n, expression(p), name);
        if (!punct(p, ",")) break;
    }
    close_stmt(p);
    n->b = body(p, ends);
    must_end(p, "endwith");
    return n;
}

static node *jump(parser *p, node_kind kind) {
    node *n = node_of(p, kind);
    close_stmt(p);
    return n;
}

static node *break_stmt(parser *p) { return jump(p, N_BREAK); }
static node *continue_stmt(parser *p) { return jump(p, N_CONTINUE); }

static node *statement(parser *p) {
    static const struct {
        const char *name;
        node *(*parse)(parser *);
    } rows[] = { { "if", if_stmt },       { "for", for_stmt },           { "set", set_stmt },
                 { "macro", macro_stmt }, { "call", call_stmt },         { "filter", filter_stmt },
                 { "break", break_stmt }, { "continue", continue_stmt }, { "generation", generation_stmt },
                 { "with", with_stmt } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (keyword(p, rows[i].name)) return rows[i].parse(p);
    return fail(p, "a statement (if, for, set, macro, call, filter, break, continue, generation, with)");
}

/* Statements up to one of the end tags, which is left to be read; up to the end when `ends` is NULL. */
static node *body(parser *p, const char *const *ends) {
    node *n = node_of(p, N_BODY);
    if (++p->depth > MAX_DEPTH) return fail(p, "less nesting");
    while (!p->failed && p->t->kind != T_END) {
        if (p->t->kind == T_TEXT) {
            node *t = node_of(p, N_TEXT);
            t->text = p->t->p;
            t->text_n = p->t++->n;
            add_kid(p, n, t, NULL);
        } else if (p->t->kind == T_OPEN_OUT) {
            p->t++;
            node *o = node_of(p, N_OUT);
            o->a = expressions(p, expression);
            if (!p->failed && p->t->kind != T_CLOSE_OUT) fail(p, "}}");
            p->t++;
            add_kid(p, n, o, NULL);
        } else {
            for (int i = 0; ends && ends[i]; i++)
                if (p->t[1].kind == T_NAME && p->t[1].n == strlen(ends[i]) &&
                    memcmp(p->t[1].p, ends[i], p->t[1].n) == 0) {
                    p->depth--;
                    return n;
                }
            p->t++;
            add_kid(p, n, statement(p), NULL);
        }
    }
    p->depth--;
    if (ends && !p->failed) fail(p, ends[0]);
    return n;
}

node *parse_template(lode_arena *arena, const char *text, size_t n, lode_err *err) {
    tokens t = { 0 };
    node *root = NULL;
    if (lex_template(&t, arena, text, n, err) == LODE_OK) {
        parser p = { .t = t.items, .arena = arena, .err = err, .nothing = lode_arena_alloc(arena, 1, sizeof(node)) };
        root = p.nothing ? body(&p, NULL) : NULL;
        if (p.failed) root = NULL;
    }
    free(t.items);
    return root;
}
