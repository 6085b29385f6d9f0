/* cpus.h - how much of the machine this process may use. */
#ifndef LODE_BASE_CPUS_H
#define LODE_BASE_CPUS_H
#include <stdbool.h>
#include <stddef.h>
/* Physical cores, capped by affinity and by the cgroup's CPU quota; at least 1. */
int lode_cpus(void);
/* Processors, two to a core where a core runs two threads at once, capped likewise: more threads only wait. */
int lode_processors(void);
/* Bytes of memory that are free for use, and in all, capped by the cgroup's limit; 0 when unknown. */
size_t lode_memory_free(void);
size_t lode_memory_total(void);
/* "AMD EPYC 9B45" into buf; "CPU" when unknown. */
void lode_cpu_name(char *buf, size_t n);
/* One pause of a spinning thread. */
static inline void lode_cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
#endif
