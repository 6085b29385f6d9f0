/* simd_avx2.h - simd.h's words for AVX2 with FMA and F16C. */
#ifndef LODE_CPU_KERN_SIMD_AVX2_H
#define LODE_CPU_KERN_SIMD_AVX2_H
#include <immintrin.h>

typedef __m256 vf;
typedef __m256i vi;
enum { VW = 8 };

KERN_INLINE vf vf_zero(void) { return _mm256_setzero_ps(); }
KERN_INLINE vf vf_set1(float x) { return _mm256_set1_ps(x); }
KERN_INLINE vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
KERN_INLINE void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
/* The first n lanes all ones. */
KERN_INLINE vi vi_first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
KERN_INLINE vf vf_load_part(const float *p, int n) { return _mm256_maskload_ps(p, vi_first(n)); }
KERN_INLINE void vf_store_part(float *p, vf v, int n) { _mm256_maskstore_ps(p, vi_first(n), v); }
KERN_INLINE vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
KERN_INLINE vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
KERN_INLINE vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
KERN_INLINE vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
KERN_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }   /* a * b + c */
KERN_INLINE vf vf_fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a * b */
KERN_INLINE vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }              /* b when either is NaN */
KERN_INLINE vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
KERN_INLINE vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
KERN_INLINE vf vf_round(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
KERN_INLINE vf vf_abs(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
/* The sign of s (a bit) on the magnitude of a. */
KERN_INLINE vf vf_copysign(vf a, vf s) {
    const vf sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, s));
}
/* a < b ? x : y, y when either is NaN. */
KERN_INLINE vf vf_lt_sel(vf a, vf b, vf x, vf y) { return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
/* a * 2^n for whole n, -252..252. */
KERN_INLINE vf vf_ldexp(vf a, vf n) {
    const vi all = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(all, 1), one = _mm256_set1_epi32(127);
    const vi rest = _mm256_sub_epi32(all, half);
    a = _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, one), 23)));
    return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, one), 23)));
}
/* Sum and maximum of the lanes, in a fixed order: halves folded onto each other. */
KERN_INLINE float vf_sum(vf v) {
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
KERN_INLINE float vf_hmax(vf v) {
    __m128 b = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    b = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}
/* VW halves or bfloat16s to and from floats. */
KERN_INLINE vf vf_load_f16(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }
KERN_INLINE void vf_store_f16(uint16_t *p, vf v) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
KERN_INLINE vf vf_load_bf16(const uint16_t *p) {
    const vi u = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(u, 16));
}
/* Even and odd elements of the 2 * VW floats (a, b), and back. */
KERN_INLINE void vf_unzip(vf a, vf b, vf *even, vf *odd) {
    const __m256d e = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)),
                  o = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
    *even = _mm256_castpd_ps(_mm256_permute4x64_pd(e, 0xd8));
    *odd = _mm256_castpd_ps(_mm256_permute4x64_pd(o, 0xd8));
}
KERN_INLINE void vf_zip(vf even, vf odd, vf *a, vf *b) {
    const vf lo = _mm256_unpacklo_ps(even, odd), hi = _mm256_unpackhi_ps(even, odd);
    *a = _mm256_permute2f128_ps(lo, hi, 0x20);
    *b = _mm256_permute2f128_ps(lo, hi, 0x31);
}
/* Rows become columns. */
KERN_INLINE void vf_transpose(vf r[VW]) {
    vf t[8];
    for (int i = 0; i < 8; i += 4) {
        const vf a = _mm256_unpacklo_ps(r[i], r[i + 1]), b = _mm256_unpackhi_ps(r[i], r[i + 1]);
        const vf c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = _mm256_shuffle_ps(a, c, 0x44);
        t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
        t[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
        t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

/* ---- Integers ---- */
KERN_INLINE vi vi_zero(void) { return _mm256_setzero_si256(); }
KERN_INLINE vi vi_set1(int32_t x) { return _mm256_set1_epi32(x); }
KERN_INLINE vi vi_set1_8(int x) { return _mm256_set1_epi8((char)x); }
KERN_INLINE vi vi_set64(int64_t x) { return _mm256_set1_epi64x(x); }
KERN_INLINE vi vi_set128(int64_t lo, int64_t hi) { return _mm256_setr_epi64x(lo, hi, lo, hi); }
KERN_INLINE vi vi_load(const void *p) { return _mm256_loadu_si256(p); }
KERN_INLINE void vi_store(void *p, vi v) { _mm256_storeu_si256(p, v); }
KERN_INLINE vi vi_and(vi a, vi b) { return _mm256_and_si256(a, b); }
KERN_INLINE vi vi_or(vi a, vi b) { return _mm256_or_si256(a, b); }
KERN_INLINE vi vi_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
KERN_INLINE vi vi_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
KERN_INLINE vi vi_sub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
#define vi_shl(a, n) _mm256_slli_epi32(a, n)
#define vi_shr(a, n) _mm256_srli_epi32(a, n)
#define vi_sar(a, n) _mm256_srai_epi32(a, n)
#define vi_shl16(a, n) _mm256_slli_epi16(a, n)
#define vi_shr16(a, n) _mm256_srli_epi16(a, n)
KERN_INLINE vi vi_shrv(vi a, int n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n)); }
KERN_INLINE vi vi_shlv(vi a, int n) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n)); }
#define vi_bytes_down(a, n) _mm256_bsrli_epi128(a, n) /* within each 16 bytes */
KERN_INLINE vf vf_from_i(vi a) { return _mm256_cvtepi32_ps(a); }
KERN_INLINE vf vf_bits(vi a) { return _mm256_castsi256_ps(a); }
KERN_INLINE vi vi_bits(vf a) { return _mm256_castps_si256(a); }
/* The half in the low 16 bits of each lane; what stands above it is ignored. */
KERN_INLINE vf vf_from_half(vi a) {
    a = _mm256_and_si256(a, _mm256_set1_epi32(0xffff));
    a = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, a), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(a));
}

