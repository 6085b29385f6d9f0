/* lode/quant.h - rows of values in every tensor type: encode, decode, reference dot product.
 *
 * Block layouts are those of the GGUF format; each stands once, in src/quant/TYPE.h. All functions are pure and may be
 * called from any thread. */
#ifndef LODE_QUANT_H
#define LODE_QUANT_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes n elements (a multiple of the type's block) of a row into floats. False for a type without values in
 * floats (integers). */
LODE_API bool lode_decode_row(lode_type t, const void *src, float *dst, int64_t n);
/* Encodes n floats (a multiple of the block). False when the type has no encoder. NaN and infinities do not crash. */
LODE_API bool lode_encode_row(lode_type t, const float *src, void *dst, int64_t n);
LODE_API bool lode_type_can_decode(lode_type t);
LODE_API bool lode_type_can_encode(lode_type t);
/* Reference dot product of a row of n elements (a multiple of the block) with n floats, summed in double: what every
 * kernel is measured against. NaN for a type without values in floats or an n that does not fit. */
LODE_API double lode_dot_row(lode_type t, const void *w, const float *x, int64_t n);

/* Half precision and bfloat16, exact, to nearest even. */
LODE_API float lode_f16_to_f32(uint16_t h);
LODE_API uint16_t lode_f32_to_f16(float f);
LODE_API float lode_bf16_to_f32(uint16_t h);
LODE_API uint16_t lode_f32_to_bf16(float f);

#ifdef __cplusplus
}
#endif
#endif
