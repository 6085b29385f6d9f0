/* host.h - a small ggml program for tests of the plug-in: what a real one exports, with numbers of its own for ops and
 * types. Built as a module (host.c); a test patches names away in a copy to get a program that lacks them. */
#ifndef LODE_TESTS_PLUGIN_HOST_H
#define LODE_TESTS_PLUGIN_HOST_H

#include "plugin/ggml/abi.h"

/* What host.c exports besides the functions of ggml that the plug-in looks up. */
typedef struct fake_host {
    gg_reg *(*init)(gg_reg *(*entry)(void)); /* calls the plug-in's ggml_backend_init from the program's code */
    int (*op)(const char *name);             /* the program's numbers; -1 */
    int (*unary)(const char *name);
    int (*glu)(const char *name);
    int (*type)(const char *name);
    size_t (*n_bytes)(const gg_tensor *t);
    gg_reg *registry;   /* what it had before; its version is the program's */
    const char **taken; /* the name of a device that it had before */
} fake_host;
#endif
