/* simd_portable.h - simd.h's words in the vector extension of GCC and clang: any machine, four floats at a time. */
#ifndef LODE_CPU_KERN_SIMD_PORTABLE_H
#define LODE_CPU_KERN_SIMD_PORTABLE_H
#include "dev/dev.h"
#include "lode/quant.h"

#include <math.h>

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vi __attribute__((vector_size(16)));
enum { VW = 4 };

KERN_INLINE vf vf_zero(void) { return (vf){ 0 }; }
KERN_INLINE vf vf_set1(float x) { return (vf){ x, x, x, x }; }
KERN_INLINE vf vf_load(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
KERN_INLINE void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
KERN_INLINE vf vf_load_part(const float *p, int n) {
    vf v = { 0 };
    for (int i = 0; i < n; i++) v[i] = p[i];
    return v;
}
KERN_INLINE void vf_store_part(float *p, vf v, int n) {
    for (int i = 0; i < n; i++) p[i] = v[i];
}
KERN_INLINE vi vi_set1(int32_t x) { return (vi){ x, x, x, x }; }
KERN_INLINE vf vf_add(vf a, vf b) { return a + b; }
KERN_INLINE vf vf_sub(vf a, vf b) { return a - b; }
KERN_INLINE vf vf_mul(vf a, vf b) { return a * b; }
KERN_INLINE vf vf_div(vf a, vf b) { return a / b; }
KERN_INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }  /* a * b + c, in one or two roundings */
KERN_INLINE vf vf_fnma(vf a, vf b, vf c) { return c - a * b; } /* c - a * b */
KERN_INLINE vf vf_pick(vi m, vf x, vf y) { return (vf)((m & (vi)x) | (~m & (vi)y)); }
KERN_INLINE vf vf_max(vf a, vf b) { return vf_pick((vi)(a > b), a, b); } /* b when either is NaN */
KERN_INLINE vf vf_min(vf a, vf b) { return vf_pick((vi)(a < b), a, b); }
KERN_INLINE vf vf_sqrt(vf a) { return (vf){ sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3]) }; }
/* To the nearest whole number, halves to even; |a| below 2^22. */
KERN_INLINE vf vf_round(vf a) {
    const vf big = vf_set1(12582912.0f);
    return (a + big) - big;
}
KERN_INLINE vf vf_abs(vf a) { return (vf)((vi)a & 0x7fffffff); }
/* The sign of s (a bit) on the magnitude of a. */
KERN_INLINE vf vf_copysign(vf a, vf s) { return (vf)(((vi)a & 0x7fffffff) | ((vi)s & ~0x7fffffff)); }
/* a < b ? x : y, y when either is NaN. */
KERN_INLINE vf vf_lt_sel(vf a, vf b, vf x, vf y) { return vf_pick((vi)(a < b), x, y); }
/* a * 2^n for whole n, -252..252. */
KERN_INLINE vf vf_ldexp(vf a, vf n) {
    const vi all = __builtin_convertvector(n, vi), half = all >> 1;
    return a * (vf)((half + 127) << 23) * (vf)((all - half + 127) << 23);
}
/* Sum and maximum of the lanes, in a fixed order. */
KERN_INLINE float vf_sum(vf v) { return (v[0] + v[2]) + (v[1] + v[3]); }
KERN_INLINE float vf_hmax(vf v) {
    const float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}
typedef uint16_t u16x4 __attribute__((vector_size(8)));
KERN_INLINE vi load_16(const uint16_t *p) {
    u16x4 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vi);
}
/* Halves are floats with fewer bits and another bias: a shift and an exact product, subnormals included. */
KERN_INLINE vf vf_load_f16(const uint16_t *p) {
    const vi u = load_16(p), top = (vi)((u & 0x7c00) == 0x7c00) & 0x7f800000;
    const vf x = (vf)((u & 0x7fff) << 13) * vf_set1(0x1p112f);
    return (vf)((vi)x | top | ((u & 0x8000) << 16));
}
KERN_INLINE void vf_store_f16(uint16_t *p, vf v) {
    for (int i = 0; i < VW; i++) p[i] = lode_f32_to_f16(v[i]);
}
KERN_INLINE vf vf_load_bf16(const uint16_t *p) { return (vf)((vi){ p[0], p[1], p[2], p[3] } << 16); }
/* Even and odd elements of the 2 * VW floats (a, b), and back. */
KERN_INLINE void vf_unzip(vf a, vf b, vf *even, vf *odd) {
    *even = (vf){ a[0], a[2], b[0], b[2] };
    *odd = (vf){ a[1], a[3], b[1], b[3] };
}
KERN_INLINE void vf_zip(vf even, vf odd, vf *a, vf *b) {
    *a = (vf){ even[0], odd[0], even[1], odd[1] };
    *b = (vf){ even[2], odd[2], even[3], odd[3] };
}
/* Rows become columns. */
KERN_INLINE void vf_transpose(vf r[VW]) {
    vf t[VW];
    for (int i = 0; i < VW; i++) t[i] = (vf){ r[0][i], r[1][i], r[2][i], r[3][i] };
    for (int i = 0; i < VW; i++) r[i] = t[i];
}

/* ---- Activations to 8 bits, 32 at a time ---- */
/* The largest |x|, as the number whose bits are the largest: NaN above infinity above the rest. */
KERN_INLINE float q8a_peak(const float *x) {
    vi top = { 0 };
    for (int i = 0; i < 32; i += VW) {
        const vi a = (vi)vf_load(x + i) & 0x7fffffff, m = (vi)(a > top);
        top = (m & a) | (~m & top);
    }
    int32_t t = top[0];
    for (int i = 1; i < VW; i++) t = top[i] > t ? top[i] : t;
    float f;
    memcpy(&f, &t, sizeof f);
    return f;
}
KERN_INLINE void q8a_round(const float *x, float inv, int8_t *q, int32_t *s0, int32_t *s1) {
    typedef int8_t i8x4 __attribute__((vector_size(4)));
    vi sum[2] = { { 0 }, { 0 } };
    for (int i = 0; i < 32; i += VW) {
        const vi v = __builtin_convertvector(vf_round(vf_mul(vf_load(x + i), vf_set1(inv))), vi);
        const i8x4 b = __builtin_convertvector(v, i8x4);
        memcpy(q + i, &b, sizeof b);
        sum[i / 16] += v;
    }
    *s0 = (sum[0][0] + sum[0][1]) + (sum[0][2] + sum[0][3]);
    *s1 = (sum[1][0] + sum[1][1]) + (sum[1][2] + sum[1][3]);
}
#endif
