/* flash_attn.h - what reference and kernels of dense attention share. */
#ifndef LODE_OPS_FLASH_ATTN_H
#define LODE_OPS_FLASH_ATTN_H
#include "lode/graph.h"

enum { LODE_FLASH_MAX_D = 1024 }; /* far above any model's */
/* What head h of n multiplies its mask by (ALiBi, Press et al. 2021); 1 when max_bias is 0. */
float lode_alibi_slope(float max_bias, int64_t h, int64_t n);
#endif
