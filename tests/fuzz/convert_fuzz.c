/* convert_fuzz.c - fuzz target of the converter. Input: the type to write (1 byte), config.json, NUL, tokenizer.json,
 * NUL, tokenizer_config.json, NUL, the rest is model.safetensors; an empty one is not there. What is written must open
 * again. Run: make fuzz F=convert */
#include "base/file.h"
#include "convert/convert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/gguf_walk.h"

#include <unistd.h>

enum { MAX_OUT = 64 << 20 };

static char dir[64], out_path[96];

static void remove_all(void) {
    static const char *const names[] = { "config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors",
                                         "out.gguf" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static void put(const char *name, const char *p, size_t n) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n == 0) {
        unlink(path);
        return;
    }
    FILE *f = fopen(path, "wb");
    FUZZ_CHECK(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

static void put_next(fuzz_input *in, const char *name) {
    const lode_slice s = fuzz_text(in);
    put(name, s.p, s.n);
}

/* The file is whole: every key and tensor can be read. */
static void check_written(void) {
    char *text;
    size_t n;
    uint64_t sum = 0;
    lode_err e = { 0 };
    FUZZ_CHECK(lode_file_read(out_path, MAX_OUT, &text, &n, &e) == LODE_OK);
    FUZZ_CHECK(gguf_walk(text, n, &sum, &e) == LODE_OK);
    free(text);
    unlink(out_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const lode_type types[] = { LODE_F32, LODE_F16, LODE_BF16, LODE_Q8_0 };
    if (!dir[0]) {
        const char *base = lode_is_dir("/dev/shm") ? "/dev/shm" : "/tmp"; /* memory, where there is such a folder */
        snprintf(dir, sizeof dir, "%s/lode_fuzz_XXXXXX", base);
        FUZZ_CHECK(mkdtemp(dir));
        snprintf(out_path, sizeof out_path, "%s/out.gguf", dir);
        atexit(remove_all);
    }
    fuzz_input in = { (const char *)data, n };
    const lode_type type = types[fuzz_byte(&in) % 4];
    put_next(&in, "config.json");
    put_next(&in, "tokenizer.json");
    put_next(&in, "tokenizer_config.json");
    put("model.safetensors", in.p, in.n);
    lode_err e = { 0 };
    if (lode_convert(&(lode_convert_desc){ .in_dir = dir, .out_path = out_path, .type = type }, &e) != LODE_OK) {
        fuzz_check_error(&e);
        FUZZ_CHECK(!lode_is_file(out_path));
        return 0;
    }
    check_written();
    return 0;
}
