/* session.c - sequences and the steps that compute them.
 *
 * A run is cut into steps of at most n_batch tokens. A step takes a plan from a small cache by its size class, writes
 * the step's inputs (tokens, positions, cells, spans) and runs it: nothing else happens per token. */
#include "engine/session.h"

#include "base/clock.h"
#include "base/need.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default sizes. 512 tokens keep a layer's activations in the second-level cache of today's CPUs; 8,192 cells are what
 * a conversation needs; a step writes at most 64 MiB of logits. */
enum { DEFAULT_BATCH = 512, MAX_BATCH = 1 << 16, DEFAULT_CTX = 8192, MAX_SEQ = 1 << 16 };
#define LOGIT_BYTES ((size_t)64 << 20)

static size_t cell_bytes(const lode_session *s) {
    const lode_hparams *hp = &s->model->hp;
    return (size_t)hp->n_layer * hp->n_head_kv * hp->d_head * 2 * (size_t)lode_type_bytes(s->kv_type);
}

/* Decides the number of cells and says why. */
static lode_status choose_ctx(lode_session *s, lode_err *err) {
    lode_device_props props;
    lode_device_get_props(s->model->device, &props);
    const size_t cell = cell_bytes(s);
    const int train = (int)s->model->hp.n_ctx_train;
    int64_t n = s->desc.n_ctx;
    const char *why = "set by -c";
    if (n == 0) {
        n = train;
        why = "the model's";
        if (n > DEFAULT_CTX) {
            n = DEFAULT_CTX;
            why = "default limit; -c sets another";
        }
        const size_t room = props.memory_free / 2 / cell;
        if (props.memory_free && (size_t)n > room) {
            n = room > LODE_PAGE ? (int64_t)room / LODE_PAGE * LODE_PAGE : LODE_PAGE;
            why = "half of the free memory; -c sets another";
        }
    }
    n = (n + LODE_PAGE - 1) / LODE_PAGE * LODE_PAGE;
    if (n > INT32_MAX / 2) return lode_fail(err, LODE_E_INPUT, "context %lld is too large", (long long)n);
    if (props.memory_free && (size_t)n > props.memory_free / cell)
        return lode_fail(err, LODE_E_NOMEM, "a context of %lld needs %.1f GiB, %.1f GiB are free: use -c %lld or less",
                         (long long)n, (double)n * (double)cell / 0x1p30, (double)props.memory_free / 0x1p30,
                         (long long)(props.memory_free / cell / LODE_PAGE * LODE_PAGE));
    s->n_ctx = (int)n;
    snprintf(s->ctx_note, sizeof s->ctx_note, "context %d of %d (%s), %.0f MiB of KV cache", s->n_ctx, train, why,
             (double)n * (double)cell / 0x1p20);
    return LODE_OK;
}

static lode_status check_desc(lode_session *s, lode_err *err) {
    lode_session_desc *d = &s->desc;
    if (d->n_seq == 0) d->n_seq = 1;
    if (d->n_batch == 0) d->n_batch = DEFAULT_BATCH;
    if (d->n_ctx < 0) return lode_fail(err, LODE_E_INPUT, "context size %d, expected 0 (default) or more", d->n_ctx);
    if (d->n_seq < 1 || d->n_seq > MAX_SEQ)
        return lode_fail(err, LODE_E_INPUT, "%d sequences, expected 1..%d", d->n_seq, MAX_SEQ);
    if (d->n_batch < 1 || d->n_batch > MAX_BATCH)
        return lode_fail(err, LODE_E_INPUT, "batch size %d, expected 1..%d", d->n_batch, MAX_BATCH);
    s->kv_type = d->kv_f32 ? LODE_F32 : LODE_F16;
    return LODE_OK;
}

/* Arrays that a step's inputs are written from; one allocation each, for the largest step. */
static bool alloc_inputs(lode_session *s) {
    const size_t n = (size_t)s->desc.n_batch;
    lode_step_inputs *in = &s->in;
    in->tokens = lode_calloc(n, sizeof *in->tokens);
    in->pos = lode_calloc(n, sizeof *in->pos);
    in->slots = lode_calloc(n, sizeof *in->slots);
    in->spans = lode_calloc(n * LODE_SPAN_N, sizeof *in->spans);
    in->out_ids = lode_calloc(n, sizeof *in->out_ids);
    in->q_scale = lode_calloc(n, sizeof *in->q_scale);
    s->before = lode_calloc((size_t)s->desc.n_seq, sizeof *s->before);
    return in->tokens && in->pos && in->slots && in->spans && in->out_ids && in->q_scale && s->before;
}

