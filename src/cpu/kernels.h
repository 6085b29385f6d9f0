/* kernels.h - the functions that kernels.def names. */
#ifndef LODE_CPU_KERNELS_H
#define LODE_CPU_KERNELS_H

#include "cpu/cpu.h"

/* NULL to accept, else the reason not to. */
#define ACCEPTS(name) const char *lode_cpu_accepts_##name(const lode_kern *k, const lode_tensor *t);
ACCEPTS(any)
ACCEPTS(unary)
ACCEPTS(binary)
ACCEPTS(float_rows)
ACCEPTS(one_weight_row)
ACCEPTS(dense_rows)
ACCEPTS(f32_rows)
ACCEPTS(f32_pair)
ACCEPTS(plain_cache)
ACCEPTS(gemm_q8a)
ACCEPTS(gemm_plain)
ACCEPTS(gemm_f32)
ACCEPTS(attend)
ACCEPTS(flash)
#undef ACCEPTS

#define RUNS(name) void lode_cpu_run_##name(const lode_cpu_work *w);
RUNS(unary)
RUNS(binary)
RUNS(scale)
RUNS(softcap)
RUNS(get_rows)
RUNS(set_rows)
RUNS(rms_norm)
RUNS(layer_norm)
RUNS(l2_norm)
RUNS(norm_mul)
RUNS(norm_mul_quant)
RUNS(swiglu_quant)
RUNS(geglu_quant)
RUNS(quant_act)
RUNS(rope_table)
RUNS(rope)
RUNS(rope_short)
RUNS(copy)
RUNS(kv_store)
RUNS(matmul)
RUNS(matmul_id)
RUNS(matmul_id_f32)
RUNS(matmul_f32)
RUNS(attend)
RUNS(flash)
#undef RUNS

#define SIZE(name) size_t lode_cpu_size_##name(const lode_kern *k, const lode_tensor *t);
SIZE(none)
SIZE(one_row)
SIZE(gemm)
SIZE(gemm_f32)
SIZE(gemm_id)
SIZE(gemm_id_f32)
SIZE(attend)
SIZE(attend_shared)
SIZE(flash)
SIZE(flash_shared)
#undef SIZE

/* for each row r of this task's share: statement. */
#define EACH_ROW(w, r)  \
    int64_t r, r##_end; \
    for (lode_cpu_share(w, lode_n_rows((w)->t), &r, &r##_end); r < r##_end; r++)
#endif
