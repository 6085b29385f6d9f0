/* status.c - texts of status codes, error filling and log lines. */
#include "base/need.h"

#include <stdio.h>
#include <string.h>

#ifndef LODE_VERSION
#define LODE_VERSION "0.0.0"
#endif

typedef struct {
    const char *name, *text;
    int http;
} status_row;

static const status_row rows[LODE_N_STATUS] = {
#define STATUS(code, name, text, http) { name, text, http },
#include "lode/status.def"
#undef STATUS
};

static const status_row *row_of(lode_status s) { return &rows[(unsigned)s < LODE_N_STATUS ? s : LODE_E_BUG]; }

const char *lode_status_name(lode_status s) { return row_of(s)->name; }
const char *lode_status_text(lode_status s) { return row_of(s)->text; }
int lode_status_http(lode_status s) { return row_of(s)->http; }
const char *lode_version(void) { return LODE_VERSION; }

/* Texts of files and users go into messages: what would begin a second line or drive a terminal becomes a space. */
static void one_line(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F) *text = ' ';
}

lode_status lode_fail(lode_err *err, lode_status code, const char *fmt, ...) {
    if (!err) return code;
    va_list ap;
    va_start(ap, fmt);
    char text[sizeof err->text]; /* the arguments may point into err->text */
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    one_line(text);
    memcpy(err->text, text, sizeof text);
    return err->code = code;
}

lode_status lode_need(bool have, const char *fn, lode_err *err) {
    return have ? LODE_OK : lode_fail(err, LODE_E_INPUT, "%s: a pointer that is required is NULL", fn);
}

lode_status lode_err_prefix(lode_err *err, lode_status code, const char *fmt, ...) {
    if (!err) return code;
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof text - 3) return code;
    const int room = (int)(sizeof text - (size_t)n) - 3; /* a text that gets too long loses its end */
    snprintf(text + n, sizeof text - (size_t)n, ": %.*s", room, err->text);
    one_line(text);
    memcpy(err->text, text, sizeof text);
    return err->code = code;
}

void lode_log_line(const lode_log *log, lode_log_level level, const char *subsystem, const char *fmt, ...) {
    if (!log || !log->fn) return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    one_line(text);
    log->fn(log->user, level, subsystem, text);
}
