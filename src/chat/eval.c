/* eval.c - walks the tree. */
#include "chat/eval.h"
#include "chat/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static val text_of(ctx *c, const node *n) { return v_str(c, n->text, n->text_n, 1); }

static bool step(ctx *c, const node *n) {
    if (c->failed) return false;
    if (n->line) c->line = n->line;
    if (--c->steps < 0) {
        ctx_fail(c, LODE_E_FULL, "the template takes more than %d steps", MAX_STEPS);
        return false;
    }
    return true;
}

static const val *look_up(const ctx *c, const char *name) {
    for (const frame *f = c->frame; f; f = f->up) {
        const val *v = dict_find(&f->names, name);
        if (v) return v;
    }
    return NULL;
}

static void put(ctx *c, const char *name, val v) { dict_set(c, &c->frame->names, v_cstr(c, name), v); }

static frame *push_frame(ctx *c, frame *up) {
    frame *f = ctx_alloc(c, 1, sizeof *f);
    if (f) f->up = up;
    return f;
}

/* ---- Operators ---- */

static bool whole(val v) { return v.k == V_INT || v.k == V_BOOL; }
static int64_t as_int(val v) { return v.k == V_BOOL ? v.b : v.i; }
static double as_float(val v) { return v.k == V_FLOAT ? v.f : (double)as_int(v); }

static val wrong(ctx *c, const char *op, val a, val b) {
    return ctx_fail(c, LODE_E_FORMAT, "%s between %s and %s", op, kind_name(a), kind_name(b));
}

static val add(ctx *c, val a, val b) {
    if (a.k == V_STR && b.k == V_STR) {
        sb s = { .c = c };
        sb_add(&s, a.s);
        sb_add(&s, b.s);
        return sb_val(&s);
    }
    if (a.k == V_LIST && b.k == V_LIST) {
        val l = v_list(c);
        for (size_t i = 0; i < a.l->n && !c->failed; i++) list_push(c, l.l, a.l->v[i]);
        for (size_t i = 0; i < b.l->n && !c->failed; i++) list_push(c, l.l, b.l->v[i]);
        if (!c->failed) l.l->tuple = a.l->tuple;
        return l;
    }
    return wrong(c, "+", a, b);
}

static val repeat(ctx *c, val a, val b) {
    if (a.k != V_STR && a.k != V_LIST) {
        const val t = a;
        a = b;
        b = t;
    }
    if ((a.k != V_STR && a.k != V_LIST) || !whole(b)) return wrong(c, "*", a, b);
    if (a.k == V_LIST) {
        val l = v_list(c);
        for (int64_t i = 0; i < as_int(b) && a.l->n && !c->failed; i++)
            for (size_t k = 0; k < a.l->n && !c->failed; k++) {
                if (--c->steps < 0) ctx_fail(c, LODE_E_FULL, "a list that is too long");
                list_push(c, l.l, a.l->v[k]);
            }
        if (!c->failed) l.l->tuple = a.l->tuple;
        return l;
    }
    sb s = { .c = c };
    for (int64_t i = 0; i < as_int(b) && !c->failed; i++) {
        sb_add(&s, a.s);
        if (a.s.n == 0) break;
    }
    return sb_val(&s);
}

static val whole_op(ctx *c, int op, int64_t a, int64_t b) {
    int64_t r = 0;
    bool over = false;
    if (op == OP_ADD) over = __builtin_add_overflow(a, b, &r);
    if (op == OP_SUB) over = __builtin_sub_overflow(a, b, &r);
    if (op == OP_MUL) over = __builtin_mul_overflow(a, b, &r);
    if (op == OP_INTDIV || op == OP_MOD) {
        if (b == 0) return ctx_fail(c, LODE_E_FORMAT, "division by zero");
        if (b == -1)
            return op == OP_MOD     ? v_int(0)
                   : a == INT64_MIN ? ctx_fail(c, LODE_E_FORMAT, "a number too large")
                                    : v_int(-a);
        int64_t q = a / b, m = a % b;
        if (m != 0 && (m < 0) != (b < 0)) { /* Python rounds down */
            q--;
            m += b;
        }
        r = op == OP_MOD ? m : q;
    }
    return over ? ctx_fail(c, LODE_E_FORMAT, "a number too large") : v_int(r);
}

