/* main.c - the program: picks the command. */
#include "app/app.h"
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int interrupted, terminated;

/* A signal handler's view of what is being written: the name of lode_out's unfinished file, "" for none. */
static char unfinished[4096 + sizeof ".part"];

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

void writing(const char *path) {
    char *real = path ? realpath(path, NULL) : NULL; /* where a link leads to */
    const char *name = real ? real : path;
    unfinished[0] = '\0';
    if (name && strlen(name) < sizeof unfinished - sizeof ".part")
        snprintf(unfinished, sizeof unfinished, "%s.part", name);
    free(real);
}

/* A file that shrinks while it is mapped: the pages behind its end are gone, nothing can go on. */
static void on_bus_error(int sig) {
    (void)sig;
    static atomic_flag taken = ATOMIC_FLAG_INIT; /* several threads may come here at once */
    while (atomic_flag_test_and_set(&taken)) pause();
    if (unfinished[0]) unlink(unfinished);
    static const char text[] = "lode: the model file became shorter while it was in use; fetch it again\n";
    const ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(n < 0 ? EXIT_FAILED : EXIT_FAILED);
}

static void on_interrupt(int sig) {
    if (sig != SIGINT) terminated = 1;
    if (++interrupted <= 2) return;
    if (unfinished[0]) unlink(unfinished);
    _exit(130); /* nobody has looked at the first two */
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
    static const char *const others[] = { "help", "--help", "--help-all", "--version" };
    enum { N_OTHERS = sizeof others / sizeof *others };
    int best = 3;
    const char *meant = NULL;
    char small[32];
    snprintf(small, sizeof small, "%s", name);
    for (char *p = small; *p; p++) *p = (char)tolower((unsigned char)*p);
    for (int i = 0; i < N_COMMAND + N_OTHERS; i++) {
        const char *other = i < N_COMMAND ? commands[i].name : others[i - N_COMMAND];
        const int d = lode_edit_distance(small, other);
        if (d >= best) continue;
        best = d;
        meant = other;
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

/* The standard streams that are closed must not be the next files opened: those would get our messages. What takes
 * their place refuses to be used. */
static void hold_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

int main(int argc, char **argv) {
    static char help_option[] = "--help";
    struct sigaction bus = { .sa_handler = on_bus_error };
    hold_streams();
    sigaction(SIGBUS, &bus, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a file at its limit show as failed writes */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        printf("lode %s\n", lode_version());
        return written();
    }
    const bool help = !strcmp(argv[1], "help");
    if (help && argc > 2 && strcmp(argv[2], "help") != 0 && argv[2][0] != '-') {
        argv[1] = argv[2]; /* lode help run: lode run --help */
        argv[2] = help_option;
        argc = 3;
    } else if (help || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "--help-all")) {
        usage(stdout);
        return written();
    }
    if (argc > 2 && (!strcmp(argv[1], "-m") || !strcmp(argv[1], "--model")))
        return fail_usage("which command? to talk with the model: lode chat -m %s", argv[2]);
    if (!strncmp(argv[1], "--model=", 8))
        return fail_usage("which command? to talk with the model: lode chat -m %s", argv[1] + 8);
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