static lode_status open_session(lode_session *s, lode_err *err) {
    LODE_TRY(check_desc(s, err));
    LODE_TRY(choose_ctx(s, err));
    const lode_stream_desc sd = { .n_threads = s->desc.n_threads,
                                  .abort = s->desc.abort,
                                  .abort_user = s->desc.abort_user };
    LODE_TRY(lode_stream_open(&s->stream, s->model->device, &sd, err));
    s->n_threads = s->desc.n_threads ? s->desc.n_threads : lode_default_threads();
    const lode_hparams *hp = &s->model->hp;
    const lode_kv_desc kd = {
        .memory = lode_device_buffer_type(s->model->device),
        .type = s->kv_type,
        .n_layer = (int)hp->n_layer,
        .n_pages = s->n_ctx / LODE_PAGE,
        .n_seq = s->desc.n_seq,
        .d = (int64_t)hp->d_head * hp->n_head_kv,
    };
    LODE_TRY(lode_kv_open(&s->kv, &kd, err));
    if (!alloc_inputs(s)) return lode_fail(err, LODE_E_NOMEM, "session: out of memory");
    const size_t rows = LOGIT_BYTES / sizeof(float) / hp->n_vocab;
    s->max_out = rows < 1 ? 1 : rows < (size_t)s->desc.n_batch ? (int)rows : s->desc.n_batch;
    return LODE_OK;
}

lode_status lode_session_open(lode_session **out, lode_model *m, const lode_session_desc *desc, lode_err *err) {
    LODE_TRY(lode_need(out && m, __func__, err));
    lode_session *s = lode_calloc(1, sizeof *s);
    if (!s) return lode_fail(err, LODE_E_NOMEM, "session: out of memory");
    if (desc) s->desc = *desc;
    s->model = lode_model_retain(m);
    const lode_status st = open_session(s, err);
    if (st != LODE_OK) {
        lode_session_close(s);
        return st;
    }
    *out = s;
    return LODE_OK;
}

/* Finishes the file, if there is one being written. */
static lode_status end_trace(lode_session *s, lode_err *err) {
    if (!s->tracing) return LODE_OK;
    void *proc = lode_device_proc(s->model->device, LODE_PROC_TRACE_STOP);
    lode_trace_stop_fn stop;
    memcpy(&stop, &proc, sizeof stop);
    s->tracing = false;
    return stop ? stop(s->stream, err) : LODE_OK;
}

void lode_session_close(lode_session *s) {
    if (!s) return;
    lode_err e = { 0 };
    if (end_trace(s, &e) != LODE_OK) lode_log_line(&s->desc.log, LODE_LOG_ERROR, "trace", "%s", e.text);
    lode_plans_close(s);
    lode_kv_close(&s->kv);
    lode_stream_close(s->stream);
    free(s->in.tokens);
    free(s->in.pos);
    free(s->in.slots);
    free(s->in.spans);
    free(s->in.out_ids);
    free(s->in.q_scale);
    free(s->before);
    free(s->logits);
    lode_model_close(s->model);
    free(s);
}

/* ---- Running ---- */

static lode_status check_batch(const lode_session *s, const lode_batch_token *t, int n, lode_err *err) {
    if (n < 1) return lode_fail(err, LODE_E_INPUT, "batch: %d tokens, expected at least 1", n);
    for (int i = 0; i < n; i++) {
        if (t[i].id < 0 || (uint32_t)t[i].id >= s->model->hp.n_vocab)
            return lode_fail(err, LODE_E_INPUT, "batch: token %d has id %d, the vocabulary is 0..%u", i, t[i].id,
                             s->model->hp.n_vocab - 1);
        if (t[i].seq < 0 || t[i].seq >= s->desc.n_seq)
            return lode_fail(err, LODE_E_INPUT, "batch: token %d is of sequence %d, there are 0..%d", i, t[i].seq,
                             s->desc.n_seq - 1);
    }
    return LODE_OK;
}

