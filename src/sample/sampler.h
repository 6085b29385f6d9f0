/* sampler.h - what one sampler is to the others: a row of five functions over a state without pointers.
 *
 * All states lie in one block, so that a clone is a copy of it. A sampler that its parameters turn off reports a size
 * of 0 and is left out of the chain. */
#ifndef LODE_SAMPLE_SAMPLER_H
#define LODE_SAMPLE_SAMPLER_H

#include "cands.h"
#include "rng.h"

/* The tokens accepted last, shared by penalties and DRY. */
typedef struct lode_history {
    int32_t *id;      /* own, ring [cap] */
    uint8_t *breaks;  /* own, ring [cap]: a DRY breaker ends in this token */
    int cap, n, next; /* next: where the next one goes */
} lode_history;

typedef struct lode_sample_kind {
    const char *name;
    size_t (*bytes)(const lode_sampler_desc *d); /* 0: off */
    void (*init)(void *state, const lode_sampler_desc *d, uint64_t seed);
    void (*reset)(void *state, const lode_sampler_desc *d, uint64_t seed); /* NULL: nothing changes while sampling */
    void (*apply)(lode_sampler *s, void *state, lode_cands *c);
    void (*accept)(lode_sampler *s, void *state, int32_t id); /* NULL: does not care. Called after history's push */
} lode_sample_kind;

enum { LODE_MAX_LINK = LODE_MAX_CHAIN + 3 };

struct lode_sampler {
    lode_sampler_desc d; /* pointers cleared after opening, except piece_user */
    uint64_t seed;
    lode_cands c;
    float *dense;    /* own, [n_vocab] */
    lode_cand *item; /* own, [n_vocab] */
    lode_history hist;
    lode_tally *tally; /* own, scratch [hist.cap] */
    int *work;         /* own, scratch [hist.cap] */
    struct {
        const lode_sample_kind *kind;
        size_t off; /* of its state in `state` */
    } link[LODE_MAX_LINK];
    int n_link;
    unsigned char *state; /* own */
    size_t state_bytes;
};

/* The i-th token from the end of the history, i < hist.n. */
static inline int lode_history_at(const lode_history *h, int i) {
    const int k = h->next - 1 - i;
    return k < 0 ? k + h->cap : k;
}

/* Streams of random numbers: one per random sampler. */
enum { LODE_STREAM_PICK = 1, LODE_STREAM_XTC = 2 };

#define SAMPLER(id, name, alias, letter, on) extern const lode_sample_kind lode_sample_##name;
#include "lode/samplers.def"
#undef SAMPLER

/* Range checks of all numbers, in params.c. */
lode_status lode_sampler_check(const lode_sampler_desc *d, lode_err *err);
#endif
