/* need.h - calls of the public functions that lack what they need: the first thing each of them that can fail checks.
 */
#ifndef LODE_BASE_NEED_H
#define LODE_BASE_NEED_H

#include "lode/base.h"

/* LODE_E_INPUT when a pointer that `fn` needs is NULL: `have` is false. */
lode_status lode_need(bool have, const char *fn, lode_err *err);
/* The same for NULL as n things that are not there. */
#define LODE_HAS(p, n) ((p) != NULL || (n) == 0)
#endif