/* Reserves cells for the whole batch, or nothing. `before` becomes the lengths to go back to. */
static lode_status reserve(lode_session *s, const lode_batch_token *t, int n, lode_err *err) {
    int *count = s->before; /* first the counts, then the lengths */
    memset(count, 0, (size_t)s->desc.n_seq * sizeof *count);
    for (int i = 0; i < n; i++) count[t[i].seq]++;
    int need = 0;
    for (int i = 0; i < s->desc.n_seq; i++) need += lode_kv_need(&s->kv, i, count[i]);
    if (need > s->kv.n_free)
        return lode_fail(
            err, LODE_E_FULL,
            "the context is full: %d tokens more do not fit, %d of %d cells are free; use a larger context "
            "(-c) or a shorter prompt",
            n, s->kv.n_free * LODE_PAGE, s->n_ctx);
    for (int i = 0; i < s->desc.n_seq; i++) {
        LODE_TRY(lode_kv_reserve(&s->kv, i, count[i], err));
        count[i] = s->kv.seqs[i].n;
    }
    return LODE_OK;
}

/* Fills the inputs of a step of n tokens; returns how many want logits. */
static int fill(lode_session *s, const lode_batch_token *t, int n) {
    lode_step_inputs *in = &s->in;
    const lode_hparams *hp = &s->model->hp;
    int n_out = 0;
    for (int i = 0; i < n; i++) {
        lode_kv_seq *q = &s->kv.seqs[t[i].seq];
        in->tokens[i] = t[i].id;
        in->slots[i] = lode_kv_push(&s->kv, t[i].seq, t[i].id);
        in->pos[i] = q->pos[q->n - 1];
        int32_t *span = in->spans + i * LODE_SPAN_N;
        span[LODE_SPAN_SEQ] = t[i].seq;
        span[LODE_SPAN_FROM] = 0;
        span[LODE_SPAN_FROM_WINDOW] = hp->window ? lode_kv_window_start(q, in->pos[i], (int)hp->window) : 0;
        span[LODE_SPAN_TO] = q->n;
        if (hp->attn_temp_scale != 0)
            in->q_scale[i] =
                (float)(log(floor((double)in->pos[i] / hp->n_ctx_orig) + 1.0) * (double)hp->attn_temp_scale + 1.0);
        if (t[i].want_logits) in->out_ids[n_out++] = i;
    }
    return n_out;
}

/* How many tokens from t on make a step: at most n_batch, with at most max_out logits. */
static int step_length(const lode_session *s, const lode_batch_token *t, int n) {
    int i = 0, n_out = 0;
    for (; i < n && i < s->desc.n_batch; i++) {
        if (t[i].want_logits && n_out == s->max_out) break;
        n_out += t[i].want_logits;
    }
    return i;
}

static lode_status write_inputs(lode_session *s, lode_step_plan *p, const lode_batch_token *t, int n, int n_out,
                                lode_err *err) {
    const lode_step_inputs *in = &s->in;
    const size_t i32 = sizeof(int32_t);
    LODE_TRY(lode_plan_set_count(p->plan, LODE_DYN_TOKENS, n, err));
    LODE_TRY(lode_plan_set_count(p->plan, LODE_DYN_OUTPUTS, n_out, err));
    LODE_TRY(lode_plan_write(p->plan, p->tokens, in->tokens, (size_t)n * i32, err));
    LODE_TRY(lode_plan_write(p->plan, p->pos, in->pos, (size_t)n * i32, err));
    LODE_TRY(lode_plan_write(p->plan, p->slots, in->slots, (size_t)n * i32, err));
    LODE_TRY(lode_plan_write(p->plan, p->spans, in->spans, (size_t)n * LODE_SPAN_N * i32, err));
    LODE_TRY(lode_plan_write(p->plan, p->out_ids, in->out_ids, (size_t)n_out * i32, err));
    if (p->q_scale) LODE_TRY(lode_plan_write(p->plan, p->q_scale, in->q_scale, (size_t)n * sizeof(float), err));
    const lode_tensor *pages = lode_plan_tensor(p->plan, p->pages);
    for (int i = 0; i < n; i++) {
        if (i && t[i].seq == t[i - 1].seq) continue;
        const lode_kv_seq *q = &s->kv.seqs[t[i].seq];
        const size_t used = (size_t)(q->n + LODE_PAGE - 1) / LODE_PAGE * i32;
        LODE_TRY(lode_buffer_set(pages->buffer, pages->offset + (size_t)t[i].seq * pages->nb[1], q->pages, used, err));
    }
    return LODE_OK;
}

