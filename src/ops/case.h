/* case.h - test cases as text, so that an op's file says what must be tested.
 *
 * A case is a list of words: "x=f32[63,3]" makes the next source, an input of that type and shape; "ids=i32[5]<7"
 * draws integers from 0 on and below 7, "ids=i32[5]<-1..9" from -1 on and below 9, for ids that name nothing;
 * "x=f32[64,3]+16" puts 16 unused elements behind each row, and "^10" behind it exchanges axes 0 and 1 (digit i says
 * which axis the i-th becomes); "eps=1e-5" is a number that the op's `make` asks for by name. Cases of an op are
 * separated by '|'. */
#ifndef LODE_OPS_CASE_H
#define LODE_OPS_CASE_H

#include "graph/graph.h"

enum { LODE_CASE_NUMS = 8 };

typedef struct lode_case {
    lode_tensor *src[LODE_MAX_SRC];  /* what `make` uses: views where a row has unused elements */
    lode_tensor *leaf[LODE_MAX_SRC]; /* the inputs behind them, to be filled */
    int64_t least[LODE_MAX_SRC];     /* integers are drawn from [least, below) */
    int64_t below[LODE_MAX_SRC];
    int n_src, n_num;
    struct {
        char name[16];
        double value;
    } num[LODE_CASE_NUMS];
} lode_case;

/* Reads the case that starts at *text into inputs of g and moves *text behind it; false at the end of the list. A
 * case that cannot be read fails the graph. */
bool lode_case_next(lode_case *c, lode_graph *g, const char **text);
double lode_case_num(const lode_case *c, const char *name, double otherwise);
#endif
