/* random.h - rows of any type for tests: what the encoder makes of random floats, or, where a type has no encoder
 * or one that leaves codes out, random bits beside a scale that keeps the values near 1. */
#ifndef LODE_QUANT_RANDOM_H
#define LODE_QUANT_RANDOM_H

#include "lode/quant.h"

#include <string.h>

/* Writes n elements (whole blocks) at `row`; the bits depend on x alone. False for a type without values in floats. */
static inline bool quant_random_row(lode_type t, const float *x, void *row, int64_t n) {
    const bool some_codes = t == LODE_Q2_0 || t == LODE_TQ2_0;
    if (lode_type_can_encode(t) && !some_codes) return lode_encode_row(t, x, row, n);
    if (!lode_type_can_decode(t)) return false;
    const int64_t size = lode_type_bytes(t), blocks = n / lode_type_block(t);
    uint8_t *p = row;
    uint32_t seed;
    memcpy(&seed, x, sizeof seed);
    for (int64_t i = 0; i < blocks; i++, p += size) {
        for (int64_t k = 0; k < size; k++) {
            seed = seed * 1664525u + 1013904223u;
            p[k] = (uint8_t)(seed >> 24);
        }
        if (t == LODE_IQ1_M) { /* the half is in the top 4 bits of the last four words, lowest first */
            for (int k = 0; k < 4; k++)
                p[49 + 2 * k] = (uint8_t)((p[49 + 2 * k] & 15) | (k == 2 ? 4 : k == 3 ? 2 : 0) << 4);
        } else {
            uint8_t *top = p + (t == LODE_TQ2_0 ? 65 : 1);
            *top = (uint8_t)((*top & 0x83) | 0x20); /* a half of about 2^-7, of either sign */
        }
    }
    return true;
}
#endif
