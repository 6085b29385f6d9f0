/* quantize_body.h - F32 rows to Q8A blocks in simd.h's words: included by kern_SET.c. */
#ifndef LODE_CPU_KERN_QUANTIZE_BODY_H
#define LODE_CPU_KERN_QUANTIZE_BODY_H
#include "cpu/kern/kern.h"
#include "cpu/kern/simd.h"
#include "lode/quant.h"
#include "quant/q8a.h"

/* A row of blocks of 32. What the vectors cannot do like the definition in quant/q8a.h (NaN, infinities, scales whose
 * inverse is not finite) goes through the reference, a block at a time. */
static void quantize_q8a(const float *x, void *y, int64_t n) {
    q8a_block *b = y;
    for (int64_t i = 0; i < n; i += 32, b++) {
        const float d = q8a_peak(x + i) / 127.0f, inv = 1.0f / d;
        if (!(d < INFINITY && inv < INFINITY)) {
            lode_encode_row(LODE_Q8A, x + i, b, 32);
            continue;
        }
        int32_t s0, s1;
        q8a_round(x + i, inv, b->qs, &s0, &s1);
        b->s0 = (int16_t)s0;
        b->s1 = (int16_t)s1;
        b->d = d;
        b->ds = d * (float)(s0 + s1);
    }
}
#endif
