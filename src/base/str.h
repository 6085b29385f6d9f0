/* str.h - a growing text that remembers whether it ran out of memory, and slices of text. */
#ifndef LODE_BASE_STR_H
#define LODE_BASE_STR_H

#include "lode/base.h"

/* Text of n bytes; `p` ends in a NUL (not counted) once anything was added. Zero-initialise. After a failed growth
 * `failed` is set and later calls do nothing: check once at the end. */
typedef struct lode_str {
    char *p; /* own */
    size_t n, cap;
    bool failed;
} lode_str;

void lode_str_add(lode_str *s, const char *text, size_t n);
void lode_str_puts(lode_str *s, const char *text);
void lode_str_putc(lode_str *s, char c);
void lode_str_printf(lode_str *s, const char *fmt, ...) LODE_PRINTF(2, 3);
void lode_str_utf8(lode_str *s, uint32_t code_point); /* U+FFFD for what is not a code point */
void lode_str_clear(lode_str *s);                     /* keeps the memory */
void lode_str_free(lode_str *s);

/* Bytes of the UTF-8 sequence at p (at most n): 1..4, or 0 when it is not valid UTF-8; the code point in *cp. */
int lode_utf8_next(const char *p, size_t n, uint32_t *cp);
/* How many bytes at the end of p[0..n) are the start of an unfinished UTF-8 sequence: 0..3. */
size_t lode_utf8_partial(const char *p, size_t n);

/* Distance of edit between two words, for "did you mean"; words over 63 bytes count as far apart. */
int lode_edit_distance(const char *a, const char *b);
#endif
