/* lode/chat.h - chat templates: the Jinja that models ship, rendered as Hugging Face's Jinja2 set-up renders it.
 *
 * A template is opened once and rendered for any talk. Rendering is bounded: a million steps, 64 MiB of text, 200
 * levels. The result says byte by byte what came from the template and what from the talk, so that only the template's
 * own text can become control tokens (see lode_encode_parts).
 *
 * What Hugging Face refuses is refused: names and methods that its sandbox keeps from templates, unknown filters and
 * tests. Beyond it there is the filter from_json. Not there are the tags block, extends, include, import and
 * autoescape, the filters filesizeformat, pprint, random, striptags and urlize, and Python's str.format. Letters that
 * came to Unicode after the linked utf8proc keep their case.
 *
 * Text need not be valid UTF-8: a stray byte counts as one character and comes out as it went in.
 *
 * Threads: an opened template is immutable and may be shared. */
#ifndef LODE_CHAT_H
#define LODE_CHAT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_chat lode_chat;

/* Parses n bytes. Errors (LODE_E_FORMAT) name the line, what was expected and what stands there. */
LODE_API lode_status lode_chat_open(lode_chat **out, const char *text, size_t n, lode_err *err);
LODE_API void lode_chat_close(lode_chat *t);

/* What somebody said: any bytes. */
typedef struct lode_chat_message {
    const char *role, *content; /* role ends in a NUL */
    size_t n;                   /* bytes of content */
} lode_chat_message;

typedef struct lode_chat_input {
    const char *json; /* an object: "messages", "tools" and whatever else the template asks for; NULL for none */
    const lode_chat_message *messages; /* when given, these are "messages": JSON has no bytes that are not UTF-8 */
    size_t n_messages;
    const char *bos_token, *eos_token; /* texts of these tokens; NULL counts as "" */
    bool add_generation_prompt;
    /* list.append, list.extend, list.pop and dict.update work. Hugging Face refuses them; a few templates that models
     * ship (Kimi K2 Thinking's) call them. */
    bool may_change;
    int64_t now; /* seconds since 1970, for strftime_now */
} lode_chat_input;

typedef struct lode_chat_run {
    size_t n; /* bytes */
    bool from_template;
} lode_chat_run;

typedef struct lode_chat_text {
    char *text; /* own, NUL behind */
    size_t n;
    lode_chat_run *runs; /* own: they add up to n */
    size_t n_runs;
} lode_chat_text;

/* Renders. LODE_E_INPUT when the template itself refuses the talk (raise_exception) or the JSON is none. */
LODE_API lode_status lode_chat_render(const lode_chat *t, const lode_chat_input *in, lode_chat_text *out,
                                      lode_err *err);
LODE_API void lode_chat_text_free(lode_chat_text *t);

#ifdef __cplusplus
}
#endif
#endif
