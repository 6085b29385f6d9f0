/* q2_k.c - rows of Q2_K. */
#include "quant/q2_k.h"

#include "quant/row.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 256, p += sizeof(q2_k_block)) {
        q2_k_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 256; k += 8) q2_k_at8(&b, k, dst + i + k);
    }
}

const quant_info lode_quant_Q2_K = { decode, NULL };
