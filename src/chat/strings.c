/* strings.c - methods of strings, with Python's meaning: characters, not bytes. */
#include "chat/eval.h"
#include "chat/text.h"

#include <string.h>

static bool want_str(ctx *c, val v, const char *who) {
    if (v.k != V_STR && !c->failed) ctx_fail(c, LODE_E_FORMAT, "%s needs a string, got %s", who, kind_name(v));
    return v.k == V_STR && !c->failed;
}

int64_t int_or(val v, int64_t otherwise) { return v.k == V_INT ? v.i : v.k == V_BOOL ? v.b : otherwise; }

/* ---- Ends ---- */

static bool in_set(uint32_t cp, val set) {
    if (set.k != V_STR) return is_space(cp);
    for (size_t i = 0; i < set.s.n;) {
        uint32_t other;
        i += text_next(set.s, i, &other);
        if (other == cp) return true;
    }
    return false;
}

static val strip(val v, const call *a, bool left, bool right) {
    const val set = arg(a, 0, "chars");
    size_t from = 0, to = v.s.n;
    uint32_t cp;
    while (left && from < to) {
        const size_t n = text_next(v.s, from, &cp);
        if (!in_set(cp, set)) break;
        from += n;
    }
    while (right && to > from) {
        const size_t n = text_prev(v.s, to, &cp);
        if (!in_set(cp, set)) break;
        to -= n;
    }
    return substr(v, from, to - from);
}

val m_strip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, true, true); }
val m_lstrip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, true, false); }
val m_rstrip(ctx *c, val v, const call *a) { return (void)c, strip(v, a, false, true); }

static bool has_end(str v, str what, bool front) {
    return what.n <= v.n && memcmp(v.p + (front ? 0 : v.n - what.n), what.p, what.n) == 0;
}

/* One prefix or suffix, or any of a tuple; of the part from..to. */
static val ends(ctx *c, val v, const call *a, bool front) {
    const val what = arg(a, 0, NULL);
    if (a->n > 1) {
        const call one = { .args = a->args, .n = 1 };
        const int64_t n = (int64_t)text_length(v.s), from = int_or(a->args[1], 0),
                      to = a->n > 2 ? int_or(a->args[2], n) : n;
        return ends(c, text_part(v, from < 0 ? from + n : from, to < 0 ? to + n : to), &one, front);
    }
    if (what.k == V_LIST && what.l->tuple) {
        for (size_t i = 0; i < what.l->n; i++) {
            if (!want_str(c, what.l->v[i], front ? "startswith" : "endswith")) return (val){ 0 };
            if (has_end(v.s, what.l->v[i].s, front)) return v_bool(true);
        }
        return v_bool(false);
    }
    if (!want_str(c, what, front ? "startswith" : "endswith")) return what;
    return v_bool(has_end(v.s, what.s, front));
}

val m_startswith(ctx *c, val v, const call *a) { return ends(c, v, a, true); }
val m_endswith(ctx *c, val v, const call *a) { return ends(c, v, a, false); }

val m_removeprefix(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    if (!want_str(c, what, "removeprefix")) return what;
    return has_end(v.s, what.s, true) ? substr(v, what.s.n, v.s.n - what.s.n) : v;
}

val m_removesuffix(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    if (!want_str(c, what, "removesuffix")) return what;
    return has_end(v.s, what.s, false) ? substr(v, 0, v.s.n - what.s.n) : v;
}

/* ---- Parts ---- */

static size_t find_last(str v, str what, size_t to) {
    for (size_t i = to + 1; i-- > 0;)
        if (text_find((str){ v.p, v.mark, to }, what, i) == i) return i;
    return v.n + 1;
}

/* Words between white space. */
static val words(ctx *c, val v) {
    val out = v_list(c);
    for (size_t from = 0; from < v.s.n && !c->failed;) {
        uint32_t cp;
        size_t to = from, n = text_next(v.s, from, &cp);
        while (to < v.s.n && !is_space(cp)) {
            to += n;
            n = to < v.s.n ? text_next(v.s, to, &cp) : 0;
        }
        if (to > from) list_push(c, out.l, substr(v, from, to - from));
        from = to + n;
    }
    return out;
}

static val fields(ctx *c, val v, str sep) {
    val out = v_list(c);
    for (size_t from = 0; !c->failed;) {
        const size_t at = text_find(v.s, sep, from);
        list_push(c, out.l, substr(v, from, (at > v.s.n ? v.s.n : at) - from));
        if (at > v.s.n) break;
        from = at + sep.n;
    }
    return out;
}

