/* chain.c - the order of samplers as text: names or letters. */
#include "base/need.h"
#include "base/str.h"
#include "sample/sampler.h"

#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *name, *alias;
    char letter; /* 0: never in a chain */
} row;

static const row rows[] = {
#define SAMPLER(id, name, alias, letter, on) { #name, alias, letter },
#include "lode/samplers.def"
#undef SAMPLER
};

const char *lode_sampler_kind_name(int kind) { return kind >= 0 && kind < LODE_N_SAMPLER ? rows[kind].name : NULL; }

/* Equal but for case, - and _. */
static bool same(const char *name, const char *text, size_t n) {
    size_t i = 0;
    for (;;) {
        while (*name == '_') name++;
        while (i < n && (text[i] == '_' || text[i] == '-')) i++;
        if (i == n || !*name) return i == n && !*name;
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
        if (c != *name) return false;
        name++;
        i++;
    }
}

static int kind_of_name(const char *text, size_t n) {
    for (int i = 0; i < LODE_N_SAMPLER; i++)
        if (rows[i].letter && (same(rows[i].name, text, n) || (rows[i].alias[0] && same(rows[i].alias, text, n))))
            return i;
    return -1;
}

static int kind_of_letter(char c) {
    for (int i = 0; i < LODE_N_SAMPLER; i++)
        if (c && rows[i].letter == c) return i;
    return -1;
}

static lode_status unknown(const char *text, size_t n, lode_err *err) {
    char known[400];
    size_t at = 0;
    for (int i = 0; i < LODE_N_SAMPLER; i++)
        if (rows[i].letter && at < sizeof known)
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s (%c)", at ? ", " : "", rows[i].name,
                                   rows[i].letter);
    return lode_fail(err, LODE_E_INPUT, "unknown sampler '%.*s'; there are: %s", (int)(n < 40 ? n : 40), text, known);
}

static lode_status push(lode_sampler_chain *out, int kind, lode_err *err) {
    if (out->n == LODE_MAX_CHAIN)
        return lode_fail(err, LODE_E_INPUT, "more than %d samplers in a chain", LODE_MAX_CHAIN);
    out->kind[out->n++] = (uint8_t)kind;
    return LODE_OK;
}

static size_t trim(const char **p, size_t n) {
    while (n > 0 && (**p == ' ' || **p == '\t')) {
        (*p)++;
        n--;
    }
    while (n > 0 && ((*p)[n - 1] == ' ' || (*p)[n - 1] == '\t')) n--;
    return n;
}

/* A word that is no name but made of letters only is the short form; a name wins over letters ("temp"), also that of a
 * sampler outside chains ("dist"). */
static bool is_letters(const char *text) {
    if (kind_of_name(text, strlen(text)) >= 0) return false;
    for (int i = 0; i < LODE_N_SAMPLER; i++)
        if (same(rows[i].name, text, strlen(text))) return false;
    for (const char *p = text; *p; p++)
        if (kind_of_letter(*p) < 0) return false;
    return true;
}

lode_status lode_sampler_chain_parse(lode_sampler_chain *out, const char *text, lode_err *err) {
    LODE_TRY(lode_need(out && text, __func__, err));
    lode_sampler_chain c = { .n = 0 };
    if (is_letters(text)) {
        for (const char *p = text; *p; p++) LODE_TRY(push(&c, kind_of_letter(*p), err));
        *out = c;
        return LODE_OK;
    }
    for (const char *p = text;;) {
        const char *word = p;
        const size_t len = strcspn(p, ";,");
        const size_t n = trim(&word, len);
        const int kind = kind_of_name(word, n);
        if (kind < 0) return unknown(word, n, err);
        LODE_TRY(push(&c, kind, err));
        p += len;
        if (!*p) break;
        p++;
    }
    *out = c;
    return LODE_OK;
}
