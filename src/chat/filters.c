/* filters.c - filters on lists and numbers; those on strings are methods, too (methods.c). */
#include "chat/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool whole(val v) { return v.k == V_INT || v.k == V_BOOL; }
static int64_t as_int(val v) { return v.k == V_BOOL ? v.b : v.i; }

val iterate(ctx *c, val v) {
    if (v.k == V_LIST) return v;
    val l = v_list(c);
    if (v.k == V_DICT)
        for (size_t i = 0; i < v.d->n && !c->failed; i++) list_push(c, l.l, v.d->k[i]);
    else if (v.k == V_STR)
        for (size_t i = 0; i < v.s.n && !c->failed;) {
            uint32_t cp;
            const int len = lode_utf8_next(v.s.p + i, v.s.n - i, &cp);
            list_push(c, l.l, substr(v, i, len > 0 ? (size_t)len : 1));
            i += len > 0 ? (size_t)len : 1;
        }
    else if (v.k != V_UNDEF)
        return ctx_fail(c, LODE_E_FORMAT, "%s cannot be looped over", kind_name(v));
    return l;
}

static val f_tojson(ctx *c, val v, const call *a) {
    const val indent = arg(a, 0, "indent"), ascii = arg(a, -1, "ensure_ascii"), sort = arg(a, -1, "sort_keys");
    return to_json(c, v,
                   (json_style){ .indent = whole(indent) ? (int)as_int(indent) : -1,
                                 .sort_keys = truthy(sort),
                                 .ascii = truthy(ascii) });
}

static val f_default(ctx *c, val v, const call *a) {
    (void)c;
    const bool falsy = truthy(arg(a, 1, "boolean"));
    return v.k == V_UNDEF || (falsy && !truthy(v)) ? arg(a, 0, "default_value") : v;
}

static val f_join(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), sep = to_text(c, arg(a, 0, "d")), by = arg(a, 1, "attribute");
    sb s = { .c = c };
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        if (i) sb_add(&s, sep.s);
        const val item = by.k == V_UNDEF ? items.l->v[i] : get_item(c, items.l->v[i], by);
        const val t = to_text(c, item);
        if (!c->failed) sb_add(&s, t.s);
    }
    return sb_val(&s);
}

/* A string value as a C string; NULL for another kind. */
static const char *name_of(ctx *c, val v) {
    return v.k == V_STR && !c->failed ? lode_arena_strdup(c->arena, v.s.p, v.s.n) : NULL;
}

/* What lies at "a.b" of an item. */
static val path(ctx *c, val v, val name) {
    if (name.k != V_STR) return get_item(c, v, name);
    size_t from = 0;
    for (size_t i = 0; i <= name.s.n && !c->failed; i++) {
        if (i < name.s.n && name.s.p[i] != '.') continue;
        v = v.k == V_UNDEF ? v : get_item(c, v, substr(name, from, i - from));
        from = i + 1;
    }
    return v;
}

static call rest(const call *a, int skip) {
    call r = *a;
    r.args = a->args + (a->n < skip ? a->n : skip);
    r.n = a->n < skip ? 0 : a->n - skip;
    return r;
}

static val f_map(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), by = arg(a, -1, "attribute"), otherwise = arg(a, -1, "default");
    const char *filter = by.k == V_UNDEF ? name_of(c, arg(a, 0, NULL)) : NULL;
    const call more = rest(a, 1);
    val out = v_list(c);
    if (by.k == V_UNDEF && !filter)
        return ctx_fail(c, LODE_E_FORMAT, "map: expected the name of a filter or attribute=");
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        val r = filter ? apply_filter(c, filter, items.l->v[i], &more) : path(c, items.l->v[i], by);
        if (r.k == V_UNDEF && otherwise.k != V_UNDEF) r = otherwise;
        list_push(c, out.l, r);
    }
    return out;
}

/* Items for which a test holds; `attr`: the test is of an attribute, named first. */
static val choose(ctx *c, val v, const call *a, bool attr, bool keep) {
    const val items = iterate(c, v), by = attr ? arg(a, 0, NULL) : (val){ 0 };
    const char *test = name_of(c, arg(a, attr ? 1 : 0, NULL));
    const call more = rest(a, attr ? 2 : 1);
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        const val x = attr ? path(c, items.l->v[i], by) : items.l->v[i];
        const bool holds = test ? apply_test(c, test, x, &more) : truthy(x);
        if (holds == keep) list_push(c, out.l, items.l->v[i]);
    }
    return out;
}

static val f_select(ctx *c, val v, const call *a) { return choose(c, v, a, false, true); }
static val f_reject(ctx *c, val v, const call *a) { return choose(c, v, a, false, false); }
static val f_selectattr(ctx *c, val v, const call *a) { return choose(c, v, a, true, true); }
static val f_rejectattr(ctx *c, val v, const call *a) { return choose(c, v, a, true, false); }

