/* methods.c - methods of lists and dicts, and how methods are found; those of strings: strings.c. */
#include "chat/eval.h"

#include <string.h>

val m_refused(ctx *c, val v, const call *a) {
    (void)a;
    return ctx_fail(c, LODE_E_UNSUPPORTED, "this method of a %s is refused: it changes the value", kind_name(v));
}

val m_append(ctx *c, val v, const call *a) {
    list_push(c, v.l, arg(a, 0, NULL));
    return (val){ .k = V_NONE };
}

val m_extend(ctx *c, val v, const call *a) {
    const val more = iterate(c, arg(a, 0, NULL));
    for (size_t i = 0, n = c->failed ? 0 : more.l->n; i < n; i++) list_push(c, v.l, more.l->v[i]);
    return (val){ .k = V_NONE };
}

val m_pop(ctx *c, val v, const call *a) {
    const val at = arg(a, 0, NULL);
    int64_t i = at.k == V_INT ? at.i : -1;
    if (i < 0) i += (int64_t)v.l->n;
    if (i < 0 || i >= (int64_t)v.l->n) return ctx_fail(c, LODE_E_FORMAT, "pop: no such item");
    const val item = v.l->v[i];
    memmove(v.l->v + i, v.l->v + i + 1, (v.l->n - 1 - (size_t)i) * sizeof item);
    v.l->n--;
    return item;
}

val m_items(ctx *c, val v, const call *a) {
    (void)a;
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < v.d->n; i++) {
        val p = v_list(c);
        if (c->failed) break;
        list_push(c, p.l, v.d->k[i]);
        list_push(c, p.l, v.d->v[i]);
        p.l->tuple = true;
        list_push(c, out.l, p);
    }
    return out;
}

val m_keys(ctx *c, val v, const call *a) { return (void)a, iterate(c, v); }

val m_values(ctx *c, val v, const call *a) {
    (void)a;
    val out = v_list(c);
    for (size_t i = 0; !c->failed && i < v.d->n; i++) list_push(c, out.l, v.d->v[i]);
    return out;
}

val m_get(ctx *c, val v, const call *a) {
    (void)c;
    const val *item = dict_get(v.d, arg(a, 0, NULL));
    const val otherwise = arg(a, 1, "default");
    return item ? *item : otherwise.k == V_UNDEF ? (val){ .k = V_NONE } : otherwise;
}

val m_update(ctx *c, val v, const call *a) {
    const val more = arg(a, 0, NULL);
    for (size_t i = 0; more.k == V_DICT && !c->failed && i < more.d->n; i++)
        dict_set(c, v.d, more.d->k[i], more.d->v[i]);
    for (int i = 0; i < a->n_named; i++) dict_set(c, v.d, v_cstr(c, a->names[i]), a->args[a->n + i]);
    return (val){ .k = V_NONE };
}

val m_copy(ctx *c, val v, const call *a) {
    (void)a;
    if (v.k == V_LIST) return apply_filter(c, "list", v, a);
    val d = v_dict(c);
    for (size_t i = 0; !c->failed && i < v.d->n; i++) dict_set(c, d.d, v.d->k[i], v.d->v[i]);
    return d;
}

val m_index(ctx *c, val v, const call *a) {
    const val what = arg(a, 0, NULL);
    for (size_t i = 0; i < v.l->n; i++)
        if (equal(v.l->v[i], what)) return v_int((int64_t)i);
    return ctx_fail(c, LODE_E_FORMAT, "index: the value is not in the list");
}

val m_list_count(ctx *c, val v, const call *a) {
    (void)c;
    const val what = arg(a, 0, NULL);
    int64_t n = 0;
    for (size_t i = 0; i < v.l->n; i++) n += equal(v.l->v[i], what);
    return v_int(n);
}

/* Methods that change what they are called on exist only where the caller allows it: Hugging Face's set-up refuses
 * them, and so are values of one talk safe from another's. */
val bind_method(ctx *c, val v, const char *name) {
    static const struct {
        val_kind kind;
        const char *name;
        val (*fn)(ctx *c, val self, const call *a);
        bool changes;
    } rows[] = {
#define METHOD(kind, name, fn, changes) { kind, name, fn, changes },
#include "chat/methods.def"
#undef METHOD
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind != v.k || strcmp(rows[i].name, name) != 0) continue;
        if (rows[i].changes && v.k == V_LIST && v.l->tuple) break;
        if (rows[i].changes && !c->may_change) return unsafe(c, v, name);
        func *f = ctx_alloc(c, 1, sizeof *f);
        if (!f) return (val){ 0 };
        *f = (func){ .name = name, .fn = rows[i].fn, .self = v };
        return (val){ .k = V_FUNC, .fn = f };
    }
    return (val){ 0 };
}
