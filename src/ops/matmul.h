/* matmul.h - the shape rule that matmul shares with its fused forms. */
#ifndef LODE_OPS_MATMUL_H
#define LODE_OPS_MATMUL_H
#include "lode/tensor.h"
lode_status lode_infer_matmul(lode_tensor *t, lode_err *err);
#endif
