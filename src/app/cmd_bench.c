/* cmd_bench.c - lode bench: speed of prompts and of generation, in the form of llama-bench's tables, with the machine's
 * read bandwidth of the same run: decoding reads all weights once per token, nothing can be faster than that. */
#include "app/app.h"
#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_REPS = 100, MAX_LIST = 8, MAX_TESTS = 2 * MAX_LIST * MAX_LIST };

typedef struct {
    int n_prompt, n_gen, reps, n_threads;
    char time[24]; /* when it began, UTC */
    double ns[MAX_REPS];
    double avg_ts, dev_ts, avg_ns, dev_ns;
} test;

/* ---- Read bandwidth ---- */

typedef struct {
    const uint64_t *p;
    size_t n;
    uint64_t sum;
} reader;

static void *read_all(void *arg) {
    reader *r = arg;
    uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (size_t i = 0; i + 4 <= r->n; i += 4) {
        s0 += r->p[i];
        s1 += r->p[i + 1];
        s2 += r->p[i + 2];
        s3 += r->p[i + 3];
    }
    r->sum = s0 + s1 + s2 + s3;
    return NULL;
}

/* Best of a few passes over 256 MiB, and 64 MiB per thread where that is more: far above the cache that so many cores
 * of a server share. Bytes per second, 0 when there is no memory. */
static double read_bandwidth(int n_threads) {
    enum { PASSES = 5, MOST = 64 };
    if (n_threads > MOST) n_threads = MOST;
    const size_t mib = n_threads > 4 ? (size_t)n_threads * 64 : 256, words = (mib << 20) / sizeof(uint64_t);
    uint64_t *p = malloc(words * sizeof *p);
    double best = 0;
    if (!p) return 0;
    memset(p, 1, words * sizeof *p);
    for (int pass = 0; pass < PASSES; pass++) {
        reader r[MOST];
        pthread_t t[MOST];
        const int64_t start = lode_clock_ns();
        int started = 0;
        for (int i = 0; i < n_threads; i++) {
            const size_t from = words / (size_t)n_threads * (size_t)i;
            r[i] = (reader){ p + from, words / (size_t)n_threads, 0 };
            if (i > 0 && pthread_create(&t[i], NULL, read_all, &r[i]) != 0) break;
            started = i + 1;
        }
        read_all(&r[0]);
        for (int i = 1; i < started; i++) pthread_join(t[i], NULL);
        uint64_t sum = 0;
        for (int i = 0; i < started; i++) sum += r[i].sum;
        const double bps =
            (double)started * (double)(words / (size_t)n_threads) * 8 * 1e9 / (double)(lode_clock_ns() - start);
        if (bps > best && sum != 1) best = bps;
    }
    free(p);
    return best;
}

/* ---- Tests ---- */

static lode_status once(engine *en, const test *t, const int32_t *ids, double *ns, lode_err *err) {
    lode_session *s = en->session;
    LODE_TRY(lode_seq_remove(s, 0, 0, -1, err));
    if (t->n_gen > 0 && t->n_prompt == 0) LODE_TRY(lode_session_append(s, 0, ids, 1, err)); /* as after a prompt */
    const int64_t start = lode_clock_ns();
    if (t->n_prompt > 0) LODE_TRY(lode_session_append(s, 0, ids, t->n_prompt, err));
    for (int i = 0; i < t->n_gen; i++) LODE_TRY(lode_session_append(s, 0, ids + i, 1, err));
    *ns = (double)(lode_clock_ns() - start);
    return LODE_OK;
}

