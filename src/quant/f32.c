/* f32.c - rows of plain floats. */
#include "quant/f32.h"

#include "quant/row.h"

static void decode(const void *src, float *dst, int64_t n) {
    if (n > 0) memcpy(dst, src, (size_t)n * sizeof *dst);
}

static void encode(const float *src, void *dst, int64_t n) {
    if (n > 0) memcpy(dst, src, (size_t)n * sizeof *src);
}

const quant_info lode_quant_F32 = { decode, encode };
