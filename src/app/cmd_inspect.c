/* cmd_inspect.c - lode inspect: metadata, tensors, sizes and memory of a GGUF file, a language model or not. */
#include "app/app.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[LODE_GGUF_N_KIND] = { "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                     "bool", "string", "array", "u64", "i64", "f64" };

static void print_value(const lode_gguf *g, const lode_gguf_kv *kv, uint64_t i, lode_gguf_kind kind) {
    lode_slice s;
    int64_t whole;
    float real;
    if (kv->kind == LODE_GGUF_STRING) {
        print_text((lode_slice){ (const char *)kv->data, kv->data_bytes }, 80);
    } else if (kind == LODE_GGUF_STRING && lode_gguf_arr_str(g, kv, i, &s)) {
        print_text(s, 80);
    } else if (kind == LODE_GGUF_BOOL && lode_gguf_arr_i64(kv, i, &whole)) {
        fputs(whole ? "true" : "false", stdout);
    } else if (kind != LODE_GGUF_F32 && kind != LODE_GGUF_F64 && lode_gguf_arr_i64(kv, i, &whole)) {
        printf("%lld", (long long)whole);
    } else if (lode_gguf_arr_f32(kv, i, &real)) {
        printf("%g", (double)real);
    }
}

/* A name, indented, with blanks up to a width. */
static void print_column(lode_slice s, size_t width) {
    fputs("  ", stdout);
    print_text(s, 200);
    printf("%*s ", s.n < width ? (int)(width - s.n) : 0, "");
}

static void print_kv(const lode_gguf *g, const lode_gguf_kv *kv) {
    print_column(kv->key, 45);
    if (kv->kind != LODE_GGUF_ARRAY) {
        print_value(g, kv, 0, kv->kind);
    } else {
        printf("[%s x %llu] ", kinds[kv->item], (unsigned long long)kv->n);
        for (uint64_t i = 0; i < kv->n && i < 6; i++) {
            if (i) fputs(", ", stdout);
            print_value(g, kv, i, kv->item);
        }
        if (kv->n > 6) fputs(", ...", stdout);
    }
    putchar('\n');
}

static void print_tensors(const lode_gguf *g) {
    double elements = 0, bytes = 0;
    for (uint64_t i = 0; i < lode_gguf_n_tensors(g); i++) {
        const lode_gguf_tensor *t = lode_gguf_tensor_at(g, i);
        char shape[96];
        size_t at = 0;
        double n = 1;
        for (int d = 0; d < t->n_dims; d++) {
            at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%lld", d ? ", " : "", (long long)t->ne[d]);
            n *= (double)t->ne[d];
        }
        print_column(t->name, 32);
        printf("%-8s [%s]\n", lode_file_type_name(t->file_type), shape);
        elements += n;
        bytes += (double)t->bytes;
    }
    if (elements > 0)
        printf("%.2f M parameters, %.2f MiB, %.2f bits per weight\n", elements / 1e6, bytes / 0x1p20,
               bytes * 8 / elements);
}

static void print_memory(const args *a, const lode_gguf *g, const lode_arch *arch) {
    lode_hparams hp = { 0 };
    lode_err e = { 0 };
    int n_ctx;
    if (lode_hparams_read(&hp, g, arch, &e) != LODE_OK) {
        printf("memory: cannot be estimated: %s\n", e.text);
        return;
    }
    const int train = (int)hp.n_ctx_train;
    if (!args_int(a, OPT_CTX, 0, 0, 1 << 30, &n_ctx)) return;
    if (n_ctx == 0) n_ctx = train < 8192 ? train : 8192;
    const double kv = 4.0 * n_ctx * hp.n_layer * hp.n_head_kv * hp.d_head;
    double weights = 0;
    for (uint64_t i = 0; i < lode_gguf_n_tensors(g); i++) weights += (double)lode_gguf_tensor_at(g, i)->bytes;
    printf("memory for a context of %d: weights %.1f MiB + KV cache %.1f MiB = %.1f MiB\n", n_ctx, weights / 0x1p20,
           kv / 0x1p20, (weights + kv) / 0x1p20);
}

static void print_unsupported(lode_slice arch) {
    fputs("architecture ", stdout);
    print_text(arch, 80);
    printf(" is not supported; supported are: %s\n", lode_arch_names());
}

int cmd_inspect(const args *a) {
    lode_err e = { 0 };
    lode_gguf *g;
    lode_slice name = { 0 };
    bool found = false;
    int n_ctx;
    if (!args_int(a, OPT_CTX, 0, 0, 1 << 30, &n_ctx)) return EXIT_USAGE;
    const char *path = a->value[OPT_MODEL] ? a->value[OPT_MODEL] : a->rest;
    const int missing = check_model(a, path);
    if (missing) return missing;
    if (lode_gguf_open(&g, path, &e) != LODE_OK) return fail(&e);
    printf("%s: GGUF version %d, %llu keys, %llu tensors, %d file%s\n", path, lode_gguf_version(g),
           (unsigned long long)lode_gguf_n_kv(g), (unsigned long long)lode_gguf_n_tensors(g), lode_gguf_n_parts(g),
           lode_gguf_n_parts(g) == 1 ? "" : "s");
    for (uint64_t i = 0; i < lode_gguf_n_kv(g); i++) print_kv(g, lode_gguf_kv_at(g, i));
    print_tensors(g);
    if (lode_gguf_get_str(g, "general.architecture", &name, &found, &e) != LODE_OK || !found) {
        printf("no general.architecture: not a language model\n");
    } else {
        const lode_arch *arch = lode_arch_find(name.p, name.n);
        if (arch)
            print_memory(a, g, arch);
        else
            print_unsupported(name);
    }
    lode_gguf_close(g);
    return 0;
}