/* "form" % values. */
static val percent(ctx *c, val form, val values) {
    const bool several = values.k == V_LIST && values.l->tuple;
    const call a = { .args = several ? values.l->v : &values, .n = several ? (int)values.l->n : 1 };
    return format_text(c, form, &a);
}

static val arithmetic(ctx *c, int op, val a, val b) {
    static const char *const names[] = { "+", "-", "*", "/", "//", "%", "**" };
    if (op == OP_MOD && a.k == V_STR) return percent(c, a, b);
    const bool numbers = (whole(a) || a.k == V_FLOAT) && (whole(b) || b.k == V_FLOAT);
    if (!numbers) return op == OP_ADD ? add(c, a, b) : op == OP_MUL ? repeat(c, a, b) : wrong(c, names[op], a, b);
    const double x = as_float(a), y = as_float(b);
    if (op == OP_POW) {
        const double r = pow(x, y);
        return whole(a) && whole(b) && y >= 0 && fabs(r) < 9e15 ? v_int((int64_t)r) : v_float(r);
    }
    if (op != OP_DIV && whole(a) && whole(b)) return whole_op(c, op, as_int(a), as_int(b));
    if ((op == OP_DIV || op == OP_INTDIV || op == OP_MOD) && y == 0)
        return ctx_fail(c, LODE_E_FORMAT, "division by zero");
    if (op == OP_ADD) return v_float(x + y);
    if (op == OP_SUB) return v_float(x - y);
    if (op == OP_MUL) return v_float(x * y);
    if (op == OP_DIV) return v_float(x / y);
    const double q = floor(x / y);
    return v_float(op == OP_INTDIV ? q : x - q * y);
}

val plus(ctx *c, val a, val b) { return c->failed ? a : arithmetic(c, OP_ADD, a, b); }

bool contains(ctx *c, val of, val what) {
    if (of.k == V_STR && what.k == V_STR) return text_find(of.s, what.s, 0) <= of.s.n;
    if (of.k == V_DICT) return dict_get(of.d, what) != NULL;
    if (of.k == V_LIST) {
        for (size_t i = 0; i < of.l->n; i++)
            if (equal(of.l->v[i], what)) return true;
        return false;
    }
    if (of.k != V_UNDEF) ctx_fail(c, LODE_E_FORMAT, "in: %s holds nothing", kind_name(of));
    return false;
}

/* Which outcomes of compare() (-1, 0, 1 as bits 0, 1, 2) make an order hold. */
static val order(ctx *c, int op, val a, val b) {
    static const unsigned holds[] = { [OP_LT] = 1u, [OP_LE] = 3u, [OP_GT] = 4u, [OP_GE] = 6u };
    return v_bool(holds[op] >> (compare(c, a, b) + 1) & 1u);
}

static val binary(ctx *c, const node *n) {
    const val a = eval(c, n->a), b = eval(c, n->b);
    const int op = n->op;
    if (c->failed) return a;
    if (op == OP_CONCAT) return add(c, to_text(c, a), to_text(c, b));
    if (op == OP_EQ || op == OP_NE) return v_bool(equal(a, b) == (op == OP_EQ));
    if (op == OP_IN || op == OP_NOT_IN) return v_bool(contains(c, b, a) == (op == OP_IN));
    return op >= OP_LT && op <= OP_GE ? order(c, op, a, b) : arithmetic(c, op, a, b);
}

/* ---- Items ---- */

val unsafe(ctx *c, val of, const char *name) {
    static const char *const names[] = { "undefined", "NoneType", "bool", "int",     "float",
                                         "str",       "list",     "dict", "function" };
    const char *kind = of.k == V_LIST && of.l->tuple ? "tuple" : names[of.k];
    char *text = ctx_alloc(c, 160, 1);
    if (text) snprintf(text, 160, "access to attribute '%.60s' of '%s' object is unsafe", name, kind);
    return (val){ .k = V_UNDEF, .unsafe = text };
}

/* What a value has besides items: methods, and names that the sandbox keeps from templates. */
static val attribute(ctx *c, val v, const char *name) {
    const size_t n = name ? strlen(name) : 0;
    if (n > 4 && !memcmp(name, "__", 2) && !memcmp(name + n - 2, "__", 2)) return unsafe(c, v, name);
    if (v.k == V_LIST && v.l->group && n && (!strcmp(name, "grouper") || !strcmp(name, "list")))
        return v.l->v[name[0] == 'l'];
    return n ? bind_method(c, v, name) : (val){ 0 };
}

