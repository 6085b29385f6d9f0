/* env.c - the only place that reads the environment. */
#include "app/app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *env_get(const char *name) {
    const char *v = getenv(name);
    return v && v[0] ? v : NULL;
}

bool use_colour(void) {
    const char *term = env_get("TERM");
    return isatty(STDOUT_FILENO) && !env_get("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}
