/* chat.c - templates opened, rendered and closed. */
#include "lode/chat.h"
#include "base/need.h"

#include "chat/eval.h"

#include <stdlib.h>
#include <string.h>

struct lode_chat {
    lode_arena arena; /* own: the tree */
    const node *root;
};

lode_status lode_chat_open(lode_chat **out, const char *text, size_t n, lode_err *err) {
    LODE_TRY(lode_need(out && LODE_HAS(text, n), __func__, err));
    lode_chat *t = lode_calloc(1, sizeof *t);
    if (!t) return lode_fail(err, LODE_E_NOMEM, "chat template: out of memory");
    lode_err e = { .code = LODE_E_FORMAT, .text = "chat template: not usable" };
    if (n <= MAX_OUT) t->root = parse_template(&t->arena, text, n, &e);
    if (!t->root) {
        lode_chat_close(t);
        return lode_fail(err, e.code, "%s", e.text);
    }
    *out = t;
    return LODE_OK;
}

void lode_chat_close(lode_chat *t) {
    if (!t) return;
    lode_arena_free(&t->arena);
    free(t);
}

static void set(ctx *c, const char *name, val v) { dict_set(c, &c->globals->names, v_cstr(c, name), v); }

static val from_messages(ctx *c, const lode_chat_message *m, size_t n) {
    val all = v_list(c);
    for (size_t i = 0; i < n && !c->failed; i++) {
        val one = v_dict(c);
        if (c->failed) break;
        dict_set(c, one.d, v_cstr(c, "role"), v_str(c, m[i].role, strlen(m[i].role), 0));
        dict_set(c, one.d, v_cstr(c, "content"), v_str(c, m[i].content, m[i].n, 0));
        list_push(c, all.l, one);
    }
    return all;
}

static void set_input(ctx *c, const lode_chat_input *in, const json_t *j) {
    const char *key;
    json_t *item;
    set(c, "bos_token", v_cstr(c, in->bos_token ? in->bos_token : ""));
    set(c, "eos_token", v_cstr(c, in->eos_token ? in->eos_token : ""));
    set(c, "add_generation_prompt", v_bool(in->add_generation_prompt));
    json_object_foreach((json_t *)(uintptr_t)j, key, item) set(c, key, from_json(c, item));
    if (in->messages) set(c, "messages", from_messages(c, in->messages, in->n_messages));
}

/* The marks as runs: how many bytes, and where they came from. */
static lode_status take(ctx *c, lode_chat_text *out) {
    size_t cap = 0;
    *out = (lode_chat_text){ 0 };
    lode_str_add(&c->out, "", 0);
    for (size_t i = 0; i < c->out.n; i++) {
        const bool own = c->marks.p[i] != 0;
        if (out->n_runs == 0 || out->runs[out->n_runs - 1].from_template != own) {
            if (!lode_grow((void **)&out->runs, &cap, out->n_runs + 1, sizeof *out->runs)) {
                lode_chat_text_free(out);
                return lode_fail(c->err, LODE_E_NOMEM, "chat template: out of memory");
            }
            out->runs[out->n_runs++] = (lode_chat_run){ 0, own };
        }
        out->runs[out->n_runs - 1].n++;
    }
    out->text = c->out.p;
    out->n = c->out.n;
    c->out = (lode_str){ 0 };
    return LODE_OK;
}

lode_status lode_chat_render(const lode_chat *t, const lode_chat_input *in, lode_chat_text *out, lode_err *err) {
    LODE_TRY(lode_need(t && in && out, __func__, err));
    for (size_t i = 0; in->messages && i < in->n_messages; i++)
        LODE_TRY(
            lode_need(in->messages[i].role && LODE_HAS(in->messages[i].content, in->messages[i].n), __func__, err));
    json_error_t je;
    lode_arena arena = { 0 };
    frame globals = { 0 };
    json_t *j = in->json ? json_loads(in->json, JSON_ALLOW_NUL, &je) : NULL;
    if (in->json && !json_is_object(j)) {
        json_decref(j);
        return lode_fail(err, LODE_E_INPUT, "chat: the input is no JSON object: %s", j ? "another value" : je.text);
    }
    ctx c = { .arena = &arena,
              .err = err,
              .steps = MAX_STEPS,
              .now = in->now,
              .may_change = in->may_change,
              .globals = &globals,
              .frame = &globals };
    add_globals(&c);
    set_input(&c, in, j);
    json_decref(j);
    run(&c, t->root);
    const lode_status s = c.failed ? c.status : take(&c, out);
    lode_str_free(&c.out);
    lode_str_free(&c.marks);
    lode_arena_free(&arena);
    return s;
}

void lode_chat_text_free(lode_chat_text *t) {
    if (!t) return;
    free(t->text);
    free(t->runs);
    *t = (lode_chat_text){ 0 };
}
