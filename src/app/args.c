/* args.c - reads options by opt.def, prints help, suggests what was meant. */
#include "app/app.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *shrt, *lng, *arg, *commands;
    bool more;
    const char *help;
} opt_row;

static const opt_row rows[N_OPT] = {
#define OPT(id, s, l, arg, commands, more, help) { s, l, arg, commands, more, help },
#include "app/opt.def"
#undef OPT
};

static bool applies(const opt_row *r, char letter) { return strchr(r->commands, letter) != NULL; }

static int find(const char *name, char letter) {
    for (int i = 0; i < N_OPT; i++)
        if (applies(&rows[i], letter) && ((rows[i].shrt && !strcmp(rows[i].shrt, name)) || !strcmp(rows[i].lng, name)))
            return i;
    return -1;
}

/* How far what was typed is from an option: as many changes, or none where one begins like the other. */
static int distance(const char *name, const char *lng) {
    const size_t n = strlen(name), n_lng = strlen(lng), both = n < n_lng ? n : n_lng;
    return both > 4 && strncmp(name, lng, both) == 0 ? 0 : lode_edit_distance(name, lng);
}

static int unknown(const char *name, const char *command, char letter) {
    int best = strlen(name) < 6 ? (int)strlen(name) - 2 : 4; /* of a few letters too many changes leave nothing */
    const char *meant = NULL, *eq = strchr(name, '=');
    for (int i = 0; i < N_OPT; i++) {
        const char *shrt = rows[i].shrt;
        if (!applies(&rows[i], letter)) continue;
        if (eq && shrt && strlen(shrt) == (size_t)(eq - name) && !strncmp(shrt, name, strlen(shrt)))
            return fail_usage("lode %s has no option %s; did you mean %s %s?", command, name, shrt, eq + 1);
        const int d = distance(name, rows[i].lng);
        if (d >= best) continue;
        best = d;
        meant = rows[i].lng;
    }
    if (meant) return fail_usage("lode %s has no option %s; did you mean %s?", command, name, meant);
    return fail_usage("lode %s has no option %s; lode %s --help lists them", command, name, command);
}

/* What a command takes besides options, NULL for nothing. */
static const char *argument_of(char letter) {
#define COMMAND(name, l, argument, h) \
    if (letter == l) return argument;
#include "app/command.def"
#undef COMMAND
    return NULL;
}

static int stray(const char *text, const char *command, char letter) {
    const size_t n = strlen(text);
    if (n > 5 && !strcmp(text + n - 5, ".gguf"))
        return fail_usage("lode %s: a model is given by -m: lode %s -m %s", command, command, text);
    if (strchr(rows[OPT_PROMPT].commands, letter))
        return fail_usage("lode %s: text is given by -p: lode %s -p '%s'", command, command, text);
    return fail_usage("lode %s: '%s' is no option; lode %s --help lists them", command, text, command);
}

static void help(const char *command, char letter, bool all) {
    const char *text = "", *arg = NULL;
#define COMMAND(name, l, argument, h) \
    if (letter == l) {                \
        text = h;                     \
        arg = argument;               \
    }
#include "app/command.def"
#undef COMMAND
    printf("lode %s - %s\nusage: lode %s%s%s [options]\n", command, text, command, arg ? " " : "", arg ? arg : "");
    for (int i = 0; i < N_OPT; i++) {
        const opt_row *r = &rows[i];
        if (!applies(r, letter) || (r->more && !all)) continue;
        char names[48];
        snprintf(names, sizeof names, "%s%s%s%s%s", r->shrt ? r->shrt : "    ", r->shrt ? ", " : "", r->lng,
                 r->arg ? " " : "", r->arg ? r->arg : "");
        printf("  %-28s %s\n", names, r->help);
    }
}

/* Options of which one takes all meaning from the other. */
static const struct {
    opt_id first, second;
    const char *why;
} apart[] = {
    { OPT_PROMPT, OPT_FILE, "both give the text" },
    { OPT_RAW, OPT_SYSTEM, "a system prompt needs the chat template" },
    { OPT_PRINT, OPT_TRACE, "the first runs nothing that has times" },
};

static const char *shown(opt_id id) { return rows[id].shrt ? rows[id].shrt : rows[id].lng; }

/* Whether the value is a name, which cannot be empty. Numbers have their own message, as -m has. */
static bool names_something(const opt_row *r) {
    static const char *const others[] = { "TEXT", "LIST", "N", "X" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(r->arg, others[i])) return false;
    return r != &rows[OPT_MODEL];
}

static int check_apart(const args *a, const char *command) {
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (a->value[apart[i].first] && a->value[apart[i].second])
            return fail_usage("lode %s: %s and %s: %s; drop one of them", command, shown(apart[i].first),
                              shown(apart[i].second), apart[i].why);
    if (a->value[OPT_MODEL] && a->rest)
        return fail_usage("lode %s: -m and %s: both name a file; drop one of them", command, a->rest);
    return 0;
}

int args_read(args *a, const char *command, char letter, int argc, char **argv) {
    *a = (args){ .letter = letter, .program = a->program };
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (!argument_of(letter)) return stray(argv[i], command, letter);
            if (a->rest) return fail_usage("lode %s: one argument too many: %s", command, argv[i]);
            a->rest = argv[i];
            continue;
        }
        const char *eq = argv[i][1] == '-' ? strchr(argv[i], '=') : NULL;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(eq ? eq - argv[i] : (long)strlen(argv[i])), argv[i]);
        const int k = find(name, letter);
        if (k < 0) return unknown(name, command, letter);
        if (!rows[k].arg) {
            if (eq) return fail_usage("%s takes no value: drop %s", name, eq);
            a->value[k] = "";
        } else if (eq) {
            a->value[k] = eq + 1;
        } else if (i + 1 < argc) {
            a->value[k] = argv[++i];
        } else {
            return fail_usage("%s needs a value: %s %s", name, name, rows[k].arg);
        }
        if (rows[k].arg && !*a->value[k] && names_something(&rows[k]))
            return fail_usage("%s '': expected %s", name, rows[k].arg);
    }
    if (!a->value[OPT_HELP] && !a->value[OPT_HELP_ALL]) return check_apart(a, command);
    help(command, letter, a->value[OPT_HELP_ALL] != NULL);
    return -1;
}

bool args_int(const args *a, opt_id id, int otherwise, int least, int most, int *out) {
    *out = otherwise;
    if (!a->value[id]) return true;
    char *end;
    errno = 0;
    const long v = strtol(a->value[id], &end, 10);
    if (*end || end == a->value[id] || errno || v < least || v > most) {
        fail_usage("%s '%s': expected a whole number from %d to %d", rows[id].lng, a->value[id], least, most);
        return false;
    }
    *out = (int)v;
    return true;
}

bool args_real(const args *a, opt_id id, double *out) {
    if (!a->value[id]) return true;
    char *end;
    const double v = strtod(a->value[id], &end);
    if (*end || end == a->value[id]) {
        fail_usage("%s '%s': expected a number", rows[id].lng, a->value[id]);
        return false;
    }
    *out = v;
    return true;
}
