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

enum { MAX_REPS = 100 };

typedef struct {
    int n_prompt, n_gen, reps;
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

/* Best of a few passes over 256 MiB, far above any cache that a share of a server has; bytes per second, 0 when there
 * is no memory. */
static double read_bandwidth(int n_threads) {
    enum { PASSES = 5, MOST = 64 };
    const size_t words = ((size_t)256 << 20) / sizeof(uint64_t);
    uint64_t *p = malloc(words * sizeof *p);
    double best = 0;
    if (!p) return 0;
    memset(p, 1, words * sizeof *p);
    if (n_threads > MOST) n_threads = MOST;
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
    const engine *en;
    const char *file, *device;
    int n_threads, n_batch;
    double bandwidth;
} setting;

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Share of what the bandwidth allows that decoding reached. */
static double of_floor(const setting *s, const test *t) {
    return s->bandwidth > 0 ? t->avg_ts * (double)s->en->info.decode_bytes / s->bandwidth : 0;
}

static void print_md(const setting *s, const test *t, int n) {
    char model[64], size[32], params[32], name[32], speed[48];
    snprintf(model, sizeof model, "%s %s", s->en->info.arch, s->en->info.type);
    snprintf(size, sizeof size, "%.2f MiB", (double)s->en->info.weight_bytes / 0x1p20);
    snprintf(params, sizeof params, "%.2f M", (double)s->en->info.n_params / 1e6);
    printf("| %-30s | %10s | %10s | %-10s | %7s | %15s | %20s |\n", "model", "size", "params", "backend", "threads",
           "test", "t/s");
    printf("| %.30s | %.9s: | %.9s: | %.10s | %.6s: | %.14s: | %.19s: |\n", "------------------------------",
           "----------", "----------", "----------", "-------", "---------------", "--------------------");
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, t[i].n_prompt ? "pp%d" : "tg%d", t[i].n_prompt ? t[i].n_prompt : t[i].n_gen);
        snprintf(speed, sizeof speed, "%.2f ± %.2f", t[i].avg_ts, t[i].dev_ts);
        printf("| %-30s | %10s | %10s | %-10s | %7d | %15s | %21s |\n", model, size, params, "CPU", s->n_threads, name,
               speed);
    }
    printf("\n%s; read bandwidth %.1f GB/s", s->device, s->bandwidth / 1e9);
    for (int i = 0; i < n; i++)
        if (t[i].n_gen)
            printf("; tg%d reads %.1f GB/s, %.0f%% of it", t[i].n_gen, of_floor(s, &t[i]) * s->bandwidth / 1e9,
                   of_floor(s, &t[i]) * 100);
    printf("\n");
}

static void print_fields(const setting *s, const test *t, bool json) {
    const lode_model_info *m = &s->en->info;
    const char *f =
        json ? "    \"build_commit\": \"%s\",\n    \"cpu_info\": \"%s\",\n    \"model_filename\": \"%s\",\n"
               "    \"model_type\": \"%s %s\",\n    \"model_size\": %llu,\n    \"model_n_params\": %llu,\n"
               "    \"n_batch\": %d,\n    \"n_threads\": %d,\n    \"n_prompt\": %d,\n    \"n_gen\": %d,\n"
               "    \"avg_ns\": %.0f,\n    \"stddev_ns\": %.0f,\n    \"avg_ts\": %.6f,\n    \"stddev_ts\": %.6f,\n"
               "    \"read_bandwidth\": %.0f,\n    \"of_floor\": %.4f"
             : "%s,\"%s\",\"%s\",\"%s %s\",%llu,%llu,%d,%d,%d,%d,%.0f,%.0f,%.6f,%.6f,%.0f,%.4f\n";
    printf(f, lode_version(), s->device, s->file, m->arch, m->type, (unsigned long long)m->weight_bytes,
           (unsigned long long)m->n_params, s->n_batch, s->n_threads, t->n_prompt, t->n_gen, t->avg_ns, t->dev_ns,
           t->avg_ts, t->dev_ts, s->bandwidth, t->n_gen ? of_floor(s, t) : 0.0);
}

static void print_json(const setting *s, const test *t, int n) {
    printf("[\n");
    for (int i = 0; i < n; i++) {
        printf("  {\n");
        print_fields(s, &t[i], true);
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
    printf("build_commit,cpu_info,model_filename,model_type,model_size,model_n_params,n_batch,n_threads,n_prompt,n_gen,"
           "avg_ns,"
           "stddev_ns,avg_ts,stddev_ts,read_bandwidth,of_floor\n");
    for (int i = 0; i < n; i++) print_fields(s, &t[i], false);
}

static const struct {
    const char *name;
    void (*print)(const setting *s, const test *t, int n);
} forms[] = { { "md", print_md }, { "json", print_json }, { "csv", print_csv } };

int cmd_bench(const args *a) {
    int n_prompt, n_gen, reps, form = 0;
    if (!args_int(a, OPT_N_PROMPT, 512, 0, 1 << 20, &n_prompt) || !args_int(a, OPT_N_GEN, 128, 0, 1 << 20, &n_gen) ||
        !args_int(a, OPT_REPS, 5, 1, MAX_REPS, &reps))
        return EXIT_USAGE;
    if (a->value[OPT_OUTPUT])
        while (form < 3 && strcmp(forms[form].name, a->value[OPT_OUTPUT]) != 0) form++;
    if (form == 3) return fail_usage("-o %s: expected md, csv or json", a->value[OPT_OUTPUT]);
    engine en;
    const int most = n_prompt > n_gen + 1 ? n_prompt : n_gen + 1;
    int rc = engine_open(&en, a, most);
    if (rc) return rc;
    lode_err e = { 0 };
    lode_device_props p;
    lode_device_get_props(lode_model_device(en.model), &p);
    int32_t *ids = lode_calloc((size_t)most, sizeof *ids);
    lode_status s = ids ? LODE_OK : lode_fail(&e, LODE_E_NOMEM, "bench: out of memory");
    for (int i = 0; ids && i < most; i++) ids[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)en.info.n_vocab);
    test t[2];
    int n = 0;
    if (n_prompt) t[n++] = (test){ .n_prompt = n_prompt, .reps = reps };
    if (n_gen) t[n++] = (test){ .n_gen = n_gen, .reps = reps };
    for (int i = 0; i < n && s == LODE_OK; i++) s = measure(&en, &t[i], ids, &e);
    if (s == LODE_OK) {
        int n_batch;
        args_int(a, OPT_BATCH, 512, 1, 1 << 16, &n_batch);
        const int threads = lode_session_n_threads(en.session);
        const setting set = { &en,     base_name(a->value[OPT_MODEL]), p.description, threads,
                              n_batch, read_bandwidth(threads) };
        forms[form].print(&set, t, n);
    }
    rc = s == LODE_OK ? 0 : fail(&e);
    free(ids);
    engine_close(&en);
    return rc;
}
