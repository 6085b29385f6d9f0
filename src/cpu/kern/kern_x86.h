/* kern_x86.h - everything that kern_amx.c, kern_avx512.c and kern_avx2.c have in common, which is all but their flags
 * and names. */
#ifndef LODE_CPU_KERN_KERN_X86_H
#define LODE_CPU_KERN_KERN_X86_H
#include "cpu/kern/attn_body.h"
#include "cpu/kern/gemm_body.h"
#include "cpu/kern/gemm_float_body.h"
#include "cpu/kern/quantize_body.h"
#include "cpu/kern/rows_body.h"
#include "cpu/kern/table.h"

#define T q4_0
#include "cpu/kern/gemm_type.h"
#define T q4_1
#include "cpu/kern/gemm_type.h"
#define T q5_0
#include "cpu/kern/gemm_type.h"
#define T q5_1
#include "cpu/kern/gemm_type.h"
#define T q8_0
#include "cpu/kern/gemm_type.h"
#define T q2_k
#include "cpu/kern/gemm_type.h"
#define T q3_k
#include "cpu/kern/gemm_type.h"
#define T q4_k
#include "cpu/kern/gemm_type.h"
#define T q5_k
#include "cpu/kern/gemm_type.h"
#define T q6_k
#include "cpu/kern/gemm_type.h"
#define T iq4_nl
#include "cpu/kern/gemm_type.h"
#define T iq4_xs
#include "cpu/kern/gemm_type.h"
#define T mxfp4
#include "cpu/kern/gemm_type.h"
#define T nvfp4
#include "cpu/kern/gemm_type.h"
#define T q1_0
#include "cpu/kern/gemm_type.h"
#define T q2_0
#include "cpu/kern/gemm_type.h"
#define T tq2_0
#include "cpu/kern/gemm_type.h"

static const gemm_type *const gemm_types[LODE_N_TYPE] = {
#define ROW(id, prefix) [LODE_##id] = &prefix##_gemm_type,
    KERN_QUANTS(ROW)
#undef ROW
};

static size_t gemm_scratch(lode_type t, int64_t k, int64_t n_cols, bool f32_columns) {
    (void)n_cols;
    if ((unsigned)t >= LODE_N_TYPE || float_in_place(t)) return 0;
    if (f32_columns) return decoded_scratch(k);
    return gemm_types[t] ? scratch_bytes(gemm_types[t], k) : 0;
}
#endif
