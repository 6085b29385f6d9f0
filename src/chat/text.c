/* text.c - characters of strings: where they begin, what they are, their case. */
#include "chat/text.h"

#include "chat/case_data.h"

#include <string.h>
#include <utf8proc.h>

enum { STRAY = 0xDC00, CAPITAL_SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

size_t text_next(str s, size_t i, uint32_t *cp) {
    const int n = lode_utf8_next(s.p + i, s.n - i, cp);
    if (n > 0) return (size_t)n;
    *cp = STRAY + (uint32_t)(unsigned char)s.p[i];
    return 1;
}

size_t text_prev(str s, size_t i, uint32_t *cp) {
    for (size_t n = 2; n <= 4 && n <= i; n++)
        if (text_next((str){ s.p, s.mark, i }, i - n, cp) == n) return n;
    text_next((str){ s.p, s.mark, i }, i - 1, cp);
    return 1;
}

size_t text_length(str s) {
    size_t n = 0;
    uint32_t cp;
    for (size_t i = 0; i < s.n; i += text_next(s, i, &cp)) n++;
    return n;
}

size_t text_offset(str s, int64_t n) {
    size_t i = 0;
    uint32_t cp;
    for (; n > 0 && i < s.n; n--) i += text_next(s, i, &cp);
    return i;
}

val text_part(val s, int64_t from, int64_t to) {
    const size_t a = text_offset(s.s, from), b = text_offset(s.s, to);
    return substr(s, a, b > a ? b - a : 0);
}

/* Whether a character begins, or the string ends, at byte i. */
static bool at_character(str s, size_t i) {
    uint32_t cp;
    if (i == 0 || i >= s.n || ((unsigned char)s.p[i] & 0xC0) != 0x80) return true;
    for (size_t back = 1; back <= 3 && back <= i; back++)
        if (text_next(s, i - back, &cp) > back) return false;
    return true;
}

size_t text_find(str s, str what, size_t from) {
    for (size_t i = from; i + what.n <= s.n; i++)
        if ((what.n == 0 || memcmp(s.p + i, what.p, what.n) == 0) && at_character(s, i) && at_character(s, i + what.n))
            return i;
    return s.n + 1;
}

size_t text_line(str s, size_t from, size_t *next) {
    for (size_t i = from; i < s.n;) {
        uint32_t cp;
        const size_t n = text_next(s, i, &cp);
        if ((cp >= '\n' && cp <= '\r') || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 || cp == 0x2028 || cp == 0x2029) {
            *next = i + n + (cp == '\r' && i + 1 < s.n && s.p[i + 1] == '\n');
            return i;
        }
        i += n;
    }
    *next = s.n;
    return s.n;
}

static int category(uint32_t cp) { return (int)utf8proc_category((utf8proc_int32_t)cp); }

bool is_space(uint32_t cp) {
    if (cp < 0x80) return cp == ' ' || (cp >= '\t' && cp <= '\r') || (cp >= 0x1C && cp <= 0x1F);
    const int k = category(cp);
    return cp == 0x85 || k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL || k == UTF8PROC_CATEGORY_ZP;
}

static bool is_letter(uint32_t cp) {
    const int k = category(cp);
    return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

static bool is_number(uint32_t cp) {
    const int k = category(cp);
    return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}

bool is_word(uint32_t cp) { return cp == '_' || is_letter(cp) || is_number(cp); }

static bool in_runs(const case_run *runs, size_t n, uint32_t cp) {
    for (size_t i = 0; i < n; i++)
        if (cp >= runs[i].first && cp <= runs[i].last) return true;
    return false;
}
#define IN(runs, cp) in_runs(runs, sizeof(runs) / sizeof *(runs), cp)

static bool is_upper(uint32_t cp) { return category(cp) == UTF8PROC_CATEGORY_LU || IN(more_upper, cp); }
static bool is_lower(uint32_t cp) { return category(cp) == UTF8PROC_CATEGORY_LL || IN(more_lower, cp); }
static bool is_title(uint32_t cp) { return category(cp) == UTF8PROC_CATEGORY_LT; }
static bool is_cased(uint32_t cp) { return is_upper(cp) || is_lower(cp) || is_title(cp); }
bool is_decimal(uint32_t cp) { return category(cp) == UTF8PROC_CATEGORY_ND; }
static bool is_digit(uint32_t cp) { return is_decimal(cp) || IN(more_digits, cp); }
static bool is_alnum(uint32_t cp) { return is_letter(cp) || is_number(cp); }

bool is_printable(uint32_t cp) {
    const int k = category(cp);
    return cp == ' ' || (k != UTF8PROC_CATEGORY_CN && k < UTF8PROC_CATEGORY_ZS);
}

static bool hides_case(uint32_t cp) {
    const int k = category(cp);
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_ME || k == UTF8PROC_CATEGORY_CF ||
           k == UTF8PROC_CATEGORY_LM || k == UTF8PROC_CATEGORY_SK || IN(more_ignorable, cp);
}

/* A capital sigma ends a word: a letter stands before it and none behind it, marks and apostrophes aside. */
static bool ends_word(str s, size_t at, size_t len) {
    uint32_t cp = 0;
    size_t i = at;
    while (i > 0) {
        i -= text_prev(s, i, &cp);
        if (!hides_case(cp)) break;
    }
    if (at == 0 || hides_case(cp) || !is_cased(cp)) return false;
    for (i = at + len; i < s.n;) {
        i += text_next(s, i, &cp);
        if (!hides_case(cp)) return !is_cased(cp);
    }
    return true;
}

static void add_char(sb *b, uint32_t cp, int mark) {
    char out[4];
    const utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)cp, (utf8proc_uint8_t *)out);
    sb_text(b, out, n > 0 ? (size_t)n : 0, mark);
}

