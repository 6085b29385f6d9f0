/* filters.c - filters on lists and numbers; those on text: text_filters.c, and methods that are filters, too. */
#include "chat/eval.h"
#include "chat/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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
            const size_t len = text_next(v.s, i, &cp);
            list_push(c, l.l, substr(v, i, len));
            i += len;
        }
    else if (v.k != V_UNDEF)
        return ctx_fail(c, LODE_E_FORMAT, "%s cannot be looped over", kind_name(v));
    return l;
}

/* A string value as a C string; NULL for another kind. */
static const char *name_of(ctx *c, val v) {
    return v.k == V_STR && !c->failed ? lode_arena_strdup(c->arena, v.s.p, v.s.n) : NULL;
}

val f_tojson(ctx *c, val v, const call *a) {
    const val indent = arg(a, 1, "indent"), between = arg(a, 2, "separators");
    json_style style = { .indent = (int)int_or(indent, -1),
                         .sort_keys = truthy(arg(a, 3, "sort_keys")),
                         .ascii = truthy(arg(a, 0, "ensure_ascii")) };
    if (between.k == V_LIST && between.l->n == 2) {
        style.item = name_of(c, between.l->v[0]);
        style.key = name_of(c, between.l->v[1]);
    }
    return to_json(c, v, style);
}

val f_from_json(ctx *c, val v, const call *a) {
    (void)a;
    json_error_t e;
    json_t *j = v.k == V_STR ? json_loadb(v.s.p, v.s.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e) : NULL;
    if (!j) return ctx_fail(c, LODE_E_FORMAT, "from_json: %s", v.k == V_STR ? e.text : "expected a string");
    v = from_json(c, j);
    json_decref(j);
    return v;
}

val f_default(ctx *c, val v, const call *a) {
    (void)c;
    const bool falsy = truthy(arg(a, 1, "boolean"));
    return v.k == V_UNDEF || (falsy && !truthy(v)) ? arg(a, 0, "default_value") : v;
}

