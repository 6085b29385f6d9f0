/* cmd_chat.c - lode chat: a talk in the terminal. */
#include "app/app.h"
#include "app/line.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const args *a;
    engine en;
    lode_sampler *sampler;
    lode_arena arena; /* own: what was said */
    struct {
        lode_chat_message *items; /* own */
        size_t n, cap;
    } said;
    int n_predict, n_keep;
} chat;

static bool say(chat *c, const char *role, const char *text, size_t n) {
    const lode_chat_message m = { role, lode_arena_strdup(&c->arena, text, n), n };
    return m.content && LODE_PUSH(&c->said, m);
}

/* Feeds what is new since the last turn: the rendered talk shares its beginning with what the cache holds. */
static int feed_new(chat *c, const lode_tokens *ids) {
    lode_err e = { 0 };
    const int32_t *have = lode_seq_ids(c->en.session, 0);
    const int n_have = lode_seq_length(c->en.session, 0);
    int same = 0;
    while (same < n_have && (size_t)same < ids->n && have[same] == ids->items[same]) same++;
    if (same > 0 && (size_t)same == ids->n) same--; /* logits of the last token are needed */
    if (same < n_have && lode_seq_remove(c->en.session, 0, same, -1, &e) != LODE_OK) return fail(&e);
    return feed(&c->en, ids->items + same, ids->n - (size_t)same);
}

static int render(const chat *c, lode_tokens *ids) {
    lode_err e = { 0 };
    ids->n = 0;
    return render_chat(&c->en, c->said.items, c->said.n, true, ids, &e) == LODE_OK ? 0 : fail(&e);
}

/* Ids of the talk so far. One that leaves no room for an answer loses its oldest turns, question and answer together:
 * templates insist that they alternate. */
static int render_fitting(chat *c, lode_tokens *ids) {
    const int n_ctx = lode_session_n_ctx(c->en.session), room = n_ctx / 4 < 256 ? n_ctx / 4 : 256;
    const size_t keep = c->said.n > 0 && !strcmp(c->said.items[0].role, "system");
    size_t forgotten = 0;
    int rc = render(c, ids);
    while (!rc && ids->n + (size_t)room > (size_t)n_ctx && c->said.n >= keep + 3) {
        const size_t pairs = (c->said.n - keep - 1) / 2, drop = (pairs + 1) / 2 * 2;
        c->said.n -= drop;
        memmove(c->said.items + keep, c->said.items + keep + drop, (c->said.n - keep) * sizeof *c->said.items);
        forgotten += drop / 2;
        rc = render(c, ids);
    }
    if (forgotten)
        fprintf(stderr, "lode: the talk fills the context of %d tokens: turns forgotten: %zu (-c sets a larger one)\n",
                n_ctx, forgotten);
    return rc;
}

/* How many tokens at the beginning a full context keeps: what --keep says, else the system prompt as it is rendered,
 * and a few in any case, which attention leans on. */
static int tokens_kept(const chat *c, const lode_tokens *ids) {
    enum { LEAST = 4 };
    lode_tokens system = { 0 };
    size_t same = 0;
    if (c->n_keep >= 0) return c->n_keep;
    if (!strcmp(c->said.items[0].role, "system") &&
        render_chat(&c->en, c->said.items, 1, false, &system, NULL) == LODE_OK)
        while (same < system.n && same < ids->n && system.items[same] == ids->items[same]) same++;
    lode_tokens_free(&system);
    return same > LEAST ? (int)same : LEAST;
}

/* 0, 130 when the answer was stopped, or another exit code after a message. */
static int turn(chat *c, const char *text, size_t n) {
    lode_err e = { 0 };
    lode_tokens ids = { 0 }, answer = { 0 };
    char *said = NULL;
    size_t n_said = 0;
    if (!say(c, "user", text, n)) return fail_text("out of memory");
    int rc = render_fitting(c, &ids);
    if (!rc) rc = feed_new(c, &ids);
    generation g = { .en = &c->en,
                     .sampler = c->sampler,
                     .n_predict = c->n_predict,
                     .n_keep = rc ? -1 : tokens_kept(c, &ids),
                     .ignore_eos = c->a->value[OPT_IGNORE_EOS] != NULL,
                     .ids = &answer };
    if (!rc) rc = generate(&g);
    if (rc == 0 && lode_detokenize(c->en.vocab, answer.items, answer.n, 0, &said, &n_said, &e) != LODE_OK)
        rc = fail(&e);
    if (rc == 0 && !say(c, "assistant", said, n_said)) rc = fail_text("out of memory");
    if (rc != 0) c->said.n--; /* a question without an answer is not part of the talk */
    free(said);
    lode_tokens_free(&ids);
    lode_tokens_free(&answer);
    if (interrupted) {
        interrupted = 0;
        fputs(isatty(STDERR_FILENO) ? "\n[stopped]" : "lode: stopped\n", stderr);
        rc = 130;
    }
    if (!rc || isatty(STDOUT_FILENO)) putchar('\n');
    return rc;
}

