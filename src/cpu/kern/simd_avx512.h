/* simd_avx512.h - simd.h's words for AVX-512 F, BW, VL, DQ and VNNI. */
#ifndef LODE_CPU_KERN_SIMD_AVX512_H
#define LODE_CPU_KERN_SIMD_AVX512_H
#include <immintrin.h>

typedef __m512 vf;
typedef __m512i vi;
enum { VW = 16 };

KERN_INLINE vf vf_zero(void) { return _mm512_setzero_ps(); }
KERN_INLINE vf vf_set1(float x) { return _mm512_set1_ps(x); }
KERN_INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
KERN_INLINE void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
KERN_INLINE vf vf_load_part(const float *p, int n) { return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p); }
KERN_INLINE void vf_store_part(float *p, vf v, int n) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v); }
KERN_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
KERN_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
KERN_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
KERN_INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
KERN_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }   /* a * b + c */
KERN_INLINE vf vf_fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); } /* c - a * b */
KERN_INLINE vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }              /* b when either is NaN */
KERN_INLINE vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
KERN_INLINE vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
KERN_INLINE vf vf_round(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
KERN_INLINE vf vf_abs(vf a) { return _mm512_abs_ps(a); }
/* The sign of s (a bit) on the magnitude of a. */
KERN_INLINE vf vf_copysign(vf a, vf s) {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(s),
                                                         _mm512_set1_epi32((int)0x80000000u), 0xd8));
}
/* a < b ? x : y, y when either is NaN. */
KERN_INLINE vf vf_lt_sel(vf a, vf b, vf x, vf y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
/* a * 2^n for whole n, -252..252. */
KERN_INLINE vf vf_ldexp(vf a, vf n) { return _mm512_scalef_ps(a, n); }
/* Sum and maximum of the lanes, in a fixed order: halves folded onto each other. */
KERN_INLINE float vf_sum(vf v) {
    __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
KERN_INLINE float vf_hmax(vf v) { return _mm512_reduce_max_ps(v); }
/* VW halves or bfloat16s to and from floats. */
KERN_INLINE vf vf_load_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
KERN_INLINE void vf_store_f16(uint16_t *p, vf v) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
KERN_INLINE vf vf_load_bf16(const uint16_t *p) {
    const vi u = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(u, 16));
}

/* Even and odd elements of the 2 * VW floats (a, b), and back. */
KERN_INLINE void vf_unzip(vf a, vf b, vf *even, vf *odd) {
    const __m512i i = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *even = _mm512_permutex2var_ps(a, i, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(i, _mm512_set1_epi32(1)), b);
}
KERN_INLINE void vf_zip(vf even, vf odd, vf *a, vf *b) {
    const __m512i i = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    *a = _mm512_permutex2var_ps(even, i, odd);
    *b = _mm512_permutex2var_ps(even, _mm512_add_epi32(i, _mm512_set1_epi32(8)), odd);
}

/* Rows become columns. */
KERN_INLINE void vf_transpose(vf r[VW]) {
    __m512 t[16];
    for (int i = 0; i < 16; i += 4) {
        const __m512 a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
        const __m512 c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = _mm512_shuffle_ps(a, c, 0x44);
        t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
        t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) { /* lane j of t[4k + i] is column 4j + i of rows 4k..4k+3 */
        const __m512 a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88), b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
        const __m512 c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88);
        const __m512 d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
        r[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

/* ---- Integers ---- */
KERN_INLINE vi vi_zero(void) { return _mm512_setzero_si512(); }
KERN_INLINE vi vi_set1(int32_t x) { return _mm512_set1_epi32(x); }
KERN_INLINE vi vi_set1_8(int x) { return _mm512_set1_epi8((char)x); }
KERN_INLINE vi vi_set1_16(int x) { return _mm512_set1_epi16((short)x); }
KERN_INLINE vi vi_set64(int64_t x) { return _mm512_set1_epi64(x); }
KERN_INLINE vi vi_set128(int64_t lo, int64_t hi) { return _mm512_set4_epi64(hi, lo, hi, lo); }
KERN_INLINE vi vi_load(const void *p) { return _mm512_loadu_si512(p); }
KERN_INLINE void vi_store(void *p, vi v) { _mm512_storeu_si512(p, v); }
KERN_INLINE vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
KERN_INLINE vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
KERN_INLINE vi vi_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
KERN_INLINE vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
KERN_INLINE vi vi_sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
#define vi_shl(a, n) _mm512_slli_epi32(a, (unsigned)(n))
#define vi_shr(a, n) _mm512_srli_epi32(a, (unsigned)(n))
#define vi_sar(a, n) _mm512_srai_epi32(a, (unsigned)(n))
#define vi_shl16(a, n) _mm512_slli_epi16(a, (unsigned)(n))
#define vi_shr16(a, n) _mm512_srli_epi16(a, (unsigned)(n))
KERN_INLINE vi vi_shrv(vi a, int n) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n)); }
KERN_INLINE vi vi_shlv(vi a, int n) { return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n)); }
#define vi_bytes_down(a, n) _mm512_bsrli_epi128(a, n) /* within each 16 bytes */
KERN_INLINE vf vf_from_i(vi a) { return _mm512_cvtepi32_ps(a); }
KERN_INLINE vf vf_bits(vi a) { return _mm512_castsi512_ps(a); }
KERN_INLINE vi vi_bits(vf a) { return _mm512_castps_si512(a); }
/* The half in the low 16 bits of each lane; what stands above it is ignored. */
KERN_INLINE vf vf_from_half(vi a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }

