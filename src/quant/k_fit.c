/* k_fit.c - scales of sub-blocks and of the block over them. */
#include "quant/k_fit.h"

DEV_NO_CONTRACT

/* Candidates for the number of steps in the range: top + STEP * k for |k| <= TRIES. On normally distributed weights
 * more tries or finer steps gain less than 1 % of the error. */
enum { TRIES = 6 };
static const float STEP = 0.15f;

int quant_nearest(float x, float scale, float min, int lo, int hi) {
    return quant_int(scale != 0.0f ? rintf((x + min) / scale) : 0.0f, lo, hi);
}

/* Least squares of x ~ scale * q - min for the q that `inv` and `low` give; the squared error in *error. */
static quant_range_fit solve_range(const float *x, int n, int top, float inv, float low, float *error) {
    double sq = 0.0, sqq = 0.0, sx = 0.0, sxq = 0.0, e = 0.0;
    int q[32];
    for (int i = 0; i < n; i++) {
        q[i] = quant_int(rintf((x[i] - low) * inv), 0, top);
        sq += q[i];
        sqq += q[i] * q[i];
        sx += (double)x[i];
        sxq += (double)x[i] * q[i];
    }
    const double det = n * sqq - sq * sq;
    double scale = det > 0.0 ? (n * sxq - sx * sq) / det : 0.0, min = det > 0.0 ? (sq * sxq - sqq * sx) / det : -sx / n;
    if (!(min >= 0.0)) { /* a minimum above zero cannot be stored */
        min = 0.0;
        scale = sqq > 0.0 ? sxq / sqq : 0.0;
    }
    if (!(scale >= 0.0)) scale = 0.0;
    for (int i = 0; i < n; i++) {
        const double miss = scale * q[i] - min - (double)x[i];
        e += miss * miss;
    }
    *error = (float)e;
    return (quant_range_fit){ (float)scale, (float)min };
}

quant_range_fit quant_fit_range(const float *x, int n, int top) {
    float low, high;
    quant_range(x, n, &low, &high);
    if (low > 0.0f) low = 0.0f;
    quant_range_fit best = { high > low ? (high - low) / (float)top : 0.0f, -low };
    if (!(high > low)) return best;
    float least = INFINITY;
    for (int k = -TRIES; k <= TRIES; k++) {
        float error;
        const quant_range_fit f = solve_range(x, n, top, ((float)top + STEP * (float)k) / (high - low), low, &error);
        if (!(error < least)) continue;
        least = error;
        best = f;
    }
    return best;
}

float quant_fit_signed(const float *x, int n, int top) {
    float peak, best = 0.0f;
    double gain = 0.0;
    if (!(quant_peak(x, n, &peak) > 0.0f)) return 0.0f;
    for (int k = -TRIES; k <= TRIES; k++) {
        const float inv = -((float)top + STEP * (float)k) / peak;
        double sxq = 0.0, sqq = 0.0;
        for (int i = 0; i < n; i++) {
            const int q = quant_int(rintf(x[i] * inv), -top, top - 1);
            sxq += (double)x[i] * q;
            sqq += q * q;
        }
        /* with the best scale sxq/sqq the squared error is sum(x^2) - sxq^2/sqq */
        if (!(sqq > 0.0) || !(sxq * sxq / sqq > gain)) continue;
        gain = sxq * sxq / sqq;
        best = (float)(sxq / sqq);
    }
    return best;
}

quant_k_scales quant_join_ranges(const quant_range_fit *sub, int n, int top) {
    quant_k_scales r = { 0 };
    float scale = 0.0f, min = 0.0f;
    for (int j = 0; j < n; j++) {
        if (sub[j].scale > scale) scale = sub[j].scale;
        if (sub[j].min > min) min = sub[j].min;
    }
    r.d = lode_f32_to_f16(scale / (float)top);
    r.dmin = lode_f32_to_f16(min / (float)top);
    const float d = dev_h2f(r.d), dmin = dev_h2f(r.dmin);
    for (int j = 0; j < n; j++) {
        r.scale[j] = quant_nearest(sub[j].scale, d, 0.0f, 0, top);
        r.min[j] = quant_nearest(sub[j].min, dmin, 0.0f, 0, top);
    }
    return r;
}

quant_k_signed quant_join_signed(const float *scale, int n, int top) {
    quant_k_signed r = { 0 };
    float peak;
    quant_peak(scale, n, &peak);
    r.d = lode_f32_to_f16(peak / (float)-top);
    const float d = dev_h2f(r.d);
    for (int j = 0; j < n; j++) r.scale[j] = quant_nearest(scale[j], d, 0.0f, -top, top - 1);
    return r;
}

void quant_pack_k_scales(const quant_k_scales *s, uint8_t *out) {
    for (int j = 0; j < 4; j++) {
        out[j] = (uint8_t)(s->scale[j] | (s->scale[j + 4] >> 4) << 6);
        out[j + 4] = (uint8_t)(s->min[j] | (s->min[j + 4] >> 4) << 6);
        out[j + 8] = (uint8_t)((s->scale[j + 4] & 15) | (s->min[j + 4] & 15) << 4);
    }
}
