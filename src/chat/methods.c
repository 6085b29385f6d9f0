/* methods.c - methods of strings, lists and dicts. ASCII letters change case, others are left. */
#include "chat/eval.h"

#include <ctype.h>
#include <string.h>

static bool in_set(char ch, val set) {
    if (set.k == V_STR) return set.s.n && memchr(set.s.p, ch, set.s.n) != NULL;
    return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

static val strip(val v, const call *a, bool left, bool right) {
    const val set = arg(a, 0, "chars");
    size_t from = 0, to = v.s.n;
    while (left && from < to && in_set(v.s.p[from], set)) from++;
    while (right && to > from && in_set(v.s.p[to - 1], set)) to--;
    return substr(v, from, to - from);
}

static val m_strip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, true, true); }
static val m_lstrip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, true, false); }
static val m_rstrip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, false, true); }

/* First place of `what` from `from` on; v's length + 1 when there is none. */
static size_t place(str v, str what, size_t from) {
    for (size_t i = from; i + what.n <= v.n; i++)
        if (what.n == 0 || memcmp(v.p + i, what.p, what.n) == 0) return i;
    return v.n + 1;
}

static bool want_str(ctx *c, val v, const char *who) {
    if (v.k != V_STR && !c->failed) ctx_fail(c, LODE_E_FORMAT, "%s needs a string, got %s", who, kind_name(v));
    return v.k == V_STR && !c->failed;
}

static int64_t limit_of(const call *a) {
    const val most = arg(a, 1, "maxsplit");
    return most.k == V_INT && most.i >= 0 ? most.i : INT64_MAX;
}

static val m_split(ctx *c, val v, const call *a) {
    const val sep = arg(a, 0, "sep");
    const int64_t most = limit_of(a);
    val out = v_list(c);
    size_t from = 0;
    if (sep.k == V_STR) {
        if (sep.s.n == 0) return ctx_fail(c, LODE_E_FORMAT, "split: the separator is empty");
        for (int64_t n = 0; n < most && !c->failed; n++) {
            const size_t at = place(v.s, sep.s, from);
            if (at > v.s.n) break;
            list_push(c, out.l, substr(v, from, at - from));
            from = at + sep.s.n;
        }
        list_push(c, out.l, substr(v, from, v.s.n - from));
        return out;
    }
    for (int64_t n = 0; !c->failed; n++) {
        while (from < v.s.n && in_set(v.s.p[from], sep)) from++;
        if (from == v.s.n) break;
        size_t to = from;
        while (to < v.s.n && !in_set(v.s.p[to], sep)) to++;
        if (n == most) to = v.s.n;
        list_push(c, out.l, substr(v, from, to - from));
        from = to;
    }
    return out;
}

static val m_rsplit(ctx *c, val v, const call *a) {
    const val sep = arg(a, 0, "sep");
    if (sep.k != V_STR || sep.s.n == 0 || limit_of(a) == INT64_MAX) return m_split(c, v, a);
    const call all = { .args = a->args, .n = 1 };
    const val parts = m_split(c, v, &all);
    if (c->failed || (int64_t)parts.l->n <= limit_of(a) + 1) return parts;
    val out = v_list(c);
    const size_t keep = parts.l->n - (size_t)limit_of(a);
    const val last = parts.l->v[keep - 1];
    list_push(c, out.l, substr(v, 0, (size_t)(last.s.p - v.s.p) + last.s.n));
    for (size_t i = keep; i < parts.l->n; i++) list_push(c, out.l, parts.l->v[i]);
    return out;
}

static val m_splitlines(ctx *c, val v, const call *a) {
    (void)a;
    val out = v_list(c);
    for (size_t from = 0; !c->failed && from < v.s.n;) {
        size_t to = from;
        while (to < v.s.n && v.s.p[to] != '\n' && v.s.p[to] != '\r') to++;
        list_push(c, out.l, substr(v, from, to - from));
        from = to + (to + 1 < v.s.n && v.s.p[to] == '\r' && v.s.p[to + 1] == '\n' ? 2 : 1);
    }
    return out;
}

/* One prefix or suffix, or any of a tuple. */
static val ends(ctx *c, val v, const call *a, bool front) {
    const val what = arg(a, 0, NULL);
    if (what.k == V_LIST) {
        for (size_t i = 0; i < what.l->n; i++) {
            const call one = { .args = &what.l->v[i], .n = 1 };
            if (truthy(ends(c, v, &one, front))) return v_bool(true);
        }
        return v_bool(false);
    }
    if (!want_str(c, what, "startswith")) return what;
    const size_t at = front ? 0 : v.s.n - what.s.n;
    return v_bool(what.s.n <= v.s.n && memcmp(v.s.p + at, what.s.p, what.s.n) == 0);
}

static val m_startswith(ctx *c, val v, const call *a) { return ends(c, v, a, true); }
static val m_endswith(ctx *c, val v, const call *a) { return ends(c, v, a, false); }

static val m_replace(ctx *c, val v, const call *a) {
    const val old = arg(a, 0, "old"), with = to_text(c, arg(a, 1, "new")), most = arg(a, 2, "count");
    if (!want_str(c, old, "replace")) return old;
    sb s = { .c = c };
    size_t from = 0;
    for (int64_t n = 0; !c->failed && (most.k != V_INT || n < most.i); n++) {
        const size_t at = place(v.s, old.s, from);
        if (at > v.s.n) break;
        sb_add(&s, substr(v, from, at - from).s);
        sb_add(&s, with.s);
        from = at + old.s.n;
        if (old.s.n == 0) { /* between all characters */
            if (from == v.s.n) break;
            sb_add(&s, substr(v, from++, 1).s);
        }
    }
    if (from <= v.s.n) sb_add(&s, substr(v, from, v.s.n - from).s);
    return sb_val(&s);
}