/* Standard input that is no terminal: one question, one answer. */
static int answer_input(chat *c) {
    static const char question[] = "Why is the sky blue?";
    lode_err e = { 0 };
    char *text;
    size_t n;
    if (lode_file_read("-", (size_t)256 << 20, &text, &n, &e) != LODE_OK) return fail(&e);
    while (n > 0 && is_blank(text + n - 1, 1)) n--;
    if (n == 0) fprintf(stderr, "> %s\n", question);
    const int rc = n ? turn(c, text, n) : turn(c, question, sizeof question - 1);
    free(text);
    return rc;
}

/* A message: lines that end in a backslash go on. */
static line_result read_message(line_reader *r, lode_str *line, lode_str *text) {
    lode_str_clear(text);
    for (const char *prompt = "> ";; prompt = "  ") {
        const line_result got = line_read(r, prompt, line);
        if (got != LINE_OK) return got;
        const bool more = line->n > 0 && line->p[line->n - 1] == '\\';
        if (line->n > 0) line_remember(r, line->p);
        lode_str_add(text, line->n ? line->p : "", more ? line->n - 1 : line->n);
        if (!more) return LINE_OK;
        lode_str_putc(text, '\n');
    }
}

static const char help_text[] = "/help   this text\n"
                                "/clear  forget the talk\n"
                                "/quit   leave (so does Ctrl-D)\n"
                                "A line that ends in \\ goes on in the next one. Ctrl-C stops an answer.\n";

/* True when the talk ends. */
static bool slash(chat *c, const char *word) {
    if (!strcmp(word, "/quit") || !strcmp(word, "/exit")) return true;
    if (!strcmp(word, "/clear")) {
        lode_seq_remove(c->en.session, 0, 0, -1, NULL);
        c->said.n = c->said.n > 0 && !strcmp(c->said.items[0].role, "system") ? 1 : 0;
        lode_sampler_reset(c->sampler);
        puts("The talk is forgotten.");
    } else {
        if (strcmp(word, "/help") != 0) printf("%s is no command.\n", word);
        fputs(help_text, stdout);
    }
    return false;
}

/* Answers one message; what cannot be answered is said, and the talk goes on. */
static int respond(chat *c, const lode_str *text) {
    const bool colour = use_colour();
    if (colour) fputs("\033[36m", stdout);
    turn(c, text->p, text->n);
    if (colour) fputs("\033[0m", stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : EXIT_FAILED; /* said where it failed */
}

static int talk(chat *c) {
    lode_str line = { 0 }, text = { 0 };
    line_reader *r = line_open();
    int rc = 0;
    bool warned = false; /* Ctrl-C was pressed at this prompt already */
    if (!r) return fail_text("out of memory");
    const char *name = c->en.info.name[0] ? c->en.info.name : c->en.info.arch;
    print_text((lode_slice){ name, strlen(name) }, 200);
    printf(", %s\n/help explains, Ctrl-D leaves.\n", lode_session_ctx_note(c->en.session));
    while (rc == 0) {
        const line_result got = read_message(r, &line, &text);
        if (got == LINE_END || (got == LINE_INTERRUPTED && (warned || terminated))) break;
        if (got == LINE_INTERRUPTED) {
            interrupted = 0;
            warned = true;
            puts("\n(Ctrl-C again or Ctrl-D leaves)");
            continue;
        }
        warned = false;
        if (text.failed) rc = fail_text("out of memory");
        if (rc || is_blank(text.p, text.n)) continue;
        if (text.p[0] == '/') {
            if (slash(c, text.p)) break;
            continue;
        }
        rc = respond(c, &text);
        if (terminated) break;
    }
    line_close(r);
    lode_str_free(&line);
    lode_str_free(&text);
    if (rc == 0) putchar('\n');
    return rc;
}

int cmd_chat(const args *a) {
    chat c = { .a = a };
    if (!args_int(a, OPT_N_PREDICT, -1, -1, 1 << 30, &c.n_predict) ||
        !args_int(a, OPT_KEEP, -1, -1, 1 << 30, &c.n_keep))
        return EXIT_USAGE;
    int rc = engine_open(&c.en, a, 0);
    if (rc) return rc;
    if (!c.en.vocab)
        rc = fail_text("%s: %s: this model cannot chat", a->value[OPT_MODEL], lode_model_vocab_note(c.en.model));
    if (!rc) rc = sampler_open(&c.sampler, a, &c.en);
    catch_interrupts();
    if (!rc && lode_model_chat_template(c.en.model).n == 0)
        fprintf(stderr, "lode: the model has no chat template: a plain form is used, answers may be poor\n");
    if (!rc && a->value[OPT_SYSTEM] && !say(&c, "system", a->value[OPT_SYSTEM], strlen(a->value[OPT_SYSTEM])))
        rc = fail_text("out of memory");
    if (!rc) rc = isatty(STDIN_FILENO) ? talk(&c) : answer_input(&c);
    lode_sampler_close(c.sampler);
    free(c.said.items);
    lode_arena_free(&c.arena);
    lode_err e = { 0 };
    if (lode_session_trace(c.en.session, NULL, &e) != LODE_OK && !rc) rc = fail(&e);
    engine_close(&c.en);
    return rc;
}
