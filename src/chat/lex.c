/* lex.c - cuts a template into tokens. */
#include "chat/lex.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *p, *end;
    int line;
    tokens *out;
    lode_arena *arena;
    lode_err *err;
} lexer;

static lode_status push(lexer *l, token_kind kind, const char *p, size_t n) {
    const token t = { kind, l->line, p, n };
    return LODE_PUSH(l->out, t) ? LODE_OK : lode_fail(l->err, LODE_E_NOMEM, "chat template: out of memory");
}

static void advance(lexer *l, const char *to) {
    for (; l->p < to; l->p++) l->line += *l->p == '\n';
}

static lode_status string(lexer *l) {
    const char q = *l->p, *p = l->p + 1;
    char *buf = lode_arena_alloc(l->arena, (size_t)(l->end - p) + 1, 1);
    size_t n = 0;
    if (!buf) return lode_fail(l->err, LODE_E_NOMEM, "chat template: out of memory");
    for (; p < l->end && *p != q; p++) {
        if (*p != '\\' || p + 1 == l->end) {
            buf[n++] = *p;
            continue;
        }
        static const char from[] = "nrtbfav0", to[] = "\n\r\t\b\f\a\v";
        const char *at = *++p ? strchr(from, *p) : NULL;
        if (at) {
            buf[n++] = to[at - from];
        } else if ((*p == 'u' || *p == 'x' || *p == 'U') && p + (*p == 'x' ? 2 : *p == 'u' ? 4 : 8) < l->end) {
            char hex[9] = { 0 };
            const size_t digits = *p == 'x' ? 2 : *p == 'u' ? 4 : 8;
            lode_str s = { 0 };
            memcpy(hex, p + 1, digits);
            lode_str_utf8(&s, (uint32_t)strtoul(hex, NULL, 16));
            if (s.p) memcpy(buf + n, s.p, s.n);
            n += s.n;
            lode_str_free(&s);
            p += digits;
        } else if (*p == '\\' || *p == '\'' || *p == '"') {
            buf[n++] = *p;
        } else if (*p != '\n') {
            buf[n++] = '\\';
            buf[n++] = *p;
        }
    }
    if (p == l->end) return lode_fail(l->err, LODE_E_FORMAT, "chat template, line %d: a string has no end", l->line);
    LODE_TRY(push(l, T_STRING, buf, n));
    advance(l, p + 1);
    return LODE_OK;
}

static lode_status number(lexer *l) {
    const char *p = l->p;
    if (l->end - p > 2 && p[0] == '0' && strchr("xXoObB", p[1])) { /* 0x1F, 0o17, 0b11 */
        for (p += 2; p < l->end && (isxdigit((unsigned char)*p) || *p == '_');) p++;
        LODE_TRY(push(l, T_NUMBER, l->p, (size_t)(p - l->p)));
        l->p = p;
        return LODE_OK;
    }
    while (p < l->end && (isdigit((unsigned char)*p) || *p == '_')) p++;
    if (p + 1 < l->end && *p == '.' && isdigit((unsigned char)p[1]))
        for (p++; p < l->end && isdigit((unsigned char)*p);) p++;
    if (p + 1 < l->end && (*p == 'e' || *p == 'E') && (isdigit((unsigned char)p[1]) || p[1] == '-' || p[1] == '+'))
        for (p += 2; p < l->end && isdigit((unsigned char)*p);) p++;
    LODE_TRY(push(l, T_NUMBER, l->p, (size_t)(p - l->p)));
    l->p = p;
    return LODE_OK;
}

static lode_status word(lexer *l) {
    static const char *const two[] = { "==", "!=", "<=", ">=", "//", "**" };
    if (isdigit((unsigned char)*l->p)) return number(l);
    if (*l->p == '\'' || *l->p == '"') return string(l);
    const char *p = l->p;
    while (p < l->end && (isalnum((unsigned char)*p) || *p == '_' || (unsigned char)*p >= 0x80)) p++;
    token_kind kind = T_NAME;
    if (p == l->p) {
        kind = T_PUNCT;
        p++;
        for (size_t i = 0; i < sizeof two / sizeof *two; i++)
            if (l->end - l->p >= 2 && memcmp(l->p, two[i], 2) == 0) p = l->p + 2;
        if (!strchr("+-*/%~<>=!|.,:()[]{}", *l->p) || !*l->p)
            return lode_fail(l->err, LODE_E_FORMAT, "chat template, line %d: unexpected character 0x%02x", l->line,
                             (unsigned)(unsigned char)*l->p);
    }
    LODE_TRY(push(l, kind, l->p, (size_t)(p - l->p)));
    l->p = p;
    return LODE_OK;
}