typedef enum { CASE_UPPER, CASE_LOWER, CASE_TITLE, CASE_FIRST } letter_case;

static val recase(ctx *c, val v, letter_case how) {
    char *p = ctx_alloc(c, v.s.n, 1);
    bool start = true;
    for (size_t i = 0; p && i < v.s.n; i++) {
        const unsigned char ch = (unsigned char)v.s.p[i];
        const bool up = how == CASE_UPPER || ((how == CASE_TITLE || how == CASE_FIRST) && start);
        p[i] = (char)(ch >= 0x80 ? ch : up ? toupper(ch) : tolower(ch));
        start = how == CASE_TITLE ? !isalpha(ch) && ch < 0x80 : false;
    }
    return p ? (val){ .k = V_STR, .s = { p, v.s.mark, v.s.n } } : (val){ 0 };
}

static val m_upper(ctx *c, val v, const call *a) { return (void)a, recase(c, v, CASE_UPPER); }
static val m_lower(ctx *c, val v, const call *a) { return (void)a, recase(c, v, CASE_LOWER); }
static val m_title(ctx *c, val v, const call *a) { return (void)a, recase(c, v, CASE_TITLE); }
static val m_capitalize(ctx *c, val v, const call *a) { return (void)a, recase(c, v, CASE_FIRST); }

static val m_find(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    if (!want_str(c, what, "find")) return what;
    const size_t at = place(v.s, what.s, 0);
    return v_int(at > v.s.n ? -1 : (int64_t)at);
}

static val m_count(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    if (!want_str(c, what, "count")) return what;
    int64_t n = 0;
    for (size_t at = place(v.s, what.s, 0); at <= v.s.n; n++) at = place(v.s, what.s, at + (what.s.n ? what.s.n : 1));
    return v_int(n);
}

static val m_join(ctx *c, val v, const call *a) {
    const call sep = { .args = &v, .n = 1 };
    return apply_filter(c, "join", arg(a, 0, NULL), &sep);
}

static val m_append(ctx *c, val v, const call *a) {
    list_push(c, v.l, arg(a, 0, NULL));
    return (val){ .k = V_NONE };
}

static val m_extend(ctx *c, val v, const call *a) {
    const val more = iterate(c, arg(a, 0, NULL));
    for (size_t i = 0, n = c->failed ? 0 : more.l->n; i < n; i++) list_push(c, v.l, more.l->v[i]);
    return (val){ .k = V_NONE };
}

static val m_pop(ctx *c, val v, const call *a) {
    const val at = arg(a, 0, NULL);
    int64_t i = at.k == V_INT ? at.i : -1;
    if (i < 0) i += (int64_t)v.l->n;
    if (i < 0 || i >= (int64_t)v.l->n) return ctx_fail(c, LODE_E_FORMAT, "pop: no such item");
    const val item = v.l->v[i];
    memmove(v.l->v + i, v.l->v + i + 1, (v.l->n - 1 - (size_t)i) * sizeof item);
    v.l->n--;
    return item;
}

static val m_items(ctx *c, val v, const call *a) {
    (void)a;
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < v.d->n; i++) {
        val p = v_list(c);
        if (c->failed) break;
        list_push(c, p.l, v.d->k[i]);
        list_push(c, p.l, v.d->v[i]);
        p.l->tuple = true;
        list_push(c, out.l, p);
    }
    return out;
}

static val m_keys(ctx *c, val v, const call *a) { return (void)a, iterate(c, v); }

static val m_values(ctx *c, val v, const call *a) {
    (void)a;
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < v.d->n; i++) list_push(c, out.l, v.d->v[i]);
    return out;
}

static val m_get(ctx *c, val v, const call *a) {
    (void)c;
    const val *item = dict_get(v.d, arg(a, 0, NULL));
    const val otherwise = arg(a, 1, "default");
    return item ? *item : otherwise.k == V_UNDEF ? (val){ .k = V_NONE } : otherwise;
}

static val m_update(ctx *c, val v, const call *a) {
    const val more = arg(a, 0, NULL);
    for (size_t i = 0; more.k == V_DICT && !c->failed && i < more.d->n; i++)
        dict_set(c, v.d, more.d->k[i], more.d->v[i]);
    for (int i = 0; i < a->n_named; i++) dict_set(c, v.d, v_cstr(c, a->names[i]), a->args[a->n + i]);
    return (val){ .k = V_NONE };
}

val bind_method(ctx *c, val v, const char *name) {
    static const struct {
        val_kind kind;
        const char *name;
        val (*fn)(ctx *c, val self, const call *a);
    } rows[] = {
#define METHOD(kind, name, fn) { kind, name, fn },
#include "chat/methods.def"
#undef METHOD
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind != v.k || strcmp(rows[i].name, name) != 0) continue;
        func *f = ctx_alloc(c, 1, sizeof *f);
        if (!f) return (val){ 0 };
        *f = (func){ .name = name, .fn = rows[i].fn, .self = v };
        return (val){ .k = V_FUNC, .fn = f };
    }
    return (val){ 0 };
}