val get_item(ctx *c, val v, val key) {
    if (v.k == V_DICT) {
        const val *item = dict_get(v.d, key);
        if (item || key.k != V_STR || v.d->is_namespace) return item ? *item : (val){ 0 };
    }
    if ((v.k == V_LIST || v.k == V_STR) && whole(key)) {
        const val items = iterate(c, v);
        if (c->failed) return items;
        int64_t i = as_int(key);
        if (i < 0) i += (int64_t)items.l->n;
        return i >= 0 && i < (int64_t)items.l->n ? items.l->v[i] : (val){ 0 };
    }
    if (key.k == V_STR && v.k != V_UNDEF)
        return attribute(c, v, key.s.n < 64 ? lode_arena_strdup(c->arena, key.s.p, key.s.n) : "");
    if (v.k == V_UNDEF) return ctx_fail(c, LODE_E_FORMAT, "an item of a value that is undefined");
    return (val){ 0 };
}

val get_attr(ctx *c, val v, const char *name) {
    if (v.k == V_UNDEF && v.unsafe) return ctx_fail(c, LODE_E_FORMAT, "%s", v.unsafe);
    if (v.k == V_UNDEF) return ctx_fail(c, LODE_E_FORMAT, "'%s' of a value that is undefined", name);
    const val own = v.k == V_DICT && v.d->is_namespace ? (val){ 0 } : attribute(c, v, name);
    if (own.k != V_UNDEF || own.unsafe) return own;
    if (v.k != V_DICT) return (val){ 0 };
    const val *item = dict_find(v.d, name);
    return item ? *item : (val){ 0 };
}

static val slice(ctx *c, const node *n) {
    const val of = eval(c, n->a);
    int64_t part[3] = { 0, 0, 1 };
    bool given[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        const val v = n->kids[i] ? eval(c, n->kids[i]) : (val){ .k = V_NONE };
        given[i] = v.k != V_NONE;
        if (given[i] && !whole(v)) return ctx_fail(c, LODE_E_FORMAT, "a slice needs whole numbers");
        if (given[i]) part[i] = as_int(v);
    }
    const val items = iterate(c, of);
    if (c->failed) return items;
    const int64_t len = (int64_t)items.l->n, by = part[2];
    if (by == 0) return ctx_fail(c, LODE_E_FORMAT, "a slice with step 0");
    for (int i = 0; i < 2; i++) {
        if (!given[i])
            part[i] = (i == 0) == (by > 0) ? 0 : len;
        else if (part[i] < 0)
            part[i] += len;
        if (part[i] < 0) part[i] = by > 0 ? 0 : -1;
        if (part[i] > len) part[i] = len;
    }
    if (by < 0 && !given[0]) part[0] = len - 1;
    if (by < 0 && part[0] >= len) part[0] = len - 1;
    if (by < 0 && !given[1]) part[1] = -1;
    val out = v_list(c);
    for (int64_t i = part[0]; !c->failed && (by > 0 ? i < part[1] : i > part[1]); i += by)
        list_push(c, out.l, items.l->v[i]);
    if (c->failed || of.k != V_STR) return out;
    sb s = { .c = c };
    for (size_t i = 0; i < out.l->n; i++) sb_add(&s, out.l->v[i].s);
    return sb_val(&s);
}

/* ---- Calls ---- */

const val *given_arg(const call *a, int i, const char *name) {
    if (i >= 0 && i < a->n) return &a->args[i];
    for (int k = 0; name && k < a->n_named; k++)
        if (strcmp(a->names[k], name) == 0) return &a->args[a->n + k];
    return NULL;
}

val arg(const call *a, int i, const char *name) {
    const val *v = given_arg(a, i, name);
    return v ? *v : (val){ 0 };
}

/* Arguments of a call, filter or test: positional first, then named. */
static call arguments(ctx *c, const node *n) {
    call a = { 0 };
    val *v = ctx_alloc(c, (size_t)n->n, sizeof *v);
    const char **names = ctx_alloc(c, (size_t)n->n, sizeof *names);
    if (!v || !names) return a;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n->n && !c->failed; i++) {
            if ((n->names[i] != NULL) != (pass == 1)) continue;
            if (n->names[i]) names[a.n_named] = n->names[i];
            v[a.n + a.n_named] = eval(c, n->kids[i]);
            if (n->names[i])
                a.n_named++;
            else
                a.n++;
        }
    a.args = v;
    a.names = names;
    return a;
}

