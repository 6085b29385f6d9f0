/* params.c - the numbers of a sampler by name: defaults, ranges, set and get. The list is params.def. */
#include "sample/sampler.h"
#include "base/need.h"

#include <math.h>
#include <string.h>

typedef enum { KIND_I, KIND_F, KIND_L } kind;

typedef struct param {
    const char *name;
    size_t off;
    kind kind;
    double def, lo, hi;
} param;

static const param params[] = {
#define PARAM(field, name, k, def, lo, hi) { name, offsetof(lode_sampler_desc, field), KIND_##k, def, lo, hi },
#include "sample/params.def"
#undef PARAM
};
enum { N_PARAM = sizeof params / sizeof *params };

/* Other names that clients use. */
static const char *const aliases[][2] = { { "temp", "temperature" },
                                          { "typ_p", "typical_p" },
                                          { "penalty_repeat", "repeat_penalty" },
                                          { "penalty_last_n", "repeat_last_n" } };

static const param *param_of(const char *name) {
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(name, aliases[i][0])) name = aliases[i][1];
    for (int i = 0; i < N_PARAM; i++)
        if (!strcmp(params[i].name, name)) return &params[i];
    return NULL;
}

/* Only of the kind that it has: a float's value need not fit an integer. */
static void put(lode_sampler_desc *d, const param *p, double v) {
    unsigned char *at = (unsigned char *)d + p->off;
    if (p->kind == KIND_I) memcpy(at, &(int){ (int)fmin(v, 2147483647.0) }, sizeof(int));
    if (p->kind == KIND_F) memcpy(at, &(float){ (float)v }, sizeof(float));
    if (p->kind == KIND_L) memcpy(at, &(int64_t){ (int64_t)v }, sizeof(int64_t));
}

static double take(const lode_sampler_desc *d, const param *p) {
    const unsigned char *at = (const unsigned char *)d + p->off;
    int i = 0;
    float f = 0;
    int64_t l = 0;
    if (p->kind == KIND_F) {
        memcpy(&f, at, sizeof f);
        return (double)f;
    }
    if (p->kind == KIND_I) {
        memcpy(&i, at, sizeof i);
        return i;
    }
    memcpy(&l, at, sizeof l);
    return (double)l;
}

/* A float parameter's bounds are compared as floats: 0.99f is 0.99. */
static lode_status check(const param *p, double v, lode_err *err) {
    const bool f = p->kind == KIND_F;
    const double lo = f ? (double)(float)p->lo : p->lo, hi = f ? (double)(float)p->hi : p->hi;
    const double x = f ? (double)(float)v : v;
    /* A float's digits that mean something; all of a whole number below 2^53. */
    const int digits = f ? 7 : 16;
    if (!(x >= lo && x <= hi))
        return lode_fail(err, LODE_E_INPUT, "%s is %.*g, expected a number from %.*g to %.*g", p->name, digits, v,
                         digits, p->lo, digits, p->hi);
    if (!f && x != floor(x)) return lode_fail(err, LODE_E_INPUT, "%s is %.7g, expected a whole number", p->name, v);
    return LODE_OK;
}

lode_status lode_sampler_check(const lode_sampler_desc *d, lode_err *err) {
    for (int i = 0; i < N_PARAM; i++) LODE_TRY(check(&params[i], take(d, &params[i]), err));
    return LODE_OK;
}

void lode_sampler_defaults(lode_sampler_desc *d) {
    /* The texts of llama-server. */
    static const lode_slice breakers[] = { { "\n", 1 }, { ":", 1 }, { "\"", 1 }, { "*", 1 } };
    memset(d, 0, sizeof *d);
    for (int i = 0; i < N_PARAM; i++) put(d, &params[i], params[i].def);
    d->dry_breakers = breakers;
    d->n_dry_breakers = sizeof breakers / sizeof *breakers;
#define SAMPLER(id, name, alias, letter, on) \
    if (on) d->chain.kind[d->chain.n++] = LODE_SAMPLER_##id;
#include "lode/samplers.def"
#undef SAMPLER
}

lode_status lode_sampler_set(lode_sampler_desc *d, const char *name, double value, lode_err *err) {
    LODE_TRY(lode_need(d && name, __func__, err));
    const param *p = param_of(name);
    if (!p) return lode_fail(err, LODE_E_INPUT, "there is no sampling parameter '%s'", name);
    LODE_TRY(check(p, value, err));
    put(d, p, value);
    return LODE_OK;
}

bool lode_sampler_get(const lode_sampler_desc *d, const char *name, double *value) {
    const param *p = param_of(name);
    if (p) *value = take(d, p);
    return p != NULL;
}

const char *lode_sampler_param_name(int i) { return i >= 0 && i < N_PARAM ? params[i].name : NULL; }
