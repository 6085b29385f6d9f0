/* hparams_test.c - rope settings made of a file's numbers. */
#include "base/test.h"
#include "lode/gguf.h"
#include "model/model.h"
#include "ops/rope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *key;
    double v;
} number;

/* The settings that a file of this type and with these numbers gives. */
static lode_status read_rope(const char *type, const number *numbers, size_t n, lode_hparams *hp, lode_err *e) {
    static const number always[] = {
        { "llama.block_count", 1 },          { "llama.embedding_length", 256 },
        { "llama.feed_forward_length", 64 }, { "llama.attention.head_count", 4 },
        { "llama.context_length", 65536 },   { "llama.rope.scaling.original_context_length", 4096 }
    };
    char path[] = "/tmp/lode-hparams-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    lode_gguf_writer *w;
    lode_gguf *g;
    CHECK_OK(lode_gguf_writer_open(&w, path, e), e);
    lode_gguf_set_str(w, "general.architecture", "llama", 5);
    lode_gguf_set_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    lode_gguf_set_str(w, "llama.rope.scaling.type", type, strlen(type));
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        lode_gguf_set_u32(w, always[i].key, (uint32_t)always[i].v);
    for (size_t i = 0; i < n; i++) lode_gguf_set_f32(w, numbers[i].key, (float)numbers[i].v);
    CHECK_OK(lode_gguf_begin(w, e), e);
    CHECK_OK(lode_gguf_finish(w, e), e);
    CHECK_OK(lode_gguf_open(&g, path, e), e);
    memset(hp, 0, sizeof *hp);
    const lode_status s = lode_hparams_read(hp, g, lode_arch_find("llama", 5), e);
    lode_gguf_close(g);
    unlink(path);
    return s;
}

#define KEY(k) "llama.rope.scaling." k

/* Magnitudes and frequencies that transformers 5's _compute_yarn_parameters gives in double precision for heads of 64,
 * base 10000 and 4096 positions in training. */
TEST(yarn_is_that_of_transformers) {
    (void)state_;
    enum { N_PAIRS = 6 };
    static const int pairs[N_PAIRS] = { 0, 8, 12, 16, 20, 31 };
    static const struct {
        number n[4];
        double magnitude, frequency[N_PAIRS];
    } rows[] = {
        { { { KEY("factor"), 4 } },
          1.138629436111989,
          { 1, 0.1, 0.02797399468610489, 0.006538461538461538, 0.0013378867023789297, 3.33380358040831e-05 } },
        { { { KEY("factor"), 4 }, { KEY("yarn_attn_factor"), 1.5 } },
          1.5,
          { 1, 0.1, 0.02797399468610489, 0.006538461538461538, 0.0013378867023789297, 3.33380358040831e-05 } },
        { { { KEY("factor"), 16 }, { KEY("yarn_attn_factor"), 0.75 }, { KEY("yarn_log_multiplier"), 1 } },
          0.75,
          { 1, 0.1, 0.027061799207210167, 0.005673076923076923, 0.0008817889629315673, 8.334508951020775e-06 } },
        { { { KEY("factor"), 8 }, { KEY("yarn_beta_fast"), 16 }, { KEY("yarn_beta_slow"), 2 } },
          1.2079441541679836,
          { 1, 0.1, 0.03162277660168379, 0.006111111111111111, 0.0007027283689263067, 1.666901790204155e-05 } },
        { { { KEY("factor"), 16 }, { KEY("yarn_log_multiplier"), 0.5 } },
          1.121751143713058,
          { 1, 0.1, 0.027061799207210167, 0.005673076923076923, 0.0008817889629315673, 8.334508951020775e-06 } },
        { { { KEY("factor"), 16 }, { KEY("yarn_log_multiplier"), 1 } },
          1,
          { 1, 0.1, 0.027061799207210167, 0.005673076923076923, 0.0008817889629315673, 8.334508951020775e-06 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lode_err e = { 0 };
        lode_hparams *hp = calloc(1, sizeof *hp);
        size_t n = 0;
        while (n < 4 && rows[i].n[n].key) n++;
        CHECK_OK(read_rope("yarn", rows[i].n, n, hp, &e), &e);
        /* 1e-6: the settings are floats */
        assert_true(fabs(lode_rope_magnitude(&hp->rope) / rows[i].magnitude - 1) < 1e-6);
        for (int k = 0; k < N_PAIRS; k++)
            assert_true(fabs(lode_rope_frequency(&hp->rope, pairs[k], 1) / rows[i].frequency[k] - 1) < 1e-6);
        free(hp);
    }
}

/* Without mixing every pair is slowed by the factor; the magnitude stays, and attn_factor multiplies it. */
TEST(yarn_without_mixing_is_linear_with_a_magnitude) {
    (void)state_;
    lode_err e = { 0 };
    lode_hparams *hp = calloc(1, sizeof *hp);
    static const number n[] = { { KEY("factor"), 4 }, { KEY("yarn_ext_factor"), 0 }, { KEY("attn_factor"), 2 } };
    CHECK_OK(read_rope("yarn", n, 3, hp, &e), &e);
    assert_true(fabs(lode_rope_magnitude(&hp->rope) / (2 * (1 + 0.1 * log(4))) - 1) < 1e-6);
    for (int k = 0; k < 32; k++)
        assert_true(fabs(lode_rope_frequency(&hp->rope, k, 1) / (pow(10000, -k / 32.0) / 4) - 1) < 1e-6);
    free(hp);
}

TEST(numbers_below_zero_are_refused) {
    (void)state_;
    static const char *const keys[] = { KEY("yarn_attn_factor"), KEY("yarn_beta_fast"), KEY("yarn_beta_slow"),
                                        KEY("yarn_log_multiplier") };
    lode_hparams *hp = calloc(1, sizeof *hp);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        lode_err e = { 0 };
        const number n[] = { { KEY("factor"), 4 }, { keys[i], -1 } };
        CHECK_FAILS(read_rope("yarn", n, 2, hp, &e), &e, LODE_E_FORMAT, "below 0");
    }
    free(hp);
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(yarn_is_that_of_transformers),
        cmocka_unit_test(yarn_without_mixing_is_linear_with_a_magnitude),
        cmocka_unit_test(numbers_below_zero_are_refused),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