/* Takes what was written since the output had `from` bytes as a value. */
static val take_back(ctx *c, size_t from) {
    if (c->failed) return (val){ 0 };
    sb s = { .c = c };
    if (c->out.n == from) return sb_val(&s); /* there may be no output at all yet */
    sb_add(&s, (str){ c->out.p + from, (const unsigned char *)c->marks.p + from, c->out.n - from });
    c->out.n = c->marks.n = from;
    return sb_val(&s);
}

/* Runs a body, whose names are its own, and takes what it wrote as a value. */
static val capture(ctx *c, const node *body) {
    const size_t from = c->out.n;
    frame *saved = c->frame;
    c->frame = push_frame(c, saved);
    if (c->frame) run(c, body);
    c->frame = saved;
    return take_back(c, from);
}

/* Arguments that a macro has no names for: in varargs and kwargs if it speaks of these. */
static void more_arguments(ctx *c, const func *f, const call *a) {
    const node *m = f->macro;
    val rest = v_list(c), named = v_dict(c);
    for (int i = m->n; i < a->n && !c->failed; i++) list_push(c, rest.l, a->args[i]);
    for (int i = 0; i < a->n_named && !c->failed; i++) {
        bool known = false;
        for (int k = 0; k < m->n && !known; k++) known = !strcmp(m->names[k], a->names[i]);
        if (!known) dict_set(c, named.d, v_cstr(c, a->names[i]), a->args[a->n + i]);
    }
    if (c->failed) return;
    rest.l->tuple = true;
    if (rest.l->n && !(m->op & USES_VARARGS))
        ctx_fail(c, LODE_E_FORMAT, "macro %s takes %d arguments, %d were given", f->name, m->n, a->n);
    if (named.d->n && !(m->op & USES_KWARGS))
        ctx_fail(c, LODE_E_FORMAT, "macro %s takes no argument '%.*s'", f->name, (int)named.d->k[0].s.n,
                 named.d->k[0].s.p);
    put(c, "varargs", rest);
    put(c, "kwargs", named);
}

static val call_macro(ctx *c, func *f, const call *a) {
    const node *m = f->macro;
    frame *saved = c->frame, *mine = push_frame(c, f->home);
    if (!mine) return (val){ 0 };
    c->frame = mine;
    more_arguments(c, f, a);
    for (int i = 0; i < m->n && !c->failed; i++) {
        const val *v = given_arg(a, i, m->names[i]);
        put(c, m->names[i], v ? *v : m->kids[i] ? eval(c, m->kids[i]) : (val){ 0 });
    }
    if (f->caller) put(c, "caller", (val){ .k = V_FUNC, .fn = f->caller });
    const val text = capture(c, m->b);
    c->frame = saved;
    return text;
}

val call_value(ctx *c, val f, const call *a) {
    if (c->failed) return f;
    if (f.k == V_DICT && f.d->call) f = (val){ .k = V_FUNC, .fn = f.d->call };
    if (f.k != V_FUNC) return ctx_fail(c, LODE_E_FORMAT, "%s is called like a function", kind_name(f));
    if (++c->depth > MAX_DEPTH) return ctx_fail(c, LODE_E_FULL, "calls nested more than %d deep", MAX_DEPTH);
    const val r = f.fn->macro ? call_macro(c, f.fn, a) : f.fn->fn(c, f.fn->self, a);
    c->depth--;
    return r;
}

static val call_node(ctx *c, const node *n) {
    const val f = eval(c, n->a);
    if (f.k == V_UNDEF && f.unsafe) return ctx_fail(c, LODE_E_FORMAT, "%s", f.unsafe);
    if (f.k == V_UNDEF && !c->failed)
        return ctx_fail(c, LODE_E_FORMAT, "'%s' is undefined and called", n->a->text ? n->a->text : "a value");
    const call a = arguments(c, n);
    return call_value(c, f, &a);
}

/* ---- Expressions ---- */