static val f_length(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return c->failed ? items : v_int((int64_t)items.l->n);
}

static val f_first(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return !c->failed && items.l->n ? items.l->v[0] : (val){ 0 };
}

static val f_last(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return !c->failed && items.l->n ? items.l->v[items.l->n - 1] : (val){ 0 };
}

static val f_list(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < items.l->n; i++) list_push(c, out.l, items.l->v[i]);
    return out;
}

/* Key of an item for sorting: an attribute, strings without case unless asked for. */
static val sort_key(ctx *c, val v, val by, bool keep_case) {
    if (by.k != V_UNDEF) v = path(c, v, by);
    const call none = { 0 };
    return v.k == V_STR && !keep_case ? apply_filter(c, "lower", v, &none) : v;
}

/* Stable insertion sort of items by their keys: lists of templates are short. */
static val sorted(ctx *c, val items, const val *keys, bool reverse) {
    size_t *order = ctx_alloc(c, items.l->n, sizeof *order);
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        size_t at = i;
        for (; at > 0 && !c->failed; at--) {
            const int r = compare(c, keys[order[at - 1]], keys[i]);
            if (reverse ? r >= 0 : r <= 0) break;
            order[at] = order[at - 1];
        }
        order[at] = i;
        c->steps -= (int64_t)(i - at);
        if (c->steps < 0) ctx_fail(c, LODE_E_FULL, "sorting takes too many steps");
    }
    for (size_t i = 0; !c->failed && i < items.l->n; i++) list_push(c, out.l, items.l->v[order[i]]);
    return out;
}

static val f_sort(ctx *c, val v, const call *a) {
    const val items = iterate(c, v);
    const bool reverse = truthy(arg(a, 0, "reverse")), keep_case = truthy(arg(a, 1, "case_sensitive"));
    val *keys = c->failed ? NULL : ctx_alloc(c, items.l->n, sizeof *keys);
    for (size_t i = 0; keys && i < items.l->n; i++)
        keys[i] = sort_key(c, items.l->v[i], arg(a, 2, "attribute"), keep_case);
    return keys ? sorted(c, items, keys, reverse) : (val){ 0 };
}

static val pair(ctx *c, val k, val v) {
    val p = v_list(c);
    if (c->failed) return p;
    list_push(c, p.l, k);
    list_push(c, p.l, v);
    p.l->tuple = true;
    return p;
}

static val f_dictsort(ctx *c, val v, const call *a) {
    const val by = arg(a, 1, "by");
    const bool by_value = by.k == V_STR && by.s.n == 5, reverse = truthy(arg(a, 2, "reverse"));
    if (v.k != V_DICT) return ctx_fail(c, LODE_E_FORMAT, "dictsort of %s", kind_name(v));
    val items = v_list(c), *keys = ctx_alloc(c, v.d->n, sizeof *keys);
    for (size_t i = 0; keys && !c->failed && i < v.d->n; i++) {
        list_push(c, items.l, pair(c, v.d->k[i], v.d->v[i]));
        keys[i] = sort_key(c, by_value ? v.d->v[i] : v.d->k[i], (val){ 0 }, truthy(arg(a, 0, "case_sensitive")));
    }
    return c->failed ? items : sorted(c, items, keys, reverse);
}

static val f_unique(ctx *c, val v, const call *a) {
    const val items = iterate(c, v);
    val out = v_list(c), seen = v_list(c);
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        const val key = sort_key(c, items.l->v[i], arg(a, 1, "attribute"), truthy(arg(a, 0, "case_sensitive")));
        bool known = false;
        for (size_t k = 0; k < seen.l->n && !known; k++) known = equal(seen.l->v[k], key);
        if (known) continue;
        list_push(c, seen.l, key);
        list_push(c, out.l, items.l->v[i]);
    }
    return out;
}

static val f_reverse(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    val out = v_list(c);
    sb s = { .c = c };
    for (size_t i = c->failed ? 0 : items.l->n; i-- > 0 && !c->failed;) {
        if (v.k == V_STR)
            sb_add(&s, items.l->v[i].s);
        else
            list_push(c, out.l, items.l->v[i]);
    }
    return v.k == V_STR ? sb_val(&s) : out;
}

static val extreme(ctx *c, val v, const call *a, int sign) {
    const val items = iterate(c, v);
    val best = { 0 };
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        const val by = arg(a, -1, "attribute");
        if (i == 0 || compare(c, sort_key(c, items.l->v[i], by, false), sort_key(c, best, by, false)) * sign > 0)
            best = items.l->v[i];
    }
    return best;
}

static val f_min(ctx *c, val v, const call *a) { return extreme(c, v, a, -1); }
static val f_max(ctx *c, val v, const call *a) { return extreme(c, v, a, 1); }

static double as_float(val v) { return v.k == V_FLOAT ? v.f : (double)as_int(v); }

