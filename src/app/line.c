/* line.c - lines typed by a person. The terminal is raw only inside line_read, and every way out of it goes through
 * libedit's own ending: input is read by read_char, which turns an interruption into an error instead of a jump. */
#include "app/line.h"
#include "app/app.h"
#include "base/mem.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#ifdef LODE_HAVE_EDIT
#include <histedit.h>
#endif

struct line_reader {
    const char *prompt; /* borrowed, of the call in progress */
#ifdef LODE_HAVE_EDIT
    EditLine *el; /* own; NULL: plain lines */
    History *history;
    lode_str coded; /* own: a line for the history */
    char held[4];   /* bytes typed that are no character yet */
    size_t n_held;
#endif
};

#ifdef LODE_HAVE_EDIT
static char *show_prompt(EditLine *el) {
    line_reader *r = NULL;
    el_get(el, EL_CLIENTDATA, &r);
    return (char *)(uintptr_t)r->prompt; /* libedit only reads it */
}

/* libedit edits characters. A byte that belongs to none is one of its own while it is edited: STRAY plus the byte, at
 * the end of a plane for private use, where people type nothing. */
enum { STRAY = 0x10FF00 };

/* The first character of p[0..n), n > 0, as libedit gets it; its bytes, 0 when more must be read to know. */
static size_t to_edit(const char *p, size_t n, uint32_t *cp) {
    const int len = lode_utf8_next(p, n, cp);
    if (len == 0 && lode_utf8_partial(p, n) == n) return 0;
    if (len > 0 && *cp < STRAY) return (size_t)len;
    *cp = STRAY + (uint32_t)(unsigned char)*p;
    return 1;
}

/* One character of UTF-8, whatever the locale; -1 ends the line on an interruption, 0 at the end of input. */
static int read_char(EditLine *el, wchar_t *out) {
    line_reader *r = NULL;
    uint32_t cp;
    el_get(el, EL_CLIENTDATA, &r);
    for (;;) {
        const size_t len = r->n_held ? to_edit(r->held, r->n_held, &cp) : 0;
        if (len > 0) {
            r->n_held -= len;
            memmove(r->held, r->held + len, r->n_held);
            *out = (wchar_t)cp;
            return 1;
        }
        const ssize_t got = interrupted ? -1 : read(STDIN_FILENO, r->held + r->n_held, 1);
        if (got < 0 && errno == EINTR && !interrupted) continue; /* the window changed its size */
        if (got <= 0) {
            r->n_held = 0;
            return (int)got;
        }
        r->n_held++;
    }
}

/* A line as it was typed. */
static void from_edit(lode_str *text, const char *line) {
    const size_t n = strcspn(line, "\n");
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        const int len = lode_utf8_next(line + i, n - i, &cp);
        if (len > 0 && cp >= STRAY)
            lode_str_putc(text, (char)(cp - STRAY));
        else
            lode_str_add(text, line + i, len > 0 ? (size_t)len : 1);
        i += len > 0 ? (size_t)len : 1;
    }
}

static void open_editor(line_reader *r) {
    HistEvent ev;
    if (!terminal_is_able()) return;
    r->el = el_init("lode", stdin, stdout, stderr);
    r->history = history_init();
    if (!r->el || !r->history) return;
    history(r->history, &ev, H_SETSIZE, 1000);
    history(r->history, &ev, H_SETUNIQUE, 1);
    el_set(r->el, EL_CLIENTDATA, r);
    el_set(r->el, EL_PROMPT, show_prompt);
    el_set(r->el, EL_EDITOR, "emacs");
    el_set(r->el, EL_HIST, history, r->history);
    el_set(r->el, EL_GETCFN, read_char);
    el_set(r->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
}
#endif

line_reader *line_open(void) {
    line_reader *r = lode_calloc(1, sizeof *r);
    if (!r) return NULL;
    /* Text is UTF-8 here also where the locale says nothing. */
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
#ifdef LODE_HAVE_EDIT
    open_editor(r);
#endif
    return r;
}

void line_close(line_reader *r) {
    if (!r) return;
#ifdef LODE_HAVE_EDIT
    if (r->el) el_end(r->el);
    if (r->history) history_end(r->history);
    lode_str_free(&r->coded);
#endif
    free(r);
}

static line_result read_plain(const char *prompt, lode_str *text) {
    char *line = NULL;
    size_t cap = 0;
    fputs(prompt, stdout);
    fflush(stdout);
    errno = 0;
    const ssize_t n = getline(&line, &cap, stdin);
    if (n > 0) lode_str_add(text, line, strcspn(line, "\n"));
    free(line);
    if (n > 0) return LINE_OK;
    clearerr(stdin);
    return interrupted ? LINE_INTERRUPTED : LINE_END;
}

line_result line_read(line_reader *r, const char *prompt, lode_str *text) {
    lode_str_clear(text);
    r->prompt = prompt;
#ifdef LODE_HAVE_EDIT
    if (r->el && r->history) {
        int n = 0;
        fflush(stdout);
        const char *line = el_gets(r->el, &n);
        if (line && n > 0) {
            from_edit(text, line);
            return LINE_OK;
        }
        return interrupted ? LINE_INTERRUPTED : LINE_END;
    }
#endif
    return read_plain(prompt, text);
}

void line_remember(line_reader *r, const char *text) {
#ifdef LODE_HAVE_EDIT
    HistEvent ev;
    if (!r->el || !r->history) return;
    lode_str_clear(&r->coded);
    for (size_t i = 0, n = strlen(text), len = 0; i < n; i += len) {
        uint32_t cp = (unsigned char)text[i];
        len = to_edit(text + i, n - i, &cp);
        lode_str_utf8(&r->coded, len > 0 ? cp : STRAY + cp);
        len = len > 0 ? len : 1; /* the start of a character that never ended */
    }
    if (!r->coded.failed) history(r->history, &ev, H_ENTER, r->coded.n ? r->coded.p : "");
#else
    (void)r;
    (void)text;
#endif
}
