/* replay.c - a fuzz target as a plain test: replay DIR runs it over every file of its corpus, and over damaged copies
 * that are the same in every run. Exit status 0 when nothing trapped, 2 when there is no corpus. */
#include "base/file.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

enum { MAX_SEED = 1 << 20, N_COPIES = 40 };

static uint32_t random_state = 12345;

static uint32_t draw(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Runs the target on a block of exactly n bytes. */
static void run_copy(const char *data, size_t n) {
    uint8_t *copy = malloc(n ? n : 1);
    FUZZ_CHECK(copy);
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

/* A few bytes replaced, a piece doubled or taken out, or the end cut off. */
static void run_damaged(const char *seed, size_t n) {
    char *text = malloc(2 * n);
    FUZZ_CHECK(text);
    memcpy(text, seed, n);
    size_t len = n;
    for (uint32_t hits = 1 + draw() % 4; hits > 0 && len > 0; hits--) {
        const size_t at = draw() % len, piece = draw() % (len - at);
        const uint32_t kind = draw() % 4;
        if (kind == 0 && len + piece <= 2 * n) {
            memmove(text + at + piece, text + at, len - at);
            len += piece;
        } else if (kind == 1) {
            memmove(text + at, text + at + piece, len - at - piece);
            len -= piece;
        } else {
            text[at] = (char)(kind == 2 ? draw() : (uint32_t)text[draw() % len]);
        }
    }
    run_copy(text, draw() % 8 || len == 0 ? len : draw() % len);
    free(text);
}

int main(int argc, char **argv) {
    struct dirent **files;
    const int n_files = argc == 2 ? scandir(argv[1], &files, NULL, by_name) : -1;
    int n_seeds = 0;
    for (int i = 0; i < n_files; i++) {
        char path[512], *seed;
        size_t n;
        lode_err e = { 0 };
        snprintf(path, sizeof path, "%s/%s", argv[1], files[i]->d_name);
        free(files[i]);
        if (!lode_is_file(path)) continue;
        FUZZ_CHECK(lode_file_read(path, MAX_SEED, &seed, &n, &e) == LODE_OK);
        run_copy(seed, n);
        for (int k = 0; n > 0 && k < N_COPIES; k++) run_damaged(seed, n);
        free(seed);
        n_seeds++;
    }
    if (n_files >= 0) free(files);
    if (n_seeds == 0) fprintf(stderr, "usage: replay DIR, a folder with at least one file\n");
    return n_seeds ? 0 : 2;
}
