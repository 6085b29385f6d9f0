/* template.c - a talk as token ids, by the chat template that the model ships, or a plain form where it ships none.
 *
 * Only what the template itself writes may become control tokens; what people and models wrote is text, whatever it
 * looks like. */
#include "app/app.h"
#include "base/mem.h"
#include "lode/chat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* For models without a template: who speaks, line by line. */
static const char plain[] = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
                            "{% if add_generation_prompt %}assistant:{% endif %}";

static lode_status encode_text(const engine *en, const lode_chat_text *t, lode_tokens *out, lode_err *err) {
    lode_text_part *parts = lode_calloc(t->n_runs + 1, sizeof *parts);
    if (!parts) return lode_fail(err, LODE_E_NOMEM, "chat: out of memory");
    size_t at = 0;
    for (size_t i = 0; i < t->n_runs; at += t->runs[i++].n)
        parts[i] = (lode_text_part){ t->text + at, t->runs[i].n, t->runs[i].from_template };
    const lode_status s =
        lode_encode_parts(en->vocab, parts, t->n_runs, LODE_ENCODE_BOS | LODE_ENCODE_ONE_BOS, out, err);
    free(parts);
    return s;
}

/* Text of a special token, own. */
static char *token_text(const engine *en, lode_special role) {
    const lode_token id = lode_vocab_special(en->vocab, role);
    const lode_slice s = id == LODE_NO_TOKEN ? (lode_slice){ 0 } : lode_vocab_text(en->vocab, id);
    char *p = lode_calloc(s.n + 1, 1);
    if (p && s.n) memcpy(p, s.p, s.n);
    return p;
}

lode_status render_chat(const engine *en, const lode_chat_message *m, size_t n, bool add_prompt, lode_tokens *out,
                        lode_err *err) {
    const lode_slice own = lode_model_chat_template(en->model);
    lode_chat *chat = NULL;
    lode_chat_text text = { 0 };
    char *bos = token_text(en, LODE_SPECIAL_BOS), *eos = token_text(en, LODE_SPECIAL_EOS);
    lode_status s = bos && eos ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "chat: out of memory");
    if (s == LODE_OK) s = lode_chat_open(&chat, own.n ? own.p : plain, own.n ? own.n : sizeof plain - 1, err);
    const lode_chat_input in = { .messages = m,
                                 .n_messages = n,
                                 .bos_token = bos,
                                 .eos_token = eos,
                                 .add_generation_prompt = add_prompt,
                                 .now = (int64_t)time(NULL) };
    if (s == LODE_OK) s = lode_chat_render(chat, &in, &text, err);
    if (s == LODE_OK) s = encode_text(en, &text, out, err);
    lode_chat_text_free(&text);
    lode_chat_close(chat);
    free(bos);
    free(eos);
    return s;
}
