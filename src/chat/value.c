/* value.c - making, comparing and printing values, as Python does. */
#include "chat/value.h"

#include "chat/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

val ctx_fail(ctx *c, lode_status s, const char *fmt, ...) {
    if (!c->failed) {
        char text[400];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        c->failed = true;
        c->status = lode_fail(c->err, s, "chat template, line %d: %s", c->line, text);
    }
    return (val){ 0 };
}

void *ctx_alloc(ctx *c, size_t n, size_t size) {
    size_t bytes;
    if (!c->failed && (!lode_mul_ok(n, size, &bytes) || bytes > MAX_MEMORY - c->arena->total))
        ctx_fail(c, LODE_E_FULL, "values of more than %d bytes of memory", MAX_MEMORY);
    void *p = c->failed ? NULL : lode_arena_alloc(c->arena, n ? n : 1, size);
    if (!p && !c->failed) ctx_fail(c, LODE_E_NOMEM, "out of memory");
    return p;
}

val v_bool(bool b) { return (val){ .k = V_BOOL, .b = b }; }
val v_int(int64_t i) { return (val){ .k = V_INT, .i = i }; }
val v_float(double f) { return (val){ .k = V_FLOAT, .f = f }; }

val v_str(ctx *c, const char *p, size_t n, int mark) {
    sb b = { .c = c };
    sb_text(&b, p, n, mark);
    return sb_val(&b);
}

val v_cstr(ctx *c, const char *p) { return v_str(c, p, strlen(p), 1); }

val v_list(ctx *c) {
    list *l = ctx_alloc(c, 1, sizeof *l);
    return l ? (val){ .k = V_LIST, .l = l } : (val){ 0 };
}

val v_dict(ctx *c) {
    dict *d = ctx_alloc(c, 1, sizeof *d);
    return d ? (val){ .k = V_DICT, .d = d } : (val){ 0 };
}

/* Room for one more in arrays of the arena: doubled copies. */
static bool more(ctx *c, val **a, size_t n, size_t cap) {
    val *p = ctx_alloc(c, cap, sizeof *p);
    if (!p) return false;
    if (n) memcpy(p, *a, n * sizeof *p);
    *a = p;
    return true;
}

void list_push(ctx *c, list *l, val v) {
    if (c->failed) return;
    if (l->n == l->cap) {
        const size_t cap = l->cap ? l->cap * 2 : 4;
        if (!more(c, &l->v, l->n, cap)) return;
        l->cap = cap;
    }
    l->v[l->n++] = v;
}

void dict_set(ctx *c, dict *d, val key, val v) {
    if (c->failed) return;
    for (size_t i = 0; i < d->n; i++)
        if (equal(d->k[i], key)) {
            d->v[i] = v;
            return;
        }
    if (d->n == d->cap) {
        const size_t cap = d->cap ? d->cap * 2 : 8;
        if (!more(c, &d->k, d->n, cap) || !more(c, &d->v, d->n, cap)) return;
        d->cap = cap;
    }
    d->k[d->n] = key;
    d->v[d->n++] = v;
}

const val *dict_get(const dict *d, val key) {
    for (size_t i = 0; i < d->n; i++)
        if (equal(d->k[i], key)) return &d->v[i];
    return NULL;
}

const val *dict_find(const dict *d, const char *key) {
    return dict_get(d, (val){ .k = V_STR, .s = { key, NULL, strlen(key) } });
}

static bool sb_room(sb *b, size_t n) {
    if (b->c->failed) return false;
    if (n > MAX_OUT || b->n + n > MAX_OUT) {
        ctx_fail(b->c, LODE_E_FULL, "a text of more than %d bytes", MAX_OUT);
        return false;
    }
    if (b->n + n <= b->cap) return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < b->n + n) cap *= 2;
    char *p = ctx_alloc(b->c, cap, 1);
    unsigned char *m = ctx_alloc(b->c, cap, 1);
    if (!p || !m) return false;
    if (b->n) {
        memcpy(p, b->p, b->n);
        memcpy(m, b->mark, b->n);
    }
    b->p = p;
    b->mark = m;
    b->cap = cap;
    return true;
}

void sb_add(sb *b, str s) {
    if (!sb_room(b, s.n)) return;
    if (s.n) {
        memcpy(b->p + b->n, s.p, s.n);
        memcpy(b->mark + b->n, s.mark, s.n);
    }
    b->n += s.n;
}

