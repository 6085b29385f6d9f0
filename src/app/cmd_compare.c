/* cmd_compare.c - lode compare: runs a model in two ways and shows at each tagged tensor how far they are apart. */
#include "app/app.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[LODE_MAX_NAME];
    float *values; /* own */
    size_t n;
} kept;

typedef struct {
    struct {
        kept *items; /* own */
        size_t n, cap;
    } tags;
    bool failed;
} side;

static void keep(void *user, const lode_tensor *t) {
    side *s = user;
    kept k = { .n = (size_t)lode_n_elements(t) };
    memcpy(k.name, t->name, sizeof k.name);
    k.values = lode_calloc(k.n, sizeof(float));
    if (!k.values || lode_buffer_get(t->buffer, t->offset, k.values, k.n * sizeof(float), NULL) != LODE_OK ||
        !LODE_PUSH(&s->tags, k)) {
        free(k.values);
        s->failed = true;
    }
}

/* One way of computing. */
typedef struct {
    const char *isa, *dev; /* NULL: the best, the first */
    bool act_f32;
    int n_threads;
} way;

static lode_status compute(const char *path, const way *w, side *s, lode_err *err) {
    lode_runtime *rt = NULL;
    lode_model *m = NULL;
    lode_session *ses = NULL;
    lode_device *dev = NULL;
    enum { N = 24 };
    int32_t ids[N];
    lode_status st = lode_runtime_open(&rt, &(lode_runtime_desc){ .isa = w->isa }, err);
    if (st == LODE_OK && w->dev) st = lode_runtime_find(rt, w->dev, &dev, err);
    if (st == LODE_OK) st = lode_model_open(&m, &(lode_model_desc){ .runtime = rt, .path = path, .device = dev }, err);
    const lode_session_desc d = {
        .n_ctx = 256, .n_threads = w->n_threads, .act_f32 = w->act_f32, .kv_f32 = w->act_f32, .tag_outputs = true
    };
    if (st == LODE_OK) st = lode_session_open(&ses, m, &d, err);
    if (st == LODE_OK) {
        lode_model_info info;
        lode_model_get_info(m, &info);
        for (int i = 0; i < N; i++) ids[i] = (int32_t)((uint32_t)i * 7919u % (uint32_t)info.n_vocab);
        st = lode_session_append(ses, 0, ids, N, err);
    }
    if (st == LODE_OK) lode_session_visit_tags(ses, keep, s);
    if (st == LODE_OK && s->failed) st = lode_fail(err, LODE_E_NOMEM, "compare: out of memory");
    lode_session_close(ses);
    lode_model_close(m);
    lode_runtime_close(rt);
    return st;
}

static void show(const side *x, const side *y) {
    printf("%-16s %12s %12s\n", "tensor", "nmse", "largest");
    for (size_t i = 0; i < x->tags.n && i < y->tags.n; i++) {
        const kept *p = &x->tags.items[i], *q = &y->tags.items[i];
        double err = 0, norm = 0, most = 0;
        for (size_t k = 0; k < p->n && k < q->n; k++) {
            const double d = (double)p->values[k] - (double)q->values[k];
            err += d * d;
            norm += (double)q->values[k] * (double)q->values[k];
            most = fmax(most, fabs(d));
        }
        printf("%-16s %12.3g %12.3g\n", p->name, norm > 0 ? err / norm : err, most);
    }
}

static void side_free(side *s) {
    for (size_t i = 0; i < s->tags.n; i++) free(s->tags.items[i].values);
    free(s->tags.items);
}

/* What --against says: "f32", an ISA, else a device. */
static way other_way(const way *w, const char *against) {
    static const char *const isas[] = { "portable", "avx2", "avx512", "amx" };
    way o = *w;
    if (!strcmp(against, "f32")) {
        o.act_f32 = true;
        return o;
    }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (!strcmp(against, isas[i])) {
            o.isa = against;
            return o;
        }
    o.dev = against;
    return o;
}

int cmd_compare(const args *a) {
    lode_err e = { 0 };
    side x = { 0 }, y = { 0 };
    const char *path = a->value[OPT_MODEL], *act = a->value[OPT_ACT];
    way w = { .isa = a->value[OPT_ISA], .dev = a->value[OPT_DEV], .act_f32 = act && !strcmp(act, "f32") };
    const int missing = check_model(a, path);
    if (missing) return missing;
    if (act && !w.act_f32 && strcmp(act, "default") != 0) return fail_usage("--act %s: expected default or f32", act);
    if (!args_threads(a, &w.n_threads)) return EXIT_USAGE;
    const way o = other_way(&w, a->value[OPT_AGAINST] ? a->value[OPT_AGAINST] : "f32");
    lode_status s = compute(path, &w, &x, &e);
    if (s == LODE_OK) s = compute(path, &o, &y, &e);
    if (s == LODE_OK) show(&x, &y);
    side_free(&x);
    side_free(&y);
    return s == LODE_OK ? 0 : fail(&e);
}
