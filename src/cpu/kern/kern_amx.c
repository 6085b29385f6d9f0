/* kern_amx.c - the AVX-512 kernels with matrix products on AMX tiles (Intel from Sapphire Rapids).
 * On a machine or compiler without the flags the table is absent. */
#include "cpu/kern/kern.h"

#if defined(__AMX_INT8__) && defined(__AVX512F__) && defined(__AVX512VNNI__)
#include "cpu/kern/kern_x86.h"

const lode_kern *lode_kern_amx(void) {
    static const lode_kern table = KERN_TABLE("amx", GEMM_ROWS);
    return &table;
}
#else
const lode_kern *lode_kern_amx(void) { return NULL; }
#endif
