/* value.h - values of the template engine. Everything lives in the arena of one render, so nothing is freed singly.
 *
 * A string carries, byte for byte, whether it came from the template (1) or from the caller's data (0): what people and
 * models wrote must never turn into control tokens. Operations on strings copy the marks along. */
#ifndef LODE_CHAT_VALUE_H
#define LODE_CHAT_VALUE_H

#include "base/mem.h"
#include "base/str.h"

#include <jansson.h>

typedef enum { V_UNDEF, V_NONE, V_BOOL, V_INT, V_FLOAT, V_STR, V_LIST, V_DICT, V_FUNC } val_kind;

typedef struct str {
    const char *p;
    const unsigned char *mark; /* n marks */
    size_t n;
} str;

struct list;
struct dict;
struct func;

typedef struct val {
    val_kind k;
    union {
        bool b;
        int64_t i;
        double f;
        str s;
        struct list *l;
        struct dict *d;
        struct func *fn;
        const char *unsafe; /* of UNDEF: why it was kept from the template, or NULL */
    };
} val;

typedef struct list {
    val *v;
    size_t n, cap;
    bool tuple;
    bool group; /* a tuple (grouper, list) of groupby */
} list;

typedef struct dict {
    val *k, *v; /* in order of insertion */
    size_t n, cap;
    bool is_namespace;
    struct func *call; /* what calling it does; NULL: it cannot be called */
} dict;

/* One render. Failures are sticky: functions return undefined after the first, callers check `failed` in loops. */
typedef struct ctx {
    lode_arena *arena;
    lode_err *err;
    bool failed;
    lode_status status;
    int line; /* being evaluated */
    int depth;
    int64_t steps;       /* left */
    int64_t now;         /* seconds since 1970 */
    lode_str out, marks; /* own: what was rendered, and its marks */
    struct frame *globals, *frame;
    bool may_change; /* lists and dicts may be changed by methods */
    int jump;        /* 0, or what a loop must do: JUMP_* */
} ctx;

/* MAX_MEMORY: a text of MAX_OUT bytes takes four times that while it grows, with its marks; nothing is given back. */
enum { MAX_DEPTH = 200, MAX_STEPS = 1000000, MAX_OUT = 64 << 20, MAX_MEMORY = 1 << 30 };

val ctx_fail(ctx *c, lode_status s, const char *fmt, ...) LODE_PRINTF(3, 4); /* returns undefined */
void *ctx_alloc(ctx *c, size_t n, size_t size);

val v_bool(bool b);
val v_int(int64_t i);
val v_float(double f);
val v_str(ctx *c, const char *p, size_t n, int mark); /* copied */
val v_cstr(ctx *c, const char *p);                    /* template text */
val v_list(ctx *c);
val v_dict(ctx *c);
void list_push(ctx *c, list *l, val v);
void dict_set(ctx *c, dict *d, val key, val v);
const val *dict_get(const dict *d, val key); /* NULL when absent */
const val *dict_find(const dict *d, const char *key);

/* Growing string with marks, for building results. */
typedef struct sb {
    ctx *c;
    char *p;
    unsigned char *mark;
    size_t n, cap;
} sb;
void sb_add(sb *b, str s);
void sb_text(sb *b, const char *p, size_t n, int mark);
val sb_val(const sb *b);

bool truthy(val v);
bool equal(val a, val b);
/* -1, 0, 1; fails for kinds that have no order. */
int compare(ctx *c, val a, val b);
const char *kind_name(val v); /* "string" */
val to_text(ctx *c, val v);   /* as {{ }} prints it */
val substr(val s, size_t from, size_t n);
val from_json(ctx *c, const json_t *j);

typedef struct json_style {
    int indent; /* below 0: one line */
    bool sort_keys, ascii;
    const char *item, *key; /* separators; NULL: as Python has them */
} json_style;
val to_json(ctx *c, val v, json_style style);
#endif
