/* entry.c - what a ggml program finds in libggml-lode.so: a registry of lode's devices. LODE_GGML=cpu|metal|cuda (any
 * of them, by comma) chooses; without it GPUs are offered where there are any, else the CPU as LODE0. LODE_GGML_CPUS=2
 * shows the CPU as so many devices, for trying out how a program spreads its work over GPUs. */
#include "plugin/ggml/plug.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEVICES = 16 };

static gg_our_device devices[MAX_DEVICES];
static int n_devices;
static gg_reg the_reg;
static lode_runtime *runtime; /* lives as long as the process: the program keeps pointers into it */

gg_our_device *gg_our(gg_device *d) { return (gg_our_device *)(void *)d; }

/* ---- Devices ---- */

static const char *device_name(gg_device *d) { return gg_our(d)->name; }
static const char *device_description(gg_device *d) { return gg_our(d)->description; }

static void device_memory(gg_device *d, size_t *free, size_t *total) {
    lode_device_props p = { 0 };
    lode_device_get_props(gg_our(d)->lode, &p);
    *free = (size_t)p.memory_free;
    *total = (size_t)p.memory_total;
}

/* The CPU, too, calls itself a GPU: programs give their layers to nothing else. */
static int device_type(gg_device *d) {
    (void)d;
    return GG_DEVICE_GPU;
}

static void device_props(gg_device *d, gg_props *out) {
    lode_device_props p = { 0 };
    lode_device_get_props(gg_our(d)->lode, &p);
    out->name = device_name(d);
    out->description = device_description(d);
    device_memory(d, &out->memory_free, &out->memory_total);
    out->type = device_type(d);
    out->device_id = NULL;
    out->caps.async = true;
    out->caps.host_buffer = false;
    out->caps.from_host_ptr = p.from_host_ptr;
    out->caps.events = true;
    if (gg_the_host.version == 3) out->caps.mmap = p.from_host_ptr;
}

static gg_buft *device_buft(gg_device *d) { return &gg_our(d)->buft; }
static bool device_supports_op(gg_device *d, const gg_tensor *node) { return gg_supports(gg_our(d)->lode, node); }
static bool device_offload_op(gg_device *d, const gg_tensor *node) { return gg_offloads(gg_our(d)->lode, node); }
static bool device_supports_buft(gg_device *d, gg_buft *t) { return t == &gg_our(d)->buft; }

static void add_device(lode_device *lode, const char *name) {
    if (n_devices == MAX_DEVICES) return;
    gg_our_device *d = &devices[n_devices++];
    const bool taken = gg_the_host.device_by_name && gg_the_host.device_by_name(name);
    lode_device_props p = { 0 };
    lode_device_get_props(lode, &p);
    d->lode = lode;
    snprintf(d->name, sizeof d->name, "%s%s", taken ? "LODE_" : "", name);
    snprintf(d->description, sizeof d->description, "lode " LODE_VERSION ", %s", p.description);
    gg_buft_init(d);
    d->base = (gg_device){
        .name = device_name,
        .description = device_description,
        .memory = device_memory,
        .type = device_type,
        .props = device_props,
        .open = gg_stream_open,
        .buffer_type = device_buft,
        .wrap = gg_device_wrap,
        .supports_op = device_supports_op,
        .supports_buft = device_supports_buft,
        .offload_op = device_offload_op,
        .event_open = gg_event_open,
        .event_close = gg_event_close,
        .event_synchronize = gg_event_synchronize,
        .reg = &the_reg,
    };
}

/* The kinds that LODE_GGML may name; the first is the one of last resort. */
static const struct {
    const char *word;
    const char *device; /* its devices' names begin with this */
} kinds[] = { { "cpu", "CPU" }, { "cuda", "CUDA" }, { "metal", "MTL" } };
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Offers the devices of a kind, once; how many there were. */
static int offer(int kind) {
    static int offered[N_KINDS];
    int n = 0;
    if (offered[kind]) return offered[kind];
    for (int i = 0; i < lode_runtime_n_devices(runtime); i++) {
        lode_device *d = lode_runtime_device(runtime, i);
        if (strncmp(lode_device_name(d), kinds[kind].device, strlen(kinds[kind].device)) != 0) continue;
        char name[32];
        snprintf(name, sizeof name, "LODE%d", n);
        add_device(d, kind == 0 ? name : lode_device_name(d));
        n++;
    }
    offered[kind] = n;
    return n;
}