void sb_text(sb *b, const char *p, size_t n, int mark) {
    if (!sb_room(b, n)) return;
    if (n) {
        memcpy(b->p + b->n, p, n);
        memset(b->mark + b->n, mark, n);
    }
    b->n += n;
}

val sb_val(const sb *b) {
    static const char none[1];
    static const unsigned char no_mark[1];
    if (b->c->failed) return (val){ 0 };
    return (val){ .k = V_STR, .s = { b->n ? b->p : none, b->n ? b->mark : no_mark, b->n } };
}

val substr(val s, size_t from, size_t n) { return (val){ .k = V_STR, .s = { s.s.p + from, s.s.mark + from, n } }; }

bool truthy(val v) {
    switch (v.k) {
    case V_BOOL: return v.b;
    case V_INT: return v.i != 0;
    case V_FLOAT: return v.f != 0;
    case V_STR: return v.s.n != 0;
    case V_LIST: return v.l->n != 0;
    case V_DICT: return v.d->n != 0 || v.d->is_namespace;
    case V_FUNC: return true;
    case V_UNDEF:
    case V_NONE: break;
    }
    return false;
}

static bool is_number(val v) { return v.k == V_BOOL || v.k == V_INT || v.k == V_FLOAT; }
static double number(val v) { return v.k == V_FLOAT ? v.f : v.k == V_INT ? (double)v.i : (double)v.b; }

static bool equal_at(val a, val b, int depth) {
    if (is_number(a) && is_number(b)) return number(a) == number(b);
    if (a.k != b.k || depth > MAX_DEPTH) return false;
    if (a.k == V_STR) return a.s.n == b.s.n && memcmp(a.s.p, b.s.p, a.s.n) == 0;
    if (a.k == V_LIST) {
        bool same = a.l->n == b.l->n;
        for (size_t i = 0; same && i < a.l->n; i++) same = equal_at(a.l->v[i], b.l->v[i], depth + 1);
        return same;
    }
    if (a.k == V_DICT) {
        bool same = a.d->n == b.d->n;
        for (size_t i = 0; same && i < a.d->n; i++) {
            const val *v = dict_get(b.d, a.d->k[i]);
            same = v && equal_at(a.d->v[i], *v, depth + 1);
        }
        return same;
    }
    return a.k == V_FUNC ? a.fn == b.fn : true;
}

bool equal(val a, val b) { return equal_at(a, b, 0); }

int compare(ctx *c, val a, val b) {
    if (is_number(a) && is_number(b)) return number(a) < number(b) ? -1 : number(a) > number(b);
    if (a.k == V_STR && b.k == V_STR) {
        const size_t n = a.s.n < b.s.n ? a.s.n : b.s.n;
        const int r = n ? memcmp(a.s.p, b.s.p, n) : 0;
        return r ? (r < 0 ? -1 : 1) : a.s.n < b.s.n ? -1 : a.s.n > b.s.n;
    }
    if (a.k == V_LIST && b.k == V_LIST) {
        for (size_t i = 0; i < a.l->n && i < b.l->n; i++)
            if (!equal(a.l->v[i], b.l->v[i])) return compare(c, a.l->v[i], b.l->v[i]);
        return a.l->n < b.l->n ? -1 : a.l->n > b.l->n;
    }
    ctx_fail(c, LODE_E_FORMAT, "%s and %s have no order", kind_name(a), kind_name(b));
    return 0;
}

const char *kind_name(val v) {
    static const char *const names[] = { "undefined", "none", "boolean", "integer", "float",
                                         "string",    "list", "dict",    "function" };
    return names[v.k];
}

/* Shortest decimal form that reads back as the same number, written as Python writes it. */
static void float_text(double f, char *buf, size_t n) {
    if (isnan(f) || isinf(f)) {
        snprintf(buf, n, "%s", isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
        return;
    }
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(buf, n, "%.*e", digits - 1, f);
        if (strtod(buf, NULL) == f) break;
    }
    snprintf(buf, n, "%.*e", digits - 1, f);
    const int exponent = atoi(strchr(buf, 'e') + 1);
    if (exponent >= -4 && exponent < 16) {
        snprintf(buf, n, "%.*f", digits - 1 - exponent > 0 ? digits - 1 - exponent : 0, f);
        if (!strchr(buf, '.')) strncat(buf, ".0", n - strlen(buf) - 1);
    }
}

