/* template.c - a talk as token ids, in the form that the model was trained on.
 *
 * The forms are told by the markers in the model's own chat template. What the forms add is recognised as special
 * tokens; what people and models wrote is text, whatever it looks like. */
#include "app/app.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text around a message of each role; `{role}` stands for the role. */
typedef struct {
    const char *name, *marker; /* what the model's template must hold */
    const char *before, *after, *prompt;
    const char *assistant; /* what this form calls the assistant */
    const char *system;    /* said when the talk has no system message; NULL for nothing */
    bool system_in_user;   /* has no system role: the text goes before the first message */
} form;

static const form forms[] = {
    { "chatml", "<|im_start|>", "<|im_start|>{role}\n", "<|im_end|>\n", "<|im_start|>assistant\n", "assistant", NULL,
      false },
    { "gemma", "<start_of_turn>", "<start_of_turn>{role}\n", "<end_of_turn>\n", "<start_of_turn>model\n", "model", NULL,
      true },
    { "llama3", "<|start_header_id|>", "<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>",
      "<|start_header_id|>assistant<|end_header_id|>\n\n", "assistant", NULL, false },
    { "phi3", "<|end|>", "<|{role}|>\n", "<|end|>\n", "<|assistant|>\n", "assistant", NULL, false },
    { "plain", "", "{role}: ", "\n", "assistant:", "assistant", NULL, true },
};
enum { N_FORM = sizeof forms / sizeof *forms };

static bool holds(lode_slice text, const char *part) {
    const size_t n = strlen(part);
    for (size_t i = 0; n > 0 && i + n <= text.n; i++)
        if (memcmp(text.p + i, part, n) == 0) return true;
    return n == 0;
}

static const form *form_of(lode_slice text) {
    if (text.n == 0) return &forms[N_FORM - 1];
    for (int i = 0; i < N_FORM; i++)
        if (holds(text, forms[i].marker)) return &forms[i];
    return &forms[N_FORM - 1];
}

/* What the template of the model says when a talk has no system message, in the ChatML way of writing it:
 * {{ '<|im_start|>system\nTEXT<|im_end|>\n' }}. Empty when it says nothing. */
static lode_slice default_system(lode_slice t) {
    static const char open[] = "<|im_start|>system";
    for (size_t i = 0; i + sizeof open - 1 < t.n; i++) {
        if (memcmp(t.p + i, open, sizeof open - 1) != 0) continue;
        const char *from = t.p + i + sizeof open - 1, *end = t.p + t.n;
        if (from < end && *from == '\n')
            from++;
        else if (from + 1 < end && from[0] == '\\' && from[1] == 'n')
            from += 2;
        const char *to = from;
        while (to < end && *to != '<' && *to != '\'' && *to != '"' && *to != '{') to++;
        if (to < end && *to == '<' && to > from) return (lode_slice){ from, (size_t)(to - from) };
    }
    return (lode_slice){ 0 };
}

typedef struct {
    struct {
        lode_text_part *items; /* own */
        size_t n, cap;
    } parts;
    lode_arena arena; /* own: texts */
    bool failed;
} talk;

static void add(talk *t, const char *p, size_t n, bool special) {
    const lode_text_part part = { lode_arena_strdup(&t->arena, p, n), n, special };
    if (!part.p || !LODE_PUSH(&t->parts, part)) t->failed = true;
}

static void add_role(talk *t, const form *f, const char *role) {
    const char *name = strcmp(role, "assistant") == 0 ? f->assistant : role, *hole = strstr(f->before, "{role}");
    add(t, f->before, (size_t)(hole - f->before), true);
    add(t, name, strlen(name), true);
    add(t, hole + 6, strlen(hole + 6), true);
}

static void add_message(talk *t, const form *f, const char *role, lode_slice system, lode_slice text) {
    add_role(t, f, role);
    if (system.n) {
        add(t, system.p, system.n, false);
        add(t, "\n\n", 2, false);
    }
    add(t, text.p, text.n, false);
    add(t, f->after, strlen(f->after), true);
}

lode_status render_chat(const engine *en, const message *m, size_t n, bool add_prompt, lode_tokens *out,
                        lode_err *err) {
    const lode_slice own = lode_model_chat_template(en->model);
    const form *f = form_of(own);
    talk t = { 0 };
    lode_slice system = { 0 };
    const bool has_system = n > 0 && strcmp(m[0].role, "system") == 0;
    if (!has_system && n > 0 && strcmp(m[0].role, "user") == 0) system = default_system(own);
    if (system.n && f == &forms[0]) {
        add_message(&t, f, "system", (lode_slice){ 0 }, system);
        system.n = 0;
    }
    if (!has_system && f != &forms[0]) system.n = 0;
    for (size_t i = 0; i < n; i++) {
        const lode_slice text = { m[i].content, strlen(m[i].content) };
        if (i == 0 && has_system && f->system_in_user) {
            system = text;
            continue;
        }
        add_message(&t, f, m[i].role, system, text);
        system.n = 0;
    }
    if (add_prompt) add(&t, f->prompt, strlen(f->prompt), true);
    lode_status s = t.failed ? lode_fail(err, LODE_E_NOMEM, "chat: out of memory") : LODE_OK;
    if (s == LODE_OK)
        s = lode_encode_parts(en->vocab, t.parts.items, t.parts.n, LODE_ENCODE_BOS | LODE_ENCODE_ONE_BOS, out, err);
    free(t.parts.items);
    lode_arena_free(&t.arena);
    return s;
}
