/* f64.c - rows of doubles. Rounded to floats on reading; there is no f64.h, because not every device has doubles. */
#include "quant/row.h"

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, p + i * 8, sizeof v);
        dst[i] = (float)v;
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i++) {
        const double v = (double)src[i];
        memcpy(p + i * 8, &v, sizeof v);
    }
}

const quant_info lode_quant_F64 = { decode, encode };
