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
    const node *loop; /* that calling runs again */
    struct func *caller;
    frame *home;
} func;

enum { JUMP_NONE, JUMP_BREAK, JUMP_CONTINUE };

val eval(ctx *c, const node *n);
void run(ctx *c, const node *n);
val call_value(ctx *c, val f, const call *a);
val apply_filter(ctx *c, const char *name, val v, const call *a);
bool known_filter(const char *name);
bool apply_test(ctx *c, const char *name, val v, const call *a);
/* Attribute as {{ a.name }}: an item of a dict, a method, or undefined. */
val get_attr(ctx *c, val v, const char *name);
val get_item(ctx *c, val v, val key);
/* Undefined, because the sandbox refuses it: whoever uses it is told so, in Jinja's words. */
val unsafe(ctx *c, val of, const char *name);
val bind_method(ctx *c, val v, const char *name); /* undefined when there is none */
/* Values to loop over: of a list, a dict's keys, a string's characters, nothing for undefined. */
val iterate(ctx *c, val v);
val arg(const call *a, int i, const char *name);              /* undefined when not given */
const val *given_arg(const call *a, int i, const char *name); /* NULL when not given */
val plus(ctx *c, val a, val b);
bool contains(ctx *c, val of, val what);          /* `what in of` */
val format_text(ctx *c, val form, const call *a); /* Python's form % arguments */
int64_t int_or(val v, int64_t otherwise);         /* a whole number, or `otherwise` for another kind */
void add_globals(ctx *c);

/* What the lists name. */
#define METHOD(kind, name, fn, changes) val fn(ctx *c, val self, const call *a);
#include "chat/methods.def"
#undef METHOD
#define FILTER(name, fn) val fn(ctx *c, val v, const call *a);
#include "chat/filters.def"
#undef FILTER
#endif
