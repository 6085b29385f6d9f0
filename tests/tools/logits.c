/* logits.c - logits of every position of a list of ids, to compare with another program's.
 * usage: logits MODEL.gguf [-dev DEVICE] [--act f32|default] [--isa ISA] [-t N] --ids 1,2,3 -o OUT
 * OUT gets little-endian float32, [n_ids, n_vocab]. --act f32 keeps activations and the KV cache in F32. */
#include "base/file.h"
#include "base/mem.h"
#include "lode/lode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *model, *dev, *act, *isa, *ids, *out;
    int n_threads;
} options;

static int usage(void) {
    fprintf(stderr,
            "usage: logits MODEL.gguf [-dev DEVICE] [--act f32|default] [--isa ISA] [-t N] --ids 1,2,3 -o OUT\n");
    return 2;
}

static bool parse(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (a[0] != '-') {
            o->model = a;
            continue;
        }
        if (i + 1 == argc) return false;
        const char *v = argv[++i];
        if (!strcmp(a, "-dev"))
            o->dev = v;
        else if (!strcmp(a, "--act"))
            o->act = v;
        else if (!strcmp(a, "--isa"))
            o->isa = v;
        else if (!strcmp(a, "--ids"))
            o->ids = v;
        else if (!strcmp(a, "-o"))
            o->out = v;
        else if (!strcmp(a, "-t"))
            o->n_threads = atoi(v);
        else
            return false;
    }
    return o->model && o->ids && o->out && (!o->act || !strcmp(o->act, "f32") || !strcmp(o->act, "default"));
}

static lode_status write_logits(lode_session *s, const options *o, lode_err *err) {
    lode_batch_token t[4096];
    int n = 0;
    for (char *p = (char *)(uintptr_t)o->ids; *p && n < 4096;) {
        t[n++] = (lode_batch_token){ (int32_t)strtol(p, &p, 10), 0, true };
        while (*p == ',' || *p == ' ') p++;
    }
    LODE_TRY(lode_session_run(s, t, n, err));
    lode_model_info info;
    lode_model_get_info(lode_session_model(s), &info);
    lode_out out;
    LODE_TRY(lode_out_open(&out, o->out, err));
    lode_status st = LODE_OK;
    for (int i = 0; i < n && st == LODE_OK; i++)
        st = lode_out_write(&out, lode_session_logits(s, i), (size_t)info.n_vocab * sizeof(float), err);
    if (st == LODE_OK) return lode_out_commit(&out, err);
    lode_out_discard(&out);
    return st;
}

static lode_status run(const options *o, lode_err *err) {
    lode_runtime *rt = NULL;
    lode_model *m = NULL;
    lode_session *s = NULL;
    lode_device *dev = NULL;
    const bool f32 = o->act && !strcmp(o->act, "f32");
    lode_status st = lode_runtime_open(&rt, &(lode_runtime_desc){ .isa = o->isa }, err);
    if (st == LODE_OK && o->dev) st = lode_runtime_find(rt, o->dev, &dev, err);
    if (st == LODE_OK)
        st = lode_model_open(&m, &(lode_model_desc){ .runtime = rt, .path = o->model, .device = dev }, err);
    if (st == LODE_OK)
        st = lode_session_open(
            &s, m, &(lode_session_desc){ .n_ctx = 4096, .n_threads = o->n_threads, .act_f32 = f32, .kv_f32 = f32 },
            err);
    if (st == LODE_OK) st = write_logits(s, o, err);
    lode_session_close(s);
    lode_model_close(m);
    lode_runtime_close(rt);
    return st;
}

int main(int argc, char **argv) {
    options o = { 0 };
    lode_err e = { 0 };
    if (!parse(&o, argc, argv)) return usage();
    if (run(&o, &e) == LODE_OK) return 0;
    fprintf(stderr, "logits: %s\n", e.text);
    return 1;
}
