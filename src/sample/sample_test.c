/* sample_test.c - the sampler as a whole: parameters, chains as text, random numbers, hostile logits, clones. */
#include "base/test.h"
#include "lode/sample.h"
#include "sample/rng.h"

#include <float.h>
#include <math.h>

static lode_sampler_desc of_vocab(int n) {
    lode_sampler_desc d;
    lode_sampler_defaults(&d);
    d.n_vocab = n;
    d.seed = 42;
    return d;
}

static lode_sampler *open_ok(const lode_sampler_desc *d) {
    lode_sampler *s = NULL;
    lode_err e = { 0 };
    CHECK_OK(lode_sampler_open(&s, d, &e), &e);
    return s;
}

static int32_t sample_ok(lode_sampler *s, const float *logits) {
    lode_err e = { 0 };
    int32_t id = -1;
    CHECK_OK(lode_sampler_sample(s, logits, &id, &e), &e);
    return id;
}

static float noise(uint32_t *x) {
    *x = *x * 1664525u + 1013904223u;
    return (float)(*x >> 8) / 16777216.0f * 10 - 5;
}

TEST(random_numbers_are_those_of_pcg32) {
    (void)state_;
    /* The first numbers of the demo of the PCG library: seed 42, stream 54. */
    const uint32_t want[] = { 0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e };
    rng r;
    rng_seed(&r, 42, 54);
    for (int i = 0; i < 6; i++) assert_int_equal(rng_u32(&r), want[i]);
}

TEST(defaults_are_those_of_llama_server) {
    (void)state_;
    lode_sampler_desc d;
    lode_sampler_defaults(&d);
    const struct {
        const char *name;
        double v;
    } want[] = {
        { "seed", -1 },
        { "repeat_last_n", 64 },
        { "repeat_penalty", 1 },
        { "presence_penalty", 0 },
        { "frequency_penalty", 0 },
        { "dry_multiplier", 0 },
        { "dry_base", 1.75 },
        { "dry_allowed_length", 2 },
        { "dry_penalty_last_n", 64 },
        { "top_n_sigma", -1 },
        { "top_k", 40 },
        { "typical_p", 1 },
        { "top_p", 0.95 },
        { "min_p", 0.05 },
        { "xtc_probability", 0 },
        { "xtc_threshold", 0.1 },
        { "temperature", 0.8 },
        { "dynatemp_range", 0 },
        { "dynatemp_exponent", 1 },
        { "mirostat", 0 },
        { "mirostat_tau", 5 },
        { "mirostat_eta", 0.1 },
        { "adaptive_target", -1 },
        { "adaptive_decay", 0.9 },
        { "min_keep", 0 },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double v = NAN;
        assert_true(lode_sampler_get(&d, want[i].name, &v));
        if (fabs(v - want[i].v) > 1e-6) fail_msg("%s is %g, want %g", want[i].name, v, want[i].v);
    }
    lode_sampler_chain c;
    lode_err e = { 0 };
    CHECK_OK(lode_sampler_chain_parse(&c, "edskypmxt", &e), &e);
    assert_int_equal(c.n, d.chain.n);
    assert_memory_equal(c.kind, d.chain.kind, (size_t)c.n);
}

