/* fuzz.h - what the fuzz targets share. A target takes any bytes and must neither crash nor break what FUZZ_CHECK says;
 * it takes its choices from the front of the input and its texts, separated by NULs, from the rest. */
#ifndef LODE_TESTS_FUZZ_H
#define LODE_TESTS_FUZZ_H

#include "lode/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A trap, not an assertion: it is there in every build, and libFuzzer and a shell both see it. */
#define FUZZ_CHECK(cond)                                                       \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
            __builtin_trap();                                                  \
        }                                                                      \
    } while (0)

/* The error of a call that failed is one line and says something. */
static inline void fuzz_check_error(const lode_err *e) {
    FUZZ_CHECK(e->text[0] != '\0');
    FUZZ_CHECK(!strchr(e->text, '\n'));
}

/* What is left of an input. */
typedef struct fuzz_input {
    const char *p;
    size_t n;
} fuzz_input;

/* The next byte; 0 behind the end. */
static inline unsigned fuzz_byte(fuzz_input *in) {
    if (in->n == 0) return 0;
    in->n--;
    return (uint8_t)*in->p++;
}

/* The bytes up to the next NUL, or to the end. */
static inline lode_slice fuzz_text(fuzz_input *in) {
    const char *end = in->n ? memchr(in->p, '\0', in->n) : NULL;
    const lode_slice s = { in->n ? in->p : "", end ? (size_t)(end - in->p) : in->n };
    const size_t used = s.n + (end != NULL);
    in->n -= used;
    if (used) in->p += used;
    return s;
}

/* The same as malloc'ed text of exactly its bytes and a NUL, so that a sanitizer sees what is read behind it. */
static inline char *fuzz_cstr(fuzz_input *in) {
    const lode_slice s = fuzz_text(in);
    char *text = malloc(s.n + 1);
    FUZZ_CHECK(text);
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return text;
}
#endif
