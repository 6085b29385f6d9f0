/* order.h - sorting and selecting without memory of their own, in O(n log n) and O(n) also in the worst case. */
#ifndef LODE_SAMPLE_ORDER_H
#define LODE_SAMPLE_ORDER_H

#include "cands.h"

/* Best first: larger logit, on ties lower id. The order is total, so results do not depend on what stood where. */
static inline bool lode_cand_before(const lode_cand *a, const lode_cand *b) {
    return a->logit > b->logit || (a->logit == b->logit && a->id < b->id);
}

void lode_order_sort(lode_cand *a, int n);
/* Brings the k best to the front, in no particular order. */
void lode_order_select(lode_cand *a, int n, int k);
/* A heap whose root is the worst of n: for a running selection of the best. */
void lode_order_heapify(lode_cand *a, int n);
void lode_order_sift(lode_cand *a, int n, int i);
#endif
