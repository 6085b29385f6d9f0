/* tests.c - what `is` asks, and the functions that templates find. */
#include "chat/eval.h"
#include "chat/text.h"

#include <math.h>
#include <string.h>
#include <time.h>

typedef enum {
    IS_DEFINED,
    IS_UNDEFINED,
    IS_NONE,
    IS_STRING,
    IS_NUMBER,
    IS_INTEGER,
    IS_FLOAT,
    IS_BOOLEAN,
    IS_MAPPING,
    IS_ITERABLE,
    IS_SEQUENCE,
    IS_CALLABLE,
    IS_TRUE,
    IS_FALSE,
    IS_EQ,
    IS_NE,
    IS_LT,
    IS_LE,
    IS_GT,
    IS_GE,
    IS_IN,
    IS_ODD,
    IS_EVEN,
    IS_DIVISIBLE,
    IS_SAME,
    IS_LOWER,
    IS_UPPER,
    IS_ESCAPED,
    IS_FILTER,
    IS_TEST
} test_id;

static const struct {
    const char *name;
    test_id id;
} tests[] = {
    { "defined", IS_DEFINED },
    { "undefined", IS_UNDEFINED },
    { "none", IS_NONE },
    { "string", IS_STRING },
    { "number", IS_NUMBER },
    { "integer", IS_INTEGER },
    { "float", IS_FLOAT },
    { "boolean", IS_BOOLEAN },
    { "mapping", IS_MAPPING },
    { "iterable", IS_ITERABLE },
    { "sequence", IS_SEQUENCE },
    { "callable", IS_CALLABLE },
    { "true", IS_TRUE },
    { "false", IS_FALSE },
    { "eq", IS_EQ },
    { "equalto", IS_EQ },
    { "==", IS_EQ },
    { "sameas", IS_SAME },
    { "ne", IS_NE },
    { "!=", IS_NE },
    { "lt", IS_LT },
    { "<", IS_LT },
    { "lessthan", IS_LT },
    { "le", IS_LE },
    { "<=", IS_LE },
    { "gt", IS_GT },
    { ">", IS_GT },
    { "greaterthan", IS_GT },
    { "ge", IS_GE },
    { ">=", IS_GE },
    { "in", IS_IN },
    { "odd", IS_ODD },
    { "even", IS_EVEN },
    { "divisibleby", IS_DIVISIBLE },
    { "lower", IS_LOWER },
    { "upper", IS_UPPER },
    { "escaped", IS_ESCAPED },
    { "filter", IS_FILTER },
    { "test", IS_TEST },
};

/* A whole number of a test's value. */
static int64_t number_of(ctx *c, val v) {
    if (v.k != V_INT && v.k != V_BOOL) ctx_fail(c, LODE_E_FORMAT, "a test of numbers of %s", kind_name(v));
    return int_or(v, 0);
}

static bool divides(ctx *c, val v, val by) {
    const int64_t n = number_of(c, v), d = number_of(c, by);
    if (d == 0) ctx_fail(c, LODE_E_FORMAT, "division by zero");
    return d != 0 && (d == -1 || n % d == 0);
}

static bool same_kind_of_text(ctx *c, val v, text_kind kind) {
    const val t = to_text(c, v);
    return !c->failed && text_is(t.s, kind);
}

static bool is_named(val v, bool (*known)(const char *name)) {
    char name[32] = { 0 };
    if (v.k != V_STR || v.s.n >= sizeof name) return false;
    memcpy(name, v.s.p, v.s.n);
    return known(name);
}

static bool known_test(const char *name) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].name, name) == 0) return true;
    return false;
}

static bool test(ctx *c, test_id id, val v, val x) {
    switch (id) {
    case IS_DEFINED: return v.k != V_UNDEF;
    case IS_UNDEFINED: return v.k == V_UNDEF;
    case IS_NONE: return v.k == V_NONE;
    case IS_STRING: return v.k == V_STR;
    case IS_NUMBER: return v.k == V_INT || v.k == V_FLOAT || v.k == V_BOOL;
    case IS_INTEGER: return v.k == V_INT;
    case IS_FLOAT: return v.k == V_FLOAT;
    case IS_BOOLEAN: return v.k == V_BOOL;
    case IS_MAPPING: return v.k == V_DICT;
    case IS_ITERABLE: return v.k == V_STR || v.k == V_LIST || v.k == V_DICT || v.k == V_UNDEF;
    case IS_SEQUENCE: return v.k == V_STR || v.k == V_LIST || v.k == V_DICT || v.k == V_UNDEF;
    case IS_CALLABLE: return v.k == V_FUNC;
    case IS_TRUE: return v.k == V_BOOL && v.b;
    case IS_FALSE: return v.k == V_BOOL && !v.b;
    case IS_EQ: return equal(v, x);
    case IS_NE: return !equal(v, x);
    case IS_LT: return compare(c, v, x) < 0;
    case IS_LE: return compare(c, v, x) <= 0;
    case IS_GT: return compare(c, v, x) > 0;
    case IS_GE: return compare(c, v, x) >= 0;
    case IS_IN: return contains(c, x, v);
    case IS_ODD: return number_of(c, v) % 2 != 0;
    case IS_EVEN: return number_of(c, v) % 2 == 0;
    case IS_DIVISIBLE: return divides(c, v, x);
    case IS_SAME: return v.k == x.k && equal(v, x);
    case IS_LOWER: return same_kind_of_text(c, v, ALL_LOWER);
    case IS_UPPER: return same_kind_of_text(c, v, ALL_UPPER);
    case IS_ESCAPED: return false; /* nothing is marked so without autoescape */
    case IS_FILTER: return is_named(v, known_filter);
    case IS_TEST: return is_named(v, known_test);
    }
    return false;
}