static lode_status measure(engine *en, test *t, const int32_t *ids, lode_err *err) {
    double warm;
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(t->time, sizeof t->time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    LODE_TRY(once(en, t, ids, &warm, err));
    double sum = 0, sum2 = 0, sum_ns = 0, sum_ns2 = 0;
    for (int i = 0; i < t->reps; i++) {
        LODE_TRY(once(en, t, ids, &t->ns[i], err));
        const double ts = (t->n_prompt + t->n_gen) * 1e9 / t->ns[i];
        sum += ts;
        sum2 += ts * ts;
        sum_ns += t->ns[i];
        sum_ns2 += t->ns[i] * t->ns[i];
    }
    const double n = t->reps;
    t->avg_ts = sum / n;
    t->avg_ns = sum_ns / n;
    t->dev_ts = n > 1 ? sqrt(fmax(0, (sum2 - sum * sum / n) / (n - 1))) : 0;
    t->dev_ns = n > 1 ? sqrt(fmax(0, (sum_ns2 - sum_ns * sum_ns / n) / (n - 1))) : 0;
    return LODE_OK;
}

/* ---- Output ---- */

typedef struct {
    lode_model_info info;
    const char *path, *type_kv;
    char backend[64], cpu[128];
    int n_batch;
    double bandwidth;
} setting;

/* Share of what the bandwidth allows that decoding reached. */
static double of_floor(const setting *s, const test *t) {
    return s->bandwidth > 0 ? t->avg_ts * (double)s->info.decode_bytes / s->bandwidth : 0;
}

static void print_md(const setting *s, const test *t, int n) {
    char model[64], size[32], params[32], name[32], speed[48];
    snprintf(model, sizeof model, "%s %s", s->info.arch, s->info.type);
    snprintf(size, sizeof size, "%.2f MiB", (double)s->info.weight_bytes / 0x1p20);
    snprintf(params, sizeof params, "%.2f M", (double)s->info.n_params / 1e6);
    printf("| %-30s | %10s | %10s | %-10s | %7s | %15s | %20s |\n", "model", "size", "params", "backend", "threads",
           "test", "t/s");
    printf("| %.30s | %.9s: | %.9s: | %.10s | %.6s: | %.14s: | %.19s: |\n", "------------------------------",
           "----------", "----------", "----------", "-------", "---------------", "--------------------");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, t[i].n_prompt ? "pp%d" : "tg%d", t[i].n_prompt ? t[i].n_prompt : t[i].n_gen);
        snprintf(speed, sizeof speed, "%.2f ± %.2f", t[i].avg_ts, t[i].dev_ts);
        printf("| %-30s | %10s | %10s | %-10s | %7d | %15s | %21s |\n", model, size, params, s->backend, t[i].n_threads,
               name, speed);
    }
    printf("\n%s; read bandwidth %.1f GB/s", s->cpu, s->bandwidth / 1e9);
    for (int i = 0; i < n; i++)
        if (t[i].n_gen)
            printf("; tg%d reads %.1f GB/s, %.0f%% of it", t[i].n_gen, of_floor(s, &t[i]) * s->bandwidth / 1e9,
                   of_floor(s, &t[i]) * 100);
    printf("\n");
}

/* The fields of a row: their names, for CSV's first line, or values as CSV or JSON. */
typedef enum { NAMES, CSV, JSON } form_kind;
typedef struct {
    form_kind kind;
    int n;
} fields;

static void begin_field(fields *f, const char *name) {
    if (f->kind == JSON)
        printf("%s    \"%s\": ", f->n ? ",\n" : "", name);
    else
        printf("%s%s", f->n ? "," : "", f->kind == NAMES ? name : "");
    f->n++;
}

static void text_field(fields *f, const char *name, const char *text) {
    begin_field(f, name);
    if (f->kind == NAMES) return;
    putchar('"');
    for (const char *p = text; *p; p++) {
        if (*p == '"') putchar(f->kind == CSV ? '"' : '\\');
        if (*p == '\\' && f->kind == JSON) putchar('\\');
        if ((unsigned char)*p < 32 && f->kind == JSON)
            printf("\\u%04x", (unsigned)*p);
        else
            putchar(*p);
    }
    putchar('"');
}

static void number_field(fields *f, const char *name, int decimals, double v) {
    begin_field(f, name);
    if (f->kind != NAMES) printf("%.*f", decimals, v);
}

