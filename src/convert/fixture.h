/* fixture.h - conformance fixtures: a whole tiny checkpoint as one JSON file whose weights come from a generator, with
 * the logits that the reference implementation computed. tests/golden holds them; tests and tests/tools/fixture use
 * this. */
#ifndef LODE_CONVERT_FIXTURE_H
#define LODE_CONVERT_FIXTURE_H

#include "convert/json.h"

typedef struct lode_fixture {
    json_t *root;  /* own */
    char name[64]; /* file name without .json */
    int32_t *ids;  /* own, [n_ids] */
    int n_ids;
    int32_t *positions; /* own, [n_positions]: whose logits are stored */
    int n_positions;
    float *logits; /* own, [n_positions][n_vocab] */
    int n_vocab;
    int32_t *greedy;   /* own, [n_greedy]: the reference's greedy continuation */
    float *greedy_gap; /* own, [n_greedy]: the best logit less the second best: compare above 0.05 only */
    int n_greedy;
} lode_fixture;

lode_status lode_fixture_open(lode_fixture *f, const char *path, lode_err *err);
void lode_fixture_close(lode_fixture *f);
/* Writes config.json and model.safetensors (BF16) into `dir`, which is made if it is not there. */
lode_status lode_fixture_write(const lode_fixture *f, const char *dir, lode_err *err);
/* The generator: element i of the tensor with this seed, before rounding to BF16. */
uint64_t lode_fixture_seed(const char *salt, const char *name);
float lode_fixture_value(uint64_t seed, uint64_t i, float offset, float scale);
#endif