bool apply_test(ctx *c, const char *name, val v, const call *a) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].name, name) == 0) return test(c, tests[i].id, v, arg(a, 0, NULL));
    ctx_fail(c, LODE_E_UNSUPPORTED, "there is no test '%s'", name);
    return false;
}

enum { MAX_RANGE = 100000 }; /* as Jinja's sandbox has it */

static val g_range(ctx *c, val self, const call *a) {
    (void)self;
    int64_t v[3] = { 0, 0, 1 };
    for (int i = 0; i < a->n && i < 3; i++) {
        if (a->args[i].k != V_INT && a->args[i].k != V_BOOL)
            return ctx_fail(c, LODE_E_FORMAT, "range needs whole numbers");
        v[i] = int_or(a->args[i], 0);
    }
    if (a->n == 1) {
        v[1] = v[0];
        v[0] = 0;
    }
    if (a->n < 1 || v[2] == 0) return ctx_fail(c, LODE_E_FORMAT, "range needs an end and a step that is not 0");
    const double n = ceil(((double)v[1] - (double)v[0]) / (double)v[2]);
    if (n > (double)MAX_RANGE) return ctx_fail(c, LODE_E_FULL, "a range of more than %d numbers", MAX_RANGE);
    val out = v_list(c);
    for (int64_t i = v[0]; !c->failed && (v[2] > 0 ? i < v[1] : i > v[1]);) {
        if (--c->steps < 0) return ctx_fail(c, LODE_E_FULL, "a range that is too long");
        list_push(c, out.l, v_int(i));
        if (__builtin_add_overflow(i, v[2], &i)) break;
    }
    return out;
}

static val named(ctx *c, const call *a, bool is_namespace) {
    val d = v_dict(c);
    const val from = arg(a, 0, NULL);
    for (size_t i = 0; from.k == V_DICT && !c->failed && i < from.d->n; i++)
        dict_set(c, d.d, from.d->k[i], from.d->v[i]);
    for (int i = 0; i < a->n_named && !c->failed; i++) dict_set(c, d.d, v_cstr(c, a->names[i]), a->args[a->n + i]);
    if (!c->failed) d.d->is_namespace = is_namespace;
    return d;
}

static val g_namespace(ctx *c, val self, const call *a) { return (void)self, named(c, a, true); }
static val g_dict(ctx *c, val self, const call *a) { return (void)self, named(c, a, false); }

static val joiner_call(ctx *c, val self, const call *a) {
    (void)a;
    const val *used = dict_find(self.d, "used"), *sep = dict_find(self.d, "sep");
    const bool first = !used;
    dict_set(c, self.d, v_cstr(c, "used"), v_bool(true));
    return first || !sep ? v_cstr(c, "") : *sep;
}

/* A function that gives "" the first time and then the separator. */
static val g_joiner(ctx *c, val self, const call *a) {
    (void)self;
    const val *sep = given_arg(a, 0, "sep");
    val d = v_dict(c);
    func *f = ctx_alloc(c, 1, sizeof *f);
    if (c->failed) return d;
    *f = (func){ .name = "joiner", .fn = joiner_call, .self = d };
    dict_set(c, d.d, v_cstr(c, "sep"), sep ? *sep : v_cstr(c, ", "));
    return (val){ .k = V_FUNC, .fn = f };
}

static val g_raise(ctx *c, val self, const call *a) {
    (void)self;
    const val text = to_text(c, arg(a, 0, NULL));
    const int n = text.k == V_STR && text.s.n < 300 ? (int)text.s.n : 0;
    return ctx_fail(c, LODE_E_INPUT, "the template refuses this talk: %.*s", n, n ? text.s.p : "");
}

static val g_strftime(ctx *c, val self, const call *a) {
    (void)self;
    const val form = arg(a, 0, NULL);
    char pattern[128], text[256];
    if (form.k != V_STR || form.s.n >= sizeof pattern)
        return ctx_fail(c, LODE_E_FORMAT, "strftime_now needs a short pattern");
    memcpy(pattern, form.s.p, form.s.n);
    pattern[form.s.n] = '\0';
    const time_t now = (time_t)c->now;
    struct tm tm;
    gmtime_r(&now, &tm);
    return v_str(c, text, strftime(text, sizeof text, pattern, &tm), 1);
}

void add_globals(ctx *c) {
    static const struct {
        const char *name;
        val (*fn)(ctx *c, val self, const call *a);
    } rows[] = { { "range", g_range },   { "namespace", g_namespace },   { "dict", g_dict },
                 { "joiner", g_joiner }, { "raise_exception", g_raise }, { "strftime_now", g_strftime } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !c->failed; i++) {
        func *f = ctx_alloc(c, 1, sizeof *f);
        if (!f) return;
        *f = (func){ .name = rows[i].name, .fn = rows[i].fn };
        dict_set(c, &c->globals->names, v_cstr(c, rows[i].name), (val){ .k = V_FUNC, .fn = f });
    }
}
