/* isa.c - which of the compiled kernel tables this machine runs. */
#include "cpu/kern/kern.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

int32_t lode_attn_n_parts(const lode_attn_args *a) {
    int32_t lo = INT32_MAX, hi = 0;
    for (int32_t i = 0; i < a->n_tok; i++) {
        lo = a->lo[i] < lo ? a->lo[i] : lo;
        hi = a->hi[i] > hi ? a->hi[i] : hi;
    }
    return (hi + LODE_ATTN_PART - 1) / LODE_ATTN_PART - lo / LODE_ATTN_PART;
}

/* __builtin_cpu_supports asks cpuid, and xgetbv whether the system saves the wide registers. */
#if defined(__x86_64__)
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vnni");
}
/* Linux gives the tile registers (state component 18) to a process that asks; it says no where the processor, the
 * system or the stack for signals lacks room for them. Source: Documentation/arch/x86/xstate.rst of Linux. */
static bool tiles_granted(void) {
#if defined(__linux__)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return false;
#endif
}
static bool has_amx(void) {
    unsigned a, b, c, d;
    const unsigned tile_and_int8 = 3u << 24;
    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tile_and_int8) == tile_and_int8 &&
           tiles_granted();
}
#else
static bool has_avx2(void) { return false; }
static bool has_avx512(void) { return false; }
static bool has_amx(void) { return false; }
#endif

static bool always(void) { return true; }

/* Best first. */
static const struct {
    const char *name, *needs;
    bool (*has)(void);
    const lode_kern *(*table)(void);
} sets[] = {
    { "amx", "AMX tiles with INT8 that the system grants, and what avx512 needs", has_amx, lode_kern_amx },
    { "avx512", "AVX-512 F, BW, VL, DQ and VNNI", has_avx512, lode_kern_avx512 },
    { "avx2", "AVX2, FMA and F16C", has_avx2, lode_kern_avx2 },
    { "portable", "nothing", always, lode_kern_portable },
};
enum { N_SETS = sizeof sets / sizeof *sets };

const lode_kern *lode_kern_best(void) {
    for (int i = 0; i < N_SETS; i++)
        if (sets[i].table() && sets[i].has()) return sets[i].table();
    return lode_kern_portable();
}

lode_status lode_kern_by_name(const lode_kern **out, const char *name, lode_err *err) {
    if (!name || !*name) {
        *out = lode_kern_best();
        return LODE_OK;
    }
    for (int i = 0; i < N_SETS; i++) {
        if (strcmp(sets[i].name, name) != 0) continue;
        if (!sets[i].table())
            return lode_fail(err, LODE_E_UNSUPPORTED, "--isa %s: this build has no kernels for it", name);
        if (!sets[i].has())
            return lode_fail(err, LODE_E_UNSUPPORTED, "--isa %s: this processor lacks it (needs %s); leave --isa out",
                             name, sets[i].needs);
        *out = sets[i].table();
        return LODE_OK;
    }
    return lode_fail(err, LODE_E_INPUT, "--isa %s: unknown instruction set; use portable, avx2, avx512 or amx", name);
}
