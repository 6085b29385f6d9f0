/* engine.c - opens models by the options, feeds prompts, generates answers. */
#include "app/app.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MODEL "models/SmolLM2-135M-Instruct.Q4_1.gguf"

static void log_line(void *user, lode_log_level level, const char *subsystem, const char *text) {
    (void)subsystem;
    const lode_log_level least = user ? LODE_LOG_DEBUG : LODE_LOG_WARN;
    if (level >= least) fprintf(stderr, "lode: %s\n", text);
}

static bool stop_asked(void *user) {
    (void)user;
    return interrupted != 0;
}

/* The file in the same folder whose name is nearest to the one that is not there; false when none is near. */
static bool path_near(const char *path, lode_str *out) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int folder_n = slash ? (int)(slash - path) + 1 : 0;
    char with_end[64];
    lode_str folder = { 0 };
    int best = 5; /* more edits than this are another name */
    snprintf(with_end, sizeof with_end, "%.50s.gguf", name);
    lode_str_printf(&folder, "%.*s.", folder_n, path);
    DIR *d = folder.failed ? NULL : opendir(folder.p);
    for (struct dirent *f; d && (f = readdir(d)) != NULL;) {
        const int plain = lode_edit_distance(name, f->d_name), ended = lode_edit_distance(with_end, f->d_name);
        const bool but_case = !strcasecmp(name, f->d_name) || !strcasecmp(with_end, f->d_name);
        const int distance = but_case ? 0 : ended < plain ? ended : plain;
        if (f->d_name[0] == '.' || distance >= best || !strcmp(f->d_name, name)) continue; /* itself: a broken link */
        best = distance;
        lode_str_clear(out);
        lode_str_printf(out, "%.*s%s", folder_n, path, f->d_name);
    }
    if (d) closedir(d);
    lode_str_free(&folder);
    return best < 5 && !out->failed;
}

/* Names the model that make chat fetched: seen from here, or beside the folder of the program. */
static int no_model(const args *a) {
    lode_str beside = { 0 };
    const char *slash = strrchr(a->program, '/');
    if (slash) lode_str_printf(&beside, "%.*s/../" DEFAULT_MODEL, (int)(slash - a->program), a->program);
    const char *there = lode_is_file(DEFAULT_MODEL)                         ? DEFAULT_MODEL
                        : slash && !beside.failed && lode_is_file(beside.p) ? beside.p
                                                                            : NULL;
    const int rc = there ? fail_usage("which model? there is one: -m %s", there)
                         : fail_usage("which model? -m FILE names it; make chat puts a small one at " DEFAULT_MODEL);
    lode_str_free(&beside);
    return rc;
}

int check_model(const args *a, const char *path) {
    if (!path || !*path) return no_model(a);
    if (lode_is_dir(path) || lode_is_file(path)) return 0;
    if (access(path, F_OK) == 0) return fail_text("%s: is a device or a pipe, expected a GGUF file", path);
    struct stat st;
    if (lstat(path, &st) == 0) return fail_text("%s: is a link that leads to no file", path);
    lode_str other = { 0 };
    const int rc = path_near(path, &other)
                       ? fail_text("%s: there is no such file; did you mean %s?", path, other.p)
                       : fail_text("%s: there is no such file; make chat puts a small model at " DEFAULT_MODEL, path);
    lode_str_free(&other);
    return rc;
}

static int one_of(const args *a, opt_id id, const char *option, const char *first, const char *second,
                  bool *is_second) {
    const char *v = a->value[id];
    *is_second = v && !strcmp(v, second);
    if (!v || *is_second || !strcmp(v, first)) return 0;
    return fail_usage("%s '%s': expected %s or %s", option, v, first, second);
}

bool args_threads(const args *a, int *out) {
    const int most = lode_processors();
    if (!args_int(a, OPT_THREADS, 0, -1, 1024, out)) return false;
    if (*out < 0) *out = 0; /* llama.cpp's way to say: the default */
    if (*out <= most) return true;
    fprintf(stderr, "lode: -t %d: this process may use %d processor%s, more threads would only wait: %d\n", *out, most,
            most == 1 ? "" : "s", most);
    *out = most;
    return true;
}

bool is_blank(const char *text, size_t n) {
    size_t i = 0;
    while (i < n && text[i] && strchr(" \t\r\n\v\f", text[i])) i++;
    return i == n;
}

