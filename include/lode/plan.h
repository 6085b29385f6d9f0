/* lode/plan.h - plans: a graph made ready for devices. Decide once, run many times.
 *
 * Making a plan places the nodes on devices, fuses or expands by rule.def, assigns memory, picks a kernel for each
 * node and bakes the launches. Running one writes nothing but tensor memory: no allocation, no lock on the host side,
 * no decision. Sizes marked LODE_DYN_* may be set smaller before each run.
 *
 * Threads: one plan, one thread. */
#ifndef LODE_PLAN_H
#define LODE_PLAN_H

#include "backend.h"
#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lode_plan lode_plan;

typedef struct lode_plan_desc {
    lode_stream *const *streams; /* devices in order of preference; borrowed, outlive the plan */
    int n_streams;
    bool act_f32; /* keep activations in f32: no quant_act */
    bool no_fuse; /* no rule fires (tests) */
} lode_plan_desc;

/* Compiles `g`, which may be closed afterwards. Fails with the graph's sticky error, with the node that no device
 * accepts, or for lack of memory. */
LODE_API lode_status lode_plan_open(lode_plan **out, const lode_graph *g, const lode_plan_desc *desc, lode_err *err);
LODE_API void lode_plan_close(lode_plan *p);

/* The plan's own copy of a tensor of the graph: inputs and outputs to write and read. NULL for a node that was fused
 * away. Valid while the plan lives; g's tensor is only used for its id. */
LODE_API lode_tensor *lode_plan_tensor(const lode_plan *p, const lode_tensor *t);
/* Sets a run-time count, 0..the size in the graph. */
LODE_API lode_status lode_plan_set_count(lode_plan *p, int dyn, int64_t count, lode_err *err);
/* Bytes of an input or output: blocking copies, in the layout of the tensor. */
LODE_API lode_status lode_plan_write(lode_plan *p, const lode_tensor *t, const void *data, size_t bytes, lode_err *err);
LODE_API lode_status lode_plan_read(lode_plan *p, const lode_tensor *t, size_t off, void *data, size_t bytes,
                                    lode_err *err);
/* Runs all segments and waits. */
LODE_API lode_status lode_plan_run(lode_plan *p, lode_err *err);

/* What the plan decided, as text in `write` calls of one line each. */
typedef enum {
    LODE_PRINT_GRAPH,
    LODE_PRINT_PLACED,
    LODE_PRINT_FUSED,
    LODE_PRINT_KERNELS,
    LODE_PRINT_MEMORY,
    LODE_PRINT_PLAN,
    LODE_N_PRINT
} lode_print_stage;
typedef void (*lode_print_fn)(void *user, const char *line);
/* "graph", "placed", ...; LODE_N_PRINT for another word. */
LODE_API lode_print_stage lode_print_stage_of(const char *name);
LODE_API void lode_plan_print(const lode_plan *p, lode_print_stage stage, bool verbose, lode_print_fn write,
                              void *user);

/* Nodes, bytes of scratch memory, number of segments. */
typedef struct lode_plan_stats {
    int n_nodes, n_segments;
    size_t scratch_bytes;
} lode_plan_stats;
LODE_API void lode_plan_get_stats(const lode_plan *p, lode_plan_stats *out);

/* Calls back for each tagged tensor in order of computation, after a run that keeps all of them: for comparing two
 * plans of one graph. The plan must have been made of a graph whose tags are outputs. */
typedef void (*lode_plan_visit_fn)(void *user, const lode_tensor *t);
LODE_API void lode_plan_visit_outputs(const lode_plan *p, lode_plan_visit_fn visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
