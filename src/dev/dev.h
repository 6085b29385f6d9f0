/* dev.h - the dialect in which layouts and maths are written once: C11, CUDA C and Metal read the same text.
 * The rules stand in README.md. Owns nothing; included by quant/, and by the kernels of every backend. */
#ifndef LODE_DEV_DEV_H
#define LODE_DEV_DEV_H

#if defined(__METAL_VERSION__) /* Metal Shading Language */
#include <metal_stdlib>
#define DEV static inline
#define DEV_GLOBAL device
#define DEV_SHARED threadgroup
#define DEV_LOCAL thread
#define DEV_TABLE constant
#define DEV_NO_CONTRACT
typedef half dev_half;
typedef ushort dev_bf16;
DEV float dev_h2f(dev_half h) { return float(h); }
DEV float dev_b2f(dev_bf16 h) { return as_type<float>(uint(h) << 16); }
DEV float dev_bits2f(ushort h) { return float(as_type<half>(h)); } /* the bits of a half */
#define dev_exp(x) metal::exp(x)
#define dev_log(x) metal::log(x)
#define dev_sin(x) metal::sin(x)
#define dev_cos(x) metal::cos(x)
#define dev_pow(x, y) metal::pow(x, y)
#define dev_tanh(x) metal::precise::tanh(x)
#define dev_sqrt(x) metal::sqrt(x)

#elif defined(__CUDACC__) /* CUDA */
#include <stdint.h>
#include <cuda_fp16.h>
#define DEV static __device__ __forceinline__
#define DEV_GLOBAL
#define DEV_SHARED
#define DEV_LOCAL
#define DEV_TABLE static __device__ const
#define DEV_NO_CONTRACT
typedef __half dev_half;
typedef uint16_t dev_bf16;
DEV float dev_h2f(dev_half h) { return __half2float(h); }
DEV float dev_b2f(dev_bf16 h) { return __uint_as_float((uint32_t)h << 16); }
DEV float dev_bits2f(uint16_t h) { return __half2float(__ushort_as_half(h)); }
#define dev_exp(x) __expf(x)
#define dev_log(x) logf(x)
#define dev_sin(x) sinf(x)
#define dev_cos(x) cosf(x)
#define dev_pow(x, y) powf(x, y)
#define dev_tanh(x) tanhf(x)
#define dev_sqrt(x) sqrtf(x)

#else /* plain C11 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#define DEV static inline
#define DEV_GLOBAL
#define DEV_SHARED
#define DEV_LOCAL
#define DEV_TABLE static const
/* Stands at the top of a file whose results are compared bit for bit: clang may otherwise join a*b+c into one rounding
 * where the machine can (gcc with -std=c11 does not, and warns about the pragma). */
#if defined(__clang__)
#define DEV_NO_CONTRACT _Pragma("STDC FP_CONTRACT OFF")
#else
#define DEV_NO_CONTRACT
#endif
typedef uint16_t dev_half;
typedef uint16_t dev_bf16;
/* Subnormals go through an exact integer conversion, so that a flush-to-zero mode does not change them. */
DEV float dev_h2f(dev_half h) {
    const uint32_t s = (uint32_t)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 1023u;
    uint32_t u = s | ((e + 112u) << 23) | (m << 13);
    float f;
    if (e == 31) u = s | 0x7f800000u | (m << 13);
    if (e == 0) {
        f = (float)m * 0x1p-24f;
        return s ? -f : f;
    }
    memcpy(&f, &u, sizeof f);
    return f;
}
DEV float dev_bits2f(uint16_t h) { return dev_h2f(h); }
DEV float dev_b2f(dev_bf16 h) {
    const uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
#define dev_exp(x) expf(x)
#define dev_log(x) logf(x)
#define dev_sin(x) sinf(x)
#define dev_cos(x) cosf(x)
#define dev_pow(x, y) powf(x, y)
#define dev_tanh(x) tanhf(x)
#define dev_sqrt(x) sqrtf(x)
#endif

#endif
