/* cmd_convert.c - lode convert: a Hugging Face folder to GGUF. */
#include "app/app.h"
#include "convert/convert.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(void *user, float done, const char *tensor) {
    (void)user;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%3.0f%% %s", (double)done * 100, tensor);
}

static bool stop_asked(void *user) {
    (void)user;
    return interrupted != 0;
}

static void log_line(void *user, lode_log_level level, const char *subsystem, const char *text) {
    (void)user;
    (void)subsystem;
    if (level >= LODE_LOG_WARN) fprintf(stderr, "lode: %s\n", text);
}

int cmd_convert(const args *a) {
    lode_err e = { 0 };
    lode_str out = { 0 };
    if (!a->rest || !*a->rest) return fail_usage("which folder? lode convert FOLDER");
    const char *type_name = a->value[OPT_OUTTYPE] ? a->value[OPT_OUTTYPE] : "f16";
    const lode_type type = lode_type_of_name(type_name);
    if (type == LODE_N_TYPE || !lode_convert_can(type))
        return fail_usage("--outtype %s: expected one of %s", type_name, lode_convert_types());
    size_t n = strlen(a->rest);
    while (n > 1 && a->rest[n - 1] == '/') n--;
    if (a->value[OPT_OUTFILE])
        lode_str_puts(&out, a->value[OPT_OUTFILE]);
    else
        lode_str_printf(&out, "%.*s-%s.gguf", (int)n, a->rest, lode_type_name(type));
    if (out.failed) return fail_text("out of memory");
    catch_interrupts();
    writing(out.p);
    const lode_convert_desc d = { .in_dir = a->rest,
                                  .out_path = out.p,
                                  .type = type,
                                  .pre = a->value[OPT_PRE],
                                  .progress = show,
                                  .abort = stop_asked,
                                  .log = { log_line, NULL } };
    const lode_status s = lode_convert(&d, &e);
    writing(NULL);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (s == LODE_OK) printf("%s\n", out.p);
    lode_str_free(&out);
    return s == LODE_OK ? 0 : s == LODE_E_ABORTED ? 130 : fail(&e);
}
