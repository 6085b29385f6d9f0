/* kern_avx2.c - the kernels for AVX2 with FMA and F16C (Intel from Haswell, AMD from Zen).
 * On a machine or compiler without the flags the table is absent. */
#include "cpu/kern/kern.h"

#if defined(__AVX2__) && defined(__FMA__)
#include "cpu/kern/kern_x86.h"

const lode_kern *lode_kern_avx2(void) {
    static const lode_kern table = KERN_TABLE("avx2", GEMM_ROWS);
    return &table;
}
#else
const lode_kern *lode_kern_avx2(void) { return NULL; }
#endif