/* Where the logits of a step go: the plan's own memory when there is one step and the host can read it there. */
static lode_status take_logits(lode_session *s, const lode_step_plan *p, int n_out, int done, bool only_step,
                               lode_err *err) {
    const size_t row = s->model->hp.n_vocab * sizeof(float);
    const lode_tensor *t = lode_plan_tensor(p->plan, p->logits);
    char *host = lode_buffer_host(t->buffer);
    if (only_step && host) {
        s->logits_at = (float *)(void *)(host + t->offset);
        return LODE_OK;
    }
    LODE_TRY(lode_plan_read(p->plan, p->logits, 0, (char *)s->logits + (size_t)done * row, (size_t)n_out * row, err));
    s->logits_at = s->logits;
    return LODE_OK;
}

static lode_status step(lode_session *s, const lode_batch_token *t, int n, int done, bool only_step, lode_err *err) {
    const int n_out = fill(s, t, n);
    lode_step_plan *p;
    LODE_TRY(lode_plans_get(s, n, n_out, &p, err));
    LODE_TRY(write_inputs(s, p, t, n, n_out, err));
    const int64_t start = lode_clock_ns();
    LODE_TRY(lode_plan_run(p->plan, err));
    s->stats.run_ns += lode_clock_ns() - start;
    s->stats.n_steps++;
    s->stats.n_tokens += n;
    s->last = p;
    s->n_logits += n_out;
    return n_out ? take_logits(s, p, n_out, done, only_step, err) : LODE_OK;
}

/* Memory for the logits of a run of several steps, or of one whose plan lies where the host cannot read. */
static lode_status reserve_logits(lode_session *s, int n, lode_err *err) {
    size_t floats;
    if (!lode_mul_ok((size_t)n, s->model->hp.n_vocab, &floats) ||
        !lode_grow((void **)&s->logits, &s->logits_cap, floats, sizeof *s->logits))
        return lode_fail(err, LODE_E_NOMEM, "logits of %d tokens need %.1f GiB: ask for fewer at once", n,
                         (double)n * s->model->hp.n_vocab * 4 / 0x1p30);
    return LODE_OK;
}

/* Sequences as they were before the run; positions of a sequence with a gap at its end come back too. */
static void rollback(lode_session *s) {
    for (int i = 0; i < s->desc.n_seq; i++) {
        lode_kv_seq *q = &s->kv.seqs[i];
        const int pushed = q->n - s->before[i], next_pos = q->next_pos - pushed;
        lode_kv_truncate(&s->kv, i, s->before[i]);
        lode_kv_release(&s->kv, i);
        q->next_pos = next_pos;
    }
}

lode_status lode_session_run(lode_session *s, const lode_batch_token *t, int n, lode_err *err) {
    LODE_TRY(lode_need(s && LODE_HAS(t, n), __func__, err));
    LODE_TRY(check_batch(s, t, n, err));
    const bool only_step = step_length(s, t, n) == n;
    int wanted = 0, done = 0;
    for (int i = 0; i < n; i++) wanted += t[i].want_logits;
    const bool in_place = only_step && lode_buffer_type_is_host(lode_device_buffer_type(s->model->device));
    if (!in_place) LODE_TRY(reserve_logits(s, wanted, err));
    LODE_TRY(reserve(s, t, n, err));
    s->n_logits = 0;
    lode_status st = LODE_OK;
    for (int at = 0, len; at < n && st == LODE_OK; at += len) {
        len = step_length(s, t + at, n - at);
        done = s->n_logits;
        st = step(s, t + at, len, done, only_step, err);
    }
    if (st == LODE_OK) return LODE_OK;
    s->n_logits = 0;
    rollback(s);
    return st;
}

lode_status lode_session_append(lode_session *s, int seq, const int32_t *ids, int n, lode_err *err) {
    LODE_TRY(lode_need(s && LODE_HAS(ids, n), __func__, err));
    lode_batch_token *t = lode_calloc((size_t)(n > 0 ? n : 1), sizeof *t);
    if (!t) return lode_fail(err, LODE_E_NOMEM, "session: out of memory");
    for (int i = 0; i < n; i++) t[i] = (lode_batch_token){ ids[i], seq, i == n - 1 };
    const lode_status st = lode_session_run(s, t, n, err);
    free(t);
    return st;
}

float *lode_session_logits(lode_session *s, int i) {
    return i >= 0 && i < s->n_logits ? s->logits_at + (size_t)i * s->model->hp.n_vocab : NULL;
}

int lode_session_n_logits(const lode_session *s) { return s->n_logits; }
lode_model *lode_session_model(const lode_session *s) { return s->model; }
int lode_session_n_ctx(const lode_session *s) { return s->n_ctx; }
int lode_session_n_threads(const lode_session *s) { return s->n_threads; }
const char *lode_session_ctx_note(const lode_session *s) { return s->ctx_note; }
int lode_session_n_free(const lode_session *s) { return s->kv.n_free * LODE_PAGE; }
void lode_session_get_stats(const lode_session *s, lode_session_stats *out) { *out = s->stats; }

