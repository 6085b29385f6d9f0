/* unicode.c - reads the generated table. */
#include "tok/unicode.h"

#include "tok/unicode_data.h"

enum {
    N_RUNS = sizeof category_runs / sizeof *category_runs,
    N_CATEGORIES = sizeof category_names / sizeof *category_names
};

const char *lode_unicode_version(void) { return UNICODE_VERSION; }

uint32_t lode_unicode_category_bits(const char *name, int n) {
    uint32_t bits = 0;
    if (n < 1 || n > 2) return 0;
    for (int i = 0; i < N_CATEGORIES; i++)
        if (category_names[i][0] == name[0] && (n == 1 || category_names[i][1] == name[1])) bits |= 1u << i;
    return bits;
}

bool lode_unicode_run_at(int i, lode_unicode_run *out) {
    if (i < 0 || i >= N_RUNS) return false;
    out->first = category_runs[i] >> 5;
    out->last = (i + 1 < N_RUNS ? category_runs[i + 1] >> 5 : (uint32_t)LODE_UNICODE_END) - 1;
    out->category = (int)(category_runs[i] & 31u);
    return true;
}

bool lode_unicode_is_space(uint32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}
