/* scan.h - parameters of recurrences. */
#ifndef LODE_OPS_SCAN_H
#define LODE_OPS_SCAN_H
#include <stdint.h>

typedef struct scan_par {
    int32_t n_states;  /* that are kept: the last ones, newest first */
    int32_t state_src; /* which source the state is */
    int32_t once_src;  /* which one is the same for all tokens; 0: none */
    float scale;
} scan_par;
#endif