/* The same, cut from the right: they differ where separators overlap. */
static val fields_from_right(ctx *c, val v, str sep) {
    val back = v_list(c), out = v_list(c);
    for (size_t to = v.s.n; !c->failed;) {
        const size_t at = find_last(v.s, sep, to), from = at > v.s.n ? 0 : at + sep.n;
        list_push(c, back.l, substr(v, from, to - from));
        if (at > v.s.n) break;
        to = at;
    }
    for (size_t i = c->failed ? 0 : back.l->n; i-- > 0;) list_push(c, out.l, back.l->v[i]);
    return out;
}

/* Where a piece of v lies in it. */
static size_t begins(val v, val piece) { return (size_t)(piece.s.p - v.s.p); }

/* At most `most` cuts: what lies beyond them stays one piece. */
static val split(ctx *c, val v, const call *a, bool right) {
    const val sep = arg(a, 0, "sep");
    const int64_t most = int_or(arg(a, 1, "maxsplit"), -1);
    if (sep.k == V_STR && sep.s.n == 0) return ctx_fail(c, LODE_E_FORMAT, "split: the separator is empty");
    if (sep.k != V_STR && sep.k != V_NONE && sep.k != V_UNDEF) return want_str(c, sep, "split"), sep;
    const val all = sep.k != V_STR ? words(c, v) : right ? fields_from_right(c, v, sep.s) : fields(c, v, sep.s);
    /* The last word goes to the end of the string, white space and all. */
    if (c->failed || most < 0 || (int64_t)all.l->n <= most + (sep.k == V_STR)) return all;
    val out = v_list(c);
    const size_t n = all.l->n, keep = (size_t)most;
    if (right) {
        const val edge = all.l->v[n - keep - 1];
        list_push(c, out.l, substr(v, 0, begins(v, edge) + edge.s.n));
    }
    for (size_t i = 0; i < keep; i++) list_push(c, out.l, all.l->v[right ? n - keep + i : i]);
    if (!right) list_push(c, out.l, substr(v, begins(v, all.l->v[keep]), v.s.n - begins(v, all.l->v[keep])));
    return out;
}

val m_split(ctx *c, val v, const call *a) { return split(c, v, a, false); }
val m_rsplit(ctx *c, val v, const call *a) { return split(c, v, a, true); }

val m_splitlines(ctx *c, val v, const call *a) {
    const bool keep = truthy(arg(a, 0, "keepends"));
    val out = v_list(c);
    for (size_t from = 0, next; !c->failed && from < v.s.n; from = next) {
        const size_t to = text_line(v.s, from, &next);
        list_push(c, out.l, substr(v, from, (keep ? next : to) - from));
    }
    return out;
}

static val partition(ctx *c, val v, const call *a, bool right) {
    const val sep = arg(a, 0, NULL);
    if (!want_str(c, sep, "partition")) return sep;
    if (sep.s.n == 0) return ctx_fail(c, LODE_E_FORMAT, "partition: the separator is empty");
    const size_t at = right ? find_last(v.s, sep.s, v.s.n) : text_find(v.s, sep.s, 0);
    const bool found = at <= v.s.n;
    const val none = substr(v, 0, 0), end = found ? substr(v, at + sep.s.n, v.s.n - at - sep.s.n) : none;
    const val parts[3] = { found   ? substr(v, 0, at)
                           : right ? none
                                   : v,
                           found ? substr(v, at, sep.s.n) : none, found || !right ? end : v };
    val out = v_list(c);
    for (int i = 0; i < 3 && !c->failed; i++) list_push(c, out.l, parts[i]);
    if (!c->failed) out.l->tuple = true;
    return out;
}

val m_partition(ctx *c, val v, const call *a) { return partition(c, v, a, false); }
val m_rpartition(ctx *c, val v, const call *a) { return partition(c, v, a, true); }

val m_replace(ctx *c, val v, const call *a) {
    const val old = arg(a, 0, "old"), with = to_text(c, arg(a, 1, "new"));
    const int64_t most = int_or(arg(a, 2, "count"), -1);
    if (!want_str(c, old, "replace") || !want_str(c, with, "replace")) return old;
    sb s = { .c = c };
    size_t from = 0;
    for (int64_t n = 0; !c->failed && n != most; n++) {
        const size_t at = text_find(v.s, old.s, from);
        if (at > v.s.n) break;
        sb_add(&s, substr(v, from, at - from).s);
        sb_add(&s, with.s);
        from = at + old.s.n;
        if (old.s.n > 0) continue;
        if (from == v.s.n) break; /* between all characters */
        uint32_t cp;
        const size_t len = text_next(v.s, from, &cp);
        sb_add(&s, substr(v, from, len).s);
        from += len;
    }
    if (from <= v.s.n) sb_add(&s, substr(v, from, v.s.n - from).s);
    return sb_val(&s);
}

/* ---- Places ---- */

/* The part of v that the arguments behind the first name; where it begins, in characters. */
static val part(val v, const call *a, int64_t *from) {
    const int64_t n = (int64_t)text_length(v.s);
    int64_t to = int_or(arg(a, 2, NULL), n);
    *from = int_or(arg(a, 1, NULL), 0);
    if (*from < 0) *from = *from + n < 0 ? 0 : *from + n;
    if (to < 0) to += n;
    return text_part(v, *from, to);
}

