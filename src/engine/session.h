/* session.h - the inside of sessions. */
#ifndef LODE_ENGINE_SESSION_H
#define LODE_ENGINE_SESSION_H

#include "backend/iface.h"
#include "engine/kv.h"
#include "lode/session.h"
#include "model/model.h"

/* A plan and the graph's tensors that a step writes and reads. */
typedef struct lode_step_plan {
    lode_plan *plan;   /* own */
    lode_graph *graph; /* own: its tensors name the plan's */
    const lode_tensor *tokens, *pos, *slots, *pages, *spans, *out_ids, *q_scale, *logits;
} lode_step_plan;

typedef struct lode_step_inputs {
    int32_t *tokens, *pos, *slots, *spans, *out_ids; /* own: [n_batch], spans [n_batch * LODE_SPAN_N] */
    float *q_scale;                                  /* own: [n_batch] */
} lode_step_inputs;

/* Size classes of plans, of tokens and of outputs: 1, a few, all. */
enum { LODE_PLAN_SIZES = 3 };

struct lode_session {
    lode_session_desc desc;
    lode_model *model;   /* counted */
    lode_stream *stream; /* own */
    lode_kv kv;          /* own */
    lode_type kv_type;
    int n_ctx, n_threads, max_out;
    char ctx_note[160];
    lode_step_plan plans[LODE_PLAN_SIZES][LODE_PLAN_SIZES]; /* own */
    lode_step_plan turn;                                    /* own: moves positions; made when first needed */
    bool turned[LODE_MAX_LAYERS];                           /* layers whose keys were turned by their positions */
    lode_tensor *rope_factors;                              /* borrowed from the model */
    const lode_step_plan *last;
    lode_step_inputs in;
    int *before;               /* own: [n_seq], lengths before the run */
    float *logits, *logits_at; /* own; where the last run's are */
    size_t logits_cap;
    int n_logits;
    bool tracing;
    lode_session_stats stats;
};

/* plans.c: the plan for a step of n tokens and n_out outputs, made at first use. */
lode_status lode_plans_get(lode_session *s, int n, int n_out, lode_step_plan **out, lode_err *err);
void lode_plans_close(lode_session *s);
/* Turns the keys of tokens [from, n) by `delta` positions. */
lode_status lode_plans_turn(lode_session *s, const lode_kv_seq *q, int from, int delta, lode_err *err);
#endif
