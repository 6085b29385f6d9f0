/* str.c - growing text and UTF-8. */
#include "base/str.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool room_for(lode_str *s, size_t more) {
    size_t need;
    if (s->failed) return false;
    if (!lode_add_ok(s->n, more, &need) || !lode_add_ok(need, 1, &need) || !lode_grow((void **)&s->p, &s->cap, need, 1))
        s->failed = true;
    return !s->failed;
}

void lode_str_add(lode_str *s, const char *text, size_t n) {
    if (!room_for(s, n)) return;
    if (n) memcpy(s->p + s->n, text, n);
    s->n += n;
    s->p[s->n] = '\0';
}

void lode_str_puts(lode_str *s, const char *text) { lode_str_add(s, text, strlen(text)); }
void lode_str_putc(lode_str *s, char c) { lode_str_add(s, &c, 1); }

void lode_str_printf(lode_str *s, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && room_for(s, (size_t)n)) {
        vsnprintf(s->p + s->n, (size_t)n + 1, fmt, again);
        s->n += (size_t)n;
    }
    va_end(again);
}

void lode_str_utf8(lode_str *s, uint32_t c) {
    if (c > 0x10FFFFu || (c >= 0xD800u && c < 0xE000u)) c = 0xFFFDu;
    char b[4];
    size_t n = 0;
    if (c < 0x80u) {
        b[n++] = (char)c;
    } else if (c < 0x800u) {
        b[n++] = (char)(0xC0u | (c >> 6));
        b[n++] = (char)(0x80u | (c & 63u));
    } else if (c < 0x10000u) {
        b[n++] = (char)(0xE0u | (c >> 12));
        b[n++] = (char)(0x80u | ((c >> 6) & 63u));
        b[n++] = (char)(0x80u | (c & 63u));
    } else {
        b[n++] = (char)(0xF0u | (c >> 18));
        b[n++] = (char)(0x80u | ((c >> 12) & 63u));
        b[n++] = (char)(0x80u | ((c >> 6) & 63u));
        b[n++] = (char)(0x80u | (c & 63u));
    }
    lode_str_add(s, b, n);
}

void lode_str_clear(lode_str *s) {
    s->n = 0;
    s->failed = false;
    if (s->p) s->p[0] = '\0';
}

void lode_str_free(lode_str *s) {
    free(s->p);
    *s = (lode_str){ 0 };
}

/* Length of the sequence that starts with byte c, 0 when none does. C0, C1 and F5.. never start one (RFC 3629). */
static int lead_len(unsigned char c) {
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c < 0xE0) return 2;
    if (c >= 0xE0 && c < 0xF0) return 3;
    if (c >= 0xF0 && c < 0xF5) return 4;
    return 0;
}

int lode_utf8_next(const char *p, size_t n, uint32_t *cp) {
    if (n == 0) return 0;
    const unsigned char *b = (const unsigned char *)p;
    const int len = lead_len(b[0]);
    if (len == 0 || (size_t)len > n) return 0;
    if (len == 1) {
        *cp = b[0];
        return 1;
    }
    uint32_t c = b[0] & (0x7Fu >> len);
    for (int i = 1; i < len; i++) {
        if ((b[i] & 0xC0) != 0x80) return 0;
        c = (c << 6) | (b[i] & 0x3Fu);
    }
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (c < least[len] || c > 0x10FFFFu || (c >= 0xD800u && c < 0xE000u)) return 0;
    *cp = c;
    return len;
}

size_t lode_utf8_partial(const char *p, size_t n) {
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const unsigned char c = (unsigned char)p[n - back];
        if ((c & 0xC0) == 0x80) continue;
        return (size_t)lead_len(c) > back ? back : 0;
    }
    return 0;
}

int lode_edit_distance(const char *a, const char *b) {
    enum { MAX_WORD = 63 };
    const size_t na = strlen(a), nb = strlen(b);
    if (na > MAX_WORD || nb > MAX_WORD) return MAX_WORD + 1;
    int row[MAX_WORD + 1];
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int above = row[j];
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[nb];
}
