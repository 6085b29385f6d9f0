/* registry.c - the runtime: which backends and devices there are. */
#include "backend/iface.h"
#include "base/mem.h"
#include "base/need.h"
#include "base/str.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BACKEND(name) const lode_backend *lode_backend_##name(void);
#include "backend/backends.def"
#undef BACKEND

static const lode_backend_entry_fn linked[] = {
#define BACKEND(name) lode_backend_##name,
#include "backend/backends.def"
#undef BACKEND
};

typedef struct {
    const lode_backend *backend;
    void *ctx;    /* own */
    void *handle; /* own, of dlopen; NULL when linked in */
} entry;

struct lode_runtime {
    lode_runtime_desc desc;
    struct {
        entry *items; /* own */
        size_t n, cap;
    } entries;
    struct {
        lode_device **items; /* own array, borrowed devices */
        size_t n, cap;
    } devices;
};

static lode_status check(const lode_backend *b, const char *from, lode_err *err) {
    if (!b) return lode_fail(err, LODE_E_UNSUPPORTED, "%s: its entry returned nothing", from);
    if (b->magic != LODE_BACKEND_MAGIC)
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: not a lode backend (magic %08x, expected %08x)", from, b->magic,
                         LODE_BACKEND_MAGIC);
    if (b->abi != LODE_BACKEND_ABI || b->size != sizeof *b)
        return lode_fail(err, LODE_E_UNSUPPORTED,
                         "%s: interface version %u (table of %zu bytes), expected version %d (%zu bytes): rebuild it "
                         "for this lode",
                         from, b->abi, b->size, LODE_BACKEND_ABI, sizeof *b);
    return LODE_OK;
}

static lode_status add_devices(lode_runtime *rt, const entry *e, lode_err *err) {
    for (int i = 0; i < e->backend->n_devices(e->ctx); i++) {
        lode_device *d = e->backend->device(e->ctx, i);
        d->backend = e->backend;
        if (!LODE_PUSH(&rt->devices, d)) return lode_fail(err, LODE_E_NOMEM, "registry: out of memory");
    }
    return LODE_OK;
}

/* Takes over `handle`, also on failure. */
static lode_status add(lode_runtime *rt, const lode_backend *b, void *handle, const char *from, lode_err *err) {
    entry e = { .backend = b, .handle = handle };
    lode_status s = check(b, from, err);
    if (s == LODE_OK) s = b->open(&e.ctx, &rt->desc, err);
    if (s != LODE_OK) {
        if (handle) dlclose(handle);
        return s;
    }
    if (!LODE_PUSH(&rt->entries, e)) {
        b->close(e.ctx);
        if (handle) dlclose(handle);
        return lode_fail(err, LODE_E_NOMEM, "registry: out of memory");
    }
    return add_devices(rt, &rt->entries.items[rt->entries.n - 1], err);
}

lode_status lode_runtime_open(lode_runtime **out, const lode_runtime_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out, __func__, err));
    enum { MOST = 64 };
    if (desc && (desc->n_cpu_devices < 0 || desc->n_cpu_devices > MOST || desc->n_null_devices < 0 ||
                 desc->n_null_devices > MOST))
        return lode_fail(err, LODE_E_INPUT, "runtime: %d CPU and %d null devices, expected 0 to %d of each",
                         desc->n_cpu_devices, desc->n_null_devices, MOST);
    lode_runtime *rt = lode_calloc(1, sizeof *rt);
    if (!rt) return lode_fail(err, LODE_E_NOMEM, "runtime: out of memory");
    if (desc) rt->desc = *desc;
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        const lode_status s = add(rt, linked[i](), NULL, "linked backend", err);
        if (s != LODE_OK) {
            lode_runtime_close(rt);
            return s;
        }
    }
    *out = rt;
    return LODE_OK;
}

void lode_runtime_close(lode_runtime *rt) {
    if (!rt) return;
    for (size_t i = rt->entries.n; i-- > 0;) {
        const entry *e = &rt->entries.items[i];
        e->backend->close(e->ctx);
        if (e->handle) dlclose(e->handle);
    }
    free(rt->entries.items);
    free(rt->devices.items);
    free(rt);
}

lode_status lode_runtime_load(lode_runtime *rt, const char *path, lode_err *err) {
    LODE_TRY(lode_need(rt && path, __func__, err));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return lode_fail(err, LODE_E_NOT_FOUND, "%s: cannot be loaded: %s", path, dlerror());
    void *symbol = dlsym(handle, "lode_backend_entry");
    lode_backend_entry_fn fn;
    memcpy(&fn, &symbol, sizeof fn); /* ISO C has no cast from object to function pointer */
    if (!fn) {
        dlclose(handle);
        return lode_fail(err, LODE_E_UNSUPPORTED, "%s: exports no lode_backend_entry", path);
    }
    return add(rt, fn(), handle, path, err);
}

int lode_runtime_n_devices(const lode_runtime *rt) { return (int)rt->devices.n; }

lode_device *lode_runtime_device(const lode_runtime *rt, int i) {
    return i >= 0 && (size_t)i < rt->devices.n ? rt->devices.items[i] : NULL;
}

lode_status lode_runtime_find(const lode_runtime *rt, const char *name, lode_device **out, lode_err *err) {
    LODE_TRY(lode_need(rt && name && out, __func__, err));
    lode_str names = { 0 };
    for (size_t i = 0; i < rt->devices.n; i++) {
        const char *have = lode_device_name(rt->devices.items[i]);
        if (strcasecmp(have, name) == 0) {
            *out = rt->devices.items[i];
            lode_str_free(&names);
            return LODE_OK;
        }
        lode_str_printf(&names, "%s%s", i ? ", " : "", have);
    }
    lode_fail(err, LODE_E_NOT_FOUND, "no device '%s'; there are: %s", name, names.p ? names.p : "none");
    lode_str_free(&names);
    return LODE_E_NOT_FOUND;
}

void *lode_device_proc(const lode_device *dev, const char *name) {
    return dev->backend->proc ? dev->backend->proc(dev->ctx, name) : NULL;
}
