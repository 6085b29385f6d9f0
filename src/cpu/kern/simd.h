/* simd.h - one vocabulary of vectors for the files that are compiled once per instruction set.
 *
 * vf is a vector of VW floats, vi the same registers as integers; both are plain data. A kernel written in these words
 * gives AVX-512 (VW 16), AVX2 with FMA (8) and, in GCC's vector extension, any other machine (VW 4: SSE2, NEON).
 * The quad operations at the end, for quantised weights, exist for the x86 sets only: see unpack.h.
 *
 * Which set a file gets is decided by its flags (CMakeLists.txt: *_amx.c, *_avx512.c, *_avx2.c), nothing else. */
#ifndef LODE_CPU_KERN_SIMD_H
#define LODE_CPU_KERN_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KERN_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512VNNI__)
#include "cpu/kern/simd_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "cpu/kern/simd_avx2.h"
#else
#include "cpu/kern/simd_portable.h"
#endif

/* n of the last, partly filled vector; loads give 0 in the rest. */
KERN_INLINE vf vf_load_n(const float *p, int64_t n) { return n >= VW ? vf_load(p) : vf_load_part(p, (int)n); }
KERN_INLINE void vf_store_n(float *p, vf v, int64_t n) {
    if (n >= VW)
        vf_store(p, v);
    else
        vf_store_part(p, v, (int)n);
}
#endif
