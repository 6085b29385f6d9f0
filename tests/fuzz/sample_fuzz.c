/* sample_fuzz.c - fuzz target of sampling: a chain as text, numbers by name, then a few tokens. Input: logits (32
 * bytes), the chain, NUL, then "name=value" texts separated by NULs. Run: make fuzz F=sample */
#include "lode/sample.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { N_VOCAB = 32, N_STEPS = 6 };

/* A chain that was read reads the same when it is written out by names. */
static void check_chain(const lode_sampler_chain *c) {
    FUZZ_CHECK(c->n >= 0 && c->n <= LODE_MAX_CHAIN);
    char text[LODE_MAX_CHAIN * 16] = "";
    lode_err e = { 0 };
    lode_sampler_chain again;
    for (int i = 0; i < c->n; i++) {
        if (i) strcat(text, ";");
        FUZZ_CHECK(lode_sampler_kind_name(c->kind[i]));
        strcat(text, lode_sampler_kind_name(c->kind[i]));
    }
    FUZZ_CHECK(lode_sampler_chain_parse(&again, text, &e) == LODE_OK);
    FUZZ_CHECK(again.n == c->n && memcmp(again.kind, c->kind, (size_t)c->n) == 0);
}

/* "name=value": a value that is taken is there afterwards, one that is refused changes nothing. */
static void set_number(lode_sampler_desc *d, char *text) {
    char *eq = strchr(text, '=');
    if (!eq) return;
    *eq = '\0';
    const double v = strtod(eq + 1, NULL);
    double before = 0, after = 0;
    lode_err e = { 0 };
    const bool known = lode_sampler_get(d, text, &before);
    const lode_status s = lode_sampler_set(d, text, v, &e);
    FUZZ_CHECK(lode_sampler_get(d, text, &after) == known);
    FUZZ_CHECK(known || s != LODE_OK);
    if (s == LODE_OK)
        FUZZ_CHECK(fabs(after - v) <= 1e-6 * fabs(v) + 1e-30);
    else
        FUZZ_CHECK(memcmp(&before, &after, sizeof after) == 0);
    if (s != LODE_OK) fuzz_check_error(&e);
}

static size_t piece(void *user, int32_t id, char *buf, size_t cap) {
    (void)user;
    if (cap) buf[0] = id % 3 ? (char)('a' + id % 26) : '\n';
    return 1;
}

/* What is picked is a token that the logits allow; a clone picks the same. */
static void pick(lode_sampler *s, const float *logits) {
    for (int i = 0; i < N_STEPS; i++) {
        lode_err e = { 0 };
        lode_sampler *twin;
        int32_t id = -1, other = -1;
        FUZZ_CHECK(lode_sampler_clone(&twin, s, &e) == LODE_OK);
        const lode_status st = lode_sampler_sample(s, logits, &id, &e);
        FUZZ_CHECK(lode_sampler_sample(twin, logits, &other, &e) == st);
        lode_sampler_close(twin);
        if (st != LODE_OK) {
            fuzz_check_error(&e);
            return;
        }
        FUZZ_CHECK(id >= 0 && id < N_VOCAB && id == other && logits[id] > -INFINITY);
        lode_token_prob picked, top[N_VOCAB];
        const int n = lode_sampler_probs(s, &picked, top, N_VOCAB);
        FUZZ_CHECK(n >= 0 && n <= N_VOCAB && picked.id == id && picked.prob >= 0 && picked.prob <= 1.00001f);
        FUZZ_CHECK(lode_sampler_accept(s, id, &e) == LODE_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    fuzz_input in = { (const char *)data, n };
    lode_sampler_desc d;
    lode_err e = { 0 };
    float logits[N_VOCAB];
    lode_sampler_defaults(&d);
    d.n_vocab = N_VOCAB;
    d.n_ctx = 64;
    d.seed = 1;
    d.piece = piece;
    for (int i = 0; i < N_VOCAB; i++) {
        const unsigned b = fuzz_byte(&in);
        logits[i] = b == 255 ? -INFINITY : ((float)b - 128.0f) * 0.25f;
    }
    char *chain = fuzz_cstr(&in);
    if (lode_sampler_chain_parse(&d.chain, chain, &e) == LODE_OK)
        check_chain(&d.chain);
    else
        fuzz_check_error(&e);
    free(chain);
    while (in.n) {
        char *text = fuzz_cstr(&in);
        set_number(&d, text);
        free(text);
    }
    lode_sampler *s;
    if (d.seed < 0) d.entropy = 1;
    if (lode_sampler_open(&s, &d, &e) != LODE_OK) {
        fuzz_check_error(&e);
        return 0;
    }
    pick(s, logits);
    lode_sampler_close(s);
    return 0;
}