static void scalar_text(sb *b, val v) {
    char buf[64];
    if (v.k == V_INT)
        snprintf(buf, sizeof buf, "%lld", (long long)v.i);
    else if (v.k == V_FLOAT)
        float_text(v.f, buf, sizeof buf);
    else
        snprintf(buf, sizeof buf, "%s", v.k == V_BOOL ? (v.b ? "True" : "False") : v.k == V_NONE ? "None" : "");
    sb_text(b, buf, strlen(buf), 1);
}

/* A string as Python's repr: single quotes unless it holds some and no double ones. */
static void quote(sb *b, str s) {
    const bool twice = memchr(s.p, '\'', s.n) && !memchr(s.p, '"', s.n);
    const char q = twice ? '"' : '\'';
    sb_text(b, &q, 1, 1);
    for (size_t i = 0, len; i < s.n; i += len) {
        const char ch = s.p[i];
        char esc[16];
        uint32_t cp;
        len = text_next(s, i, &cp);
        if (ch == '\n')
            snprintf(esc, sizeof esc, "\\n");
        else if (ch == '\r')
            snprintf(esc, sizeof esc, "\\r");
        else if (ch == '\t')
            snprintf(esc, sizeof esc, "\\t");
        else if (ch == '\\' || ch == q)
            snprintf(esc, sizeof esc, "\\%c", ch);
        else if (is_printable(cp) || (len == 1 && cp >= 0x80)) { /* bytes that are no character stay what they are */
            sb_add(b, (str){ s.p + i, s.mark + i, len });
            continue;
        } else
            snprintf(esc, sizeof esc, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)cp);
        sb_text(b, esc, strlen(esc), s.mark[i]);
    }
    sb_text(b, &q, 1, 1);
}

static void repr(sb *b, val v, int depth) {
    if (depth > MAX_DEPTH) {
        ctx_fail(b->c, LODE_E_FULL, "values nested more than %d deep", MAX_DEPTH);
        return;
    }
    if (v.k == V_STR) {
        quote(b, v.s);
    } else if (v.k == V_LIST) {
        sb_text(b, v.l->tuple ? "(" : "[", 1, 1);
        for (size_t i = 0; i < v.l->n; i++) {
            if (i) sb_text(b, ", ", 2, 1);
            repr(b, v.l->v[i], depth + 1);
        }
        if (v.l->tuple && v.l->n == 1) sb_text(b, ",", 1, 1);
        sb_text(b, v.l->tuple ? ")" : "]", 1, 1);
    } else if (v.k == V_DICT) {
        sb_text(b, "{", 1, 1);
        for (size_t i = 0; i < v.d->n; i++) {
            if (i) sb_text(b, ", ", 2, 1);
            repr(b, v.d->k[i], depth + 1);
            sb_text(b, ": ", 2, 1);
            repr(b, v.d->v[i], depth + 1);
        }
        sb_text(b, "}", 1, 1);
    } else {
        scalar_text(b, v);
    }
}

val to_text(ctx *c, val v) {
    if (v.k == V_STR) return v;
    sb b = { .c = c };
    repr(&b, v, 0);
    return sb_val(&b);
}

val from_json(ctx *c, const json_t *j) {
    const char *key;
    size_t n;
    json_t *item;
    val v = { .k = V_NONE };
    if (++c->depth > MAX_DEPTH) return ctx_fail(c, LODE_E_FULL, "input nested more than %d deep", MAX_DEPTH);
    if (json_is_boolean(j))
        v = v_bool(json_is_true(j));
    else if (json_is_integer(j))
        v = v_int(json_integer_value(j));
    else if (json_is_real(j))
        v = v_float(json_real_value(j));
    else if (json_is_string(j))
        v = v_str(c, json_string_value(j), json_string_length(j), 0);
    else if (json_is_array(j)) {
        v = v_list(c);
        json_array_foreach(j, n, item) {
            if (c->failed) break;
            list_push(c, v.l, from_json(c, item));
        }
    } else if (json_is_object(j)) {
        v = v_dict(c);
        json_object_keylen_foreach((json_t *)(uintptr_t)j, key, n, item) {
            if (c->failed) break;
            dict_set(c, v.d, v_str(c, key, n, 0), from_json(c, item));
        }
    }
    c->depth--;
    return v;
}