int engine_open(engine *en, const args *a, int n_ctx) {
    *en = (engine){ 0 };
    lode_err e = { 0 };
    bool kv_f32, v_f32, act_f32;
    int n_threads, n_batch, ctx;
    int rc = check_model(a, a->value[OPT_MODEL]);
    if (!rc) rc = one_of(a, OPT_CTK, "--cache-type-k", "f16", "f32", &kv_f32);
    if (!rc) rc = one_of(a, OPT_CTV, "--cache-type-v", "f16", "f32", &v_f32);
    if (!rc && a->value[OPT_CTV] && v_f32 != kv_f32)
        rc = fail_usage("--cache-type-v %s: keys and values are of one type: give -ctk %s too", a->value[OPT_CTV],
                        a->value[OPT_CTV]);
    if (!rc) rc = one_of(a, OPT_ACT, "--act", "default", "f32", &act_f32);
    if (rc) return rc;
    if (!args_threads(a, &n_threads) || !args_int(a, OPT_BATCH, 0, 1, 1 << 16, &n_batch) ||
        !args_int(a, OPT_CTX, n_ctx, 0, 1 << 30, &ctx))
        return EXIT_USAGE;
    const lode_log log = { log_line, (void *)(uintptr_t)(a->value[OPT_VERBOSE] ? "v" : NULL) };
    lode_device *dev = NULL;
    lode_status s = lode_runtime_open(&en->rt, &(lode_runtime_desc){ .isa = a->value[OPT_ISA], .log = log }, &e);
    if (s == LODE_OK && a->value[OPT_DEV]) s = lode_runtime_find(en->rt, a->value[OPT_DEV], &dev, &e);
    const lode_model_desc md = { .runtime = en->rt, .path = a->value[OPT_MODEL], .device = dev, .log = log };
    if (s == LODE_OK) s = lode_model_open(&en->model, &md, &e);
    const lode_session_desc sd = { .n_ctx = ctx,
                                   .n_batch = n_batch,
                                   .n_threads = n_threads,
                                   .kv_f32 = kv_f32 || act_f32,
                                   .act_f32 = act_f32,
                                   .abort = stop_asked,
                                   .log = log };
    if (s == LODE_OK) s = lode_session_open(&en->session, en->model, &sd, &e);
    if (s == LODE_OK && a->value[OPT_TRACE]) {
        catch_interrupts(); /* one must not leave a file that is half written */
        writing(a->value[OPT_TRACE]);
        s = lode_session_trace(en->session, a->value[OPT_TRACE], &e);
    }
    if (s != LODE_OK) {
        engine_close(en);
        return fail(&e);
    }
    en->vocab = lode_model_vocab(en->model);
    lode_model_get_info(en->model, &en->info);
    return 0;
}

void engine_close(engine *en) {
    lode_session_close(en->session);
    lode_model_close(en->model);
    lode_runtime_close(en->rt);
    *en = (engine){ 0 };
}

static size_t piece(void *user, int32_t id, char *buf, size_t cap) {
    return lode_vocab_piece(user, id, false, buf, cap);
}

int sampler_open(lode_sampler **out, const args *a, const engine *en) {
    static const struct {
        opt_id id;
        const char *name;
    } numbers[] = {
        { OPT_TEMP, "temperature" },
        { OPT_TOP_K, "top_k" },
        { OPT_TOP_P, "top_p" },
        { OPT_MIN_P, "min_p" },
        { OPT_REPEAT, "repeat_penalty" },
        { OPT_REPEAT_N, "repeat_last_n" },
        { OPT_PRESENCE, "presence_penalty" },
        { OPT_FREQUENCY, "frequency_penalty" },
        { OPT_TYPICAL, "typical_p" },
        { OPT_XTC_P, "xtc_probability" },
        { OPT_XTC_T, "xtc_threshold" },
        { OPT_DRY, "dry_multiplier" },
        { OPT_TOP_N_SIGMA, "top_n_sigma" },
        { OPT_DYNATEMP, "dynatemp_range" },
        { OPT_DYNATEMP_E, "dynatemp_exponent" },
        { OPT_DRY_BASE, "dry_base" },
        { OPT_DRY_LENGTH, "dry_allowed_length" },
        { OPT_DRY_LAST_N, "dry_penalty_last_n" },
        { OPT_ADAPTIVE, "adaptive_target" },
        { OPT_ADAPTIVE_D, "adaptive_decay" },
        { OPT_MIRO_LR, "mirostat_eta" },
        { OPT_MIRO_ENT, "mirostat_tau" },
        { OPT_MIROSTAT, "mirostat" },
        { OPT_SEED, "seed" },
    };
    lode_err e = { 0 };
    lode_sampler_desc d;
    lode_sampler_defaults(&d);
    d.n_vocab = en->info.n_vocab;
    d.n_ctx = lode_session_n_ctx(en->session);
    d.piece = piece;
    d.piece_user = (void *)(uintptr_t)en->vocab;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double v;
        if (!a->value[numbers[i].id]) continue;
        if (!args_real(a, numbers[i].id, &v)) return EXIT_USAGE;
        if (lode_sampler_set(&d, numbers[i].name, v, &e) != LODE_OK) return fail_usage("%s", e.text);
    }
    if (a->value[OPT_SAMPLERS] && lode_sampler_chain_parse(&d.chain, a->value[OPT_SAMPLERS], &e) != LODE_OK)
        return fail_usage("--samplers: %s", e.text);
    return lode_sampler_open(out, &d, &e) == LODE_OK ? 0 : fail(&e);
}