val f_join(ctx *c, val v, const call *a) {
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

/* A step of a path: digits are an index. */
static val step_of(val name, size_t from, size_t n) {
    int64_t at = 0;
    bool index = n > 0 && n < 10;
    for (size_t i = from; i < from + n && index; i++) {
        index = name.s.p[i] >= '0' && name.s.p[i] <= '9';
        at = at * 10 + (name.s.p[i] - '0');
    }
    return index ? v_int(at) : substr(name, from, n);
}

/* What lies at "a.b" of an item. */
static val path(ctx *c, val v, val name) {
    if (name.k != V_STR) return get_item(c, v, name);
    size_t from = 0;
    for (size_t i = 0; i <= name.s.n && !c->failed; i++) {
        if (i < name.s.n && name.s.p[i] != '.') continue;
        v = v.k == V_UNDEF ? v : get_item(c, v, step_of(name, from, i - from));
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

val f_map(ctx *c, val v, const call *a) {
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

val f_select(ctx *c, val v, const call *a) { return choose(c, v, a, false, true); }
val f_reject(ctx *c, val v, const call *a) { return choose(c, v, a, false, false); }
val f_selectattr(ctx *c, val v, const call *a) { return choose(c, v, a, true, true); }
val f_rejectattr(ctx *c, val v, const call *a) { return choose(c, v, a, true, false); }

val f_length(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return c->failed ? items : v_int((int64_t)items.l->n);
}

val f_first(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return !c->failed && items.l->n ? items.l->v[0] : (val){ 0 };
}

val f_last(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    return !c->failed && items.l->n ? items.l->v[items.l->n - 1] : (val){ 0 };
}

val f_list(ctx *c, val v, const call *a) {
    (void)a;
    const val items = iterate(c, v);
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < items.l->n; i++) list_push(c, out.l, items.l->v[i]);
    return out;
}

/* Key of an item for sorting: an attribute, strings without case unless asked for. */
static val sort_key(ctx *c, val v, val by, bool keep_case) {
    if (by.k == V_STR && memchr(by.s.p, ',', by.s.n)) {
        val keys = v_list(c);
        for (size_t from = 0, to; from <= by.s.n && !c->failed; from = to + 1) {
            to = text_find(by.s, (str){ ",", NULL, 1 }, from);
            to = to > by.s.n ? by.s.n : to;
            list_push(c, keys.l, sort_key(c, v, substr(by, from, to - from), keep_case));
        }
        return keys;
    }
    if (by.k != V_UNDEF && by.k != V_NONE) v = path(c, v, by);
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

val f_sort(ctx *c, val v, const call *a) {
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

val f_dictsort(ctx *c, val v, const call *a) {
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

val f_unique(ctx *c, val v, const call *a) {
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

val f_reverse(ctx *c, val v, const call *a) {
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
        const val by = arg(a, 1, "attribute");
        const bool keep_case = truthy(arg(a, 0, "case_sensitive"));
        if (i == 0 ||
            compare(c, sort_key(c, items.l->v[i], by, keep_case), sort_key(c, best, by, keep_case)) * sign > 0)
            best = items.l->v[i];
    }
    return best;
}

val f_min(ctx *c, val v, const call *a) { return extreme(c, v, a, -1); }
val f_max(ctx *c, val v, const call *a) { return extreme(c, v, a, 1); }

static double as_float(val v) { return v.k == V_FLOAT ? v.f : (double)as_int(v); }

static bool is_text(val v, const char *text) {
    return v.k == V_STR && v.s.n == strlen(text) && memcmp(v.s.p, text, v.s.n) == 0;
}

val f_sum(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), by = arg(a, 0, "attribute"), *start = given_arg(a, 1, "start");
    val total = start ? *start : v_int(0);
    for (size_t i = 0; !c->failed && i < items.l->n; i++)
        total = plus(c, total, by.k == V_UNDEF || by.k == V_NONE ? items.l->v[i] : path(c, items.l->v[i], by));
    return total;
}

/* A number at the beginning of a text, in a base; false when something else stands there, too. */
static bool read_whole(const char *s, int base, int64_t *out) {
    char *end, plain[80];
    size_t n = 0;
    s += strspn(s, " \t\n\r\v\f");
    for (const char *p = s; *p && n + 1 < sizeof plain; p++)
        if (*p != '_' || p == s || p[-1] == '_' || p[1] == '_' || !p[1]) plain[n++] = *p;
    plain[n] = '\0';
    if (base == 2 || base == 8) { /* 0b, 0o: strtoll knows 0x alone */
        const size_t sign = plain[0] == '-' || plain[0] == '+';
        if (plain[sign] == '0' && (plain[sign + 1] | 32) == (base == 2 ? 'b' : 'o'))
            memmove(plain + sign, plain + sign + 2, strlen(plain + sign + 2) + 1);
    }
    errno = 0;
    *out = strtoll(plain, &end, base);
    return end != plain && errno == 0 && strspn(end, " \t\n\r\v\f") == strlen(end);
}

static bool read_real(const char *s, double *out) {
    char *end;
    const size_t sign = strspn(s, " \t\n\r\v\f+-");
    if ((s[sign] == '0' && (s[sign + 1] | 32) == 'x') || strchr(s, '(')) return false; /* strtod's, not Python's */
    *out = strtod(s, &end);
    return end != s && strspn(end, " \t\n\r\v\f") == strlen(end);
}

val f_int(ctx *c, val v, const call *a) {
    const val *otherwise = given_arg(a, 0, "default");
    const int64_t base = int_or(arg(a, 1, "base"), 10);
    const char *s = name_of(c, v);
    int64_t i = 0;
    double f = v.k == V_FLOAT ? v.f : 0;
    if (whole(v)) return v_int(as_int(v));
    if (s && base >= 0 && base <= 36 && read_whole(s, (int)base, &i)) return v_int(i);
    if ((v.k == V_FLOAT || (s && read_real(s, &f))) && fabs(f) < 9e18) return v_int((int64_t)f);
    return otherwise ? *otherwise : v_int(0);
}

val f_float(ctx *c, val v, const call *a) {
    const val *otherwise = given_arg(a, 0, "default");
    const char *s = name_of(c, v);
    double f = 0;
    if (whole(v) || v.k == V_FLOAT) return v_float(as_float(v));
    if (s && read_real(s, &f)) return v_float(f);
    return otherwise ? *otherwise : v_float(0);
}

val f_abs(ctx *c, val v, const call *a) {
    (void)a;
    if (v.k == V_FLOAT) return v_float(fabs(v.f));
    return whole(v) ? v_int(as_int(v) < 0 ? -as_int(v) : as_int(v))
                    : ctx_fail(c, LODE_E_FORMAT, "abs of %s", kind_name(v));
}

val f_round(ctx *c, val v, const call *a) {
    const val how = arg(a, 1, "method");
    const int64_t digits = int_or(arg(a, 0, "precision"), 0);
    if (!whole(v) && v.k != V_FLOAT) return ctx_fail(c, LODE_E_FORMAT, "round of %s", kind_name(v));
    const bool up = is_text(how, "ceil"), down = is_text(how, "floor");
    if (how.k != V_UNDEF && !up && !down && !is_text(how, "common"))
        return ctx_fail(c, LODE_E_FORMAT, "round: the method is common, ceil or floor");
    if (digits < -300 || digits > 300) return ctx_fail(c, LODE_E_FORMAT, "round to %lld digits", (long long)digits);
    const double scale = pow(10, (double)digits), x = as_float(v);
    if (up || down) return v_float((up ? ceil(x * scale) : floor(x * scale)) / scale);
    char text[700]; /* decimal, as Python rounds: 2.675 lies below the tie */
    if (digits < 0) {
        const double r = nearbyint(x / pow(10, (double)-digits)) * pow(10, (double)-digits);
        return whole(v) ? v_int((int64_t)r) : v_float(r);
    }
    if (whole(v)) return v_int(as_int(v));
    snprintf(text, sizeof text, "%.*f", (int)digits, x);
    return v_float(strtod(text, NULL));
}

/* ---- Lists of lists ---- */

static val take(ctx *c, val items, size_t from, size_t to) {
    val out = v_list(c);
    for (size_t i = from; i < to && i < items.l->n && !c->failed; i++) list_push(c, out.l, items.l->v[i]);
    return out;
}

static bool positive(ctx *c, val v, int64_t *n) {
    *n = int_or(v, 0);
    if (*n < 1) ctx_fail(c, LODE_E_FORMAT, "expected a number above 0");
    return !c->failed;
}

val f_batch(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), filler = arg(a, 1, "fill_with");
    int64_t n;
    val out = v_list(c);
    if (c->failed || !positive(c, arg(a, 0, "linecount"), &n)) return out;
    for (size_t i = 0; i < items.l->n && !c->failed; i += (size_t)n) {
        const val row = take(c, items, i, n > (int64_t)items.l->n ? items.l->n : i + (size_t)n);
        while (!c->failed && filler.k != V_UNDEF && filler.k != V_NONE && (int64_t)row.l->n < n) {
            if (--c->steps < 0) return ctx_fail(c, LODE_E_FULL, "batch: a row that is too long");
            list_push(c, row.l, filler);
        }
        if (!c->failed) list_push(c, out.l, row);
        if (n > (int64_t)items.l->n) break;
    }
    return out;
}

val f_slice(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), filler = arg(a, 1, "fill_with");
    int64_t n;
    val out = v_list(c);
    if (c->failed || !positive(c, arg(a, 0, "slices"), &n)) return out;
    const size_t least = items.l->n / (size_t)n, longer = items.l->n % (size_t)n;
    for (size_t i = 0, at = 0; i < (size_t)n && !c->failed; i++) {
        const size_t len = least + (i < longer);
        const val row = take(c, items, at, at + len);
        at += len;
        if (!c->failed && i >= longer && filler.k != V_UNDEF && filler.k != V_NONE) list_push(c, row.l, filler);
        if (--c->steps < 0) return ctx_fail(c, LODE_E_FULL, "slice: too many parts");
        if (!c->failed) list_push(c, out.l, row);
    }
    return out;
}

val f_groupby(ctx *c, val v, const call *a) {
    const val items = iterate(c, v), by = arg(a, 0, "attribute"), *otherwise = given_arg(a, 1, "default");
    const bool keep_case = truthy(arg(a, 2, "case_sensitive"));
    val out = v_list(c), *keys = c->failed ? NULL : ctx_alloc(c, items.l->n, sizeof *keys);
    val pairs = v_list(c), group = { 0 }, last = { 0 };
    for (size_t i = 0; keys && !c->failed && i < items.l->n; i++) {
        val key = path(c, items.l->v[i], by);
        if (key.k == V_UNDEF && otherwise) key = *otherwise;
        keys[i] = sort_key(c, key, (val){ 0 }, keep_case);
        list_push(c, pairs.l, pair(c, key, items.l->v[i]));
    }
    pairs = c->failed ? pairs : sorted(c, pairs, keys, false);
    for (size_t i = 0; !c->failed && i < pairs.l->n; i++) {
        const val key = pairs.l->v[i].l->v[0], now = sort_key(c, key, (val){ 0 }, keep_case);
        if (i == 0 || !equal(now, last)) {
            group = v_list(c);
            const val entry = pair(c, key, group);
            if (c->failed) break;
            entry.l->group = true;
            list_push(c, out.l, entry);
        }
        list_push(c, group.l, pairs.l->v[i].l->v[1]);
        last = now;
    }
    return out;
}

val f_items(ctx *c, val v, const call *a) {
    if (v.k == V_UNDEF) return v_list(c);
    return v.k == V_DICT ? m_items(c, v, a) : ctx_fail(c, LODE_E_FORMAT, "items of %s", kind_name(v));
}

val f_attr(ctx *c, val v, const call *a) {
    const char *name = name_of(c, arg(a, 0, "name"));
    return name && v.k != V_UNDEF ? bind_method(c, v, name) : (val){ 0 };
}

typedef val (*filter_fn)(ctx *c, val v, const call *a);

static filter_fn find_filter(const char *name) {
    static const struct {
        const char *name;
        filter_fn fn;
    } rows[] = {
#define FILTER(name, fn) { name, fn },
#include "chat/filters.def"
#undef FILTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].fn;
    return NULL;
}

/* Methods of strings that are filters, too, and how these are called. */
static const char *method_of(const char *filter) {
    static const char *const both[] = { "upper", "lower", "capitalize", "replace" };
    if (strcmp(filter, "trim") == 0) return "strip";
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (strcmp(filter, both[i]) == 0) return both[i];
    return NULL;
}

bool known_filter(const char *name) { return find_filter(name) || method_of(name); }

val apply_filter(ctx *c, const char *name, val v, const call *a) {
    const filter_fn fn = find_filter(name);
    const char *method = method_of(name);
    if (fn) return fn(c, v, a);
    if (!method) return ctx_fail(c, LODE_E_UNSUPPORTED, "there is no filter '%s'", name);
    v = to_text(c, v);
    return c->failed ? v : call_value(c, bind_method(c, v, method), a);
}
