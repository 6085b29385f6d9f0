/* scale.h - parameters of scale, read by host and device code. */
#ifndef LODE_OPS_SCALE_H
#define LODE_OPS_SCALE_H
typedef struct lode_scale_par {
    float s;
} lode_scale_par;
#endif