static void json_text(sb *b, str s, bool ascii) {
    sb_text(b, "\"", 1, 1);
    for (size_t i = 0; i < s.n;) {
        static const char plain[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
        const int mark = s.mark ? s.mark[i] : 1;
        const char *at = s.p[i] ? strchr(plain, s.p[i]) : NULL;
        char esc[24];
        uint32_t cp = 0;
        const size_t len = text_next(s, i, &cp);
        if (at) {
            snprintf(esc, sizeof esc, "\\%c", letters[at - plain]);
            sb_text(b, esc, 2, mark);
        } else if ((unsigned char)s.p[i] < 32 || (ascii && len > 1 && cp < 0x10000) || (ascii && s.p[i] == 127)) {
            snprintf(esc, sizeof esc, "\\u%04x", (unsigned)(len > 1 ? cp : (unsigned char)s.p[i]));
            sb_text(b, esc, strlen(esc), mark);
        } else if (ascii && len == 4) {
            snprintf(esc, sizeof esc, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (cp >> 10)),
                     (unsigned)(0xDC00 + (cp & 0x3FF)));
            sb_text(b, esc, strlen(esc), mark);
        } else {
            sb_text(b, s.p + i, len, mark);
        }
        i += len;
    }
    sb_text(b, "\"", 1, 1);
}

static void json_break(sb *b, const json_style *st, int depth) {
    if (st->indent < 0) return;
    sb_text(b, "\n", 1, 1);
    for (int i = 0; i < st->indent * depth; i++) sb_text(b, " ", 1, 1);
}

static void json_at(sb *b, val v, const json_style *st, int depth);

/* Keys are texts in JSON, whatever they are here: true becomes "true". */
static void json_key(sb *b, val k, const json_style *st) {
    const json_style plain = { .indent = -1 };
    sb text = { .c = b->c };
    if (k.k == V_STR) {
        json_text(b, k.s, st->ascii);
        return;
    }
    if (k.k == V_LIST) ctx_fail(b->c, LODE_E_FORMAT, "tojson: a list is no key");
    json_at(&text, k, &plain, 0);
    const val t = sb_val(&text);
    if (!b->c->failed) json_text(b, t.s, st->ascii);
}

static void json_at(sb *b, val v, const json_style *st, int depth) {
    if (depth > MAX_DEPTH) {
        ctx_fail(b->c, LODE_E_FULL, "values nested more than %d deep", MAX_DEPTH);
        return;
    }
    const char *sep = st->item ? st->item : st->indent < 0 ? ", " : ",", *colon = st->key ? st->key : ": ";
    if (v.k == V_STR) {
        json_text(b, v.s, st->ascii);
    } else if (v.k == V_LIST) {
        sb_text(b, "[", 1, 1);
        for (size_t i = 0; i < v.l->n && !b->c->failed; i++) {
            if (i) sb_text(b, sep, strlen(sep), 1);
            json_break(b, st, depth + 1);
            json_at(b, v.l->v[i], st, depth + 1);
        }
        if (v.l->n) json_break(b, st, depth);
        sb_text(b, "]", 1, 1);
    } else if (v.k == V_DICT) {
        size_t *order = ctx_alloc(b->c, v.d->n, sizeof *order);
        if (!order) return;
        for (size_t i = 0; i < v.d->n; i++) {
            size_t at = i;
            if (st->sort_keys)
                for (; at > 0 && compare(b->c, v.d->k[order[at - 1]], v.d->k[i]) > 0; at--) order[at] = order[at - 1];
            order[at] = i;
        }
        sb_text(b, "{", 1, 1);
        for (size_t i = 0; i < v.d->n && !b->c->failed; i++) {
            if (i) sb_text(b, sep, strlen(sep), 1);
            json_break(b, st, depth + 1);
            json_key(b, v.d->k[order[i]], st);
            sb_text(b, colon, strlen(colon), 1);
            json_at(b, v.d->v[order[i]], st, depth + 1);
        }
        if (v.d->n) json_break(b, st, depth);
        sb_text(b, "}", 1, 1);
    } else if (v.k == V_BOOL || v.k == V_NONE) {
        const char *t = v.k == V_NONE ? "null" : v.b ? "true" : "false";
        sb_text(b, t, strlen(t), 1);
    } else if (v.k == V_UNDEF || v.k == V_FUNC) {
        ctx_fail(b->c, LODE_E_FORMAT, "tojson: %s is no JSON value", kind_name(v));
    } else if (v.k == V_FLOAT && !isfinite(v.f)) {
        const char *t = isnan(v.f) ? "NaN" : v.f < 0 ? "-Infinity" : "Infinity";
        sb_text(b, t, strlen(t), 1);
    } else {
        scalar_text(b, v);
    }
}

val to_json(ctx *c, val v, json_style style) {
    sb b = { .c = c };
    json_at(&b, v, &style, 0);
    return sb_val(&b);
}
