/* vmath.h - elementary functions on vectors of simd.h. Errors against exact values: exp 2 ulp, tanh 3 ulp, silu,
 * sigmoid and gelu 4 ulp (rows_test.c holds them to it). NaN gives NaN. */
#ifndef LODE_CPU_KERN_VMATH_H
#define LODE_CPU_KERN_VMATH_H
#include "cpu/kern/simd.h"

/* e^x = 2^n * e^r with |r| <= ln2 / 2; the polynomial is that of Cephes' expf. */
KERN_INLINE vf v_exp(vf x) {
    x = vf_min(vf_set1(130.0f), vf_max(vf_set1(-150.0f), x));
    const vf n = vf_round(vf_mul(x, vf_set1(1.44269504f)));
    const vf r = vf_fnma(n, vf_set1(-2.12194440e-4f), vf_fnma(n, vf_set1(0.693359375f), x));
    vf p = vf_fma(vf_set1(1.9875691500e-4f), r, vf_set1(1.3981999507e-3f));
    p = vf_fma(p, r, vf_set1(8.3334519073e-3f));
    p = vf_fma(p, r, vf_set1(4.1665795894e-2f));
    p = vf_fma(p, r, vf_set1(1.6666665459e-1f));
    p = vf_fma(p, r, vf_set1(5.0000001201e-1f));
    p = vf_fma(p, vf_mul(r, r), r);
    return vf_ldexp(vf_add(p, vf_set1(1.0f)), n);
}

/* Small |x| by Cephes' polynomial, the rest by 1 - 2 / (e^2|x| + 1). */
KERN_INLINE vf v_tanh(vf x) {
    const vf a = vf_abs(x), z = vf_mul(x, x), one = vf_set1(1.0f);
    vf p = vf_fma(vf_set1(-5.70498872745e-3f), z, vf_set1(2.06390887954e-2f));
    p = vf_fma(p, z, vf_set1(-5.37397155531e-2f));
    p = vf_fma(p, z, vf_set1(1.33314422036e-1f));
    p = vf_fma(p, z, vf_set1(-3.33332819422e-1f));
    const vf small = vf_fma(vf_mul(p, z), x, x);
    const vf e = v_exp(vf_add(a, a));
    const vf large = vf_copysign(vf_sub(one, vf_div(vf_set1(2.0f), vf_add(e, one))), x);
    return vf_lt_sel(a, vf_set1(0.625f), small, large);
}

KERN_INLINE vf v_sigmoid(vf x) {
    const vf one = vf_set1(1.0f);
    return vf_div(one, vf_add(one, v_exp(vf_sub(vf_zero(), x))));
}
KERN_INLINE vf v_silu(vf x) { return vf_div(x, vf_add(vf_set1(1.0f), v_exp(vf_sub(vf_zero(), x)))); }

/* 0.5 x (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3). */
KERN_INLINE vf v_gelu(vf x) {
    const vf u = vf_mul(vf_mul(x, vf_set1(-1.59576912f)), vf_fma(vf_mul(x, x), vf_set1(0.044715f), vf_set1(1.0f)));
    return vf_div(x, vf_add(vf_set1(1.0f), v_exp(u)));
}
#endif
