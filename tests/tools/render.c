/* render.c - renders chat templates: render CASES.json
 * CASES holds [{"template": path or text, "input": {...}, "want": text or null for a refusal}, ...], where "error" is
 * what a refusal must say, "may_change" allows templates to change values, and "bytes" instead of "input" is one
 * message, each of whose characters, and of those of "want", stands for a byte. Prints what differs and "cases=N
 * wrong=M". Exit status 0 when nothing is wrong. */
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "lode/chat.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that the characters of a text up to U+00FF stand for, in place. */
static size_t to_bytes(char *text, size_t n) {
    size_t out = 0;
    uint32_t cp;
    for (size_t i = 0; i < n; i += (size_t)lode_utf8_next(text + i, n - i, &cp), text[out++] = (char)cp)
        if (lode_utf8_next(text + i, n - i, &cp) == 0) break;
    return out;
}

/* A string of the case, own. */
static char *string_of(const json_t *j, bool bytes, size_t *n) {
    *n = json_string_length(j);
    char *s = lode_calloc(*n + 1, 1);
    if (!s) return NULL;
    if (*n) memcpy(s, json_string_value(j), *n);
    if (bytes) *n = to_bytes(s, *n);
    return s;
}

static bool one(const json_t *c, size_t index) {
    lode_err e = { 0 };
    lode_chat *t = NULL;
    lode_chat_text out = { 0 };
    const char *source = json_string_value(json_object_get(c, "template"));
    const json_t *want = json_object_get(c, "want"), *input = json_object_get(c, "input");
    const char *error = json_string_value(json_object_get(c, "error"));
    size_t n_bytes, n_want;
    char *bytes = string_of(json_object_get(c, "bytes"), true, &n_bytes), *expected = string_of(want, !input, &n_want);
    char *text = NULL, *json = input ? json_dumps(input, JSON_COMPACT) : NULL;
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
    const lode_chat_message message = { "user", bytes, n_bytes };
    const lode_chat_input in = { .json = json,
                                 .messages = input ? NULL : &message,
                                 .n_messages = 1,
                                 .may_change = json_is_true(json_object_get(c, "may_change")),
                                 .now = 1700000000 };
    if (s == LODE_OK) s = lode_chat_render(t, &in, &out, &e);
    const bool ok = json_is_null(want) ? s != LODE_OK && (!error || strstr(e.text, error))
                                       : s == LODE_OK && out.n == n_want && memcmp(out.text, expected, out.n) == 0;
    if (!ok) {
        size_t at = 0;
        while (s == LODE_OK && json_is_string(want) && at < out.n && out.text[at] == expected[at]) at++;
        printf("%zu %.200s: %s\n", index, source, s ? e.text : "differs");
        if (s == LODE_OK && json_is_string(want))
            printf("  at %zu\n  got  '%.60s'\n  want '%.60s'\n", at, out.text + at, expected + at);
    }
    lode_chat_text_free(&out);
    lode_chat_close(t);
    free(text);
    free(json);
    free(bytes);
    free(expected);
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
