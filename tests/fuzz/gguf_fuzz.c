/* gguf_fuzz.c - fuzz target of the GGUF reader. Run: make fuzz F=gguf */
#include "gguf_walk.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    lode_err err = { 0 };
    uint64_t sum = 0;
    if (gguf_walk(data, n, &sum, &err) != LODE_OK) fuzz_check_error(&err);
    return 0;
}
