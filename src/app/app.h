/* app.h - what the commands share: options, opening a model, messages. The only layer that prints and reads the
 * environment. */
#ifndef LODE_APP_APP_H
#define LODE_APP_APP_H

#include "base/str.h"
#include "lode/chat.h"
#include "lode/lode.h"
#include "lode/sample.h"
#include "lode/tok.h"

typedef enum {
#define OPT(id, s, l, arg, commands, more, help) OPT_##id,
#include "app/opt.def"
#undef OPT
    N_OPT
} opt_id;

typedef struct args {
    char letter;              /* of the command */
    const char *value[N_OPT]; /* as given; NULL: not given; "" for a switch */
    const char *rest;         /* the argument without a name, or NULL */
    const char *program;      /* as it was called, borrowed */
} args;

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Reads the options of a command: 0, or EXIT_USAGE after a message; -1 when help was printed. */
int args_read(args *a, const char *command, char letter, int argc, char **argv);
/* Numbers of options; false after a message. */
bool args_int(const args *a, opt_id id, int otherwise, int least, int most, int *out);
bool args_real(const args *a, opt_id id, double *out); /* *out is kept when the option was not given */

/* The number of threads that -t asks for, 0 when it was not given: no more than there are processors, which is told. */
bool args_threads(const args *a, int *out);
/* Nothing but white space. */
bool is_blank(const char *text, size_t n);

/* "lode: ..." on standard error; returns EXIT_FAILED. */
int fail(const lode_err *e);
int fail_text(const char *fmt, ...) LODE_PRINTF(1, 2);
int fail_usage(const char *fmt, ...) LODE_PRINTF(1, 2);
/* Standard output could not be written, for the reason `error` (of errno). */
int fail_output(int error);
/* Text of a file or a person on one line of standard output: control characters become dots, the end is cut. */
void print_text(lode_slice s, size_t most);

/* Whether a model was named and is there: 0, or an exit code after a message that says what to name instead. */
int check_model(const args *a, const char *path);

/* A model made ready by the options -m -dev --isa -t -c -b -ctk --act. */
typedef struct engine {
    lode_runtime *rt;
    lode_model *model;
    lode_session *session;
    const lode_vocab *vocab;
    lode_model_info info;
} engine;
/* 0, or an exit code after a message. `stop` ends a step when it becomes true. */
int engine_open(engine *en, const args *a, int n_ctx);
void engine_close(engine *en);
/* A sampler by the options; 0, or an exit code after a message. */
int sampler_open(lode_sampler **out, const args *a, const engine *en);

/* Generates until the end of the answer, n_predict tokens (below 0: no limit) or interruption, writing to standard
 * output. The prompt's logits are those of the session's last run. */
typedef struct generation {
    engine *en;
    lode_sampler *sampler;
    int n_predict;
    int n_keep; /* a full context forgets what follows the first n_keep tokens; below 0: the answer ends there */
    bool ignore_eos, raw;
    lode_tokens *ids; /* gets the answer's ids; NULL: not kept */
} generation;
int generate(generation *g);

/* Appends a prompt to sequence 0; refuses one that does not fit. 0 or an exit code, 130 when interrupted. */
int feed(engine *en, const int32_t *ids, size_t n);

/* Set by Ctrl-C while an answer is generated. */
extern volatile int interrupted;
extern volatile int terminated; /* SIGTERM: as Ctrl-C, and leave */
void catch_interrupts(void);
/* The file that will stand at `path` is being written: what there is of it goes when a signal ends the program. NULL:
 * it is whole. */
void writing(const char *path);
bool use_colour(void);
bool terminal_is_able(void); /* standard input and output are one that can move its cursor */

/* Ids of a talk by the model's chat template. */
lode_status render_chat(const engine *en, const lode_chat_message *m, size_t n, bool add_prompt, lode_tokens *out,
                        lode_err *err);

const char *env_get(const char *name);

#define COMMAND(name, letter, arg, help) int cmd_##name(const args *a);
#include "app/command.def"
#undef COMMAND
#endif
