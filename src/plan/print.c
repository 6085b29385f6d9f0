/* print.c - what a plan decided, as text. The same graph on the same devices prints the same lines. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const stages[LODE_N_PRINT] = { "graph", "placed", "fused", "kernels", "memory", "plan" };

lode_print_stage lode_print_stage_of(const char *name) {
    for (int i = 0; i < LODE_N_PRINT; i++)
        if (strcasecmp(stages[i], name) == 0) return (lode_print_stage)i;
    return LODE_N_PRINT;
}

/* "%7" for a node, its name for a weight or an input, "%7 as f32[64, 9, 1]" for a view. */
static void name_source(lode_str *s, const lode_tensor *t) {
    char shape[80];
    const lode_tensor *owner = t;
    while (owner->op == LODE_OP_NONE && owner->view_of && owner->src[0]) owner = owner->src[0];
    if (owner->op != LODE_OP_NONE)
        lode_str_printf(s, "%%%d", (int)owner->id);
    else
        lode_str_puts(s, owner->name[0] ? owner->name : "?");
    if (owner != t) lode_str_printf(s, " as %s", lode_shape_text(t, shape, sizeof shape));
}

static void node_line(lode_str *s, const lode_tensor *t) {
    char shape[80];
    lode_str_printf(s, "%%%-4d %-15s %-22s (", (int)t->id, lode_op_name(t->op),
                    lode_shape_text(t, shape, sizeof shape));
    for (int k = 0; k < LODE_MAX_SRC && t->src[k]; k++) {
        if (k) lode_str_puts(s, ", ");
        name_source(s, t->src[k]);
    }
    lode_str_puts(s, ")");
    if (t->name[0]) lode_str_printf(s, "  # %s", t->name);
}

void lode_plan_note_graph(lode_plan *p) {
    for (size_t i = 0; i < p->nodes.n; i++) {
        node_line(&p->graph_log, p->nodes.items[i]);
        lode_str_putc(&p->graph_log, '\n');
    }
}

/* The lines of a text, one call each. */
static void write_lines(const lode_str *text, lode_print_fn write, void *user) {
    lode_str line = { 0 };
    for (const char *p = text->p; p && *p;) {
        const size_t n = strcspn(p, "\n");
        lode_str_clear(&line);
        lode_str_add(&line, p, n);
        if (!line.failed) write(user, line.p);
        p += n + (p[n] == '\n');
    }
    lode_str_free(&line);
}

static const char *kernel_of(const lode_plan *p, const lode_plan_segment *s, size_t node) {
    if (s->border) return "transfer";
    return lode_stream_device(p->streams[s->stream])->ops->kernel_name(s->compiled, (int)node - s->first);
}

static const lode_plan_segment *segment_of(const lode_plan *p, size_t node) {
    for (size_t i = 0; i < p->segments.n; i++) {
        const lode_plan_segment *s = &p->segments.items[i];
        if ((int)node >= s->first && (int)node < s->first + s->n) return s;
    }
    return NULL;
}

static void print_memory(const lode_plan *p, lode_print_fn write, void *user) {
    char line[160];
    size_t sum = 0;
    for (int i = 0; i < p->desc.n_streams; i++) {
        sum += p->scratch_bytes[i];
        snprintf(line, sizeof line, "scratch on %-8s %12zu bytes", lode_device_name(lode_stream_device(p->streams[i])),
                 p->scratch_bytes[i]);
        write(user, line);
    }
    snprintf(line, sizeof line, "without reuse       %12zu bytes (%.1fx)", p->unshared_bytes,
             sum ? (double)p->unshared_bytes / (double)sum : 0.0);
    write(user, line);
}

static void print_nodes(const lode_plan *p, lode_print_stage stage, bool verbose, lode_print_fn write, void *user) {
    lode_str s = { 0 };
    for (size_t i = 0; i < p->nodes.n; i++) {
        const lode_plan_segment *seg = segment_of(p, i);
        const lode_tensor *t = p->nodes.items[i];
        lode_str_clear(&s);
        lode_str_printf(&s, "%-6s ", lode_device_name(lode_stream_device(p->streams[seg->stream])));
        if (stage != LODE_PRINT_PLACED) lode_str_printf(&s, "%-16s ", kernel_of(p, seg, i));
        node_line(&s, t);
        if (stage == LODE_PRINT_PLAN || verbose) lode_str_printf(&s, "  @%zu+%zu", t->offset, lode_n_bytes(t));
        if (!s.failed) write(user, s.p);
    }
    lode_str_free(&s);
}

void lode_plan_print(const lode_plan *p, lode_print_stage stage, bool verbose, lode_print_fn write, void *user) {
    if (stage == LODE_PRINT_GRAPH)
        write_lines(&p->graph_log, write, user);
    else if (stage == LODE_PRINT_FUSED)
        write_lines(&p->fused_log, write, user);
    else if (stage == LODE_PRINT_MEMORY)
        print_memory(p, write, user);
    else
        print_nodes(p, stage, verbose, write, user);
    if (stage == LODE_PRINT_PLAN) print_memory(p, write, user);
}
