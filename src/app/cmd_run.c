/* cmd_run.c - lode run: one prompt in, its answer out. */
#include "app/app.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A prompt of more than this is no prompt. */
#define MAX_PROMPT ((size_t)256 << 20)

/* The prompt: -p, -f or standard input; own on success. */
static int read_prompt(const args *a, char **text, size_t *n) {
    lode_err e = { 0 };
    if (a->value[OPT_PROMPT]) {
        *n = strlen(a->value[OPT_PROMPT]);
        *text = malloc(*n + 1);
        if (!*text) return fail_text("out of memory");
        memcpy(*text, a->value[OPT_PROMPT], *n + 1);
        return 0;
    }
    if (!a->value[OPT_FILE] && isatty(STDIN_FILENO))
        return fail_usage("what shall be answered? -p TEXT, -f FILE or standard input");
    return lode_file_read(a->value[OPT_FILE] ? a->value[OPT_FILE] : "-", MAX_PROMPT, text, n, &e) == LODE_OK ? 0
                                                                                                             : fail(&e);
}

static int encode(const args *a, const engine *en, const char *text, size_t n, lode_tokens *ids) {
    lode_err e = { 0 };
    lode_status s;
    if (is_blank(text, n) && !a->value[OPT_RAW])
        return fail_text("the prompt is empty: give one with -p, -f or standard input");
    if (a->value[OPT_SYSTEM] && lode_model_chat_template(en->model).n == 0)
        return fail_text("%s: has no chat template, which a system prompt needs: drop -sys", a->value[OPT_MODEL]);
    if (a->value[OPT_RAW] || lode_model_chat_template(en->model).n == 0) {
        s = lode_encode(en->vocab, text, n, LODE_ENCODE_BOS, ids, &e);
    } else {
        const char *sys = a->value[OPT_SYSTEM];
        const lode_chat_message m[2] = { { "system", sys, sys ? strlen(sys) : 0 }, { "user", text, n } };
        s = m[0].content ? render_chat(en, m, 2, true, ids, &e) : render_chat(en, m + 1, 1, true, ids, &e);
    }
    return s == LODE_OK ? 0 : fail(&e);
}

static void print_line(void *user, const char *line) {
    (void)user;
    puts(line);
}

static int print_stage(const args *a, engine *en, int n) {
    lode_err e = { 0 };
    const lode_print_stage stage = lode_print_stage_of(a->value[OPT_PRINT]);
    if (stage == LODE_N_PRINT)
        return fail_usage("--print %s: expected graph, placed, fused, kernels, memory or plan", a->value[OPT_PRINT]);
    return lode_session_print(en->session, n, stage, a->value[OPT_VERBOSE] != NULL, print_line, NULL, &e) == LODE_OK
               ? 0
               : fail(&e);
}

static int answer(const args *a, engine *en, const lode_tokens *ids, int n_predict) {
    lode_sampler *sampler;
    int rc = sampler_open(&sampler, a, en);
    if (rc) return rc;
    for (size_t i = 0; i < ids->n; i++) lode_sampler_accept(sampler, ids->items[i], NULL);
    rc = feed(en, ids->items, ids->n);
    generation g = { .en = en,
                     .sampler = sampler,
                     .n_predict = n_predict,
                     .n_keep = -1,
                     .ignore_eos = a->value[OPT_IGNORE_EOS] != NULL,
                     .raw = a->value[OPT_RAW] != NULL };
    if (!rc && n_predict != 0) rc = generate(&g);
    if (!rc && isatty(STDOUT_FILENO)) putchar('\n');
    lode_sampler_close(sampler);
    return interrupted ? 130 : rc;
}

int cmd_run(const args *a) {
    engine en;
    lode_tokens ids = { 0 };
    char *text = NULL;
    size_t n;
    int n_predict;
    if (!args_int(a, OPT_N_PREDICT, -1, -1, 1 << 30, &n_predict)) return EXIT_USAGE;
    int rc = engine_open(&en, a, 0);
    if (rc) return rc;
    catch_interrupts();
    /* The context is told where the choice matters: chosen below what the model can do, or asked for above it. */
    const int n_ctx = lode_session_n_ctx(en.session), train = en.info.n_ctx_train;
    const bool beyond = train > 0 && n_ctx >= train + LODE_PAGE;
    if (a->value[OPT_VERBOSE] || beyond || (!a->value[OPT_CTX] && n_ctx < train))
        fprintf(stderr, "lode: %s\n", lode_session_ctx_note(en.session));
    if (a->value[OPT_PRINT]) {
        rc = print_stage(a, &en, 1);
    } else if (!en.vocab) {
        rc = fail_text("%s: %s: this model can only be used through ids", a->value[OPT_MODEL],
                       lode_model_vocab_note(en.model));
    } else {
        rc = read_prompt(a, &text, &n);
        if (!rc) rc = encode(a, &en, text, n, &ids);
        if (!rc) rc = answer(a, &en, &ids, n_predict);
    }
    free(text);
    lode_tokens_free(&ids);
    lode_err e = { 0 };
    if (lode_session_trace(en.session, NULL, &e) != LODE_OK && !rc) rc = fail(&e);
    engine_close(&en);
    return rc;
}