TEST(a_chain_is_read_from_names_and_from_letters) {
    (void)state_;
    lode_sampler_chain c;
    lode_err e = { 0 };
    CHECK_OK(lode_sampler_chain_parse(&c, "top_k; Top-P ;temp;typical_p;minp;nucleus", &e), &e);
    const int want[] = { LODE_SAMPLER_TOP_K, LODE_SAMPLER_TOP_P, LODE_SAMPLER_TEMPERATURE,
                         LODE_SAMPLER_TYP_P, LODE_SAMPLER_MIN_P, LODE_SAMPLER_TOP_P };
    assert_int_equal(c.n, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(c.kind[i], want[i]);
    CHECK_OK(lode_sampler_chain_parse(&c, "kaite", &e), &e);
    assert_int_equal(c.n, 5);
    assert_int_equal(c.kind[1], LODE_SAMPLER_ADAPTIVE_P);
    CHECK_OK(lode_sampler_chain_parse(&c, "temp", &e), &e);
    assert_int_equal(c.n, 1);
    CHECK_OK(lode_sampler_chain_parse(&c, "", &e), &e);
    assert_int_equal(c.n, 0);
}

TEST(an_unknown_sampler_lists_the_known_ones) {
    (void)state_;
    lode_sampler_chain c = { .n = 7 };
    lode_err e = { 0 };
    CHECK_FAILS(lode_sampler_chain_parse(&c, "top_k;topq", &e), &e, LODE_E_INPUT, "unknown sampler 'topq'");
    assert_non_null(strstr(e.text, "top_p (p), min_p (m)"));
    CHECK_FAILS(lode_sampler_chain_parse(&c, "kq", &e), &e, LODE_E_INPUT, "unknown sampler 'kq'");
    CHECK_FAILS(lode_sampler_chain_parse(&c, "top_k;;top_p", &e), &e, LODE_E_INPUT, "unknown sampler ''");
    CHECK_FAILS(lode_sampler_chain_parse(&c, "dist", &e), &e, LODE_E_INPUT, "unknown sampler 'dist'");
    char many[100] = { 0 };
    memset(many, 'k', 40);
    CHECK_FAILS(lode_sampler_chain_parse(&c, many, &e), &e, LODE_E_INPUT, "more than 32");
    assert_int_equal(c.n, 7);
}

TEST(a_parameter_out_of_range_is_named_with_value_and_range) {
    (void)state_;
    lode_sampler_desc d = of_vocab(8);
    lode_sampler *s;
    lode_err e = { 0 };
    CHECK_FAILS(lode_sampler_set(&d, "top_p", 1.5, &e), &e, LODE_E_INPUT,
                "top_p is 1.5, expected a number from 0 to 1");
    CHECK_FAILS(lode_sampler_set(&d, "top_p", NAN, &e), &e, LODE_E_INPUT, "top_p is nan");
    CHECK_FAILS(lode_sampler_set(&d, "top_k", 2.5, &e), &e, LODE_E_INPUT, "top_k is 2.5, expected a whole number");
    CHECK_FAILS(lode_sampler_set(&d, "top_k", 4e9, &e), &e, LODE_E_INPUT,
                "top_k is 4000000000, expected a number from -1 to 2147483647");
    CHECK_FAILS(lode_sampler_set(&d, "seed", -2, &e), &e, LODE_E_INPUT,
                "seed is -2, expected a number from -1 to 9007199254740992");
    CHECK_FAILS(lode_sampler_set(&d, "top_z", 1, &e), &e, LODE_E_INPUT, "top_z");
    CHECK_OK(lode_sampler_set(&d, "temp", 0.25, &e), &e);
    assert_true(d.temp == 0.25f);
    CHECK_OK(lode_sampler_set(&d, "seed", 4294967295.0, &e), &e);
    assert_true(d.seed == 4294967295);
    CHECK_OK(lode_sampler_set(&d, "top_k", 2147483647, &e), &e);
    d.repeat_penalty = 0;
    CHECK_FAILS(lode_sampler_open(&s, &d, &e), &e, LODE_E_INPUT, "repeat_penalty is 0");
    d = of_vocab(0);
    CHECK_FAILS(lode_sampler_open(&s, &d, &e), &e, LODE_E_INPUT, "n_vocab is 0");
    d = of_vocab(8);
    d.temp = INFINITY;
    CHECK_FAILS(lode_sampler_open(&s, &d, &e), &e, LODE_E_INPUT, "temperature is inf");
    d = of_vocab(8);
    const lode_logit_bias b = { 8, 1 };
    d.logit_bias = &b;
    d.n_logit_bias = 1;
    CHECK_FAILS(lode_sampler_open(&s, &d, &e), &e, LODE_E_INPUT, "token 8, expected 0 to 7");
    assert_null(s);
    lode_sampler_close(NULL);
}

TEST(every_parameter_can_be_listed_and_set_to_its_own_value) {
    (void)state_;
    lode_sampler_desc d;
    lode_sampler_defaults(&d);
    lode_err e = { 0 };
    int n = 0;
    for (; lode_sampler_param_name(n); n++) {
        double v;
        assert_true(lode_sampler_get(&d, lode_sampler_param_name(n), &v));
        CHECK_OK(lode_sampler_set(&d, lode_sampler_param_name(n), v, &e), &e);
    }
    assert_int_equal(n, 25);
}

TEST(every_parameter_takes_the_ends_of_its_range_and_nothing_beyond) {
    (void)state_;
    static const struct {
        const char *name;
        double lo, hi;
    } all[] = {
#define PARAM(field, name, k, def, lo, hi) { name, lo, hi },
#include "sample/params.def"
#undef PARAM
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const double ends[] = { all[i].lo, all[i].hi };
        lode_sampler_desc d;
        lode_sampler_defaults(&d);
        lode_err e = { 0 };
        for (int k = 0; k < 2; k++) {
            double got = 0;
            CHECK_OK(lode_sampler_set(&d, all[i].name, ends[k], &e), &e);
            assert_true(lode_sampler_get(&d, all[i].name, &got));
            assert_true(fabs(got - ends[k]) <= 1e-7 * fabs(ends[k]));
            const double beyond = ends[k] + (k ? 1 : -1) * (fabs(ends[k]) * 0.01 + 1);
            CHECK_FAILS(lode_sampler_set(&d, all[i].name, beyond, &e), &e, LODE_E_INPUT, all[i].name);
        }
        CHECK_FAILS(lode_sampler_set(&d, all[i].name, NAN, &e), &e, LODE_E_INPUT, all[i].name);
    }
}

TEST(frequencies_follow_the_probabilities) {
    (void)state_;
    enum { N = 6, DRAWS = 60000 };
    const float l[N] = { 0, 1, -1, 2, 0.5f, -INFINITY };
    lode_sampler_desc d = of_vocab(N);
    d.temp = 1;
    d.chain.n = 0;
    lode_sampler *s = open_ok(&d);
    int count[N] = { 0 };
    for (int i = 0; i < DRAWS; i++) count[sample_ok(s, l)]++;
    double sum = 0, chi = 0;
    for (int i = 0; i < N; i++) sum += exp((double)l[i]);
    assert_int_equal(count[5], 0);
    for (int i = 0; i < 5; i++) {
        const double want = (double)DRAWS * exp((double)l[i]) / sum;
        chi += (count[i] - want) * (count[i] - want) / want;
    }
    assert_true(chi < 18.5); /* 4 degrees of freedom: exceeded by chance once in 1,000 seeds */
    assert_true(chi > 0.05);
    lode_sampler_close(s);
}

TEST(a_seed_repeats_and_another_one_differs) {
    (void)state_;
    enum { N = 1000 };
    float l[N];
    uint32_t x = 1;
    for (int i = 0; i < N; i++) l[i] = noise(&x) * 0.2f;
    lode_sampler_desc d = of_vocab(N);
    d.xtc_probability = 0.5f;
    lode_sampler *a = open_ok(&d), *b = open_ok(&d);
    d.seed = 43;
    lode_sampler *c = open_ok(&d);
    int differs = 0, first[100];
    for (int i = 0; i < 100; i++) {
        first[i] = sample_ok(a, l);
        assert_int_equal(first[i], sample_ok(b, l));
        differs += first[i] != sample_ok(c, l);
    }
    assert_true(differs > 50);
    lode_sampler_reset(a);
    for (int i = 0; i < 100; i++) assert_int_equal(first[i], sample_ok(a, l));
    assert_true(lode_sampler_seed(c) == 43);
    lode_sampler_close(a);
    lode_sampler_close(b);
    lode_sampler_close(c);
}

/* Everything that remembers: penalties, DRY with a breaker, XTC, and each way of picking. */
TEST(a_sampler_that_was_reset_is_like_a_fresh_one) {
    (void)state_;
    enum { N = 60, STEPS = 80 };
    for (int pick = 0; pick < 4; pick++) {
        float l[N];
        uint32_t x = 5;
        int32_t first[STEPS];
        lode_err e = { 0 };
        for (int i = 0; i < N; i++) l[i] = noise(&x) * 0.2f;
        lode_sampler_desc d = of_vocab(N);
        d.n_ctx = 64;
        d.xtc_probability = 0.5f;
        d.repeat_penalty = 1.5f;
        d.repeat_last_n = 20;
        d.frequency_penalty = 0.5f;
        d.dry_multiplier = 1;
        if (pick == 3)
            d.adaptive_target = 0.5f;
        else
            d.mirostat = pick;
        lode_sampler *s = open_ok(&d);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < STEPS; i++) {
                const int32_t id = sample_ok(s, l);
                if (round == 0) first[i] = id;
                if (id != first[i]) fail_msg("pick %d, round %d, token %d", pick, round, i);
                CHECK_OK(lode_sampler_accept(s, id, &e), &e);
            }
            lode_sampler_reset(s);
        }
        lode_sampler_close(s);
    }
}

