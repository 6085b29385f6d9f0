/* softcap.h - parameters of softcap, read by host and device code. */
#ifndef LODE_OPS_SOFTCAP_H
#define LODE_OPS_SOFTCAP_H
typedef struct lode_softcap_par {
    float cap;
} lode_softcap_par;
#endif
