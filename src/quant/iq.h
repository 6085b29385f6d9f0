/* iq.h - what the types IQ1_S to IQ3_S share: points of a grid instead of single values, and signs beside them. */
#ifndef LODE_QUANT_IQ_H
#define LODE_QUANT_IQ_H
#include "dev/dev.h"
#include "quant/iq_grid.h"

/* Four bytes, lowest first. */
DEV uint32_t iq_word(DEV_GLOBAL const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Signs of 8 values from 7 bits: the eighth makes the number of minus signs even. */
DEV int32_t iq_signs(uint32_t bits) {
    const uint32_t low = bits & 127u, half = (low ^ low >> 4) & 15u;
    return (int32_t)(low | ((0x6996u >> half) & 1u) << 7);
}

DEV float iq_signed(float x, int32_t minus) { return minus & 1 ? -x : x; }

DEV_TABLE uint8_t iq2_value[4] = { 8, 25, 43, 0 };

/* Eight values of IQ2_XXS, IQ2_XS and IQ2_S. */
DEV void iq2_point(int32_t point, int32_t signs, float d, DEV_LOCAL float *out) {
    for (int k = 0; k < 8; k++) out[k] = iq_signed(d * (float)iq2_value[(point >> (2 * k)) & 3], signs >> k);
}

/* Eight values of IQ1_S and IQ1_M: -1, 0 or 1, all moved by 1/8. */
DEV void iq1_point(int32_t point, int32_t down, float d, DEV_LOCAL float *out) {
    const float delta = down ? -0.125f : 0.125f;
    for (int k = 0; k < 8; k++) out[k] = d * ((float)(((point >> (2 * k)) & 3) - 1) + delta);
}
#endif
