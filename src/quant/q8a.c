/* q8a.c - rows of quantised activations. */
#include "quant/q8a.h"

#include "quant/row.h"

DEV_NO_CONTRACT

QUANT_DECODE(q8a, 32)

/* The largest |x| as its bits: there NaN > infinity > every number, so one comparison sees both. */
static uint32_t peak_bits(const float *x) {
    uint32_t top = 0;
    for (int k = 0; k < 32; k++) {
        uint32_t u;
        memcpy(&u, x + k, sizeof u);
        u &= 0x7fffffffu;
        top = u > top ? u : top;
    }
    return top;
}

static q8a_block encode_block(const float *x) {
    q8a_block b = { 0 };
    const uint32_t bits = peak_bits(x);
    if (bits >= 0x7f800000u) {
        b.d = b.ds = NAN;
        return b;
    }
    float amax;
    memcpy(&amax, &bits, sizeof amax);
    b.d = amax / 127.0f;
    const float inv = b.d > 0.0f ? 1.0f / b.d : 0.0f;
    int sum[2] = { 0, 0 };
    for (int k = 0; k < 32; k++) {
        const int q = quant_int(rintf(x[k] * inv), -127, 127);
        b.qs[k] = (int8_t)q;
        sum[k / 16] += q;
    }
    b.s0 = (int16_t)sum[0];
    b.s1 = (int16_t)sum[1];
    b.ds = b.d * (float)(sum[0] + sum[1]);
    return b;
}

QUANT_ENCODE(q8a, 32)

const quant_info lode_quant_Q8A = { decode, encode };
