/* bug.h - our own mistakes, never anything that came from outside.
 * In a debug build (LODE_DEBUG) a broken condition traps; in a release the function returns LODE_E_BUG with the place.
 */
#ifndef LODE_BASE_BUG_H
#define LODE_BASE_BUG_H

#include "lode/base.h"

#ifdef LODE_DEBUG
#define LODE_BUG_TRAP() __builtin_trap()
#else
#define LODE_BUG_TRAP() ((void)0)
#endif

/* Returns LODE_E_BUG from the calling function when `cond` is true. Needs an `err` in scope. */
#define LODE_BUG(cond)                                                                                           \
    do {                                                                                                         \
        if (cond) {                                                                                              \
            LODE_BUG_TRAP();                                                                                     \
            return lode_fail(err, LODE_E_BUG, "%s:%d: %s (a bug in lode: please report it)", __FILE__, __LINE__, \
                             #cond);                                                                             \
        }                                                                                                        \
    } while (0)
#endif