static void print_fields(const setting *s, const test *t, form_kind kind) {
    fields f = { kind, 0 };
    char type[64];
    snprintf(type, sizeof type, "%s %s", s->info.arch, s->info.type);
    text_field(&f, "build_commit", lode_version());
    number_field(&f, "build_number", 0, 0);
    text_field(&f, "cpu_info", s->cpu);
    text_field(&f, "gpu_info", "");
    text_field(&f, "backends", s->backend);
    text_field(&f, "model_filename", s->path);
    text_field(&f, "model_type", type);
    number_field(&f, "model_size", 0, (double)s->info.weight_bytes);
    number_field(&f, "model_n_params", 0, (double)s->info.n_params);
    number_field(&f, "n_batch", 0, s->n_batch);
    number_field(&f, "n_ubatch", 0, s->n_batch);
    number_field(&f, "n_threads", 0, t->n_threads);
    text_field(&f, "type_k", s->type_kv);
    text_field(&f, "type_v", s->type_kv);
    number_field(&f, "n_prompt", 0, t->n_prompt);
    number_field(&f, "n_gen", 0, t->n_gen);
    number_field(&f, "n_depth", 0, 0);
    text_field(&f, "test_time", t->time);
    number_field(&f, "avg_ns", 0, t->avg_ns);
    number_field(&f, "stddev_ns", 0, t->dev_ns);
    number_field(&f, "avg_ts", 6, t->avg_ts);
    number_field(&f, "stddev_ts", 6, t->dev_ts);
    number_field(&f, "read_bandwidth", 0, s->bandwidth);
    number_field(&f, "of_floor", 4, t->n_gen ? of_floor(s, t) : 0);
}

static void print_json(const setting *s, const test *t, int n) {
    printf("[\n");
    for (int i = 0; i < n; i++) {
        printf("  {\n");
        print_fields(s, &t[i], JSON);
        printf(",\n    \"samples_ns\": [");
        for (int k = 0; k < t[i].reps; k++) printf("%s%.0f", k ? ", " : " ", t[i].ns[k]);
        printf(" ],\n    \"samples_ts\": [");
        for (int k = 0; k < t[i].reps; k++)
            printf("%s%.6g", k ? ", " : " ", (t[i].n_prompt + t[i].n_gen) * 1e9 / t[i].ns[k]);
        printf(" ]\n  }%s\n", i + 1 < n ? "," : "");
    }
    printf("]\n");
}

static void print_csv(const setting *s, const test *t, int n) {
    for (int i = -1; i < n; i++) {
        print_fields(s, i < 0 ? t : &t[i], i < 0 ? NAMES : CSV);
        putchar('\n');
    }
}

static const struct {
    const char *name;
    void (*print)(const setting *s, const test *t, int n);
} forms[] = { { "md", print_md }, { "json", print_json }, { "csv", print_csv } };
enum { N_FORM = sizeof forms / sizeof *forms };

/* What is asked for: numbers of prompt tokens, of generated ones and of threads. */
typedef struct {
    int n[MAX_LIST];
    int count, most;
} list;

/* "128,512" */
static bool read_list(const args *a, opt_id id, const char *name, int least, list *l) {
    const char *p = a->value[id];
    if (!p) return true;
    l->count = l->most = 0;
    for (char *end;; p = end + 1) {
        const long v = strtol(p, &end, 10);
        if (end == p || (*end && *end != ',') || v < least || v > 1 << 20 || l->count == MAX_LIST) {
            fail_usage("%s '%s': expected a number from %d to %d, or up to %d of them: 128,512", name, a->value[id],
                       least, 1 << 20, MAX_LIST);
            return false;
        }
        l->n[l->count++] = (int)v;
        if (v > l->most) l->most = (int)v;
        if (!*end) return true;
    }
}

typedef struct {
    list prompt, gen, threads;
    int reps, n_batch, form;
} wishes;