TEST(seed_minus_one_takes_the_callers_entropy) {
    (void)state_;
    lode_sampler_desc d = of_vocab(4);
    d.seed = -1;
    d.entropy = 77;
    lode_sampler *s = open_ok(&d);
    assert_true(lode_sampler_seed(s) == 77);
    lode_sampler_close(s);
    d.entropy = 0;
    s = open_ok(&d);
    assert_true(lode_sampler_seed(s) != 0);
    lode_sampler_close(s);
}

/* Runs each way of picking and checks that a clone taken in the middle goes on alike, with its own state. */
TEST(a_clone_goes_on_like_the_original) {
    (void)state_;
    enum { N = 300, HALF = 40 };
    for (int mode = 0; mode < 4; mode++) {
        lode_sampler_desc d = of_vocab(N);
        lode_err e = { 0 };
        CHECK_OK(lode_sampler_chain_parse(&d.chain, mode == 3 ? "edskypmxta" : "edskypmxt", &e), &e);
        d.mirostat = mode < 3 ? mode : 0;
        d.adaptive_target = 0.4f;
        d.xtc_probability = 0.5f;
        d.repeat_penalty = 1.3f;
        d.dry_multiplier = 0.5f;
        lode_sampler *a = open_ok(&d), *b = NULL;
        uint32_t x = 7, y;
        for (int i = 0; i < 2 * HALF; i++) {
            float l[N];
            if (i == HALF) {
                CHECK_OK(lode_sampler_clone(&b, a, &e), &e);
                y = x;
            }
            for (int k = 0; k < N; k++) l[k] = noise(&x);
            const int32_t id = sample_ok(a, l);
            CHECK_OK(lode_sampler_accept(a, id, &e), &e);
            if (b) assert_int_equal(id, sample_ok(b, l));
            if (b) CHECK_OK(lode_sampler_accept(b, id, &e), &e);
        }
        (void)y;
        lode_sampler_close(a);
        float l[N] = { 0 };
        sample_ok(b, l); /* stands alone once the original is closed */
        lode_sampler_close(b);
    }
}

