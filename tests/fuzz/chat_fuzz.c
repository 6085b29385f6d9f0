/* chat_fuzz.c - fuzz target of chat templates. Input: switches (1 byte), the template, NUL, then JSON (switch 1) or
 * messages: role, NUL, content, NUL, ... Run: make fuzz F=chat */
#include "lode/chat.h"
#include "tests/fuzz/fuzz.h"

enum { WITH_JSON = 1, PROMPT = 2, MAX_MESSAGES = 8 };

/* The runs add up to the text, none is empty and neighbours differ. */
static void check_runs(const lode_chat_text *t) {
    size_t sum = 0;
    for (size_t i = 0; i < t->n_runs; i++) {
        FUZZ_CHECK(t->runs[i].n > 0);
        FUZZ_CHECK(i == 0 || t->runs[i].from_template != t->runs[i - 1].from_template);
        sum += t->runs[i].n;
    }
    FUZZ_CHECK(sum == t->n);
    FUZZ_CHECK(t->text && t->text[t->n] == '\0');
}

/* Rendering is a function: the second time gives the same. */
static void render(const lode_chat *t, const lode_chat_input *in) {
    lode_chat_text first, second;
    lode_err e = { 0 };
    const lode_status s = lode_chat_render(t, in, &first, &e);
    if (s != LODE_OK) {
        fuzz_check_error(&e);
        return;
    }
    check_runs(&first);
    FUZZ_CHECK(lode_chat_render(t, in, &second, &e) == LODE_OK);
    FUZZ_CHECK(first.n == second.n && memcmp(first.text, second.text, first.n) == 0);
    lode_chat_text_free(&first);
    lode_chat_text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    fuzz_input in = { (const char *)data, n };
    const unsigned switches = fuzz_byte(&in);
    const lode_slice text = fuzz_text(&in);
    lode_err e = { 0 };
    lode_chat *t;
    if (lode_chat_open(&t, text.p, text.n, &e) != LODE_OK) {
        fuzz_check_error(&e);
        return 0;
    }
    lode_chat_input input = { .bos_token = "<s>", .eos_token = "</s>", .add_generation_prompt = switches & PROMPT };
    lode_chat_message m[MAX_MESSAGES];
    char *role[MAX_MESSAGES] = { NULL }, *json = NULL;
    if (switches & WITH_JSON) {
        input.json = json = fuzz_cstr(&in);
    } else {
        input.messages = m;
        while (input.n_messages < MAX_MESSAGES && in.n) {
            role[input.n_messages] = fuzz_cstr(&in);
            const lode_slice content = fuzz_text(&in);
            m[input.n_messages] = (lode_chat_message){ role[input.n_messages], content.p, content.n };
            input.n_messages++;
        }
    }
    render(t, &input);
    for (int i = 0; i < MAX_MESSAGES; i++) free(role[i]);
    free(json);
    lode_chat_close(t);
    return 0;
}
