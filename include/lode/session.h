/* lode/session.h - sessions: sequences of tokens, their KV cache and the steps that compute logits.
 *
 * Life cycle: open a session on a model; fill a batch with tokens of one or many sequences (a prompt, or one token
 * each); lode_session_run computes it in as many steps as needed; read logits of the tokens that asked for them; edit
 * sequences; close.
 *
 * The cache is paged: a sequence takes pages of 64 cells as it grows, copies share pages until one of them writes.
 * Results do not depend on how tokens are cut into batches, on the number of threads or on other sequences.
 *
 * Threads: one session, one thread; any number of sessions per model. */
#ifndef LODE_SESSION_H
#define LODE_SESSION_H

#include "model.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_session lode_session;

/* Zero means default. */
typedef struct lode_session_desc {
    int n_ctx;        /* cells of the KV cache, shared by all sequences; 0: the model's context, at most 8,192 and at
                       * most half of the free memory. Rounded up to whole pages */
    int n_seq;        /* sequences at once, ids 0..n_seq-1; 0 counts as 1 */
    int n_batch;      /* tokens computed in one step at most; 0 counts as 512 */
    int n_threads;    /* 0: lode_default_threads() */
    bool kv_f32;      /* keep the KV cache in F32 instead of F16 */
    bool act_f32;     /* reference path: activations stay in F32 (slower, for comparisons) */
    bool tag_outputs; /* keep every tagged tensor: for lode_session_visit_tags */
    bool (*abort)(void *user); /* asked between parts of a step; true ends lode_session_run with LODE_E_ABORTED */
    void *abort_user;
    lode_log log;
} lode_session_desc;

LODE_API lode_status lode_session_open(lode_session **out, lode_model *m, const lode_session_desc *desc, lode_err *err);
LODE_API void lode_session_close(lode_session *s);
LODE_API lode_model *lode_session_model(const lode_session *s);
LODE_API int lode_session_n_ctx(const lode_session *s);
LODE_API int lode_session_n_threads(const lode_session *s);
/* Why n_ctx is what it is, one line: "context 8192 of 131072 (default limit; -c sets it)". */
LODE_API const char *lode_session_ctx_note(const lode_session *s);

/* One token of a batch. */
typedef struct lode_batch_token {
    int32_t id;
    int32_t seq;
    bool want_logits;
} lode_batch_token;

/* Appends tokens to their sequences and computes them. Positions follow from the sequences; tokens of one sequence
 * stand in order. Logits of all tokens with want_logits are kept until the next run. Errors, before anything is
 * changed: an id outside the vocabulary, a sequence outside 0..n_seq-1 (LODE_E_INPUT), no room (LODE_E_FULL). After
 * LODE_E_ABORTED or a device's failure the sequences are as before the run. */
LODE_API lode_status lode_session_run(lode_session *s, const lode_batch_token *tokens, int n, lode_err *err);
/* Shorthand: appends n ids to sequence `seq` with logits of the last one. */
LODE_API lode_status lode_session_append(lode_session *s, int seq, const int32_t *ids, int n, lode_err *err);

/* Logits of the i-th token of the last run that wanted them, f32 [n_vocab]; NULL when i is outside. The memory is the
 * session's and may be changed by the caller until the next run. */
LODE_API float *lode_session_logits(lode_session *s, int i);
LODE_API int lode_session_n_logits(const lode_session *s);

/* Tokens in a sequence; ids of all of them (for reuse of a common prefix), valid until the sequence changes. */
LODE_API int lode_seq_length(const lode_session *s, int seq);
LODE_API const int32_t *lode_seq_ids(const lode_session *s, int seq);
/* Position that the next token of the sequence gets. */
LODE_API int lode_seq_next_pos(const lode_session *s, int seq);
/* Removes tokens from `from` on to before `to` (to < 0: the end). What follows a gap keeps its positions. */
LODE_API lode_status lode_seq_remove(lode_session *s, int seq, int from, int to, lode_err *err);
/* Removes [from, to) and moves what follows up by (to - from) positions: room in a full context. Architectures
 * whose positions cannot be moved refuse with LODE_E_UNSUPPORTED. */
LODE_API lode_status lode_seq_shift(lode_session *s, int seq, int from, int to, lode_err *err);
/* Makes `to` a copy of the first n tokens of `from` (n < 0: all). Shares pages; what `to` held is removed. */
LODE_API lode_status lode_seq_copy(lode_session *s, int from, int to, int n, lode_err *err);
/* Cells that are free. */
LODE_API int lode_session_n_free(const lode_session *s);

/* Counters since opening: plans made, steps run, tokens computed, and nanoseconds in them. */
typedef struct lode_session_stats {
    int64_t n_plans, n_steps, n_tokens, plan_ns, run_ns;
} lode_session_stats;
LODE_API void lode_session_get_stats(const lode_session *s, lode_session_stats *out);

/* Prints a stage of the plan for n tokens (the plan is made if need be). */
LODE_API lode_status lode_session_print(lode_session *s, int n_tokens, lode_print_stage stage, bool verbose,
                                        lode_print_fn write, void *user, lode_err *err);
/* The tagged tensors of the last step, in order of computation; needs tag_outputs. */
LODE_API void lode_session_visit_tags(const lode_session *s, lode_plan_visit_fn visit, void *user);
/* From now on writes one event per launch of each run to FILE in Chrome's trace format. Another call, or NULL
 * for none, finishes the file and says whether it is whole; close finishes it, too, but can only log a failure. */
LODE_API lode_status lode_session_trace(lode_session *s, const char *path, lode_err *err);

#ifdef __cplusplus
}
#endif
#endif
