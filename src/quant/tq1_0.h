/* tq1_0.h - 256 values -1, 0 or 1, five to a byte, and one scale: x = d * t.
 * A byte is a fraction of 256: times 3 the whole part is the first digit 0..2, the rest holds the others. */
#ifndef LODE_QUANT_TQ1_0_H
#define LODE_QUANT_TQ1_0_H
#include "dev/dev.h"

typedef struct {
    uint8_t qs[48]; /* values 0..159: byte i % 32, digit i / 32; 160..239: byte 32 + i % 16, digit (i - 160) / 16 */
    uint8_t qh[4];  /* values 240..255: byte i % 4, digit (i - 240) / 4 */
    dev_half d;
} tq1_0_block;

DEV_TABLE uint8_t tq1_0_power[5] = { 1, 3, 9, 27, 81 };

/* Value i without the scale. */
DEV int32_t tq1_0_int(DEV_GLOBAL const tq1_0_block *b, int i) {
    const int byte = i < 160 ? i % 32 : i < 240 ? 32 + i % 16 : i % 4;
    const int digit = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;
    const uint32_t rest = (uint32_t)(i < 240 ? b->qs[byte] : b->qh[byte]) * tq1_0_power[digit] & 255u;
    return (int32_t)(rest * 3 >> 8) - 1;
}

DEV float tq1_0_at(DEV_GLOBAL const tq1_0_block *b, int i) { return dev_h2f(b->d) * (float)tq1_0_int(b, i); }

/* Eight neighbours from i, a multiple of 8. */
DEV void tq1_0_at8(DEV_GLOBAL const tq1_0_block *b, int i, DEV_LOCAL float *out) {
    const float d = dev_h2f(b->d);
    for (int k = 0; k < 8; k++) out[k] = d * (float)tq1_0_int(b, i + k);
}
#endif
