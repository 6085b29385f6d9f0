/* main.c - the program: picks the command. */
#include "app/app.h"
#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int interrupted, terminated;

typedef struct {
    const char *name, *help;
    char letter;
    int (*run)(const args *a);
} command;

static const command commands[] = {
#define COMMAND(name, letter, arg, help) { #name, help, letter, cmd_##name },
#include "app/command.def"
#undef COMMAND
};
enum { N_COMMAND = sizeof commands / sizeof *commands };

int fail_text(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    fputs("lode: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return EXIT_FAILED;
}

int fail_usage(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("lode: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return EXIT_USAGE;
}

int fail_output(int error) {
    if (error == EPIPE) return fail_text("nobody reads standard output any more: stopped");
    return fail_text("standard output cannot be written: %s", error ? strerror(error) : "a write failed");
}

void print_text(lode_slice s, size_t most) {
    for (size_t i = 0; i < s.n && i < most; i++) putchar((unsigned char)s.p[i] < 32 || s.p[i] == 127 ? '.' : s.p[i]);
    if (s.n > most) printf("... (%zu bytes)", s.n);
}

int fail(const lode_err *e) { return fail_text("%s", e->text); }

/* A file that shrinks while it is mapped: the pages behind its end are gone, nothing can go on. */
static void on_bus_error(int sig) {
    (void)sig;
    static const char text[] = "lode: the model file became shorter while it was in use; fetch it again\n";
    const ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(n < 0 ? EXIT_FAILED : EXIT_FAILED);
}

static void on_interrupt(int sig) {
    if (sig != SIGINT) terminated = 1;
    if (++interrupted > 2) _exit(130); /* nobody has looked at the first two */
}

void catch_interrupts(void) {
    struct sigaction s = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &s, NULL);
    sigaction(SIGTERM, &s, NULL);
    sigaction(SIGHUP, &s, NULL);
}

static void usage(FILE *f) {
    fprintf(f, "lode - run language models on this machine\nusage: lode COMMAND [options]\n");
    for (int i = 0; i < N_COMMAND; i++) fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(f, "lode COMMAND --help explains a command; lode --version tells the version.\n"
               "make chat fetches a small model and starts a talk.\n");
}

static int unknown(const char *name) {
    int best = 3;
    const char *meant = NULL;
    for (int i = 0; i < N_COMMAND; i++) {
        const int d = lode_edit_distance(name, commands[i].name);
        if (d >= best) continue;
        best = d;
        meant = commands[i].name;
    }
    if (meant) return fail_usage("no command '%s'; did you mean 'lode %s'?", name, meant);
    if (lode_is_file(name)) return fail_usage("no command '%s'; to talk with a model: lode chat -m %s", name, name);
    return fail_usage("no command '%s'; lode --help lists them", name);
}

/* The exit code of what went well, if standard output took it. */
static int written(void) {
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : fail_output(errno);
}

int main(int argc, char **argv) {
    static char help_option[] = "--help";
    struct sigaction bus = { .sa_handler = on_bus_error };
    sigaction(SIGBUS, &bus, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as a failed write */
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("lode %s\n", lode_version());
        return written();
    }
    const bool help = !strcmp(argv[1], "help");
    if (help && argc > 2) {
        argv[1] = argv[2]; /* lode help run: lode run --help */
        argv[2] = help_option;
        argc = 3;
    } else if (help || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "--help-all")) {
        usage(stdout);
        return written();
    }
    if (argc > 2 && (!strcmp(argv[1], "-m") || !strcmp(argv[1], "--model")))
        return fail_usage("which command? to talk with the model: lode chat -m %s", argv[2]);
    for (int i = 0; i < N_COMMAND; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        args a;
        a.program = argv[0];
        const int rc = args_read(&a, commands[i].name, commands[i].letter, argc - 2, argv + 2);
        if (rc != 0) return rc < 0 ? written() : rc;
        const int result = commands[i].run(&a);
        return result ? result : written();
    }
    return unknown(argv[1]);
}