/* ---- Sequences ---- */

static const lode_kv_seq *seq_of(const lode_session *s, int seq) {
    return seq >= 0 && seq < s->desc.n_seq ? &s->kv.seqs[seq] : NULL;
}

int lode_seq_length(const lode_session *s, int seq) {
    const lode_kv_seq *q = seq_of(s, seq);
    return q ? q->n : 0;
}

const int32_t *lode_seq_ids(const lode_session *s, int seq) {
    const lode_kv_seq *q = seq_of(s, seq);
    return q ? q->ids : NULL;
}

int lode_seq_next_pos(const lode_session *s, int seq) {
    const lode_kv_seq *q = seq_of(s, seq);
    return q ? q->next_pos : 0;
}

static lode_status check_range(const lode_session *s, int seq, int from, int *to, lode_err *err) {
    const lode_kv_seq *q = seq_of(s, seq);
    if (!q) return lode_fail(err, LODE_E_INPUT, "sequence %d: there are 0..%d", seq, s->desc.n_seq - 1);
    if (*to < 0 || *to > q->n) *to = q->n;
    if (from < 0 || from > *to)
        return lode_fail(err, LODE_E_INPUT, "sequence %d: tokens %d..%d of %d", seq, from, *to, q->n);
    return LODE_OK;
}

lode_status lode_seq_remove(lode_session *s, int seq, int from, int to, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    LODE_TRY(check_range(s, seq, from, &to, err));
    return from == to ? LODE_OK : lode_kv_remove(&s->kv, seq, from, to, err);
}

lode_status lode_seq_copy(lode_session *s, int from, int to, int n, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    LODE_TRY(check_range(s, from, 0, &n, err));
    if (!seq_of(s, to)) return lode_fail(err, LODE_E_INPUT, "sequence %d: there are 0..%d", to, s->desc.n_seq - 1);
    lode_kv_copy(&s->kv, from, to, n);
    return LODE_OK;
}

lode_status lode_seq_shift(lode_session *s, int seq, int from, int to, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    LODE_TRY(check_range(s, seq, from, &to, err));
    const int gap = to - from;
    if (gap == 0) return LODE_OK;
    LODE_TRY(lode_kv_remove(&s->kv, seq, from, to, err));
    lode_kv_seq *q = &s->kv.seqs[seq];
    if (from >= q->n) return LODE_OK;
    LODE_TRY(lode_kv_unshare(&s->kv, seq, from, err));
    LODE_TRY(lode_plans_turn(s, q, from, -gap, err));
    for (int i = from; i < q->n; i++) q->pos[i] -= gap;
    q->next_pos -= gap;
    return LODE_OK;
}

/* ---- Printing and tracing ---- */

lode_status lode_session_print(lode_session *s, int n_tokens, lode_print_stage stage, bool verbose, lode_print_fn write,
                               void *user, lode_err *err) {
    LODE_TRY(lode_need(s && write, __func__, err));
    lode_step_plan *p;
    if (n_tokens < 1 || n_tokens > s->desc.n_batch)
        return lode_fail(err, LODE_E_INPUT, "a plan for %d tokens, expected 1..%d", n_tokens, s->desc.n_batch);
    LODE_TRY(lode_plans_get(s, n_tokens, 1, &p, err));
    lode_plan_print(p->plan, stage, verbose, write, user);
    return LODE_OK;
}

void lode_session_visit_tags(const lode_session *s, lode_plan_visit_fn visit, void *user) {
    if (s->last) lode_plan_visit_outputs(s->last->plan, visit, user);
}

lode_status lode_session_trace(lode_session *s, const char *path, lode_err *err) {
    LODE_TRY(lode_need(s, __func__, err));
    LODE_TRY(end_trace(s, err));
    if (!path) return LODE_OK;
    void *proc = lode_device_proc(s->model->device, LODE_PROC_TRACE_START);
    lode_trace_start_fn start;
    memcpy(&start, &proc, sizeof start); /* ISO C has no cast from object to function pointer */
    if (!start) return lode_fail(err, LODE_E_UNSUPPORTED, "%s keeps no trace", lode_device_name(s->model->device));
    LODE_TRY(start(s->stream, path, err));
    s->tracing = true;
    return LODE_OK;
}
