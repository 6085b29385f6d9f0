/* copy.h - parameters of copy. */
#ifndef LODE_OPS_COPY_H
#define LODE_OPS_COPY_H
#include <stdint.h>
typedef struct lode_copy_par {
    int32_t type; /* lode_type of the result */
} lode_copy_par;
#endif
