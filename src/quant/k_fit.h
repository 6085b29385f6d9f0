/* k_fit.h - finding scales for the 256-value types: what their encoders share. Private to quant/.
 *
 * Not bit-equal to any other encoder: the format fixes what blocks mean, not how they are found. Each sub-block tries a
 * few scales round the obvious one, solves the rest by least squares and keeps the best. */
#ifndef LODE_QUANT_K_FIT_H
#define LODE_QUANT_K_FIT_H

#include "quant/row.h"

/* x ~ scale * q - min with q in 0..top, scale and min not negative. */
typedef struct quant_range_fit {
    float scale, min;
} quant_range_fit;

quant_range_fit quant_fit_range(const float *x, int n, int top);

/* x ~ scale * q with q in -top..top-1; the scale may be negative. */
float quant_fit_signed(const float *x, int n, int top);

/* Scales and minima of n sub-blocks as integers 0..top over two common factors in half precision. */
typedef struct quant_k_scales {
    dev_half d, dmin;
    int scale[16], min[16];
} quant_k_scales;

quant_k_scales quant_join_ranges(const quant_range_fit *sub, int n, int top);

/* Signed scales of n sub-blocks as integers -top..top-1 over one factor. */
typedef struct quant_k_signed {
    dev_half d;
    int scale[16];
} quant_k_signed;

quant_k_signed quant_join_signed(const float *scale, int n, int top);

/* (x + min) / scale to nearest in lo..hi; 0 kept inside lo..hi when the scale is 0. */
int quant_nearest(float x, float scale, float min, int lo, int hi);

/* Packs eight scales and minima of 6 bits as k_scale.h reads them. */
void quant_pack_k_scales(const quant_k_scales *s, uint8_t *out);
#endif