static void offer_word(const char *word, size_t len) {
    for (int k = 0; k < N_KINDS; k++) {
        if (strlen(kinds[k].word) != len || strncasecmp(kinds[k].word, word, len) != 0) continue;
        if (!offer(k)) gg_say("LODE_GGML asks for %s, of which there is none here", kinds[k].word);
        return;
    }
    gg_say("LODE_GGML holds \"%.*s\"; it takes cpu, cuda and metal, by comma", (int)len, word);
}

static void offer_devices(void) {
    const char *asked = getenv("LODE_GGML");
    if (!asked || !*asked) {
        int n = 0;
        for (int k = 1; k < N_KINDS; k++) n += offer(k);
        if (n == 0) offer(0);
    } else {
        for (const char *w = asked; *w;) {
            const size_t len = strcspn(w, ",");
            if (len > 0) offer_word(w, len);
            w += len + (w[len] == ',');
        }
    }
    for (int i = 0; i < n_devices; i++) gg_say("offers %s (%s)", devices[i].name, devices[i].description);
}

/* ---- Registry ---- */

static gg_feature *get_features(gg_reg *r) {
    (void)r;
    static gg_feature f[] = { { "LODE", LODE_VERSION }, { NULL, NULL } };
    return f;
}

static const char *reg_name(gg_reg *r) {
    (void)r;
    return "LODE";
}

static size_t reg_n_devices(gg_reg *r) {
    (void)r;
    return (size_t)n_devices;
}

static gg_device *reg_device(gg_reg *r, size_t i) {
    (void)r;
    return i < (size_t)n_devices ? &devices[i].base : NULL;
}

static void *reg_proc(gg_reg *r, const char *name) {
    (void)r;
    typedef void (*fn)(void);
    const struct {
        const char *name;
        fn f;
    } procs[] = {
        { "ggml_backend_set_n_threads", (fn)gg_stream_set_threads },
        { "ggml_backend_set_abort_callback", (fn)gg_stream_set_abort },
        { "ggml_backend_get_features", (fn)get_features },
        { "ggml_backend_fusion_get", (fn)gg_fusion_get },
        { "ggml_backend_fusion_stats_init", (fn)gg_fusion_stats_init },
        { "ggml_backend_fusion_stats_reset", (fn)gg_fusion_stats_reset },
        { "ggml_backend_fusion_stats_get", (fn)gg_fusion_stats_get },
        { "ggml_backend_fusion_set_enabled", (fn)gg_fusion_set_enabled },
    };
    void *p = NULL;
    for (size_t i = 0; i < sizeof procs / sizeof *procs; i++)
        if (strcmp(procs[i].name, name) == 0) memcpy(&p, &procs[i].f, sizeof p);
    return p;
}

/* How many devices the CPU shows itself as. */
static int n_cpus(void) {
    const char *asked = getenv("LODE_GGML_CPUS");
    if (!asked || !*asked) return 1;
    char *end;
    const long n = strtol(asked, &end, 10);
    if (!*end && n >= 1 && n <= MAX_DEVICES) return (int)n;
    gg_say("LODE_GGML_CPUS holds \"%s\"; it takes 1 to %d", asked, MAX_DEVICES);
    return 1;
}

static void *caller; /* an address in the library that called first */
static bool usable;

static void start(void) {
    lode_err err = { 0 };
    if (!gg_host_find(caller)) return;
    if (lode_runtime_open(&runtime, &(lode_runtime_desc){ .n_cpu_devices = n_cpus() }, &err) != LODE_OK) {
        gg_say("no devices: %s", err.text);
        return;
    }
    the_reg = (gg_reg){ gg_the_host.version, reg_name, reg_n_devices, reg_device, reg_proc, NULL };
    offer_devices();
    usable = true;
}

__attribute__((visibility("default"))) gg_reg *ggml_backend_init(void);

gg_reg *ggml_backend_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!usable) caller = __builtin_return_address(0);
    pthread_once(&once, start);
    return usable ? &the_reg : NULL;
}