static int read_wishes(const args *a, wishes *w) {
    *w = (wishes){ .prompt = { { 512 }, 1, 512 }, .gen = { { 128 }, 1, 128 }, .threads = { { 0 }, 1, 0 } };
    if (!read_list(a, OPT_N_PROMPT, "--n-prompt", 0, &w->prompt) || !read_list(a, OPT_N_GEN, "--n-gen", 0, &w->gen) ||
        !read_list(a, OPT_THREADS, "--threads", 1, &w->threads) || !args_int(a, OPT_REPS, 5, 1, MAX_REPS, &w->reps) ||
        !args_int(a, OPT_BATCH, 512, 1, 1 << 16, &w->n_batch))
        return EXIT_USAGE;
    if (a->value[OPT_OUTPUT])
        while (w->form < N_FORM && strcmp(forms[w->form].name, a->value[OPT_OUTPUT]) != 0) w->form++;
    if (w->form == N_FORM) return fail_usage("-o %s: expected md, csv or json", a->value[OPT_OUTPUT]);
    return 0;
}

/* All tests with one number of threads (0: the default), appended to t. */
static int measure_all(const args *a, const wishes *w, int n_threads, setting *set, test *t, int *n) {
    engine en;
    lode_err e = { 0 };
    char threads[16];
    args with = *a;
    snprintf(threads, sizeof threads, "%d", n_threads);
    if (n_threads > 0) with.value[OPT_THREADS] = threads;
    const int most = w->prompt.most > w->gen.most + 1 ? w->prompt.most : w->gen.most + 1, first = *n;
    int rc = engine_open(&en, &with, most);
    if (rc) return rc;
    int32_t *ids = lode_calloc((size_t)most, sizeof *ids);
    lode_status s = ids ? LODE_OK : lode_fail(&e, LODE_E_NOMEM, "bench: out of memory");
    for (int i = 0; ids && i < most; i++) ids[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)en.info.n_vocab);
    const int used = lode_session_n_threads(en.session);
    for (int i = 0; i < w->prompt.count; i++)
        if (w->prompt.n[i]) t[(*n)++] = (test){ .n_prompt = w->prompt.n[i], .reps = w->reps, .n_threads = used };
    for (int i = 0; i < w->gen.count; i++)
        if (w->gen.n[i]) t[(*n)++] = (test){ .n_gen = w->gen.n[i], .reps = w->reps, .n_threads = used };
    for (int i = first; i < *n && s == LODE_OK; i++) s = measure(&en, &t[i], ids, &e);
    set->info = en.info;
    lode_device_props p;
    lode_device_get_props(lode_model_device(en.model), &p);
    snprintf(set->backend, sizeof set->backend, "%s", p.name);
    snprintf(set->cpu, sizeof set->cpu, "%s", p.description);
    rc = s == LODE_OK ? 0 : s == LODE_E_ABORTED ? 130 : fail(&e);
    free(ids);
    engine_close(&en);
    return rc;
}

int cmd_bench(const args *a) {
    wishes w;
    int rc = read_wishes(a, &w), n = 0, most_threads = 1;
    if (rc) return rc;
    test *t = lode_calloc(MAX_TESTS, sizeof *t);
    if (!t) return fail_text("out of memory");
    const char *kv = a->value[OPT_CTK], *act = a->value[OPT_ACT];
    setting set = { .path = a->value[OPT_MODEL], .n_batch = w.n_batch };
    set.type_kv = (kv && !strcmp(kv, "f32")) || (act && !strcmp(act, "f32")) ? "f32" : "f16";
    for (int i = 0; i < w.threads.count && !rc; i++) rc = measure_all(a, &w, w.threads.n[i], &set, t, &n);
    for (int i = 0; i < n; i++)
        if (t[i].n_threads > most_threads) most_threads = t[i].n_threads;
    if (!rc && n > 0) {
        set.bandwidth = read_bandwidth(most_threads);
        forms[w.form].print(&set, t, n);
    } else if (!rc) {
        rc = fail_usage("nothing to measure: -p and -n are both 0");
    }
    free(t);
    return rc;
}
