/* env.c - the only place that reads the environment. */
#include "app/app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *env_get(const char *name) {
    const char *v = getenv(name);
    return v && v[0] ? v : NULL;
}

bool terminal_is_able(void) {
    const char *term = env_get("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

bool use_colour(void) { return terminal_is_able() && !env_get("NO_COLOR"); }
