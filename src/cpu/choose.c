/* choose.c - picks kernels from kernels.def. */
#include "cpu/kernels.h"

static const lode_cpu_kernel kernels[] = {
#define KERNEL(op_, name_, accepts, runs, scratch_, shared_) \
    { LODE_##op_,                                            \
      #name_,                                                \
      lode_cpu_accepts_##accepts,                            \
      lode_cpu_run_##runs,                                   \
      lode_cpu_size_##scratch_,                              \
      lode_cpu_size_##shared_ },
#include "cpu/kernels.def"
#undef KERNEL
};

const lode_cpu_kernel *lode_cpu_choose(const lode_kern *k, const lode_tensor *t, const char **why) {
    *why = "no kernel for this op";
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (kernels[i].op != t->op) continue;
        *why = kernels[i].refuses(k, t);
        if (!*why) return &kernels[i];
    }
    return NULL;
}

size_t lode_cpu_size_none(const lode_kern *k, const lode_tensor *t) {
    (void)k;
    (void)t;
    return 0;
}
