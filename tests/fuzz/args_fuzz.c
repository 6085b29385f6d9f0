/* args_fuzz.c - fuzz target of the program's options. Input: the command (1 byte), then the arguments, each ended by a
 * NUL. Run: make fuzz F=args */
#include "app/app.h"
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>

enum { MAX_ARGS = 24 };

static const struct {
    const char *name;
    char letter;
} commands[] = {
#define COMMAND(name, letter, arg, help) { #name, letter },
#include "app/command.def"
#undef COMMAND
};

static int n_messages;

/* In place of the program's: the message is made, so that its arguments are read, and counted. */
int fail_usage(const char *fmt, ...) {
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    FUZZ_CHECK(n > 0);
    n_messages++;
    return EXIT_USAGE;
}

/* -1: not a short decimal number, else whether it lies in least..most. */
static int plain_in_range(const char *text, int least, int most) {
    const char *digits = text + (*text == '-');
    const size_t n = strlen(digits);
    int v = 0;
    if (n == 0 || n > 8 || strspn(digits, "0123456789") != n) return -1;
    for (size_t i = 0; i < n; i++) v = v * 10 + (digits[i] - '0');
    if (*text == '-') v = -v;
    return v >= least && v <= most;
}

/* Every option as a number: what is taken is in range, ends included, and the message comes exactly when it is not. */
static void read_numbers(const args *a) {
    for (int id = 0; id < N_OPT; id++) {
        int i = 77;
        double x = 0.5;
        n_messages = 0;
        const bool whole = args_int(a, (opt_id)id, 3, -2, 1000, &i);
        FUZZ_CHECK(whole == (n_messages == 0));
        const int in_range = a->value[id] ? plain_in_range(a->value[id], -2, 1000) : -1;
        FUZZ_CHECK(in_range < 0 || whole == (in_range == 1));
        FUZZ_CHECK(!whole || (i >= -2 && i <= 1000));
        FUZZ_CHECK(a->value[id] || (whole && i == 3));
        n_messages = 0;
        const bool real = args_real(a, (opt_id)id, &x);
        FUZZ_CHECK(real == (n_messages == 0));
        FUZZ_CHECK(a->value[id] || (real && !(x < 0.5) && !(x > 0.5)));
        FUZZ_CHECK(!whole || real); /* a whole number is a number */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static bool silent;
    if (!silent) silent = freopen("/dev/null", "w", stdout) != NULL; /* --help prints */
    fuzz_input in = { (const char *)data, n };
    const size_t command = fuzz_byte(&in) % (sizeof commands / sizeof *commands);
    char *argv[MAX_ARGS + 1] = { NULL };
    int argc = 0;
    while (argc < MAX_ARGS && in.n) argv[argc++] = fuzz_cstr(&in);
    args a = { .program = "lode" };
    n_messages = 0;
    const int rc = args_read(&a, commands[command].name, commands[command].letter, argc, argv);
    FUZZ_CHECK(rc == 0 || rc == -1 || rc == EXIT_USAGE);
    FUZZ_CHECK((rc == EXIT_USAGE) == (n_messages == 1));
    if (rc == 0) read_numbers(&a);
    for (int i = 0; i < argc; i++) free(argv[i]);
    return 0;
}
