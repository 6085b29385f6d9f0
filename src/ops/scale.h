/* scale.h - parameters of element-wise ops that have some, read by host and device code. */
#ifndef LODE_OPS_SCALE_H
#define LODE_OPS_SCALE_H
typedef struct lode_scale_par {
    float s, c;
} lode_scale_par;

typedef struct lode_clamp_par {
    float lo, hi;
} lode_clamp_par;

typedef struct lode_gate_par {
    float alpha, limit;
} lode_gate_par;
#endif