/* ---- Quads: 16 bytes of one weight row in each 128-bit lane ---- */
enum { KERN_S8_OFFSET = 0 }; /* signed weights of 8 bits stay signed: see vi_dot */
enum { VQ = 2 };             /* lanes; a tile has 4 * VQ rows */

/* Lane j: 16 bytes of p + j * s4. With p = row z of a tile and s4 = 4 rows, lane j is row 4 * j + z. */
KERN_INLINE vi vi_quad(const uint8_t *p, size_t s4) {
    const vi v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p));
    return _mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(p + s4)), 1);
}
KERN_INLINE vi vi_bcast128(const void *p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p)); }
KERN_INLINE vi vi_unlo32(vi a, vi b) { return _mm256_unpacklo_epi32(a, b); }
KERN_INLINE vi vi_unhi32(vi a, vi b) { return _mm256_unpackhi_epi32(a, b); }
KERN_INLINE vi vi_unlo64(vi a, vi b) { return _mm256_unpacklo_epi64(a, b); }
KERN_INLINE vi vi_unhi64(vi a, vi b) { return _mm256_unpackhi_epi64(a, b); }
KERN_INLINE vi vi_shuf8(vi a, vi idx) { return _mm256_shuffle_epi8(a, idx); }
/* q + bit in the bytes where a & m is not 0. */
KERN_INLINE vi vi_add_where8(vi q, vi a, vi m, vi bit) {
    const vi none = _mm256_cmpeq_epi8(_mm256_and_si256(a, m), _mm256_setzero_si256());
    return _mm256_add_epi8(q, _mm256_andnot_si256(none, bit));
}
/* Four bytes of the activations in every lane. */
KERN_INLINE vi vi_word(const int8_t *x) {
    int32_t w;
    memcpy(&w, x, 4);
    return _mm256_set1_epi32(w);
}
/* Sums of two neighbouring products in 16 bits. Weights are unsigned and at most `max`; max 255 stands for signed ones,
 * whose sign moves to the activation. Activations are signed and not -128. */
KERN_INLINE vi vi_pairs(vi w, vi x, int max) {
    return max == 255 ? _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)) : _mm256_maddubs_epi16(w, x);
}
/* How many such sums are added in 16 bits, where they fit: 8 of the 4-bit types would, but 4 are faster (118 and 147
 * GMAC/s; Zen 5, 2026-12-01), since then two chains run side by side. */
KERN_INLINE int vi_fit(int max) {
    const int fit = max == 255 ? 1 : 32767 / (2 * 127 * max);
    return fit < 4 ? fit : 4;
}
KERN_INLINE vi vi_widen(vi pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }
/* Lane by lane, w0 * x0 + w1 * x1 summed over four neighbours. */
KERN_INLINE vi vi_dot(vi w, vi x, int max) { return vi_widen(vi_pairs(w, x, max)); }
KERN_INLINE vi vi_dot2(vi w0, vi x0, vi w1, vi x1, int max) {
    if (vi_fit(max) < 2) return _mm256_add_epi32(vi_dot(w0, x0, max), vi_dot(w1, x1, max));
    return vi_widen(_mm256_add_epi16(vi_pairs(w0, x0, max), vi_pairs(w1, x1, max)));
}
/* acc + the same over n (4 or 8) weight vectors and the words at x. */
KERN_INLINE vi vi_dots(vi acc, const vi *w, const int8_t *x, int n, int max) {
    vi p = _mm256_setzero_si256();
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        const vi q = vi_pairs(w[i], vi_word(x + 4 * i), max);
        p = i % vi_fit(max) == 0 ? q : _mm256_add_epi16(p, q);
        if ((i + 1) % vi_fit(max) == 0 || i + 1 == n) acc = _mm256_add_epi32(acc, vi_widen(p));
    }
    return acc;
}
/* acc + the sums of two neighbouring products of 16 bits. */
KERN_INLINE vi vi_dot16(vi acc, vi a, vi b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }

/* ---- Activations to 8 bits, 32 at a time ---- */
/* The largest |x|, as the number whose bits are the largest: NaN above infinity above the rest. */
KERN_INLINE float q8a_peak(const float *x) {
    const vi m = _mm256_set1_epi32(0x7fffffff);
    vi t = _mm256_and_si256(vi_load(x), m);
    for (int i = 8; i < 32; i += 8) t = _mm256_max_epi32(t, _mm256_and_si256(vi_load(x + i), m));
    __m128i a = _mm_max_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
    a = _mm_max_epi32(a, _mm_shuffle_epi32(a, 0x4e));
    a = _mm_max_epi32(a, _mm_shuffle_epi32(a, 0xb1));
    const int32_t top = _mm_cvtsi128_si32(a);
    float f;
    memcpy(&f, &top, sizeof f);
    return f;
}
KERN_INLINE int32_t vi_sum(vi v) {
    __m128i a = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    a = _mm_add_epi32(a, _mm_shuffle_epi32(a, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(a, _mm_shuffle_epi32(a, 0xb1)));
}
KERN_INLINE void q8a_round(const float *x, float inv, int8_t *q, int32_t *s0, int32_t *s1) {
    vi v[4];
    for (int i = 0; i < 4; i++)
        v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), _mm256_set1_ps(inv)));
    *s0 = vi_sum(_mm256_add_epi32(v[0], v[1]));
    *s1 = vi_sum(_mm256_add_epi32(v[2], v[3]));
    const vi b = _mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3]));
    vi_store(q, _mm256_permutevar8x32_epi32(b, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
#endif
