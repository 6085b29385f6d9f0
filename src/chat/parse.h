/* parse.h - templates as trees. */
#ifndef LODE_CHAT_PARSE_H
#define LODE_CHAT_PARSE_H

#include "chat/value.h"

typedef enum {
    N_NUMBER,
    N_STRING,
    N_CONST,
    N_NAME,
    N_LIST,
    N_TUPLE,
    N_DICT,
    N_ATTR,
    N_INDEX,
    N_SLICE,
    N_CALL,
    N_FILTER,
    N_TEST,
    N_NOT,
    N_NEG,
    N_BINARY,
    N_AND,
    N_OR,
    N_COND,
    N_TEXT,
    N_OUT,
    N_IF,
    N_FOR,
    N_WITH,
    N_SCOPE,
    N_SET,
    N_SET_BLOCK,
    N_MACRO,
    N_CALL_BLOCK,
    N_FILTER_BLOCK,
    N_BREAK,
    N_CONTINUE,
    N_BODY
} node_kind;

typedef enum {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_INTDIV,
    OP_MOD,
    OP_POW,
    OP_CONCAT,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IN,
    OP_NOT_IN
} binary_op;

/* What the fields mean by kind:
 *   STRING, NAME, TEXT  text        ATTR a.text          INDEX a[b]     SLICE a[kids 0:1:2], NULL for absent
 *   CALL a(kids)        FILTER a|text(kids)   TEST a is text(kids), op 1: is not     COND a if b else c
 *   IF a: body b, else c (may be NULL)   FOR kids[..n-1] targets, a iterable, b body, c else, extra: if, op 1:
 * recursive WITH names, kids their values, b body     SCOPE b body SET kids targets, a value    SET_BLOCK kids[0], b
 * body, extra: filter chain or NULL MACRO text(kids default or NULL; names) b, op: USES_*    CALL_BLOCK a call, b body,
 * names/kids its parameters */
typedef struct node {
    node_kind kind;
    int line, op, n;
    const char *text;
    size_t text_n;
    val value; /* NUMBER, CONST */
    struct node *a, *b, *c, *extra;
    struct node **kids;
    const char **names; /* of keyword arguments or parameters; NULL entries for positional */
} node;

enum { USES_VARARGS = 1, USES_KWARGS = 2 };

/* Parses n bytes into the arena; NULL after *err was filled (line and what was expected). */
node *parse_template(lode_arena *arena, const char *text, size_t n, lode_err *err);
#endif
