/* matmul.h - the shape rule that matmul shares with its fused forms. */
#ifndef LODE_OPS_MATMUL_H
#define LODE_OPS_MATMUL_H
#include "lode/tensor.h"
lode_status lode_infer_matmul(lode_tensor *t, lode_err *err);
/* Sum over two rows of any types, in double. */
double lode_ref_dot(const lode_tensor *w, const char *w_row, const lode_tensor *x, const char *x_row);
#endif