static val find(ctx *c, val v, const call *a, bool last) {
    const val what = arg(a, 0, NULL);
    int64_t from;
    if (!want_str(c, what, "find")) return what;
    const val in = part(v, a, &from);
    const size_t at = last ? find_last(in.s, what.s, in.s.n) : text_find(in.s, what.s, 0);
    return v_int(at > in.s.n ? -1 : from + (int64_t)text_length(substr(in, 0, at).s));
}

val m_find(ctx *c, val v, const call *a) { return find(c, v, a, false); }
val m_rfind(ctx *c, val v, const call *a) { return find(c, v, a, true); }

val m_str_index(ctx *c, val v, const call *a) {
    const val at = find(c, v, a, false);
    return !c->failed && at.i < 0 ? ctx_fail(c, LODE_E_FORMAT, "index: the string is not found") : at;
}

val m_count(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    int64_t from, n = 0;
    if (!want_str(c, what, "count")) return what;
    const val in = part(v, a, &from);
    if (what.s.n == 0) return v_int((int64_t)text_length(in.s) + 1);
    for (size_t at = text_find(in.s, what.s, 0); at <= in.s.n; n++) at = text_find(in.s, what.s, at + what.s.n);
    return v_int(n);
}

/* ---- Case and kinds ---- */

val m_upper(ctx *c, val v, const call *a) { return (void)a, text_recase(c, v, CASE_UPPER); }
val m_lower(ctx *c, val v, const call *a) { return (void)a, text_recase(c, v, CASE_LOWER); }
val m_title(ctx *c, val v, const call *a) { return (void)a, text_recase(c, v, CASE_TITLE); }
val m_capitalize(ctx *c, val v, const call *a) { return (void)a, text_recase(c, v, CASE_CAPITAL); }
val m_swapcase(ctx *c, val v, const call *a) { return (void)a, text_recase(c, v, CASE_SWAP); }

val m_isdigit(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_DIGIT)); }
val m_isdecimal(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_DECIMAL)); }
val m_isnumeric(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_NUMERIC)); }
val m_isalpha(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_ALPHA)); }
val m_isalnum(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_ALNUM)); }
val m_isspace(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_SPACE)); }
val m_isupper(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_UPPER)); }
val m_islower(ctx *c, val v, const call *a) { return (void)c, (void)a, v_bool(text_is(v.s, ALL_LOWER)); }

/* ---- Widths ---- */

static void fill(sb *s, val with, int64_t n) {
    for (int64_t i = 0; i < n && !s->c->failed; i++) sb_add(s, with.s);
}

/* What lacks to `width` characters, of which `left` percent, rounded as Python does, go before the text. */
static val widen(ctx *c, val v, const call *a, int left) {
    const val given = arg(a, 1, NULL), with = given.k == V_STR ? given : v_cstr(c, " ");
    const int64_t width = int_or(arg(a, 0, NULL), 0), lacks = width - (int64_t)text_length(v.s);
    if (c->failed || lacks <= 0) return v;
    if (text_length(with.s) != 1) return ctx_fail(c, LODE_E_FORMAT, "the text to fill with must be one character");
    const int64_t before = left == 50 ? lacks / 2 + (lacks & width & 1) : left ? lacks : 0;
    sb s = { .c = c };
    fill(&s, with, before);
    sb_add(&s, v.s);
    fill(&s, with, lacks - before);
    return sb_val(&s);
}

val m_center(ctx *c, val v, const call *a) { return widen(c, v, a, 50); }
val m_ljust(ctx *c, val v, const call *a) { return widen(c, v, a, 0); }
val m_rjust(ctx *c, val v, const call *a) { return widen(c, v, a, 100); }

val m_zfill(ctx *c, val v, const call *a) {
    const bool sign = v.s.n && (v.s.p[0] == '-' || v.s.p[0] == '+');
    const val zero = v_cstr(c, "0");
    const int64_t lacks = int_or(arg(a, 0, NULL), 0) - (int64_t)text_length(v.s);
    sb s = { .c = c };
    sb_add(&s, substr(v, 0, sign).s);
    if (!c->failed) fill(&s, zero, lacks);
    sb_add(&s, substr(v, sign, v.s.n - sign).s);
    return sb_val(&s);
}

val m_join(ctx *c, val v, const call *a) {
    const call sep = { .args = &v, .n = 1 };
    const val items = iterate(c, arg(a, 0, NULL));
    for (size_t i = 0; !c->failed && i < items.l->n; i++)
        if (!want_str(c, items.l->v[i], "join")) return (val){ 0 };
    return apply_filter(c, "join", items, &sep);
}
