/* kern_avx512.c - the kernels for AVX-512 F, BW, VL, DQ and VNNI (Intel from Cascade Lake, AMD from Zen 4).
 * On a machine or compiler without the flags the table is absent. */
#include "cpu/kern/kern.h"

#if defined(__AVX512F__) && defined(__AVX512VNNI__)
#include "cpu/kern/kern_x86.h"

const lode_kern *lode_kern_avx512(void) {
    static const lode_kern table = KERN_TABLE("avx512", GEMM_ROWS);
    return &table;
}
#else
const lode_kern *lode_kern_avx512(void) { return NULL; }
#endif