static val collection(ctx *c, const node *n) {
    if (n->kind == N_DICT) {
        val d = v_dict(c);
        for (int i = 0; i + 1 < n->n && !c->failed; i += 2) {
            const val k = eval(c, n->kids[i]), v = eval(c, n->kids[i + 1]);
            if (!c->failed) dict_set(c, d.d, k, v);
        }
        return d;
    }
    val l = v_list(c);
    for (int i = 0; i < n->n && !c->failed; i++) list_push(c, l.l, eval(c, n->kids[i]));
    if (!c->failed) l.l->tuple = n->kind == N_TUPLE;
    return l;
}

static val negative(ctx *c, const node *n) {
    const val v = eval(c, n->a);
    if (v.k == V_FLOAT) return v_float(-v.f);
    if (whole(v)) return whole_op(c, OP_SUB, 0, as_int(v));
    return ctx_fail(c, LODE_E_FORMAT, "- before %s", kind_name(v));
}

static val eval_here(ctx *c, const node *n) {
    val v;
    call a;
    switch (n->kind) {
    case N_NUMBER:
    case N_CONST: return n->value;
    case N_STRING: return text_of(c, n);
    case N_NAME: {
        const val *found = look_up(c, n->text);
        return found ? *found : (val){ 0 };
    }
    case N_LIST:
    case N_TUPLE:
    case N_DICT: return collection(c, n);
    case N_ATTR: return get_attr(c, eval(c, n->a), n->text);
    case N_INDEX: v = eval(c, n->a); return c->failed ? v : get_item(c, v, eval(c, n->b));
    case N_SLICE: return slice(c, n);
    case N_CALL: return call_node(c, n);
    case N_FILTER:
        v = eval(c, n->a);
        a = arguments(c, n);
        return c->failed ? v : apply_filter(c, n->text, v, &a);
    case N_TEST:
        v = eval(c, n->a);
        a = arguments(c, n);
        return c->failed ? v : v_bool(apply_test(c, n->text, v, &a) != (n->op != 0));
    case N_NOT: return v_bool(!truthy(eval(c, n->a)));
    case N_NEG: return negative(c, n);
    case N_BINARY: return binary(c, n);
    case N_AND: v = eval(c, n->a); return truthy(v) ? eval(c, n->b) : v;
    case N_OR: v = eval(c, n->a); return truthy(v) ? v : eval(c, n->b);
    case N_COND: v = eval(c, n->b); return truthy(v) ? eval(c, n->a) : n->c ? eval(c, n->c) : (val){ 0 };
    default: return (val){ 0 };
    }
}

val eval(ctx *c, const node *n) {
    if (!step(c, n)) return (val){ 0 };
    if (++c->depth > 4 * MAX_DEPTH) return ctx_fail(c, LODE_E_FULL, "expressions nested too deep");
    const val v = eval_here(c, n);
    c->depth--;
    return c->failed ? (val){ 0 } : v;
}

/* ---- Statements ---- */

static void emit(ctx *c, val v) {
    if (c->failed) return;
    lode_str_add(&c->out, v.s.p, v.s.n);
    lode_str_add(&c->marks, (const char *)v.s.mark, v.s.n);
    if (c->out.failed || c->marks.failed) ctx_fail(c, LODE_E_NOMEM, "out of memory");
    if (c->out.n > MAX_OUT) ctx_fail(c, LODE_E_FULL, "more than %d bytes of output", MAX_OUT);
}

static void unpack(ctx *c, node *const *targets, int n, val v);

static void assign(ctx *c, const node *target, val v) {
    if (c->failed) return;
    if (target->kind == N_NAME) {
        put(c, target->text, v);
    } else if (target->kind == N_ATTR) {
        const val d = eval(c, target->a);
        if (d.k == V_DICT && d.d->is_namespace)
            dict_set(c, d.d, v_cstr(c, target->text), v);
        else if (!c->failed)
            ctx_fail(c, LODE_E_FORMAT, "only attributes of a namespace can be set, not of %s", kind_name(d));
    } else if (target->kind == N_TUPLE || target->kind == N_LIST) {
        unpack(c, target->kids, target->n, v);
    } else {
        ctx_fail(c, LODE_E_FORMAT, "this cannot be set");
    }
}

/* The items of a list for several targets. */
static void unpack(ctx *c, node *const *targets, int n, val v) {
    const val items = iterate(c, v);
    if (c->failed) return;
    if (items.l->n != (size_t)n) {
        ctx_fail(c, LODE_E_FORMAT, "%d names for %zu values", n, items.l->n);
        return;
    }
    for (int i = 0; i < n; i++) assign(c, targets[i], items.l->v[i]);
}