static val f_sum(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), by = arg(a, 0, "attribute");
    int64_t i_sum = 0;
    double f_part = 0;
    bool real = false;
    for (size_t i = 0; !c->failed && i < items.l->n; i++) {
        const val x = by.k == V_UNDEF ? items.l->v[i] : path(c, items.l->v[i], by);
        if (!whole(x) && x.k != V_FLOAT) return ctx_fail(c, LODE_E_FORMAT, "sum of %s", kind_name(x));
        real = real || x.k == V_FLOAT;
        f_part += as_float(x);
        if (whole(x)) i_sum += as_int(x);
    }
    return real ? v_float(f_part) : v_int(i_sum);
}

static val f_int(ctx *c, val v, const call *a) {
    const val otherwise = arg(a, 0, "default");
    if (whole(v)) return v_int(as_int(v));
    if (v.k == V_FLOAT && fabs(v.f) < 9e18) return v_int((int64_t)v.f);
    const char *s = name_of(c, v);
    char *end;
    const double d = s ? strtod(s, &end) : 0;
    if (s && end != s && strspn(end, " \n\t") == strlen(end) && fabs(d) < 9e15) return v_int((int64_t)d);
    return otherwise.k == V_UNDEF ? v_int(0) : otherwise;
}

static val f_float(ctx *c, val v, const call *a) {
    const val otherwise = arg(a, 0, "default");
    if (whole(v) || v.k == V_FLOAT) return v_float(as_float(v));
    const char *s = name_of(c, v);
    char *end;
    const double d = s ? strtod(s, &end) : 0;
    if (s && end != s && strspn(end, " \n\t") == strlen(end)) return v_float(d);
    return otherwise.k == V_UNDEF ? v_float(0) : otherwise;
}

static val f_abs(ctx *c, val v, const call *a) {
    (void)a;
    if (v.k == V_FLOAT) return v_float(fabs(v.f));
    return whole(v) ? v_int(as_int(v) < 0 ? -as_int(v) : as_int(v))
                    : ctx_fail(c, LODE_E_FORMAT, "abs of %s", kind_name(v));
}

static val f_round(ctx *c, val v, const call *a) {
    const val digits = arg(a, 0, "precision"), how = arg(a, 1, "method");
    if (!whole(v) && v.k != V_FLOAT) return ctx_fail(c, LODE_E_FORMAT, "round of %s", kind_name(v));
    const double scale = pow(10, whole(digits) ? (double)as_int(digits) : 0), x = as_float(v) * scale;
    const char kind = how.k == V_STR && how.s.n ? how.s.p[0] : 'c';
    const bool ceiling = kind == 'c' && how.k == V_STR && how.s.n == 4;
    return v_float((ceiling ? ceil(x) : kind == 'f' ? floor(x) : nearbyint(x)) / scale);
}

static val f_string(ctx *c, val v, const call *a) {
    (void)a;
    return to_text(c, v);
}

static val f_escape(ctx *c, val v, const call *a) {
    static const struct {
        char ch;
        const char *text;
    } rows[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&#34;" }, { '\'', "&#39;" } };
    (void)a;
    const val t = to_text(c, v);
    sb s = { .c = c };
    for (size_t i = 0; !c->failed && i < t.s.n; i++) {
        size_t k = 0;
        while (k < 5 && rows[k].ch != t.s.p[i]) k++;
        if (k < 5)
            sb_text(&s, rows[k].text, strlen(rows[k].text), t.s.mark[i]);
        else
            sb_add(&s, substr(t, i, 1).s);
    }
    return sb_val(&s);
}

static val f_indent(ctx *c, val v, const call *a) {
    const val width = arg(a, 0, "width"), t = to_text(c, v);
    const bool first = truthy(arg(a, 1, "first")), blank = truthy(arg(a, 2, "blank"));
    const int64_t n = whole(width) ? as_int(width) : 4;
    sb s = { .c = c };
    bool start = first;
    for (size_t i = 0; !c->failed && i < t.s.n; i++) {
        if (start && (t.s.p[i] != '\n' || blank))
            for (int64_t k = 0; k < n; k++) sb_text(&s, " ", 1, 1);
        sb_add(&s, substr(t, i, 1).s);
        start = t.s.p[i] == '\n';
    }
    return sb_val(&s);
}

val apply_filter(ctx *c, const char *name, val v, const call *a) {
    static const struct {
        const char *name;
        val (*fn)(ctx *c, val v, const call *a);
    } rows[] = {
#define FILTER(name, fn) { name, fn },
#include "chat/filters.def"
#undef FILTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].fn(c, v, a);
    /* trim, upper, lower, replace, ...: methods of strings that are filters, too */
    const char *method = strcmp(name, "trim") == 0 ? "strip" : name;
    val f = bind_method(c, v, method);
    if (f.k != V_FUNC) f = bind_method(c, to_text(c, v), method);
    return f.k == V_FUNC ? call_value(c, f, a) : ctx_fail(c, LODE_E_UNSUPPORTED, "there is no filter '%s'", name);
}
