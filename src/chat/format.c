/* format.c - Python's "%" on text, which is also the filter format. */
#include "chat/eval.h"
#include "chat/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One %[(name)][flags][width][.precision]kind. */
typedef struct {
    char flags[6];
    int64_t width, precision; /* precision below 0: none given */
    char kind;
} field;

enum { MAX_WIDTH = 1000 };

typedef struct {
    ctx *c;
    str form;
    size_t at;
    const call *a;
    int used;
} formatter;

static int64_t digits(formatter *f) {
    int64_t n = 0;
    for (; f->at < f->form.n && f->form.p[f->at] >= '0' && f->form.p[f->at] <= '9'; f->at++)
        if (n <= MAX_WIDTH) n = n * 10 + (f->form.p[f->at] - '0');
    return n;
}

static val next_value(formatter *f) {
    if (f->used >= f->a->n) return ctx_fail(f->c, LODE_E_FORMAT, "format: not enough values for the text");
    return f->a->args[f->used++];
}

/* The value under (name), or the next one. */
static val value_of(formatter *f) {
    if (f->at >= f->form.n || f->form.p[f->at] != '(') return (val){ 0 };
    const size_t from = ++f->at;
    while (f->at < f->form.n && f->form.p[f->at] != ')') f->at++;
    const val name = { .k = V_STR, .s = { f->form.p + from, f->form.mark + from, f->at - from } };
    f->at++;
    const val *found = NULL;
    if (f->a->n == 1 && f->a->args[0].k == V_DICT) found = dict_get(f->a->args[0].d, name);
    for (int i = 0; i < f->a->n_named; i++)
        if (strlen(f->a->names[i]) == name.s.n && !memcmp(f->a->names[i], name.s.p, name.s.n))
            found = &f->a->args[f->a->n + i];
    f->used = f->a->n;
    return found ? *found : ctx_fail(f->c, LODE_E_FORMAT, "format: there is no '%.*s'", (int)name.s.n, name.s.p);
}

static void read_field(formatter *f, field *d) {
    size_t n = 0;
    *d = (field){ .precision = -1 };
    for (; f->at < f->form.n && f->form.p[f->at] && strchr("-+ #0", f->form.p[f->at]); f->at++)
        if (n < 5 && !memchr(d->flags, f->form.p[f->at], n)) d->flags[n++] = f->form.p[f->at];
    d->width = digits(f);
    if (f->at < f->form.n && f->form.p[f->at] == '.') {
        f->at++;
        d->precision = digits(f);
    }
    while (f->at < f->form.n && f->form.p[f->at] && strchr("hlL", f->form.p[f->at])) f->at++;
    d->kind = f->at < f->form.n ? f->form.p[f->at++] : '\0';
    if (d->width > MAX_WIDTH || d->precision > MAX_WIDTH)
        ctx_fail(f->c, LODE_E_FULL, "format: a width above %d", MAX_WIDTH);
}

static val text_field(ctx *c, const field *d, val v) {
    if (d->kind == 'r' || d->kind == 'a') {
        val one = v_list(c);
        if (!c->failed) list_push(c, one.l, v);
        v = to_text(c, one); /* [repr] */
        if (!c->failed) v = substr(v, 1, v.s.n - 2);
    }
    v = to_text(c, v);
    return c->failed || d->precision < 0 ? v : text_part(v, 0, d->precision);
}

/* Digits of a number without its sign. */
static void magnitude(char *text, size_t n, const field *d, double x, unsigned long long i) {
    const int precision = d->precision < 0 ? 6 : (int)d->precision, least = d->precision < 0 ? 1 : (int)d->precision;
    switch (d->kind) {
    case 'f':
    case 'F': snprintf(text, n, "%.*f", precision, x); break;
    case 'e': snprintf(text, n, "%.*e", precision, x); break;
    case 'E': snprintf(text, n, "%.*E", precision, x); break;
    case 'g': snprintf(text, n, "%.*g", precision, x); break;
    case 'G': snprintf(text, n, "%.*G", precision, x); break;
    case 'x': snprintf(text, n, "%.*llx", least, i); break;
    case 'X': snprintf(text, n, "%.*llX", least, i); break;
    case 'o': snprintf(text, n, "%.*llo", least, i); break;
    default: snprintf(text, n, "%.*llu", least, i); break;
    }
}

static bool has(const field *d, char flag) { return strchr(d->flags, flag) != NULL; }