TEST(logits_that_are_not_finite_are_an_error) {
    (void)state_;
    enum { N = 70 };
    float l[N] = { 0 };
    lode_sampler_desc d = of_vocab(N);
    lode_sampler *s = open_ok(&d);
    lode_err e = { 0 };
    int32_t id;
    l[69] = NAN;
    CHECK_FAILS(lode_sampler_sample(s, l, &id, &e), &e, LODE_E_DEVICE, "logits are not finite: token 69 has nan");
    CHECK_FAILS(lode_logprobs(l, N, 0, NULL, NULL, 0, &e), &e, LODE_E_DEVICE, "token 69");
    l[69] = INFINITY;
    CHECK_FAILS(lode_sampler_sample(s, l, &id, &e), &e, LODE_E_DEVICE, "token 69 has inf");
    for (int i = 0; i < N; i++) l[i] = -INFINITY;
    CHECK_FAILS(lode_sampler_sample(s, l, &id, &e), &e, LODE_E_DEVICE, "all 70 tokens have -inf");
    l[33] = -1e30f;
    assert_int_equal(sample_ok(s, l), 33);
    CHECK_FAILS(lode_sampler_accept(s, N, &e), &e, LODE_E_INPUT, "token 70");
    CHECK_FAILS(lode_sampler_accept(s, -1, &e), &e, LODE_E_INPUT, "token -1");
    lode_sampler_close(s);
}

