/* vocab.c - compares our ids with expected ones: vocab FILE.gguf...
 *
 * Beside each FILE.gguf stand FILE.gguf.inp, texts separated by a line __ggml_vocab_test__, and FILE.gguf.out, one line
 * of ids per text (without BOS, special tokens not parsed). Prints "NAME texts=46 wrong=0" per file; -v shows what
 * differs. Exit status 0 when nothing is wrong, 1 when something is, 2 on wrong usage or an unreadable file. */
#include "base/file.h"
#include "base/str.h"
#include "model/vocab.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 64 << 20 };
static const char separator[] = "\n__ggml_vocab_test__\n";

static lode_status read_beside(const char *path, const char *suffix, char **text, size_t *n, lode_err *err) {
    lode_str name = { 0 };
    lode_str_printf(&name, "%s%s", path, suffix);
    const lode_status st =
        name.failed ? lode_fail(err, LODE_E_NOMEM, "no memory") : lode_file_read(name.p, MAX_FILE, text, n, err);
    lode_str_free(&name);
    return st;
}

static void print_ids(const char *what, const lode_tokens *ids) {
    printf("  %s:", what);
    for (size_t i = 0; i < ids->n; i++) printf(" %d", ids->items[i]);
    printf("\n");
}

/* Compares one text with one line of ids; moves *line behind it. */
static lode_status compare(const lode_vocab *v, const char *text, size_t n, char **line, bool verbose, int *wrong,
                           lode_err *err) {
    lode_tokens got = { 0 };
    LODE_TRY(lode_encode(v, text, n, 0, &got, err));
    size_t k = 0;
    bool same = true;
    char *p = *line;
    while (*p && *p != '\n') {
        char *end;
        const long want = strtol(p, &end, 10);
        if (end == p) break;
        if (k >= got.n || got.items[k] != want) same = false;
        k++;
        p = end + strspn(end, " ");
    }
    if (k != got.n) same = false;
    if (!same) {
        (*wrong)++;
        if (verbose) {
            printf("  text: '%.*s'\n  want: %.*s\n", (int)n, text, (int)strcspn(*line, "\n"), *line);
            print_ids("got", &got);
        }
    }
    *line += strcspn(*line, "\n");
    if (**line) (*line)++;
    lode_tokens_free(&got);
    return LODE_OK;
}

static lode_status check(const char *path, const lode_vocab *v, bool verbose, int *wrong, lode_err *err) {
    char *inp = NULL, *out = NULL;
    size_t n_inp = 0, n_out = 0;
    int texts = 0;
    *wrong = 0;
    lode_status st = read_beside(path, ".inp", &inp, &n_inp, err);
    if (st == LODE_OK) st = read_beside(path, ".out", &out, &n_out, err);
    char *line = out;
    for (size_t at = 0; st == LODE_OK && at < n_inp; texts++) {
        const char *end = memmem(inp + at, n_inp - at, separator, sizeof separator - 1);
        const size_t n = end ? (size_t)(end - inp) - at : n_inp - at;
        st = compare(v, inp + at, n, &line, verbose, wrong, err);
        at += n + (end ? sizeof separator - 1 : 0);
    }
    if (st == LODE_OK) {
        const char *name = strrchr(path, '/');
        if (*line) *wrong += 1; /* more lines of ids than texts */
        printf("%s texts=%d wrong=%d\n", name ? name + 1 : path, texts, *wrong);
    }
    free(inp);
    free(out);
    return st;
}

static lode_status check_file(const char *path, bool verbose, int *wrong, lode_err *err) {
    lode_gguf *g;
    lode_vocab *v = NULL;
    LODE_TRY(lode_gguf_open(&g, path, err));
    lode_status st = lode_vocab_open_gguf(&v, g, NULL, err);
    lode_gguf_close(g);
    if (st == LODE_OK) st = check(path, v, verbose, wrong, err);
    lode_vocab_close(v);
    return st;
}

int main(int argc, char **argv) {
    int result = 0, first = 1;
    const bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (verbose) first = 2;
    if (first >= argc) {
        fprintf(stderr, "usage: vocab [-v] FILE.gguf...\n");
        return 2;
    }
    for (int i = first; i < argc; i++) {
        lode_err err = { 0 };
        int wrong = 0;
        if (check_file(argv[i], verbose, &wrong, &err) != LODE_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        if (wrong) result = 1;
    }
    return result;
}
