/* null.h - failures that a test asks of a null device. */
#ifndef LODE_BACKEND_NULL_H
#define LODE_BACKEND_NULL_H

#include "lode/backend.h"

/* 0: never; n: the n-th call from now on fails. */
typedef struct lode_null_faults {
    int fail_alloc, fail_run;
} lode_null_faults;

/* `d` is a device of the null backend. */
void lode_null_set_faults(lode_device *d, const lode_null_faults *faults);
#endif
