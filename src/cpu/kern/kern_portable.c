/* kern_portable.c - the kernels for any machine: plain C and GCC's vector extension, no special flags. */
#include "cpu/kern/kern.h"

#include "cpu/kern/attn_body.h"
#include "cpu/kern/gemm_float_body.h"
#include "cpu/kern/gemm_portable.h"
#include "cpu/kern/quantize_body.h"
#include "cpu/kern/rows_body.h"
#include "cpu/kern/table.h"

static size_t gemm_scratch(lode_type t, int64_t k, int64_t n_cols, bool f32_columns) {
    if (float_in_place(t)) return 0;
    return f32_columns ? decoded_scratch(k) : plain_scratch(k, n_cols);
}

const lode_kern *lode_kern_portable(void) {
    static const lode_kern table = KERN_TABLE("portable", FLOAT_R);
    return &table;
}
