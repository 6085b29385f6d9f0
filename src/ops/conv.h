/* conv.h - geometry of convolutions and poolings: parameters as the host and kernels read them. */
#ifndef LODE_OPS_CONV_H
#define LODE_OPS_CONV_H
#include "lode/graph.h"

/* Output elements along one dimension. */
static inline int64_t lode_conv_out(int64_t n, int64_t k, const lode_conv_axis *a) {
    return (n + 2 * (int64_t)a->pad - (int64_t)a->dilation * (k - 1) - 1) / a->stride + 1;
}
#endif