/* One value for the target of a statement, or the items of a list for its targets. */
static void assign_all(ctx *c, const node *n, val v) {
    if (n->n == 1)
        assign(c, n->kids[0], v);
    else if (!c->failed)
        unpack(c, n->kids, n->n, v);
}

static val cycle(ctx *c, val self, const call *a) {
    const val *i = dict_find(self.d, "index0");
    return a->n ? a->args[i ? i->i % a->n : 0] : ctx_fail(c, LODE_E_FORMAT, "cycle without values");
}

/* Whether the values differ from those of the last call. */
static val changed(ctx *c, val self, const call *a) {
    val now = v_list(c);
    for (int i = 0; i < a->n && !c->failed; i++) list_push(c, now.l, a->args[i]);
    const val key = v_cstr(c, "changed values");
    const val *last = c->failed ? NULL : dict_get(self.d, key);
    const bool same = last && equal(*last, now);
    dict_set(c, self.d, key, now);
    return v_bool(!same);
}

static val again(ctx *c, val self, const call *a);

static void set_method(ctx *c, val of, const char *name, val (*fn)(ctx *c, val self, const call *a)) {
    func *f = ctx_alloc(c, 1, sizeof *f);
    if (!f) return;
    *f = (func){ .name = name, .fn = fn, .self = of };
    dict_set(c, of.d, v_cstr(c, name), (val){ .k = V_FUNC, .fn = f });
}

/* The variable `loop` of a loop within `depth` others of itself. */
static val make_loop(ctx *c, const node *n, int depth) {
    val d = v_dict(c);
    func *f = ctx_alloc(c, 1, sizeof *f);
    if (c->failed) return d;
    *f = (func){ .name = "loop", .fn = again, .self = d, .loop = n, .home = c->frame };
    d.d->is_namespace = true; /* its names are no methods */
    d.d->call = f;
    set_method(c, d, "cycle", cycle);
    set_method(c, d, "changed", changed);
    dict_set(c, d.d, v_cstr(c, "depth"), v_int(depth + 1));
    dict_set(c, d.d, v_cstr(c, "depth0"), v_int(depth));
    return d;
}

static void set_loop(ctx *c, val d, val items, int64_t i) {
    const int64_t n = (int64_t)items.l->n;
    const struct {
        const char *name;
        val v;
    } rows[] = { { "index", v_int(i + 1) },
                 { "index0", v_int(i) },
                 { "first", v_bool(i == 0) },
                 { "last", v_bool(i == n - 1) },
                 { "length", v_int(n) },
                 { "revindex", v_int(n - i) },
                 { "revindex0", v_int(n - i - 1) },
                 { "previtem", i > 0 ? items.l->v[i - 1] : (val){ 0 } },
                 { "nextitem", i + 1 < n ? items.l->v[i + 1] : (val){ 0 } } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !c->failed; k++)
        dict_set(c, d.d, v_cstr(c, rows[k].name), rows[k].v);
    put(c, "loop", d);
}

/* The items that the loop's condition lets through. */
static val filtered(ctx *c, const node *n, val items) {
    if (!n->extra) return items;
    val out = v_list(c);
    frame *saved = c->frame;
    for (size_t i = 0; i < items.l->n && !c->failed; i++) {
        c->frame = push_frame(c, saved);
        if (!c->frame) break;
        assign_all(c, n, items.l->v[i]);
        if (truthy(eval(c, n->extra))) list_push(c, out.l, items.l->v[i]);
    }
    c->frame = saved;
    return out;
}

static void loop_over(ctx *c, const node *n, val items, int depth) {
    items = iterate(c, items);
    if (!c->failed) items = filtered(c, n, items);
    if (c->failed) return;
    frame *saved = c->frame;
    const val loop = make_loop(c, n, depth);
    const int64_t count = (int64_t)items.l->n;
    for (int64_t i = 0; i < count && !c->failed; i++) {
        c->frame = push_frame(c, saved);
        if (!c->frame) break;
        set_loop(c, loop, items, i);
        assign_all(c, n, items.l->v[i]);
        run(c, n->b);
        const int jump = c->jump;
        c->jump = JUMP_NONE;
        if (jump == JUMP_BREAK) break;
    }
    c->frame = saved;
    if (count == 0 && n->c) run(c, n->c);
}

