/* fixture.c - conformance of architectures: makes the checkpoint of each fixture, converts it with the code of
 * `lode convert` to F32, runs it and compares with the reference's logits and greedy continuation.
 * usage: fixture [-dev DEVICE] [--isa ISA] [--act f32|default] FILE.json...
 * Prints "NAME max_err=... greedy=ok|differs@k" per file; max_err is the largest error over the standard deviation of
 * the reference. Exit 0 when all pass: below 1e-3 with f32 activations and cache, 2e-2 on the default path. */
#include "base/file.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "lode/lode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *dev, *isa;
    bool act_default;
} options;

/* Greedy tokens count while the reference's best logit leads by more than this. */
static const float least_gap = 0.05f;

static double largest_error(const lode_fixture *f, lode_session *s) {
    const size_t n = (size_t)f->n_positions * (size_t)f->n_vocab;
    double mean = 0, var = 0, most = 0;
    for (size_t i = 0; i < n; i++) mean += (double)f->logits[i] / (double)n;
    for (size_t i = 0; i < n; i++) var += ((double)f->logits[i] - mean) * ((double)f->logits[i] - mean) / (double)n;
    for (int p = 0; p < f->n_positions; p++) {
        const float *ours = lode_session_logits(s, f->positions[p]);
        for (int k = 0; k < f->n_vocab; k++) {
            const double d = fabs((double)ours[k] - (double)f->logits[(size_t)p * (size_t)f->n_vocab + (size_t)k]);
            if (!(d <= most)) most = d; /* NaN counts as far */
        }
    }
    return most / sqrt(var);
}

static int best(const float *x, int n) {
    int b = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[b]) b = i;
    return b;
}

/* First greedy token that differs, -1 for none. */
static lode_status greedy(const lode_fixture *f, lode_session *s, int *differs, lode_err *err) {
    *differs = -1;
    int id = best(lode_session_logits(s, f->n_ids - 1), f->n_vocab);
    for (int i = 0; i < f->n_greedy && f->greedy_gap[i] > least_gap; i++) {
        if (id != f->greedy[i]) {
            *differs = i;
            return LODE_OK;
        }
        LODE_TRY(lode_session_append(s, 0, &f->greedy[i], 1, err));
        id = best(lode_session_logits(s, 0), f->n_vocab);
    }
    return LODE_OK;
}

static lode_status judge(const options *o, const lode_fixture *f, const char *gguf, bool *ok, lode_err *err) {
    lode_runtime *rt = NULL;
    lode_model *m = NULL;
    lode_session *s = NULL;
    lode_device *dev = NULL;
    const bool f32 = !o->act_default;
    const double bound = f32 ? 1e-3 : 2e-2;
    double error = NAN;
    int differs = -1;
    lode_batch_token *t = calloc((size_t)f->n_ids, sizeof *t);
    lode_status st = t ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "out of memory");
    for (int i = 0; t && i < f->n_ids; i++) t[i] = (lode_batch_token){ f->ids[i], 0, true };
    if (st == LODE_OK) st = lode_runtime_open(&rt, &(lode_runtime_desc){ .isa = o->isa }, err);
    if (st == LODE_OK && o->dev) st = lode_runtime_find(rt, o->dev, &dev, err);
    if (st == LODE_OK) st = lode_model_open(&m, &(lode_model_desc){ .runtime = rt, .path = gguf, .device = dev }, err);
    if (st == LODE_OK)
        st = lode_session_open(&s, m, &(lode_session_desc){ .n_ctx = 128, .act_f32 = f32, .kv_f32 = f32 }, err);
    if (st == LODE_OK) st = lode_session_run(s, t, f->n_ids, err);
    if (st == LODE_OK) error = largest_error(f, s);
    if (st == LODE_OK) st = greedy(f, s, &differs, err);
    if (st == LODE_OK) {
        *ok = error < bound && (differs < 0 || o->act_default);
        printf("%-14s max_err=%.2g greedy=", f->name, error);
        if (differs < 0)
            printf("ok\n");
        else
            printf("differs@%d\n", differs);
    }
    free(t);
    lode_session_close(s);
    lode_model_close(m);
    lode_runtime_close(rt);
    return st;
}

static lode_status one(const options *o, const char *path, bool *ok, lode_err *err) {
    lode_fixture f = { 0 };
    char dir[] = "/tmp/lode_fixture_XXXXXX", name[256];
    if (!mkdtemp(dir)) return lode_fail(err, LODE_E_IO, "no temporary folder");
    lode_status st = lode_fixture_open(&f, path, err);
    if (st == LODE_OK) st = lode_fixture_write(&f, dir, err);
    snprintf(name, sizeof name, "%s/model.gguf", dir);
    if (st == LODE_OK)
        st = lode_convert(&(lode_convert_desc){ .in_dir = dir, .out_path = name, .type = LODE_F32 }, err);
    if (st == LODE_OK) st = judge(o, &f, name, ok, err);
    static const char *const files[] = { "model.gguf", "config.json", "model.safetensors" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", dir, files[i]);
        remove(name);
    }
    rmdir(dir);
    lode_fixture_close(&f);
    return st;
}

int main(int argc, char **argv) {
    options o = { 0 };
    int bad = 0, n = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-dev") && i + 1 < argc)
            o.dev = argv[++i];
        else if (!strcmp(argv[i], "--isa") && i + 1 < argc)
            o.isa = argv[++i];
        else if (!strcmp(argv[i], "--act") && i + 1 < argc)
            o.act_default = !strcmp(argv[++i], "default");
        else {
            lode_err e = { 0 };
            bool ok = false;
            n++;
            if (one(&o, argv[i], &ok, &e) != LODE_OK) printf("%s: %s\n", argv[i], e.text);
            bad += !ok;
        }
    }
    if (n) return bad != 0;
    fprintf(stderr, "usage: fixture [-dev DEVICE] [--isa ISA] [--act f32|default] FILE.json...\n");
    return 2;
}
