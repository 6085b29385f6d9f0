/* wrap.c - the filter wordwrap: lines of a width, as Python's textwrap breaks them. */
#include "chat/eval.h"
#include "chat/text.h"

#include <string.h>

typedef struct {
    ctx *c;
    val text; /* one line of the input */
    int64_t width;
    bool break_long, on_hyphens;
    sb out;
    str between; /* lines of the output */
    bool any;    /* a line was written */
} wrapper;

static bool blank(uint32_t cp) { return cp == ' ' || (cp >= '\t' && cp <= '\r'); }
static bool letter(uint32_t cp) { return is_word(cp) && cp != '_' && !is_decimal(cp); }
static bool before_dash(uint32_t cp) { return is_word(cp) || (cp && cp < 0x80 && strchr("!\"'&.,?", (int)cp)); }

/* The character at byte i, 0 at the end; the one before, 0 at the beginning. */
static uint32_t here(str s, size_t i) {
    uint32_t cp = 0;
    if (i < s.n) text_next(s, i, &cp);
    return cp;
}
static uint32_t before(str s, size_t i) {
    uint32_t cp = 0;
    if (i > 0) text_prev(s, i, &cp);
    return cp;
}

/* End of a run of dashes that stands between words at i; i when there is none. */
static size_t dashes(str s, size_t i) {
    size_t n = i;
    while (n < s.n && s.p[n] == '-') n++;
    return n - i >= 2 && is_word(here(s, n)) ? n : i;
}

/* A hyphen at i that a line may end behind: two letters, or a letter and a hyphen and one, stand before it, and a
 * letter, or one with a hyphen, and another behind. */
static bool hyphen(str s, size_t i) {
    uint32_t a = 0, b = 0, d = 0;
    if (s.p[i] != '-' || i == 0) return false;
    size_t at = i - text_prev(s, i, &a);
    if (at > 0) at -= text_prev(s, at, &b);
    if (at > 0) text_prev(s, at, &d);
    if (!(letter(a) && (letter(b) || (b == '-' && letter(d))))) return false;
    at = i + 1;
    if (!letter(here(s, at))) return false;
    at += text_next(s, at, &a);
    return letter(here(s, at)) || (here(s, at) == '-' && letter(here(s, at + 1)));
}

/* End of the piece at i that cannot be broken: white space, a dash, a word or a part of one. */
static size_t piece_end(const wrapper *w, size_t i) {
    const str s = w->text.s;
    uint32_t cp;
    if (blank(here(s, i))) {
        while (i < s.n && blank(here(s, i))) i++;
        return i;
    }
    if (w->on_hyphens && before_dash(before(s, i)) && dashes(s, i) > i) return dashes(s, i);
    for (size_t start = i; i < s.n;) {
        if (w->on_hyphens && i > start && hyphen(s, i)) return i + 1;
        i += text_next(s, i, &cp);
        if (i == s.n || blank(here(s, i))) return i;
        if (w->on_hyphens && before_dash(cp) && dashes(s, i) > i) return i;
    }
    return i;
}

/* End of as much of a piece as fits into `room` characters, behind its last hyphen there if it has one. */
static size_t cut(const wrapper *w, size_t from, size_t to, int64_t room) {
    const val piece = substr(w->text, from, to - from);
    const size_t fits = text_offset(piece.s, room);
    size_t n = fits;
    while (w->on_hyphens && n > 0 && piece.s.p[n - 1] != '-') n--;
    for (size_t i = 0; n > 1 && i + 1 < n; i++)
        if (piece.s.p[i] != '-') return from + n;
    return from + fits;
}

static bool all_space(str s) { return text_is(s, ALL_SPACE); }

static void write_line(wrapper *w, size_t from, size_t to) {
    if (w->any) sb_add(&w->out, w->between);
    sb_add(&w->out, substr(w->text, from, to - from).s);
    w->any = true;
}

static void wrap_line(wrapper *w) {
    const str s = w->text.s;
    bool first = true;
    for (size_t i = 0; i < s.n && !w->c->failed;) {
        size_t to = piece_end(w, i);
        if (!first && all_space(substr(w->text, i, to - i).s)) i = to;
        const size_t from = i;
        size_t last = i; /* where the last piece of this line begins */
        int64_t used = 0;
        while (i < s.n) {
            to = piece_end(w, i);
            const int64_t n = (int64_t)text_length(substr(w->text, i, to - i).s);
            const int64_t room = w->width < 1 ? 1 : w->width - used;
            if (used + n <= w->width) {
                last = i;
                i = to;
                used += n;
                continue;
            }
            if (n > w->width && (w->break_long || i == from)) {
                last = i;
                i = w->break_long ? cut(w, i, to, room) : to;
            }
            break;
        }
        const bool drop = last < i && all_space(substr(w->text, last, i - last).s);
        if ((drop ? last : i) > from) {
            write_line(w, from, drop ? last : i);
            first = false;
        }
    }
}

val f_wordwrap(ctx *c, val v, const call *a) {
    const val *long_words = given_arg(a, 1, "break_long_words"), *hyphens = given_arg(a, 3, "break_on_hyphens");
    const val given = arg(a, 2, "wrapstring"), t = to_text(c, v);
    const val between = given.k == V_STR ? given : v_cstr(c, "\n");
    if (c->failed) return t;
    wrapper w = { .c = c,
                  .width = int_or(arg(a, 0, "width"), 79),
                  .break_long = !long_words || truthy(*long_words),
                  .on_hyphens = !hyphens || truthy(*hyphens),
                  .out = { .c = c },
                  .between = between.s };
    for (size_t from = 0, next; from < t.s.n && !c->failed; from = next) {
        const size_t to = text_line(t.s, from, &next);
        if (from) sb_add(&w.out, w.between);
        w.text = substr(t, from, to - from);
        w.any = false;
        wrap_line(&w);
    }
    return sb_val(&w.out);
}
