/* plans.c - the few plans of a session.
 *
 * A plan is made for a size class: 1 token, a few, or a whole batch; the actual counts are data. So a conversation
 * makes two plans, one for its prompts and one for its answers. */
#include "engine/session.h"

#include "base/clock.h"

#include <math.h>

/* "A few": speculative tokens, short follow-ups, several sequences at once. */
enum { FEW = 16 };

static int class_of(int n, int most) { return n <= 1 ? 0 : n <= FEW && FEW < most ? 1 : 2; }
static int64_t size_of(int class, int most) { return class == 0 ? 1 : class == 1 ? FEW : most; }

static lode_tensor *i32(lode_graph *g, const char *name, int64_t n, int dyn) {
    return lode_input(g, name, LODE_I32, 1, (int64_t[]){ n }, dyn);
}

static lode_status build(lode_session *s, lode_step_plan *p, int64_t n, int64_t n_out, lode_err *err) {
    LODE_TRY(lode_graph_open(&p->graph, err));
    lode_graph *g = p->graph;
    const lode_model *m = s->model;
    lode_build b = {
        .g = g,
        .hp = &m->hp,
        .tokens = i32(g, "tokens", n, LODE_DYN_TOKENS),
        .pos = i32(g, "pos", n, LODE_DYN_TOKENS),
        .slots = i32(g, "slots", n, LODE_DYN_TOKENS),
        .pages = lode_input(g, "pages", LODE_I32, 2, (int64_t[]){ s->kv.n_pages, s->desc.n_seq }, LODE_DYN_NONE),
        .spans = lode_input(g, "spans", LODE_I32, 2, (int64_t[]){ LODE_SPAN_N, n }, LODE_DYN_TOKENS),
        .out_ids = i32(g, "out_ids", n_out, LODE_DYN_OUTPUTS),
        .k = s->kv.k,
        .v = s->kv.v,
        .n_ctx_seq = s->n_ctx,
        .rope_order = m->arch->rope_order,
        .turned = s->turned,
    };
    if (m->hp.attn_temp_scale != 0)
        b.q_scale = lode_input(g, "q_scale", LODE_F32, 3, (int64_t[]){ 1, 1, n }, LODE_DYN_TOKENS);
    lode_tensor *logits = m->arch->build(&b, m->weights, m->layers);
    lode_tag(logits, "logits", -1);
    lode_output(g, logits);
    for (int i = 0; s->desc.tag_outputs && i < lode_graph_n_nodes(g); i++) {
        lode_tensor *t = g->nodes.items[i];
        if (t->name[0]) lode_output(g, t);
    }
    s->rope_factors = b.rope_factors;
    *p = (lode_step_plan){ NULL, g, b.tokens, b.pos, b.slots, b.pages, b.spans, b.out_ids, b.q_scale, logits };
    const lode_plan_desc d = { .streams = &s->stream, .n_streams = 1, .act_f32 = s->desc.act_f32 };
    return lode_plan_open(&p->plan, g, &d, err);
}

static void close_plan(lode_step_plan *p) {
    lode_plan_close(p->plan);
    lode_graph_close(p->graph);
    *p = (lode_step_plan){ 0 };
}

lode_status lode_plans_get(lode_session *s, int n, int n_out, lode_step_plan **out, lode_err *err) {
    const int ct = class_of(n, s->desc.n_batch), co = class_of(n_out, s->max_out);
    lode_step_plan *p = &s->plans[ct][co];
    if (!p->plan) {
        const int64_t start = lode_clock_ns();
        const lode_status st = build(s, p, size_of(ct, s->desc.n_batch), size_of(co, s->max_out), err);
        if (st != LODE_OK) {
            close_plan(p);
            return st;
        }
        s->stats.n_plans++;
        s->stats.plan_ns += lode_clock_ns() - start;
    }
    *out = p;
    return LODE_OK;
}

void lode_plans_close(lode_session *s) {
    for (int i = 0; i < LODE_PLAN_SIZES; i++)
        for (int k = 0; k < LODE_PLAN_SIZES; k++) close_plan(&s->plans[i][k]);
    close_plan(&s->turn);
}

/* Keys of the given cells, read from the cache, turned and written back, in every layer that has positions. */
static lode_status build_turn(lode_session *s, lode_step_plan *p, lode_err *err) {
    LODE_TRY(lode_graph_open(&p->graph, err));
    lode_graph *g = p->graph;
    const lode_hparams *hp = &s->model->hp;
    lode_tensor *pos = i32(g, "pos", s->desc.n_batch, LODE_DYN_TOKENS);
    lode_tensor *slots = i32(g, "slots", s->desc.n_batch, LODE_DYN_TOKENS);
    p->pos = pos;
    p->slots = slots;
    for (uint32_t il = 0; il < hp->n_layer; il++) {
        if (!s->turned[il]) continue;
        lode_rope_desc d = hp->local_window[il] ? hp->rope_local : hp->rope;
        d.attn_factor = (float)(1.0 / (1.0 + (d.ext_factor != 0 ? 0.1 * log(1.0 / (double)d.scale) : 0.0)));
        lode_tensor *table = lode_rope_table(g, pos, hp->local_window[il] ? NULL : s->rope_factors, &d);
        lode_tensor *k = lode_heads(g, lode_get_rows(g, s->kv.k[il], slots), hp->d_head, hp->n_head_kv);
        lode_kv_store(g, s->kv.k[il], lode_rope(g, k, table, s->model->arch->rope_order), slots);
    }
    const lode_plan_desc d = { .streams = &s->stream, .n_streams = 1, .act_f32 = true };
    return lode_plan_open(&p->plan, g, &d, err);
}

lode_status lode_plans_turn(lode_session *s, const lode_kv_seq *q, int from, int delta, lode_err *err) {
    lode_step_plan *p = &s->turn, *any;
    LODE_TRY(lode_plans_get(s, 1, 1, &any, err)); /* it tells which layers have positions */
    if (!p->plan) {
        const lode_status st = build_turn(s, p, err);
        if (st != LODE_OK) {
            close_plan(p);
            return st;
        }
    }
    for (int at = from; at < q->n; at += s->desc.n_batch) {
        const int n = q->n - at < s->desc.n_batch ? q->n - at : s->desc.n_batch;
        for (int i = 0; i < n; i++) {
            s->in.pos[i] = delta;
            s->in.slots[i] = lode_kv_cell(q, at + i);
        }
        LODE_TRY(lode_plan_set_count(p->plan, LODE_DYN_TOKENS, n, err));
        LODE_TRY(lode_plan_write(p->plan, p->pos, s->in.pos, (size_t)n * sizeof(int32_t), err));
        LODE_TRY(lode_plan_write(p->plan, p->slots, s->in.slots, (size_t)n * sizeof(int32_t), err));
        LODE_TRY(lode_plan_run(p->plan, err));
    }
    return LODE_OK;
}
