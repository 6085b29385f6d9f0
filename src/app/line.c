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
#endif
};

#ifdef LODE_HAVE_EDIT
static char *show_prompt(EditLine *el) {
    line_reader *r = NULL;
    el_get(el, EL_CLIENTDATA, &r);
    return (char *)(uintptr_t)r->prompt; /* libedit only reads it */
}

/* One character of UTF-8, whatever the locale; -1 ends the line on an interruption, 0 at the end of input. */
static int read_char(EditLine *el, wchar_t *out) {
    char b[4];
    (void)el;
    for (size_t n = 0; n < sizeof b;) {
        const ssize_t got = interrupted ? -1 : read(STDIN_FILENO, b + n, 1);
        uint32_t cp;
        if (got < 0 && errno == EINTR && !interrupted) continue; /* the window changed its size */
        if (got <= 0) return (int)got;
        n++;
        if (lode_utf8_next(b, n, &cp) == 0 && lode_utf8_partial(b, n) == n) continue;
        if (lode_utf8_next(b, n, &cp) == 0) cp = 0xFFFD;
        *out = (wchar_t)cp;
        return 1;
    }
    return 0;
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
            lode_str_add(text, line, strcspn(line, "\n"));
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
    if (r->el && r->history) history(r->history, &ev, H_ENTER, text);
#else
    (void)r;
    (void)text;
#endif
}
