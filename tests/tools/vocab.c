/* vocab.c - compares our ids with expected ones: vocab FILE.gguf...
 *
 * Beside each FILE.gguf stand FILE.gguf.inp, texts separated by a line __ggml_vocab_test__, and FILE.gguf.out, one line
 * of ids per text (without BOS, special tokens not parsed). Beyond these, messages that are not UTF-8 go through a chat
 * template to ids and back, and must come out as they went in. Prints "NAME texts=46 messages=12 wrong=0" per file; -v
 * shows what differs. Exit status 0 when nothing is wrong, 1 when something is, 2 on wrong usage or an unreadable file.
 */
#include "base/file.h"
#include "base/str.h"
#include "lode/chat.h"
#include "model/vocab.h"
#include "tok/vocab.h"

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

/* Ids of a message, by a template that passes it through what templates do to messages. */
static lode_status encode_message(const lode_vocab *v, const char *text, size_t n, lode_tokens *ids, lode_err *err) {
    static const char template[] =
        "{% set s = messages[0].content.strip('~') | trim('~') | replace('~~', '') | string %}"
        "{{ (s ~ '')[:] | list | join }}";
    lode_chat *chat = NULL;
    lode_chat_text out = { 0 };
    const lode_chat_message m = { "user", text, n };
    LODE_TRY(lode_chat_open(&chat, template, sizeof template - 1, err));
    lode_status st = lode_chat_render(chat, &(lode_chat_input){ .messages = &m, .n_messages = 1 }, &out, err);
    if (st == LODE_OK) st = lode_encode_parts(v, &(lode_text_part){ out.text, out.n, false }, 1, 0, ids, err);
    lode_chat_text_free(&out);
    lode_chat_close(chat);
    return st;
}

/* Whether some token stands for this very byte: several byte-level vocabularies lack bytes that UTF-8 never uses. */
static bool has_byte(const lode_vocab *v, char byte) {
    char name[8], piece[8];
    const int n = lode_vocab_kind_of(v) == LODE_VOCAB_SPM ? snprintf(name, sizeof name, "<0x%02X>", (unsigned char)byte)
                                                          : lode_byte_char((uint8_t)byte, name);
    const lode_token id = lode_vocab_find(v, name, (size_t)n);
    return id >= 0 && lode_vocab_piece(v, id, false, piece, sizeof piece) == 1 && piece[0] == byte;
}

/* A message that is not UTF-8: its ids are those of the bytes themselves, and stand for these bytes. */
static lode_status check_message(const lode_vocab *v, const lode_slice *message, int *wrong, lode_err *err) {
    char text[256];
    const size_t n = message->n;
    for (size_t i = 0; i < n; i++) text[i] = has_byte(v, message->p[i]) ? message->p[i] : '?';
    lode_tokens ids = { 0 }, raw = { 0 };
    char *back = NULL;
    size_t n_back = 0;
    lode_status st = encode_message(v, text, n, &ids, err);
    if (st == LODE_OK) st = lode_encode(v, text, n, 0, &raw, err);
    if (st == LODE_OK) st = lode_detokenize(v, ids.items, ids.n, 0, &back, &n_back, err);
    const bool same = ids.n == raw.n && !memcmp(ids.items, raw.items, ids.n * sizeof *ids.items) && n_back == n &&
                      !memcmp(back, text, n);
    if (st == LODE_OK && !same) {
        (*wrong)++;
        print_ids("message", &ids);
    }
    free(back);
    lode_tokens_free(&ids);
    lode_tokens_free(&raw);
    return st;
}

static lode_status check_messages(const lode_vocab *v, int *messages, int *wrong, lode_err *err) {
    static const lode_slice texts[] = {
#define T(s) { s, sizeof s - 1 }
        T("\xff"),
        T("caf\xe9 au lait"),
        T("\xc3\x28"),
        T("\xe2\x82"),
        T("\xe2\x82"
          "A"),
        T("ok \xf0\x9f\x98 end"),
        T("\xc0\x80"),
        T("\xed\xa0\x80"),
        T("\xf4\x90\x80\x80"),
        T("\x80\x80\xc3\xa9\xbf"),
        T("a\0b\xfe\n\xff\t\x80"),
#undef T
    };
    char every[256];
    for (int i = 0; i < 256; i++) every[i] = (char)(255 - i);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++, (*messages)++)
        LODE_TRY(check_message(v, &texts[i], wrong, err));
    (*messages)++;
    return check_message(v, &(lode_slice){ every, sizeof every }, wrong, err);
}

static lode_status check(const char *path, const lode_vocab *v, bool verbose, int *wrong, lode_err *err) {
    char *inp = NULL, *out = NULL;
    size_t n_inp = 0, n_out = 0;
    int texts = 0, messages = 0;
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
    if (st == LODE_OK) st = check_messages(v, &messages, wrong, err);
    if (st == LODE_OK) {
        const char *name = strrchr(path, '/');
        if (*line) *wrong += 1; /* more lines of ids than texts */
        printf("%s texts=%d messages=%d wrong=%d\n", name ? name + 1 : path, texts, messages, *wrong);
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
