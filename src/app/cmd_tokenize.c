/* cmd_tokenize.c - lode tokenize: text to ids and pieces. */
#include "app/app.h"
#include "base/file.h"
#include "model/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece on one line: what would move the cursor is written as in C. */
static void print_piece(lode_slice s) {
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        if (c == '\n' || c == '\t' || c == '\r')
            printf("\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 32 || c == 127)
            printf("\\x%02x", (unsigned)c);
        else
            putchar(c);
    }
}

static int print_ids(const args *a, const lode_vocab *v, const lode_tokens *ids) {
    for (size_t i = 0; i < ids->n; i++) {
        if (a->value[OPT_IDS]) {
            printf("%s%d", i ? "," : "", (int)ids->items[i]);
            continue;
        }
        char piece[256];
        const size_t n = lode_vocab_piece(v, ids->items[i], true, piece, sizeof piece);
        printf("%6d  '", (int)ids->items[i]);
        print_piece((lode_slice){ piece, n < sizeof piece ? n : sizeof piece });
        printf("'\n");
    }
    if (a->value[OPT_IDS]) putchar('\n');
    return 0;
}

int cmd_tokenize(const args *a) {
    lode_err e = { 0 };
    lode_gguf *g = NULL;
    lode_vocab *v = NULL;
    lode_tokens ids = { 0 };
    char *text = NULL;
    size_t n = 0;
    const int missing = check_model(a, a->value[OPT_MODEL]);
    if (missing) return missing;
    lode_status s = lode_gguf_open(&g, a->value[OPT_MODEL], &e);
    if (s == LODE_OK) s = lode_vocab_open_gguf(&v, g, NULL, &e);
    const char *given = a->value[OPT_PROMPT];
    if (s == LODE_OK && !given)
        s = lode_file_read(a->value[OPT_FILE] ? a->value[OPT_FILE] : "-", LODE_ENCODE_MAX, &text, &n, &e);
    const unsigned flags = LODE_ENCODE_BOS | (a->value[OPT_SPECIAL] ? LODE_ENCODE_SPECIAL : 0u);
    if (s == LODE_OK) s = lode_encode(v, given ? given : text, given ? strlen(given) : n, flags, &ids, &e);
    const int rc = s == LODE_OK ? print_ids(a, v, &ids) : fail(&e);
    lode_tokens_free(&ids);
    free(text);
    lode_vocab_close(v);
    lode_gguf_close(g);
    return rc;
}
