/* render.c - renders chat templates: render CASES.json
 * CASES holds [{"template": path or text, "input": {...}, "want": text or null for a refusal}, ...]; prints what
 * differs and "cases=N wrong=M". Exit status 0 when nothing is wrong. */
#include "base/file.h"
#include "base/mem.h"
#include "lode/chat.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool one(const json_t *c, size_t index) {
    lode_err e = { 0 };
    lode_chat *t = NULL;
    lode_chat_text out = { 0 };
    const char *source = json_string_value(json_object_get(c, "template"));
    const json_t *want = json_object_get(c, "want");
    char *text = NULL, *input = json_dumps(json_object_get(c, "input"), JSON_COMPACT);
    size_t n = 0;
    lode_status s = LODE_OK;
    if (strchr(source, '{') || strchr(source, '\n')) {
        n = json_string_length(json_object_get(c, "template"));
        text = lode_calloc(n + 1, 1);
        if (text) memcpy(text, source, n);
    } else {
        s = lode_file_read(source, 1 << 20, &text, &n, &e);
    }
    if (s == LODE_OK) s = lode_chat_open(&t, text, n, &e);
    const lode_chat_input in = { .json = input, .now = 1700000000 };
    if (s == LODE_OK) s = lode_chat_render(t, &in, &out, &e);
    const bool ok = json_is_null(want) ? s != LODE_OK
                                       : s == LODE_OK && out.n == json_string_length(want) &&
                                             memcmp(out.text, json_string_value(want), out.n) == 0;
    if (!ok) {
        size_t at = 0;
        while (s == LODE_OK && json_is_string(want) && at < out.n && out.text[at] == json_string_value(want)[at]) at++;
        printf("%zu %.60s: %s\n", index, source, s ? e.text : "differs");
        if (s == LODE_OK && json_is_string(want))
            printf("  at %zu\n  got  '%.60s'\n  want '%.60s'\n", at, out.text + at, json_string_value(want) + at);
    }
    lode_chat_text_free(&out);
    lode_chat_close(t);
    free(text);
    free(input);
    return ok;
}

int main(int argc, char **argv) {
    json_error_t je;
    json_t *cases = argc == 2 ? json_load_file(argv[1], JSON_ALLOW_NUL, &je) : NULL;
    if (!cases) {
        fprintf(stderr, "usage: render CASES.json\n");
        return 2;
    }
    size_t i, wrong = 0;
    json_t *c;
    json_array_foreach(cases, i, c) wrong += !one(c, i);
    printf("cases=%zu wrong=%zu\n", i, wrong);
    json_decref(cases);
    return wrong != 0;
}