/* ---- Quads: 16 bytes of one weight row in each 128-bit lane ---- */
enum { KERN_S8_OFFSET = 128 }; /* signed weights of 8 bits are made unsigned */
enum { VQ = 4 };               /* lanes; a tile has 4 * VQ rows */

/* Lane j: 16 bytes of p + j * s4. With p = row z of a tile and s4 = 4 rows, lane j is row 4 * j + z. */
KERN_INLINE vi vi_quad(const uint8_t *p, size_t s4) {
    vi v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + s4)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 2 * s4)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 3 * s4)), 3);
}
KERN_INLINE vi vi_bcast128(const void *p) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p)); }
KERN_INLINE vi vi_unlo32(vi a, vi b) { return _mm512_unpacklo_epi32(a, b); }
KERN_INLINE vi vi_unhi32(vi a, vi b) { return _mm512_unpackhi_epi32(a, b); }
KERN_INLINE vi vi_unlo64(vi a, vi b) { return _mm512_unpacklo_epi64(a, b); }
KERN_INLINE vi vi_unhi64(vi a, vi b) { return _mm512_unpackhi_epi64(a, b); }
KERN_INLINE vi vi_shuf8(vi a, vi idx) { return _mm512_shuffle_epi8(a, idx); }
/* q + bit in the bytes where a & m is not 0. */
KERN_INLINE vi vi_add_where8(vi q, vi a, vi m, vi bit) {
    return _mm512_mask_add_epi8(q, _mm512_test_epi8_mask(a, m), q, bit);
}
/* Four bytes of the activations in every lane. */
KERN_INLINE vi vi_word(const int8_t *x) {
    int32_t w;
    memcpy(&w, x, 4);
    return _mm512_set1_epi32(w);
}
/* Lane by lane, w0 * x0 + w1 * x1 summed over four neighbours; weights unsigned and at most `max`. */
KERN_INLINE vi vi_dot(vi w, vi x, int max) {
    (void)max;
    return _mm512_dpbusd_epi32(_mm512_setzero_si512(), w, x);
}
KERN_INLINE vi vi_dot2(vi w0, vi x0, vi w1, vi x1, int max) { return _mm512_dpbusd_epi32(vi_dot(w0, x0, max), w1, x1); }
/* acc + the same over n (4 or 8) weight vectors and the words at x. Two chains for 8: the latency of a dot product is
 * four times its cost. */
KERN_INLINE vi vi_dots(vi acc, const vi *w, const int8_t *x, int n, int max) {
    vi other = n == 8 ? vi_dot(w[4], vi_word(x + 16), max) : acc;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        acc = _mm512_dpbusd_epi32(acc, w[i], vi_word(x + 4 * i));
        if (n == 8 && i > 0) other = _mm512_dpbusd_epi32(other, w[4 + i], vi_word(x + 16 + 4 * i));
    }
    return n == 8 ? _mm512_add_epi32(acc, other) : acc;
}
/* acc + the sums of two neighbouring products of 16 bits. */
KERN_INLINE vi vi_dot16(vi acc, vi a, vi b) { return _mm512_dpwssd_epi32(acc, a, b); }

/* ---- Activations to 8 bits, 32 at a time ---- */
/* The largest |x|, as the number whose bits are the largest: NaN above infinity above the rest. */
KERN_INLINE float q8a_peak(const float *x) {
    const vi m = _mm512_set1_epi32(0x7fffffff);
    const vi a = _mm512_and_si512(_mm512_loadu_si512(x), m), b = _mm512_and_si512(_mm512_loadu_si512(x + 16), m);
    const vi c = _mm512_max_epi32(a, b);
    const __m256i d = _mm256_max_epi32(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));
    __m128i e = _mm_max_epi32(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1));
    e = _mm_max_epi32(e, _mm_shuffle_epi32(e, 0x4e));
    e = _mm_max_epi32(e, _mm_shuffle_epi32(e, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(e));
}
/* The sums of the halves come from a dot product with ones. */
KERN_INLINE void q8a_round(const float *x, float inv, int8_t *q, int32_t *s0, int32_t *s1) {
    const vi a = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(inv)));
    const vi b = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16), _mm512_set1_ps(inv)));
    const __m256i bytes = _mm256_setr_m128i(_mm512_cvtepi32_epi8(a), _mm512_cvtepi32_epi8(b));
    __m256i sum = _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(1), bytes);
    sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, 0x4e));
    sum = _mm256_add_epi32(sum, _mm256_shuffle_epi32(sum, 0xb1));
    _mm256_storeu_si256((__m256i *)q, bytes);
    *s0 = _mm256_cvtsi256_si32(sum);
    *s1 = _mm_cvtsi128_si32(_mm256_extracti128_si256(sum, 1));
}
#endif
