/* clock.h - monotonic time. */
#ifndef LODE_BASE_CLOCK_H
#define LODE_BASE_CLOCK_H
#include <stdint.h>
int64_t lode_clock_ns(void); /* nanoseconds since some fixed moment; never goes back */
#endif
