/* rms_norm.h - parameters of rms_norm and of the ops that it is fused into, read by host and device code. */
#ifndef LODE_OPS_RMS_NORM_H
#define LODE_OPS_RMS_NORM_H
typedef struct lode_rms_norm_par {
    float eps;
} lode_rms_norm_par;
#endif
