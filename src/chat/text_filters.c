/* text_filters.c - filters on text that are no methods of strings. Widths count characters. */
#include "chat/eval.h"
#include "chat/text.h"

#include <string.h>

val f_string(ctx *c, val v, const call *a) {
    (void)a;
    return to_text(c, v);
}

val f_center(ctx *c, val v, const call *a) {
    const val width = a->n || a->n_named ? arg(a, 0, "width") : v_int(80);
    const call c80 = { .args = &width, .n = 1 };
    const val t = to_text(c, v);
    return c->failed ? t : m_center(c, t, &c80);
}

val f_escape(ctx *c, val v, const call *a) {
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

val f_xmlattr(ctx *c, val v, const call *a) {
    static const call none;
    const val *space = given_arg(a, 0, "autospace");
    if (v.k != V_DICT) return ctx_fail(c, LODE_E_FORMAT, "xmlattr of %s", kind_name(v));
    sb s = { .c = c };
    for (size_t i = 0; i < v.d->n && !c->failed; i++) {
        if (v.d->v[i].k == V_NONE || v.d->v[i].k == V_UNDEF) continue;
        const val key = f_escape(c, v.d->k[i], &none), value = f_escape(c, v.d->v[i], &none);
        if (c->failed) break;
        for (size_t k = 0; k < v.d->k[i].s.n; k++)
            if (v.d->k[i].k == V_STR && memchr(" \t\n\v\f\r/>=", v.d->k[i].s.p[k], 9))
                return ctx_fail(c, LODE_E_FORMAT, "xmlattr: '%.60s' is no name of an attribute", key.s.p);
        if (s.n || !space || truthy(*space)) sb_text(&s, " ", 1, 1);
        sb_add(&s, key.s);
        sb_text(&s, "=\"", 2, 1);
        sb_add(&s, value.s);
        sb_text(&s, "\"", 1, 1);
    }
    return sb_val(&s);
}

/* Bytes that a URL cannot hold as %XX; in a query a space is +, and / is no exception. */
static void quote_url(sb *s, str t, bool query) {
    for (size_t i = 0; i < t.n; i++) {
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~",
                          hex[] = "0123456789ABCDEF";
        const unsigned char ch = (unsigned char)t.p[i];
        if (memchr(plain, ch, sizeof plain - 1) || (ch == '/' && !query))
            sb_add(s, (str){ t.p + i, t.mark + i, 1 });
        else if (ch == ' ' && query)
            sb_text(s, "+", 1, t.mark[i]);
        else
            sb_text(s, (char[]){ '%', hex[ch >> 4], hex[ch & 15] }, 3, t.mark[i]);
    }
}

val f_urlencode(ctx *c, val v, const call *a) {
    (void)a;
    sb s = { .c = c };
    if (v.k != V_DICT && v.k != V_LIST) {
        const val t = to_text(c, v);
        if (!c->failed) quote_url(&s, t.s, false);
        return sb_val(&s);
    }
    static const call none;
    const val pairs = v.k == V_DICT ? m_items(c, v, &none) : v;
    for (size_t i = 0; !c->failed && i < pairs.l->n; i++) {
        const val pair = pairs.l->v[i];
        if (pair.k != V_LIST || pair.l->n != 2) return ctx_fail(c, LODE_E_FORMAT, "urlencode needs pairs");
        const val key = to_text(c, pair.l->v[0]), value = to_text(c, pair.l->v[1]);
        if (c->failed) break;
        if (i) sb_text(&s, "&", 1, 1);
        quote_url(&s, key.s, true);
        sb_text(&s, "=", 1, 1);
        quote_url(&s, value.s, true);
    }
    return sb_val(&s);
}

/* Jinja's own titles, which are not str.title: a word begins behind white space and behind - ( { [ <. */
val f_title(ctx *c, val v, const call *a) {
    (void)a;
    const val t = to_text(c, v);
    sb s = { .c = c };
    for (size_t i = 0; !c->failed && i < t.s.n;) {
        uint32_t cp;
        size_t to = i, first = 0;
        while (to < t.s.n) {
            const size_t n = text_next(t.s, to, &cp);
            if (is_space(cp) || (cp < 0x80 && cp && strchr("-({[<", (int)cp))) break;
            first = first ? first : n;
            to += n;
        }
        const val head = text_recase(c, substr(t, i, first), CASE_UPPER);
        const val tail = text_recase(c, substr(t, i + first, to - i - first), CASE_LOWER);
        if (c->failed) break;
        sb_add(&s, head.s);
        sb_add(&s, tail.s);
        i = to;
        const size_t n = i < t.s.n ? text_next(t.s, i, &cp) : 0;
        sb_add(&s, substr(t, i, n).s);
        i += n;
    }
    return sb_val(&s);
}

val f_indent(ctx *c, val v, const call *a) {
    const val width = arg(a, 0, "width"), t = to_text(c, v);
    const bool first = truthy(arg(a, 1, "first")), blank = truthy(arg(a, 2, "blank"));
    sb s = { .c = c };
    for (size_t from = 0, next = 0, more = 1; !c->failed && more; from = next) {
        const size_t to = text_line(t.s, from, &next);
        if (from) sb_text(&s, "\n", 1, 1);
        if (from ? blank || to > from : first) {
            if (width.k == V_STR) sb_add(&s, width.s);
            for (int64_t k = width.k == V_STR ? 0 : int_or(width, 4); k > 0 && !c->failed; k--) sb_text(&s, " ", 1, 1);
        }
        sb_add(&s, substr(t, from, to - from).s);
        more = next > to; /* a line's end is followed by one more line, if only an empty one */
    }
    return sb_val(&s);
}

val f_truncate(ctx *c, val v, const call *a) {
    const val *leeway = given_arg(a, 3, "leeway"), *tail = given_arg(a, 2, "end");
    const val t = to_text(c, v), end = tail ? to_text(c, *tail) : v_cstr(c, "...");
    const int64_t most = int_or(arg(a, 0, "length"), 255);
    if (c->failed) return t;
    const int64_t keep = most - (int64_t)text_length(end.s);
    if (keep < 0) return ctx_fail(c, LODE_E_FORMAT, "truncate: the length is below that of the end");
    if ((int64_t)text_length(t.s) <= most + (leeway ? int_or(*leeway, 5) : 5)) return t;
    val part = text_part(t, 0, keep);
    size_t n = part.s.n;
    while (n > 0 && part.s.p[n - 1] != ' ') n--;
    if (n > 0 && !truthy(arg(a, 1, "killwords"))) part.s.n = n - 1;
    sb s = { .c = c };
    sb_add(&s, part.s);
    sb_add(&s, end.s);
    return sb_val(&s);
}

val f_wordcount(ctx *c, val v, const call *a) {
    (void)a;
    const val t = to_text(c, v);
    int64_t n = 0;
    bool inside = false;
    for (size_t i = 0; !c->failed && i < t.s.n;) {
        uint32_t cp;
        i += text_next(t.s, i, &cp);
        n += is_word(cp) && !inside;
        inside = is_word(cp);
    }
    return v_int(n);
}