/* A number with its sign and prefix, and zeros up to the width if these are asked for. */
static val number_field(ctx *c, const field *d, val v) {
    char digits_text[MAX_WIDTH + 400], head[4] = "";
    const bool real = strchr("eEfFgG", d->kind) != NULL, whole = v.k == V_INT || v.k == V_BOOL;
    if (!whole && v.k != V_FLOAT)
        return ctx_fail(c, LODE_E_FORMAT, "format: %%%c needs a number, got %s", d->kind, kind_name(v));
    if (!real && v.k == V_FLOAT && (strchr("xXo", d->kind) || !(fabs(v.f) < 9e18)))
        return ctx_fail(c, LODE_E_FORMAT, "format: %%%c needs a whole number", d->kind);
    const int64_t i = v.k == V_FLOAT ? (real ? 0 : (int64_t)v.f) : int_or(v, 0);
    const double x = v.k == V_FLOAT ? v.f : (double)i;
    const bool negative = real ? signbit(x) != 0 && !isnan(x) : i < 0;
    magnitude(digits_text, sizeof digits_text, d, fabs(x), i < 0 ? 0 - (unsigned long long)i : (unsigned long long)i);
    size_t n_head = 0;
    if (negative || has(d, '+') || has(d, ' ')) head[n_head++] = negative ? '-' : has(d, '+') ? '+' : ' ';
    if (has(d, '#') && strchr("xXo", d->kind)) {
        head[n_head++] = '0';
        head[n_head++] = d->kind;
    }
    sb s = { .c = c };
    sb_text(&s, head, n_head, 1);
    const size_t n = strlen(digits_text);
    if (has(d, '0') && !has(d, '-'))
        for (int64_t k = (int64_t)(n_head + n); k < d->width; k++) sb_text(&s, "0", 1, 1);
    sb_text(&s, digits_text, n, 1);
    return sb_val(&s);
}

static val char_field(ctx *c, val v) {
    if (v.k == V_STR && text_length(v.s) == 1) return v;
    if (v.k != V_INT || v.i < 0 || v.i > 0x10FFFF)
        return ctx_fail(c, LODE_E_FORMAT, "format: %%c needs a character or its number");
    lode_str one = { 0 };
    lode_str_utf8(&one, (uint32_t)v.i);
    const val r = one.failed ? ctx_fail(c, LODE_E_NOMEM, "out of memory") : v_str(c, one.p, one.n, 1);
    lode_str_free(&one);
    return r;
}

/* What % at f->at stands for. */
static val one_field(formatter *f) {
    field d;
    val v = value_of(f);
    const bool named = v.k != V_UNDEF;
    if (f->c->failed) return v;
    read_field(f, &d);
    if (f->c->failed || d.kind == '%') return v_cstr(f->c, "%");
    if (!d.kind || !strchr("sradiuoxXeEfFgGc", d.kind))
        return ctx_fail(f->c, LODE_E_FORMAT, "format: %%%c is not supported", d.kind ? d.kind : ' ');
    if (!named) v = next_value(f);
    if (f->c->failed) return v;
    v = strchr("sra", d.kind) ? text_field(f->c, &d, v)
        : d.kind == 'c'       ? char_field(f->c, v)
                              : number_field(f->c, &d, v);
    const val width = v_int(d.width);
    const call wide = { .args = &width, .n = 1 };
    return f->c->failed ? v : has(&d, '-') ? m_ljust(f->c, v, &wide) : m_rjust(f->c, v, &wide);
}

val format_text(ctx *c, val form, const call *a) {
    formatter f = { .c = c, .form = form.s, .a = a };
    sb s = { .c = c };
    while (f.at < f.form.n && !c->failed) {
        const char *next = memchr(f.form.p + f.at, '%', f.form.n - f.at);
        const size_t to = next ? (size_t)(next - f.form.p) : f.form.n;
        sb_add(&s, substr(form, f.at, to - f.at).s);
        f.at = to + 1;
        if (!next) break;
        const val v = one_field(&f);
        if (!c->failed) sb_add(&s, v.s);
    }
    if (f.used < a->n && !(a->n == 1 && a->args[0].k == V_DICT))
        return ctx_fail(c, LODE_E_FORMAT, "format: more values than the text takes");
    return sb_val(&s);
}

val f_format(ctx *c, val v, const call *a) {
    const val t = to_text(c, v);
    return c->failed ? t : format_text(c, t, a);
}
