/* cmd_devices.c - lode devices: what this machine has. */
#include "app/app.h"

#include <stdio.h>

int cmd_devices(const args *a) {
    lode_err e = { 0 };
    lode_runtime *rt;
    if (lode_runtime_open(&rt, &(lode_runtime_desc){ .isa = a->value[OPT_ISA] }, &e) != LODE_OK) return fail(&e);
    for (int i = 0; i < lode_runtime_n_devices(rt); i++) {
        lode_device_props p;
        lode_device_get_props(lode_runtime_device(rt, i), &p);
        printf("%-8s %s, %.1f of %.1f GiB free, %d threads\n", p.name, p.description, (double)p.memory_free / 0x1p30,
               (double)p.memory_total / 0x1p30, lode_default_threads());
    }
    lode_runtime_close(rt);
    return 0;
}
