/* host.c - finds the functions of the program that loaded us, and says what its numbers mean. */
#include "plugin/ggml/plug.h"

#include "lode/tensor.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gg_host gg_the_host;

void gg_say(const char *fmt, ...) {
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    fprintf(stderr, "lode: %s\n", line);
}

/* A function of the program: among everything it shows, else in the library that calls us and those below it (a
 * program may have loaded ggml without showing its symbols to others). ISO C has no cast to a function pointer. */
static bool find(void *library, const char *name, void *function) {
    void *p = dlsym(RTLD_DEFAULT, name);
    if (!p && library) p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

bool gg_host_find(void *caller) {
    gg_host *h = &gg_the_host;
    Dl_info info;
    void *unused, *lib = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const struct {
        const char *name;
        void *function;
    } needed[] = {
        { "ggml_op_name", &h->op_name },      { "ggml_unary_op_name", &h->unary_name },
        { "ggml_glu_op_name", &h->glu_name }, { "ggml_type_name", &h->type_name },
        { "ggml_nbytes", &h->n_bytes },       { "ggml_backend_buffer_init", &h->buffer_init },
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!find(lib, needed[i].name, needed[i].function)) {
            gg_say("this program has no function %s: it is no ggml program of interface version 2 or 3, so it gets no "
                   "devices of lode",
                   needed[i].name);
            if (lib) dlclose(lib);
            return false;
        }
    h->version = find(lib, "ggml_op_alloc_size_may_expand", &unused) ? 3 : 2;
    if (find(lib, "ggml_backend_reg_count", &h->n_regs) && find(lib, "ggml_backend_reg_get", &h->reg) &&
        h->n_regs() > 0)
        h->version = h->reg(0)->version; /* what it took before us says it, and every version begins with it */
    h->has_compute_flag = find(lib, "ggml_build_forward_select", &unused);
    h->has_uid = h->version == 3 && find(lib, "ggml_graph_next_uid", &unused);
    find(lib, "ggml_backend_dev_by_name", &h->device_by_name);
    find(lib, "ggml_can_fuse_subgraph_ext", &h->can_fuse);
    if (lib) dlclose(lib);
    if (h->version == 2 || h->version == 3) return true;
    gg_say("this program's ggml has backend interface version %d, lode knows 2 and 3: it gets no devices of lode",
           h->version);
    return false;
}

lode_type gg_type(int32_t type) {
    enum { KNOWN = 64 };
    static atomic_int cache[KNOWN]; /* number + 1 of ours; streams on several threads fill it with the same values */
    if (type < 0 || type >= KNOWN) return LODE_N_TYPE;
    int ours = atomic_load_explicit(&cache[type], memory_order_relaxed);
    if (!ours) {
        const char *name = gg_the_host.type_name(type);
        ours = (int)lode_type_of_name(name ? name : "") + 1;
        atomic_store_explicit(&cache[type], ours, memory_order_relaxed);
    }
    return (lode_type)(ours - 1);
}
