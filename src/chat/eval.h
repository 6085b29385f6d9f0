/* eval.h - running templates. */
#ifndef LODE_CHAT_EVAL_H
#define LODE_CHAT_EVAL_H

#include "chat/parse.h"

/* Names of one scope; looked up outward. */
typedef struct frame {
    struct frame *up;
    dict names;
} frame;

/* Arguments of a call: positional ones first. */
typedef struct call {
    const val *args;
    int n;
    const char *const *names; /* of args[n .. n + n_named) */
    int n_named;
} call;

/* A function: built in, a macro, a method bound to its value, or the body of a call block. */
typedef struct func {
    const char *name;
    val (*fn)(ctx *c, val self, const call *a);
    val self;
    const node *macro;
    struct func *caller;
    frame *home;
} func;

enum { JUMP_NONE, JUMP_BREAK, JUMP_CONTINUE };

val eval(ctx *c, const node *n);
void run(ctx *c, const node *n);
val call_value(ctx *c, val f, const call *a);
val apply_filter(ctx *c, const char *name, val v, const call *a);
bool apply_test(ctx *c, const char *name, val v, const call *a);
/* Attribute as {{ a.name }}: an item of a dict, a method, or undefined. */
val get_attr(ctx *c, val v, const char *name);
val get_item(ctx *c, val v, val key);
val bind_method(ctx *c, val v, const char *name); /* undefined when there is none */
/* Values to loop over: of a list, a dict's keys, a string's characters, nothing for undefined. */
val iterate(ctx *c, val v);
val arg(const call *a, int i, const char *name); /* undefined when not given */
void add_globals(ctx *c);
#endif