/* The words up to the closing braces. `-` before them swallows the white space that follows, `+` keeps the newline. */
static lode_status inside(lexer *l, bool statement) {
    const char *close = statement ? "%}" : "}}";
    int depth = 0;
    for (;;) {
        while (l->p < l->end && isspace((unsigned char)*l->p)) advance(l, l->p + 1);
        if (l->p == l->end)
            return lode_fail(l->err, LODE_E_FORMAT, "chat template, line %d: '%s' is missing", l->line, close);
        const char *p = l->p;
        const char sign = (*p == '-' || *p == '+') && l->end - p >= 3 && memcmp(p + 1, close, 2) == 0 ? *p++ : 0;
        if (l->end - p >= 2 && memcmp(p, close, 2) == 0 && (statement || depth == 0 || sign)) {
            LODE_TRY(push(l, statement ? T_CLOSE_STMT : T_CLOSE_OUT, p, 2));
            advance(l, p + 2);
            if (sign == '-')
                while (l->p < l->end && isspace((unsigned char)*l->p)) advance(l, l->p + 1);
            else if (statement && sign != '+' && l->p < l->end && *l->p == '\n')
                advance(l, l->p + 1);
            return LODE_OK;
        }
        if (*l->p == '{') depth++;
        if (*l->p == '}' && depth > 0) depth--;
        LODE_TRY(word(l));
    }
}

/* End of the text before a tag: white space from the line's start goes before statements and comments. */
static const char *strip_before(const char *from, const char *tag, const char *whole) {
    const char sign = tag[2], kind = tag[1];
    const char *to = tag;
    if (sign == '-') {
        while (to > from && isspace((unsigned char)to[-1])) to--;
        return to;
    }
    if (kind == '{' || sign == '+') return tag;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
    return to == whole || to[-1] == '\n' ? to : tag;
}

static lode_status comment(lexer *l) {
    const char *p = l->p + 2;
    while (p + 1 < l->end && !(p[0] == '#' && p[1] == '}')) p++;
    if (p + 1 >= l->end)
        return lode_fail(l->err, LODE_E_FORMAT, "chat template, line %d: a comment has no end", l->line);
    const bool strip = p[-1] == '-';
    advance(l, p + 2);
    if (strip)
        while (l->p < l->end && isspace((unsigned char)*l->p)) advance(l, l->p + 1);
    else if (l->p < l->end && *l->p == '\n')
        advance(l, l->p + 1);
    return LODE_OK;
}

/* What follows the tag {% WORD %} at p; NULL when another one stands there. */
static const char *tag_of(const char *p, const char *end, const char *word) {
    const size_t n = strlen(word);
    p += 2;
    if (p < end && (*p == '-' || *p == '+')) p++;
    while (p < end && isspace((unsigned char)*p)) p++;
    if ((size_t)(end - p) < n || memcmp(p, word, n) != 0) return NULL;
    p += n;
    while (p < end && isspace((unsigned char)*p)) p++;
    if (p < end && (*p == '-' || *p == '+')) p++;
    return end - p >= 2 && memcmp(p, "%}", 2) == 0 ? p + 2 : NULL;
}

/* Behind {% raw %}: everything up to {% endraw %} is text, which `-` on either side strips. */
static lode_status raw(lexer *l, const char *start) {
    for (const char *p = start; p + 1 < l->end; p++) {
        if (p[0] != '{' || p[1] != '%') continue;
        const char *close = tag_of(p, l->end, "endraw");
        if (!close) continue;
        const char *to = strip_before(start, p, NULL);
        if (to > start) LODE_TRY(push(l, T_TEXT, start, (size_t)(to - start)));
        advance(l, close);
        if (close[-3] == '-')
            while (l->p < l->end && isspace((unsigned char)*l->p)) advance(l, l->p + 1);
        else if (close[-3] != '+' && l->p < l->end && *l->p == '\n')
            advance(l, l->p + 1);
        return LODE_OK;
    }
    return lode_fail(l->err, LODE_E_FORMAT, "chat template, line %d: raw has no endraw", l->line);
}

lode_status lex_template(tokens *out, lode_arena *arena, const char *text, size_t n, lode_err *err) {
    char *copy = lode_arena_alloc(arena, n + 4, 1); /* zeros behind: tags are looked at three bytes ahead */
    if (!copy) return lode_fail(err, LODE_E_NOMEM, "chat template: out of memory");
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        if (!(text[i] == '\r' && i + 1 < n && text[i + 1] == '\n')) copy[len++] = text[i];
    if (len > 0 && copy[len - 1] == '\n') len--;
    lexer l = { copy, copy + len, 1, out, arena, err };
    while (l.p < l.end) {
        const char *tag = l.p;
        while (tag + 1 < l.end && !(tag[0] == '{' && (tag[1] == '{' || tag[1] == '%' || tag[1] == '#'))) tag++;
        const bool found = tag + 1 < l.end;
        const char *to = found ? strip_before(l.p, tag, copy) : l.end;
        if (to > l.p) LODE_TRY(push(&l, T_TEXT, l.p, (size_t)(to - l.p)));
        advance(&l, found ? tag : l.end);
        if (!found) break;
        if (tag[1] == '#') {
            LODE_TRY(comment(&l));
            continue;
        }
        const char *verbatim = tag[1] == '%' ? tag_of(tag, l.end, "raw") : NULL;
        if (verbatim) {
            const bool strip = verbatim[-3] == '-';
            while (strip && verbatim < l.end && isspace((unsigned char)*verbatim)) verbatim++;
            advance(&l, verbatim);
            LODE_TRY(raw(&l, verbatim));
            continue;
        }
        LODE_TRY(push(&l, tag[1] == '%' ? T_OPEN_STMT : T_OPEN_OUT, tag, 2));
        l.p += tag[2] == '-' || (tag[2] == '+' && tag[1] == '%') ? 3 : 2;
        LODE_TRY(inside(&l, tag[1] == '%'));
    }
    return push(&l, T_END, l.end, 0);
}
