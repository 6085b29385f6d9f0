/* q4_k.c - rows of Q4_K. */
#include "quant/q4_k.h"

#include "quant/row.h"

DEV_NO_CONTRACT

static void decode(const void *src, float *dst, int64_t n) {
    const uint8_t *p = src;
    for (int64_t i = 0; i < n; i += 256, p += sizeof(q4_k_block)) {
        q4_k_block b;
        memcpy(&b, p, sizeof b);
        for (int k = 0; k < 256; k += 8) q4_k_at8(&b, k, dst + i + k);
    }
}

const quant_info lode_quant_Q4_K = { decode, NULL };
