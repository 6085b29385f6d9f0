/* unicode.h - general categories of code points (Unicode 16, which the reference tokenizers use). */
#ifndef LODE_TOK_UNICODE_H
#define LODE_TOK_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

enum { LODE_UNICODE_END = 0x110000 };

const char *lode_unicode_version(void);

/* Bits of the categories that `name` means: "L" all letters, "Lu" one; 0 for an unknown name. */
uint32_t lode_unicode_category_bits(const char *name, int n);

/* One stretch of code points of the same category. */
typedef struct {
    uint32_t first, last;
    int category;
} lode_unicode_run;

/* The i-th run, from 0, rising and without gaps; false behind the last. */
bool lode_unicode_run_at(int i, lode_unicode_run *out);

/* The property White_Space, which is what \s means to the references. */
bool lode_unicode_is_space(uint32_t cp);
#endif