TEST(every_sampler_survives_extreme_logits_and_extreme_parameters) {
    (void)state_;
    enum { N = 130 };
    const float v[] = { FLT_MAX, -FLT_MAX, 0, -INFINITY, 1e-40f, 88, -104, 1e30f };
    const char *chains[] = {
        "e", "d", "s", "k", "y", "p", "m", "x", "t", "i", "a", "edskypmxt", "txmpyksde", "yspmkia"
    };
    uint32_t x = 3;
    lode_err e = { 0 };
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int round = 0; round < 60; round++) {
            lode_sampler_desc d = of_vocab(N);
            CHECK_OK(lode_sampler_chain_parse(&d.chain, chains[c], &e), &e);
            d.mirostat = round % 7 == 0 ? 1 + round % 2 : 0;
            d.temp = round % 5 == 0 ? 1e-30f : round % 5 == 1 ? 1e30f : 0.5f;
            d.repeat_penalty = round % 2 ? 1e30f : 1e-30f;
            d.frequency_penalty = round % 3 ? 1e30f : -1e30f;
            d.dry_multiplier = 1e30f;
            d.dry_allowed_length = 0;
            d.top_k = round % 4 ? 40 : 1;
            d.typical_p = d.top_p = round % 2 ? 0 : 0.5f;
            d.min_p = round % 2 ? 1 : 1e-30f;
            d.xtc_probability = 1;
            d.xtc_threshold = 0;
            d.top_n_sigma = 1e-6f;
            d.adaptive_target = 1;
            d.dynatemp_range = round % 3 ? 0 : 1e30f;
            d.min_keep = round % 3;
            lode_sampler *s = open_ok(&d);
            for (int step = 0; step < 6; step++) {
                float l[N];
                for (int i = 0; i < N; i++) l[i] = v[(int)(noise(&x) + 5) * 7 % 8];
                l[step] = v[round % 3]; /* at least one that is not masked */
                const int32_t id = sample_ok(s, l);
                assert_in_range(id, 0, N - 1);
                assert_true(l[id] > -INFINITY);
                CHECK_OK(lode_sampler_accept(s, id, &e), &e);
            }
            lode_sampler_close(s);
        }
}

TEST(ties_go_to_the_lowest_ids) {
    (void)state_;
    enum { N = 500 };
    float l[N];
    for (int i = 0; i < N; i++) l[i] = i % 5 == 3 ? 2 : 1;
    lode_sampler_desc d = of_vocab(N);
    d.top_k = 7;
    d.top_p = 1;
    d.temp = 1;
    lode_sampler *s = open_ok(&d);
    for (int i = 0; i < 200; i++) {
        const int id = sample_ok(s, l);
        assert_int_equal(id % 5, 3);
        assert_in_range(id, 3, 33);
    }
    lode_sampler_close(s);
    d.temp = 0;
    s = open_ok(&d);
    assert_int_equal(sample_ok(s, l), 3);
    lode_sampler_close(s);
}

