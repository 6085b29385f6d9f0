/* f16.c - half precision: conversions and rows. */
#include "quant/f16.h"

#include "quant/row.h"

float lode_f16_to_f32(uint16_t h) { return dev_h2f(h); }

uint16_t lode_f32_to_f16(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    const uint32_t sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    uint32_t h;
    if (a > 0x7f800000u) { /* NaN stays NaN, made quiet */
        h = 0x7e00u | ((a >> 13) & 0x1ffu);
    } else if (a >= 0x477ff000u) { /* 65520 and above round to infinity */
        h = 0x7c00u;
    } else if (a >= 0x38800000u) { /* 2^-14: normal in both formats; the exponent's bias differs by 112 */
        const uint32_t r = a - (112u << 23);
        h = (r + 0xfffu + ((r >> 13) & 1u)) >> 13;
    } else if (a >= 0x33000000u) { /* 2^-25: a multiple of 2^-24 after rounding */
        const uint32_t m = (a & 0x7fffffu) | 0x800000u, shift = 126u - (a >> 23), half = 1u << (shift - 1);
        const uint32_t q = m >> shift, rest = m & ((1u << shift) - 1u);
        h = q + (rest > half || (rest == half && (q & 1u)) ? 1u : 0u);
    } else {
        h = 0;
    }
    return (uint16_t)(sign | h);
}

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i++) {
        f16_block b;
        memcpy(&b, p + i * 2, sizeof b);
        dst[i] = f16_at(&b, 0);
    }
}

static void encode(const float *src, void *dst, int64_t n) {
    uint8_t *p = dst;
    for (int64_t i = 0; i < n; i++) {
        const uint16_t h = lode_f32_to_f16(src[i]);
        memcpy(p + i * 2, &h, sizeof h);
    }
}

const quant_info lode_quant_F16 = { decode, encode };
