/* text.h - strings as Python has them: characters, their case, white space.
 *
 * A byte that belongs to no character is one by itself: U+DC80 to U+DCFF, as Python's "surrogateescape" has it. */
#ifndef LODE_CHAT_TEXT_H
#define LODE_CHAT_TEXT_H

#include "chat/value.h"

/* The character at byte i < s.n, and how many bytes it has. */
size_t text_next(str s, size_t i, uint32_t *cp);
/* The character before byte i > 0. */
size_t text_prev(str s, size_t i, uint32_t *cp);
size_t text_length(str s);                      /* in characters */
size_t text_offset(str s, int64_t n);           /* bytes of the first n characters, at most s.n */
val text_part(val s, int64_t from, int64_t to); /* characters from..to-1, clipped */
/* First place of `what` at a character's beginning from byte `from` on; s.n + 1 when there is none. */
size_t text_find(str s, str what, size_t from);
/* End of the line that begins at `from`; *next is where the next one begins. */
size_t text_line(str s, size_t from, size_t *next);

bool is_space(uint32_t cp); /* str.isspace */
bool is_decimal(uint32_t cp);
bool is_printable(uint32_t cp); /* as repr has it */
bool is_word(uint32_t cp);      /* \w: letters, numbers and _ */

typedef enum { CASE_UPPER, CASE_LOWER, CASE_TITLE, CASE_CAPITAL, CASE_SWAP } text_case;
val text_recase(ctx *c, val v, text_case how);

/* Whether v is made of at least one character, and all are so: str.isdigit and its like. */
typedef enum { ALL_DIGIT, ALL_DECIMAL, ALL_NUMERIC, ALL_ALPHA, ALL_ALNUM, ALL_SPACE, ALL_UPPER, ALL_LOWER } text_kind;
bool text_is(str s, text_kind kind);
#endif