/* The character at s[at..at+len) in upper, lower or title case. */
static void add_cased(sb *b, str s, size_t at, size_t len, text_case how) {
    uint32_t cp;
    text_next(s, at, &cp);
    const int mark = s.mark[at];
    for (size_t i = 0; cp >= 0x80 && i < sizeof case_rows / sizeof *case_rows; i++) {
        const uint16_t *to = case_rows[i].to[how];
        if (case_rows[i].cp != cp || to[0] == 0) continue;
        for (int k = 0; k < 3 && to[k]; k++) add_char(b, to[k], mark);
        return;
    }
    const utf8proc_int32_t c = (utf8proc_int32_t)cp;
    const utf8proc_int32_t to = how == CASE_UPPER   ? utf8proc_toupper(c)
                                : how == CASE_TITLE ? utf8proc_totitle(c)
                                                    : utf8proc_tolower(c);
    if (how == CASE_LOWER && cp == CAPITAL_SIGMA && ends_word(s, at, len))
        add_char(b, FINAL_SIGMA, mark);
    else if (to == c)
        sb_add(b, (str){ s.p + at, s.mark + at, len });
    else
        add_char(b, (uint32_t)to, mark);
}

val text_recase(ctx *c, val v, text_case how) {
    sb b = { .c = c };
    bool inside = false; /* a word, for titles */
    for (size_t i = 0, len; i < v.s.n && !c->failed; i += len) {
        uint32_t cp;
        text_case to = how;
        len = text_next(v.s, i, &cp);
        if (how == CASE_TITLE) to = inside ? CASE_LOWER : CASE_TITLE;
        if (how == CASE_CAPITAL) to = i ? CASE_LOWER : CASE_TITLE;
        if (how == CASE_SWAP) to = is_upper(cp) ? CASE_LOWER : CASE_UPPER;
        if (how == CASE_SWAP && !is_upper(cp) && !is_lower(cp))
            sb_add(&b, substr(v, i, len).s);
        else
            add_cased(&b, v.s, i, len, to);
        inside = is_cased(cp);
    }
    return sb_val(&b);
}

bool text_is(str s, text_kind kind) {
    static const struct {
        bool (*each)(uint32_t cp);                        /* holds of every character, or */
        bool (*some)(uint32_t cp), (*never)(uint32_t cp); /* of one, while this holds of none, nor of titles */
    } rows[] = { [ALL_DIGIT] = { .each = is_digit },         [ALL_DECIMAL] = { .each = is_decimal },
                 [ALL_NUMERIC] = { .each = is_number },      [ALL_ALPHA] = { .each = is_letter },
                 [ALL_ALNUM] = { .each = is_alnum },         [ALL_SPACE] = { .each = is_space },
                 [ALL_UPPER] = { NULL, is_upper, is_lower }, [ALL_LOWER] = { NULL, is_lower, is_upper } };
    bool found = false;
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        i += text_next(s, i, &cp);
        if (rows[kind].each ? !rows[kind].each(cp) : rows[kind].never(cp) || is_title(cp)) return false;
        found = found || !rows[kind].some || rows[kind].some(cp);
    }
    return found;
}
