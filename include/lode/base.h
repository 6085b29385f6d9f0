/* lode/base.h - status codes, error texts and logging: what every other header needs.
 *
 * Errors. A function that can fail returns a lode_status and takes a `lode_err *` last. On failure the lode_err holds
 * the code and one line of text that says what was wrong, what was expected and what to do; on success it is left
 * alone. The pointer may be NULL when only the code matters. Nothing in the library ends the process on bad input.
 *
 * Pointers. They are required unless a comment says what NULL stands for or nothing lies there (data of no bytes);
 * close and free take NULL. A function that returns a lode_status answers LODE_E_INPUT where a required one is NULL.
 * What was opened last is closed first; a session keeps its model.
 *
 * Logging. The library never writes to stdout or stderr: it calls the lode_log_fn that the caller gave to the object.
 *
 * Threads: everything here is reentrant; there are no globals. */
#ifndef LODE_BASE_H
#define LODE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LODE_API __attribute__((visibility("default")))
#define LODE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define LODE_API
#define LODE_PRINTF(fmt, args)
#endif

/* How a call ended; the list is status.def. LODE_OK is 0. */
typedef enum {
#define STATUS(code, name, text, http) LODE_##code,
#include "status.def"
#undef STATUS
    LODE_N_STATUS
} lode_status;

/* A failure with its text; owned by the caller, zero-initialised. */
typedef struct lode_err {
    lode_status code;
    char text[512];
} lode_err;

/* Short name ("format"), general text and HTTP status of a code; of LODE_E_BUG for a number outside the list. */
LODE_API const char *lode_status_name(lode_status s);
LODE_API const char *lode_status_text(lode_status s);
LODE_API int lode_status_http(lode_status s);

/* Fills *err (which may be NULL) and returns `code`, so that a failing function ends with `return lode_fail(...)`. */
LODE_API lode_status lode_fail(lode_err *err, lode_status code, const char *fmt, ...) LODE_PRINTF(3, 4);

/* Puts "text: " before the error's text: context added on the way up. Returns the error's code. */
LODE_API lode_status lode_err_prefix(lode_err *err, lode_status code, const char *fmt, ...) LODE_PRINTF(3, 4);

/* Returns from the calling function when `e` is not LODE_OK. */
#define LODE_TRY(e)                                 \
    do {                                            \
        const lode_status lode_try_ = (e);          \
        if (lode_try_ != LODE_OK) return lode_try_; \
    } while (0)

/* Bytes that somebody else owns. */
typedef struct lode_slice {
    const char *p; /* borrowed; not NUL-terminated */
    size_t n;
} lode_slice;

typedef enum { LODE_LOG_DEBUG, LODE_LOG_INFO, LODE_LOG_WARN, LODE_LOG_ERROR } lode_log_level;

/* Receives one line of log, without a newline. `subsystem` is a short word such as "model". May be called from any
 * thread that calls into the library. */
typedef void (*lode_log_fn)(void *user, lode_log_level level, const char *subsystem, const char *text);

/* Where an object's log lines go. A zeroed sink drops them. */
typedef struct lode_log {
    lode_log_fn fn;
    void *user; /* borrowed */
} lode_log;

LODE_API void lode_log_line(const lode_log *log, lode_log_level level, const char *subsystem, const char *fmt, ...)
    LODE_PRINTF(4, 5);

/* Version of the library, "MAJOR.MINOR.PATCH", and whether it was built with a feature named in `lode --version`. */
LODE_API const char *lode_version(void);

#ifdef __cplusplus
}
#endif
#endif
