/* lex.h - a template as tokens: runs of text, and the words between the braces. */
#ifndef LODE_CHAT_LEX_H
#define LODE_CHAT_LEX_H

#include "base/mem.h"

typedef enum {
    T_END,
    T_TEXT,
    T_OPEN_OUT,
    T_CLOSE_OUT,
    T_OPEN_STMT,
    T_CLOSE_STMT,
    T_NAME,
    T_NUMBER,
    T_STRING,
    T_PUNCT
} token_kind;

typedef struct token {
    token_kind kind;
    int line;
    const char *p; /* STRING: unescaped; in the arena */
    size_t n;
} token;

typedef struct tokens {
    token *items; /* own */
    size_t n, cap;
} tokens;

/* White space as trim_blocks and lstrip_blocks have it, and the template's last newline dropped. */
lode_status lex_template(tokens *out, lode_arena *arena, const char *text, size_t n, lode_err *err);
#endif
