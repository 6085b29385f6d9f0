/* line.h - lines typed by a person: with editing and history where libedit is there and the terminal allows it. */
#ifndef LODE_APP_LINE_H
#define LODE_APP_LINE_H

#include "base/str.h"

typedef enum { LINE_OK, LINE_END, LINE_INTERRUPTED } line_result;

typedef struct line_reader line_reader;
line_reader *line_open(void); /* NULL when there is no memory */
void line_close(line_reader *r);
/* One line without its newline into *text (replaced). After LINE_INTERRUPTED (Ctrl-C) the terminal is as it was. */
line_result line_read(line_reader *r, const char *prompt, lode_str *text);
void line_remember(line_reader *r, const char *text);
#endif
