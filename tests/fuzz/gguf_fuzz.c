/* gguf_fuzz.c - libFuzzer target of the GGUF reader. Run: build-fuzz/tests/gguf_fuzz tests/fuzz/gguf */
#include "gguf_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    lode_err err = { 0 };
    uint64_t sum = 0;
    if (gguf_walk(data, n, &sum, &err) != LODE_OK && strchr(err.text, '\n')) __builtin_trap();
    return 0;
}