TEST(a_large_vocabulary_is_selected_and_sorted_right) {
    (void)state_;
    enum { N = 20000 };
    static float l[N];
    static lode_token_prob top[N], direct[N];
    lode_err e = { 0 };
    for (int shape = 0; shape < 4; shape++) {
        uint32_t x = 99;
        for (int i = 0; i < N; i++)
            l[i] = shape == 0   ? noise(&x)
                   : shape == 1 ? (float)i * 1e-3f
                   : shape == 2 ? (float)-i * 1e-3f
                                : (float)(i % 3);
        for (int k = 1; k < 2 * N; k = k * 3 + 1) {
            lode_sampler_desc d = of_vocab(N);
            CHECK_OK(lode_sampler_chain_parse(&d.chain, "k", &e), &e);
            d.top_k = k;
            lode_sampler *s = open_ok(&d);
            sample_ok(s, l);
            const int n = lode_sampler_probs(s, NULL, top, N);
            assert_int_equal(n, k < N ? k : N);
            for (int i = 1; i < n; i++) {
                const float a = l[top[i - 1].id], b = l[top[i].id];
                assert_true(a > b || (a == b && top[i - 1].id < top[i].id));
            }
            int above = 0; /* nothing outside is better than the last one inside */
            for (int i = 0; i < N; i++)
                above += l[i] > l[top[n - 1].id] || (l[i] == l[top[n - 1].id] && i < top[n - 1].id);
            assert_int_equal(above, n - 1);
            if (k == 40) {
                CHECK_OK(lode_logprobs(l, N, -1, NULL, direct, 40, &e), &e);
                for (int i = 0; i < 40; i++) assert_int_equal(direct[i].id, top[i].id);
            }
            lode_sampler_close(s);
        }
    }
}

TEST(log_probabilities_are_over_all_logits) {
    (void)state_;
    const float l[] = { 1, 700, 699, -INFINITY, 698.5f };
    lode_token_prob top[8], one;
    lode_err e = { 0 };
    CHECK_OK(lode_logprobs(l, 5, 2, &one, top, 8, &e), &e);
    const double norm = log(1 + exp(-1) + exp(-1.5));
    const int order[] = { 1, 2, 4, 0 };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(top[i].id, order[i]);
        assert_true(fabs((double)top[i].logprob - ((double)l[order[i]] - 700 - norm)) < 1e-4);
        assert_true(fabs((double)top[i].prob - exp((double)top[i].logprob)) < 1e-6);
    }
    assert_int_equal(top[4].id, -1);
    assert_int_equal(one.id, 2);
    assert_true(one.logprob == top[1].logprob);
    CHECK_FAILS(lode_logprobs(l, 5, 5, &one, NULL, 0, &e), &e, LODE_E_INPUT, "token 5");
}

TEST(sampling_leaves_the_logits_alone) {
    (void)state_;
    enum { N = 100 };
    float l[N], before[N];
    uint32_t x = 5;
    for (int i = 0; i < N; i++) before[i] = l[i] = noise(&x);
    lode_sampler_desc d = of_vocab(N);
    d.repeat_penalty = 2;
    lode_sampler *s = open_ok(&d);
    lode_err e = { 0 };
    for (int i = 0; i < 10; i++) CHECK_OK(lode_sampler_accept(s, sample_ok(s, l), &e), &e);
    assert_memory_equal(l, before, sizeof l);
    lode_sampler_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_are_those_of_pcg32),
        cmocka_unit_test(defaults_are_those_of_llama_server),
        cmocka_unit_test(a_chain_is_read_from_names_and_from_letters),
        cmocka_unit_test(an_unknown_sampler_lists_the_known_ones),
        cmocka_unit_test(a_parameter_out_of_range_is_named_with_value_and_range),
        cmocka_unit_test(every_parameter_can_be_listed_and_set_to_its_own_value),
        cmocka_unit_test(every_parameter_takes_the_ends_of_its_range_and_nothing_beyond),
        cmocka_unit_test(frequencies_follow_the_probabilities),
        cmocka_unit_test(a_seed_repeats_and_another_one_differs),
        cmocka_unit_test(a_sampler_that_was_reset_is_like_a_fresh_one),
        cmocka_unit_test(seed_minus_one_takes_the_callers_entropy),
        cmocka_unit_test(a_clone_goes_on_like_the_original),
        cmocka_unit_test(logits_that_are_not_finite_are_an_error),
        cmocka_unit_test(every_sampler_survives_extreme_logits_and_extreme_parameters),
        cmocka_unit_test(ties_go_to_the_lowest_ids),
        cmocka_unit_test(a_large_vocabulary_is_selected_and_sorted_right),
        cmocka_unit_test(log_probabilities_are_over_all_logits),
        cmocka_unit_test(sampling_leaves_the_logits_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
