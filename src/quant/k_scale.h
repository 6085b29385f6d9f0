/* k_scale.h - the twelve bytes of Q4_K and Q5_K that hold eight scales and eight minima of 6 bits. */
#ifndef LODE_QUANT_K_SCALE_H
#define LODE_QUANT_K_SCALE_H
#include "dev/dev.h"

typedef struct {
    int32_t scale, min; /* 0..63 */
} k_scale;

/* Scale and minimum of sub-block j (0..7). The first four are whole in bytes 0..7; the last four have their low 4 bits
 * in bytes 8..11 and their high 2 bits at the top of bytes 0..7. */
DEV k_scale k_scale_at(DEV_GLOBAL const uint8_t *s, int j) {
    k_scale r;
    if (j < 4) {
        r.scale = s[j] & 63;
        r.min = s[j + 4] & 63;
    } else {
        r.scale = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
        r.min = (s[j + 4] >> 4) | (s[j] >> 6) << 4;
    }
    return r;
}
#endif