/* loop(items): the loop again, over other items, as text. */
static val again(ctx *c, val self, const call *a) {
    const func *f = self.d->call;
    const val *depth = dict_find(self.d, "depth");
    if (!f->loop->op)
        return ctx_fail(c, LODE_E_FORMAT, "the loop must have the 'recursive' marker to be called recursively");
    const size_t from = c->out.n;
    frame *saved = c->frame;
    c->frame = f->home;
    loop_over(c, f->loop, arg(a, 0, NULL), (int)int_or(*depth, 1));
    c->frame = saved;
    return take_back(c, from);
}

/* {% with %}: the values are of the outside, the names of the inside. */
static void run_with(ctx *c, const node *n) {
    frame *saved = c->frame, *mine = push_frame(c, saved);
    for (int i = 0; i < n->n && mine && !c->failed; i++) {
        c->frame = saved;
        const val v = eval(c, n->kids[i]);
        c->frame = mine;
        put(c, n->names[i], v);
    }
    c->frame = mine;
    if (mine) run(c, n->b);
    c->frame = saved;
}

static void run_macro(ctx *c, const node *n) {
    func *f = ctx_alloc(c, 1, sizeof *f);
    if (!f) return;
    *f = (func){ .name = n->text, .macro = n, .home = c->frame };
    put(c, n->text, (val){ .k = V_FUNC, .fn = f });
}

static void run_call_block(ctx *c, const node *n) {
    if (n->a->kind != N_CALL) {
        ctx_fail(c, LODE_E_FORMAT, "call needs a macro");
        return;
    }
    const val f = eval(c, n->a->a);
    const call a = arguments(c, n->a);
    func *caller = ctx_alloc(c, 1, sizeof *caller), *bound = ctx_alloc(c, 1, sizeof *bound);
    if (c->failed) return;
    if (f.k != V_FUNC || !f.fn->macro) {
        ctx_fail(c, LODE_E_FORMAT, "call needs a macro");
        return;
    }
    *caller = (func){ .name = "caller", .macro = n, .home = c->frame };
    *bound = *f.fn;
    bound->caller = caller;
    emit(c, call_value(c, (val){ .k = V_FUNC, .fn = bound }, &a));
}

/* Filters of a block, the innermost first. */
static val filter_chain(ctx *c, const node *f, val v) {
    if (!f) return v;
    v = filter_chain(c, f->a, v);
    const call a = arguments(c, f);
    return c->failed ? v : apply_filter(c, f->text, v, &a);
}

static void run_here(ctx *c, const node *n) {
    switch (n->kind) {
    case N_BODY:
        for (int i = 0; i < n->n && !c->failed && !c->jump; i++) run(c, n->kids[i]);
        break;
    case N_TEXT: emit(c, text_of(c, n)); break;
    case N_OUT: {
        const val v = eval(c, n->a);
        if (!c->failed) emit(c, to_text(c, v));
        break;
    }
    case N_IF:
        if (truthy(eval(c, n->a)))
            run(c, n->b);
        else if (n->c)
            run(c, n->c);
        break;
    case N_FOR: loop_over(c, n, eval(c, n->a), 0); break;
    case N_WITH: run_with(c, n); break;
    case N_SET: {
        const val v = eval(c, n->a);
        assign_all(c, n, v);
        break;
    }
    case N_SET_BLOCK: {
        const val v = filter_chain(c, n->extra, capture(c, n->b));
        if (!c->failed) assign(c, n->kids[0], v);
        break;
    }
    case N_FILTER_BLOCK: {
        const val v = filter_chain(c, n->extra, capture(c, n->b));
        if (!c->failed) emit(c, to_text(c, v));
        break;
    }
    case N_SCOPE: {
        const val v = capture(c, n->b);
        if (!c->failed) emit(c, v);
        break;
    }
    case N_MACRO: run_macro(c, n); break;
    case N_CALL_BLOCK: run_call_block(c, n); break;
    case N_BREAK: c->jump = JUMP_BREAK; break;
    case N_CONTINUE: c->jump = JUMP_CONTINUE; break;
    default: break;
    }
}

void run(ctx *c, const node *n) {
    if (!step(c, n)) return;
    if (++c->depth > 4 * MAX_DEPTH)
        ctx_fail(c, LODE_E_FULL, "statements nested too deep");
    else
        run_here(c, n);
    c->depth--;
}