int feed(engine *en, const int32_t *ids, size_t n) {
    lode_err e = { 0 };
    const int n_ctx = lode_session_n_ctx(en->session);
    if (n == 0) return fail_text("the prompt is empty: nothing to answer");
    const size_t all = n + (size_t)lode_seq_length(en->session, 0);
    if (all > (size_t)n_ctx)
        return fail_text("the prompt has %zu tokens, the context %d: use a larger one (-c) or a shorter prompt", all,
                         n_ctx);
    const lode_status s = lode_session_append(en->session, 0, ids, (int)n, &e);
    if (s == LODE_E_ABORTED) return 130;
    return s == LODE_OK ? 0 : fail(&e);
}

/* Writes and flushes; false when the reader has gone. */
static bool put(lode_slice text) {
    return text.n == 0 || (fwrite(text.p, 1, text.n, stdout) == text.n && fflush(stdout) == 0);
}

static lode_status next_token(generation *g, int32_t *id, lode_err *err) {
    float *logits = lode_session_logits(g->en->session, lode_session_n_logits(g->en->session) - 1);
    lode_token eog[64];
    const size_t n = g->ignore_eos ? lode_vocab_eog(g->en->vocab, eog, 64) : 0;
    for (size_t i = 0; i < n && i < 64; i++) logits[eog[i]] = -INFINITY;
    LODE_TRY(lode_sampler_sample(g->sampler, logits, id, err));
    return lode_sampler_accept(g->sampler, *id, err);
}

/* Room in a full context: the older half of what may go is forgotten. False: the answer ends here, as does one without
 * a limit that alone is longer than the context: it would hardly ever end. */
static bool make_room(const generation *g) {
    lode_session *s = g->en->session;
    const int n = lode_seq_length(s, 0), n_ctx = lode_session_n_ctx(s);
    const char *line = isatty(STDERR_FILENO) ? "\n" : "";
    if (n < n_ctx) return true;
    const int keep = g->n_keep < n / 2 ? g->n_keep : n / 2, drop = (n - keep) / 2;
    const bool endless = g->n_predict < 0 && g->ids && g->ids->n > (size_t)n_ctx;
    if (keep >= 0 && drop > 0 && !endless && lode_seq_shift(s, 0, keep, keep + drop, NULL) == LODE_OK) {
        fprintf(stderr,
                "%slode: the context of %d tokens is full: %d older ones are forgotten (-c sets a larger one)\n", line,
                n_ctx, drop);
        return true;
    }
    fprintf(stderr, "%slode: the context of %d tokens is full: the answer ends here (-c sets a larger one)\n", line,
            n_ctx);
    return false;
}

int generate(generation *g) {
    lode_err e = { 0 };
    lode_detok d;
    lode_detok_init(&d, g->en->vocab, g->raw ? LODE_DETOK_CONTINUE : 0);
    lode_status s = LODE_OK;
    bool open = true;
    for (int i = 0; (g->n_predict < 0 || i < g->n_predict) && !interrupted && open; i++) {
        int32_t id;
        lode_slice text;
        s = next_token(g, &id, &e);
        if (s != LODE_OK || (!g->ignore_eos && lode_vocab_is_eog(g->en->vocab, id))) break;
        if (g->ids && !lode_grow((void **)&g->ids->items, &g->ids->cap, g->ids->n + 1, sizeof id)) {
            s = lode_fail(&e, LODE_E_NOMEM, "out of memory");
            break;
        }
        if (g->ids) g->ids->items[g->ids->n++] = id;
        s = lode_detok_push(&d, id, &text, &e);
        if (s != LODE_OK) break;
        open = put(text);
        if (!open) break;
        if (g->n_predict >= 0 && i + 1 == g->n_predict) break; /* nobody needs what would follow */
        if (!make_room(g)) break;
        s = lode_session_append(g->en->session, 0, &id, 1, &e);
        if (s != LODE_OK) break;
    }
    if (open) open = put(lode_detok_flush(&d));
    const int error = errno; /* of the write that failed, if one did */
    lode_detok_free(&d);
    if (s != LODE_OK && s != LODE_E_ABORTED) return fail(&e);
    return open ? 0 : fail_output(error);
}
