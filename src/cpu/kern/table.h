/* table.h - fills a lode_kern with the functions that a kern_SET.c has gathered from the body headers. */
#ifndef LODE_CPU_KERN_TABLE_H
#define LODE_CPU_KERN_TABLE_H
#include "cpu/kern/kern.h"

/* clang-format off */
/* The types with quantised kernels: id and prefix. */
#define KERN_QUANTS(X) \
    X(Q4_0, q4_0)  X(Q4_1, q4_1) X(Q5_0, q5_0) X(Q5_1, q5_1) X(Q8_0, q8_0) X(Q2_K, q2_k) X(Q3_K, q3_k) X(Q4_K, q4_k) \
    X(Q5_K, q5_k) X(Q6_K, q6_k) X(IQ4_NL, iq4_nl) X(IQ4_XS, iq4_xs) X(MXFP4, mxfp4) X(NVFP4, nvfp4) X(Q1_0, q1_0) \
    X(Q2_0, q2_0) X(TQ2_0, tq2_0)

/* Types whose rows are decoded to F32 whatever the columns are: no integer kernels yet. */
#define KERN_DECODED(X) \
    X(IQ1_S, iq1_s) X(IQ1_M, iq1_m) X(IQ2_XXS, iq2_xxs) X(IQ2_XS, iq2_xs) X(IQ2_S, iq2_s) X(IQ3_XXS, iq3_xxs) \
    X(IQ3_S, iq3_s) X(TQ1_0, tq1_0) X(F64, f64)

#define KERN_TABLE_GEMM(id, prefix) [LODE_##id] = prefix##_gemm,
#define KERN_TABLE_DECODED(id, prefix) [LODE_##id] = prefix##_decoded,

#define KERN_TABLE(set_name, tile_rows) { \
    .name = set_name, .row_tile = tile_rows, \
    .gemm = { KERN_QUANTS(KERN_TABLE_GEMM) [LODE_F32] = f32_gemm, [LODE_F16] = f16_gemm, [LODE_BF16] = bf16_gemm }, \
    .gemm_f32 = { KERN_QUANTS(KERN_TABLE_DECODED) KERN_DECODED(KERN_TABLE_DECODED) \
                  [LODE_F32] = f32_gemm, [LODE_F16] = f16_gemm, [LODE_BF16] = bf16_gemm }, \
    .gemm_scratch = gemm_scratch, .quantize_q8a = quantize_q8a, \
    .attn = attn, .attn_part = attn_part, .attn_merge = attn_merge, .attn_scratch = attn_scratch, \
    .rms_norm = row_rms_norm, .layer_norm = row_layer_norm, .l2_norm = row_l2_norm, .softmax = row_softmax, \
    .add = row_add, .sub = row_sub, .mul = row_mul, .div = row_div, .scale = row_scale, .mad = row_mad, \
    .silu = row_silu, .gelu = row_gelu, .gelu_erf = row_gelu_erf, .relu = row_relu, .sigmoid = row_sigmoid, \
    .tanh = row_tanh, .exp = row_exp, .softcap = row_softcap, .swiglu = row_swiglu, .geglu = row_geglu, \
    .rope = row_rope, .f32_to_f16 = row_f32_to_f16, .f16_to_f32 = row_f16_to_f32, .f32_to_bf16 = row_f32_to_bf16, \
    .bf16_to_f32 = row_bf16_to_f32, .argmax = row_argmax, \
}
/* clang-format on */
#endif
