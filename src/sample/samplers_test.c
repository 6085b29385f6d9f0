/* samplers_test.c - each sampler against its definition, written out here in double precision on small vocabularies.
 * A chain's effect is read from lode_sampler_probs: the candidates that are left, with their probabilities. */
#include "base/test.h"
#include "lode/sample.h"

#include <math.h>

enum { N = 12 };
static const float some[N] = { 1.5f, -2.0f, 3.25f, 0.5f, 2.75f, -1.0f, 0.0f, 3.0f, -4.5f, 1.25f, 2.0f, -0.25f };

/* The reference distribution: probability of each token, 0 for one that was removed. */
typedef struct dist_ref {
    double logit[N], p[N];
    bool in[N];
} dist_ref;

static dist_ref ref_of(const float *logits) {
    dist_ref r = { .logit = { 0 } };
    for (int i = 0; i < N; i++) {
        r.logit[i] = (double)logits[i];
        r.in[i] = isfinite(logits[i]);
    }
    return r;
}

static void ref_softmax(dist_ref *r) {
    double sum = 0, max = -INFINITY;
    for (int i = 0; i < N; i++)
        if (r->in[i] && r->logit[i] > max) max = r->logit[i];
    for (int i = 0; i < N; i++) sum += r->p[i] = r->in[i] ? exp(r->logit[i] - max) : 0;
    for (int i = 0; i < N; i++) r->p[i] /= sum;
}

/* Ids by falling probability. */
static int ref_sorted(const dist_ref *r, int *id) {
    int n = 0;
    for (int i = 0; i < N; i++)
        if (r->in[i]) id[n++] = i;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (r->logit[id[k]] > r->logit[id[i]]) {
                const int t = id[i];
                id[i] = id[k];
                id[k] = t;
            }
    return n;
}

static lode_sampler_desc plain(const char *chain) {
    lode_sampler_desc d;
    lode_err e = { 0 };
    lode_sampler_defaults(&d);
    d.n_vocab = N;
    d.seed = 1;
    d.temp = 1;
    CHECK_OK(lode_sampler_chain_parse(&d.chain, chain, &e), &e);
    return d;
}

static lode_sampler *open_ok(const lode_sampler_desc *d) {
    lode_sampler *s = NULL;
    lode_err e = { 0 };
    CHECK_OK(lode_sampler_open(&s, d, &e), &e);
    return s;
}

static void accept_all(lode_sampler *s, const int *ids, int n) {
    lode_err e = { 0 };
    for (int i = 0; i < n; i++) CHECK_OK(lode_sampler_accept(s, ids[i], &e), &e);
}

static void check_left(lode_sampler *s, const float *logits, dist_ref *want) {
    lode_err e = { 0 };
    int32_t id = -1;
    CHECK_OK(lode_sampler_sample(s, logits, &id, &e), &e);
    lode_token_prob top[N], picked;
    const int n = lode_sampler_probs(s, &picked, top, N);
    assert_int_equal(picked.id, id);
    ref_softmax(want);
    double got[N] = { 0 };
    for (int i = 0; i < n; i++) {
        got[top[i].id] = (double)top[i].prob;
        assert_true(fabs((double)top[i].logprob - log((double)top[i].prob)) < 1e-5);
        if (i > 0) assert_true(top[i].prob <= top[i - 1].prob);
    }
    for (int i = 0; i < N; i++)
        if (fabs(got[i] - want->p[i]) > 1e-6) fail_msg("token %d: p %.9g, want %.9g", i, got[i], want->p[i]);
    lode_sampler_close(s);
}

TEST(top_k_keeps_the_k_largest_logits) {
    (void)state_;
    for (int k = 1; k <= N + 3; k++) {
        lode_sampler_desc d = plain("top_k");
        d.top_k = k;
        dist_ref r = ref_of(some);
        int id[N];
        const int n = ref_sorted(&r, id);
        for (int i = k; i < n; i++) r.in[id[i]] = false;
        check_left(open_ok(&d), some, &r);
    }
}

TEST(top_p_keeps_the_smallest_set_that_reaches_p) {
    (void)state_;
    const float ps[] = { 0, 0.2f, 0.5f, 0.8f, 0.95f, 0.999f, 1 };
    for (int t = 0; t < 7; t++) {
        lode_sampler_desc d = plain("top_p");
        d.top_p = ps[t];
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        int id[N];
        const int n = ref_sorted(&r, id);
        double sum = 0;
        for (int i = 0; i < n; i++) {
            if (i > 0 && sum >= (double)ps[t]) r.in[id[i]] = false;
            sum += r.p[id[i]];
        }
        check_left(open_ok(&d), some, &r);
    }
}

TEST(min_p_keeps_what_is_likely_relative_to_the_best) {
    (void)state_;
    const float ps[] = { 0, 0.01f, 0.05f, 0.3f, 0.9f, 1 };
    for (int t = 0; t < 6; t++) {
        lode_sampler_desc d = plain("min_p");
        d.min_p = ps[t];
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        double best = 0;
        for (int i = 0; i < N; i++) best = fmax(best, r.p[i]);
        for (int i = 0; i < N; i++) r.in[i] = r.p[i] >= (double)ps[t] * best * (1 - 1e-7);
        check_left(open_ok(&d), some, &r);
    }
}

TEST(min_keep_holds_back_the_truncating_samplers) {
    (void)state_;
    const char *chains[] = { "top_p", "min_p", "typ_p" };
    for (int t = 0; t < 3; t++) {
        lode_sampler_desc d = plain(chains[t]);
        d.top_p = d.typical_p = 0.01f;
        d.min_p = 1;
        d.min_keep = 4;
        lode_sampler *s = open_ok(&d);
        lode_err e = { 0 };
        int32_t id;
        CHECK_OK(lode_sampler_sample(s, some, &id, &e), &e);
        lode_token_prob top[N];
        assert_int_equal(lode_sampler_probs(s, NULL, top, N), 4);
        lode_sampler_close(s);
    }
}

TEST(typical_p_keeps_the_tokens_nearest_to_the_entropy) {
    (void)state_;
    const float ps[] = { 0, 0.1f, 0.3f, 0.6f, 0.9f, 0.99f };
    for (int t = 0; t < 6; t++) {
        lode_sampler_desc d = plain("typ_p");
        d.typical_p = ps[t];
        dist_ref r = ref_of(some), key = r;
        ref_softmax(&r);
        double h = 0;
        for (int i = 0; i < N; i++) h -= r.p[i] * log(r.p[i]);
        for (int i = 0; i < N; i++) key.logit[i] = -fabs(-log(r.p[i]) - h);
        int id[N];
        const int n = ref_sorted(&key, id);
        double sum = 0;
        for (int i = 0; i < n; i++) {
            if (i > 0 && sum > (double)ps[t]) r.in[id[i]] = false;
            sum += r.p[id[i]];
        }
        check_left(open_ok(&d), some, &r);
    }
}

TEST(top_n_sigma_cuts_below_the_best_less_n_deviations) {
    (void)state_;
    const float ns[] = { 0.1f, 0.5f, 1, 2, 5 };
    for (int t = 0; t < 5; t++) {
        lode_sampler_desc d = plain("top_n_sigma");
        d.top_n_sigma = ns[t];
        dist_ref r = ref_of(some);
        double mean = 0, var = 0, max = -1e9;
        for (int i = 0; i < N; i++) mean += r.logit[i] / (double)N;
        for (int i = 0; i < N; i++) {
            var += (r.logit[i] - mean) * (r.logit[i] - mean) / (double)N;
            max = fmax(max, r.logit[i]);
        }
        for (int i = 0; i < N; i++) r.in[i] = r.logit[i] >= max - (double)ns[t] * sqrt(var);
        check_left(open_ok(&d), some, &r);
    }
}

TEST(xtc_drops_all_tokens_above_the_threshold_but_the_least_likely) {
    (void)state_;
    const float ts[] = { 0.01f, 0.05f, 0.1f, 0.2f, 0.3f, 0.5f, 0.6f };
    for (int t = 0; t < 7; t++) {
        lode_sampler_desc d = plain("xtc");
        d.xtc_probability = 1;
        d.xtc_threshold = ts[t];
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        int id[N];
        ref_sorted(&r, id);
        int above = 0;
        while (above < N && r.p[id[above]] >= (double)ts[t]) above++;
        if (ts[t] <= 0.5f)
            for (int i = 0; i + 1 < above; i++) r.in[id[i]] = false;
        check_left(open_ok(&d), some, &r);
    }
}

TEST(xtc_acts_with_its_probability) {
    (void)state_;
    lode_sampler_desc d = plain("xtc");
    d.xtc_probability = 0.3f;
    d.xtc_threshold = 0.1f;
    lode_sampler *s = open_ok(&d);
    int acted = 0;
    for (int i = 0; i < 20000; i++) {
        int32_t id;
        lode_token_prob top[N];
        lode_err e = { 0 };
        CHECK_OK(lode_sampler_sample(s, some, &id, &e), &e);
        acted += lode_sampler_probs(s, NULL, top, N) < N;
    }
    assert_in_range(acted, 5700, 6300); /* 6000, deviation 65 */
    lode_sampler_close(s);
}

TEST(temperature_divides_and_zero_is_greedy) {
    (void)state_;
    const float ts[] = { 0.1f, 0.8f, 1, 2.5f, 0, -1 };
    for (int t = 0; t < 6; t++) {
        lode_sampler_desc d = plain("temperature");
        d.temp = ts[t];
        dist_ref r = ref_of(some);
        for (int i = 0; i < N; i++) {
            if (ts[t] > 0)
                r.logit[i] /= (double)ts[t];
            else
                r.in[i] = i == 2;
        }
        check_left(open_ok(&d), some, &r);
    }
}

TEST(dynamic_temperature_follows_the_entropy) {
    (void)state_;
    const float cases[][3] = { { 1, 0.5f, 1 }, { 0.8f, 2, 1 }, { 1.5f, 1, 0.5f }, { 1, 1, 2 } };
    for (int t = 0; t < 4; t++) {
        lode_sampler_desc d = plain("temperature");
        d.temp = cases[t][0];
        d.dynatemp_range = cases[t][1];
        d.dynatemp_exponent = cases[t][2];
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        double h = 0;
        for (int i = 0; i < N; i++) h -= r.p[i] * log(r.p[i]);
        const double lo = fmax(0, (double)d.temp - (double)d.dynatemp_range);
        const double hi = (double)d.temp + (double)d.dynatemp_range;
        const double temp = lo + (hi - lo) * pow(h / log(N), (double)d.dynatemp_exponent);
        for (int i = 0; i < N; i++) r.logit[i] /= temp;
        check_left(open_ok(&d), some, &r);
    }
}

TEST(penalties_count_the_last_n_tokens) {
    (void)state_;
    const int past[] = { 8, 8, 2, 1, 2, 7, 2 };
    for (int last_n = 0; last_n <= 8; last_n++)
        for (int sparse = 0; sparse < 2; sparse++) {
            lode_sampler_desc d = plain(sparse ? "top_p;penalties" : "penalties");
            d.top_p = 0.99999f;
            d.repeat_last_n = last_n;
            d.repeat_penalty = 1.5f;
            d.frequency_penalty = 0.25f;
            d.presence_penalty = 0.125f;
            lode_sampler *s = open_ok(&d);
            accept_all(s, past, 7);
            dist_ref r = ref_of(some);
            for (int i = 0; i < N; i++) {
                int count = 0;
                for (int k = 0; k < 7; k++) count += past[k] == i && 7 - k <= last_n;
                if (count == 0) continue;
                r.logit[i] = r.logit[i] > 0 ? r.logit[i] / 1.5 : r.logit[i] * 1.5;
                r.logit[i] -= 0.25 * count + 0.125;
            }
            check_left(s, some, &r);
        }
}

TEST(a_last_n_of_minus_one_is_the_context) {
    (void)state_;
    lode_sampler_desc d = plain("penalties");
    d.repeat_last_n = -1;
    d.presence_penalty = 1;
    lode_sampler *s;
    lode_err e = { 0 };
    CHECK_FAILS(lode_sampler_open(&s, &d, &e), &e, LODE_E_INPUT, "repeat_last_n");
    d.n_ctx = 3;
    s = open_ok(&d);
    const int past[] = { 5, 1, 2, 3 };
    accept_all(s, past, 4);
    dist_ref r = ref_of(some);
    for (int i = 1; i < 4; i++) r.logit[past[i]] -= 1;
    check_left(s, some, &r);
}

/* Tokens as texts: 0..9 are letters, 10 is "x:", 11 is "\n". */
static size_t letters(void *user, int32_t id, char *buf, size_t cap) {
    (void)user;
    char text[3] = { (char)('a' + id), 0, 0 };
    if (id == 10) memcpy(text, "x:", 3);
    if (id == 11) memcpy(text, "\n", 2);
    const size_t n = strlen(text);
    memcpy(buf, text, n < cap ? n : cap);
    return n;
}

/* DRY by its definition: for every token, the longest L such that the last L tokens, without a breaker among them,
 * also stand before an earlier occurrence of it. */
static void ref_dry(dist_ref *r, const lode_sampler_desc *d, const int *past, int n, const bool *breaks,
                    const bool *holds) {
    const int from = n > d->dry_penalty_last_n ? n - d->dry_penalty_last_n : 0;
    for (int t = 0; t < N; t++) {
        int longest = -1;
        for (int at = from + 1; at < n; at++) {
            if (past[at] != t) continue;
            int len = 0;
            while (at - 1 - len >= from && past[at - 1 - len] == past[n - 1 - len] && !breaks[n - 1 - len]) len++;
            if (len > longest) longest = len;
        }
        if (longest >= d->dry_allowed_length && !holds[t])
            r->logit[t] -= (double)d->dry_multiplier * pow((double)d->dry_base, longest - d->dry_allowed_length);
    }
}

TEST(dry_penalises_what_would_extend_a_repetition) {
    (void)state_;
    uint32_t x = 12345;
    bool hit = false;
    for (int round = 0; round < 400; round++) {
        lode_sampler_desc d = plain(round % 2 ? "dry" : "top_p;dry");
        d.top_p = 0.99999f;
        d.dry_multiplier = 0.8f;
        d.dry_allowed_length = round % 4;
        d.dry_penalty_last_n = 3 + round % 40;
        d.piece = letters;
        int past[60], n = 1 + round % 60;
        bool breaks[60] = { false }, holds[N] = { false };
        holds[10] = holds[11] = true;
        for (int i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            const uint32_t v = x >> 16;
            past[i] = v % 23 == 0 ? 10 + (int)(v / 23 % 2) : (int)(v % 3);
            breaks[i] = past[i] >= 10;
        }
        lode_sampler *s = open_ok(&d);
        accept_all(s, past, n);
        dist_ref r = ref_of(some), r0 = r;
        ref_dry(&r, &d, past, n, breaks, holds);
        for (int i = 0; i < N; i++) hit = hit || r.logit[i] < r0.logit[i] - 1.5;
        check_left(s, some, &r);
    }
    assert_true(hit);
}

TEST(a_dry_breaker_may_stretch_over_tokens) {
    (void)state_;
    const lode_slice cd = { "cd", 2 };
    lode_sampler_desc d = plain("dry");
    d.dry_multiplier = 1;
    d.dry_breakers = &cd;
    d.n_dry_breakers = 1;
    d.piece = letters;
    const int past[] = { 0, 1, 2, 3, 4, 0, 1, 2, 3 }; /* abcde abcd: e would repeat, but "cd" has just ended */
    bool breaks[9] = { false }, holds[N] = { false };
    breaks[3] = breaks[8] = true;
    for (int n = 7; n <= 9; n++) {
        lode_sampler *s = open_ok(&d);
        accept_all(s, past, n);
        dist_ref r = ref_of(some);
        ref_dry(&r, &d, past, n, breaks, holds);
        assert_true((r.logit[past[n - 5]] < (double)some[past[n - 5]]) == (n < 9));
        check_left(s, some, &r);
    }
}

TEST(a_logit_bias_adds_and_forbids) {
    (void)state_;
    const lode_logit_bias bias[] = { { 7, 2.5f }, { 2, -INFINITY }, { 7, -0.5f }, { 0, -1 } };
    lode_sampler_desc d = plain("");
    d.logit_bias = bias;
    d.n_logit_bias = 4;
    dist_ref r = ref_of(some);
    r.logit[7] += 2;
    r.logit[0] -= 1;
    r.in[2] = false;
    check_left(open_ok(&d), some, &r);
}

TEST(forbidding_every_token_is_an_error) {
    (void)state_;
    lode_logit_bias bias[N];
    for (int i = 0; i < N; i++) bias[i] = (lode_logit_bias){ i, -INFINITY };
    lode_sampler_desc d = plain("top_k");
    d.logit_bias = bias;
    d.n_logit_bias = N;
    lode_sampler *s = open_ok(&d);
    lode_err e = { 0 };
    int32_t id;
    CHECK_FAILS(lode_sampler_sample(s, some, &id, &e), &e, LODE_E_INPUT, "forbids every token");
    lode_sampler_close(s);
}

TEST(mirostat_2_keeps_tokens_below_its_surprise_and_learns) {
    (void)state_;
    lode_sampler_desc d = plain("top_k");
    d.mirostat = 2;
    d.mirostat_tau = 1.5f;
    d.mirostat_eta = 0.2f;
    lode_sampler *s = open_ok(&d);
    double mu = 2 * 1.5;
    lode_err e = { 0 };
    for (int step = 0; step < 50; step++) {
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        for (int i = 0; i < N; i++) r.in[i] = i == 2 || -log2(r.p[i]) <= mu;
        ref_softmax(&r);
        int32_t id;
        CHECK_OK(lode_sampler_sample(s, some, &id, &e), &e);
        lode_token_prob top[N];
        const int n = lode_sampler_probs(s, NULL, top, N);
        int want = 0;
        for (int i = 0; i < N; i++) want += r.in[i];
        assert_int_equal(n, want);
        for (int i = 0; i < n; i++) assert_true(fabs((double)top[i].prob - r.p[top[i].id]) < 1e-5);
        CHECK_OK(lode_sampler_accept(s, id, &e), &e);
        mu -= 0.2 * (-log2(r.p[id]) - 1.5);
    }
    lode_sampler_close(s);
}

TEST(mirostat_1_takes_the_k_that_the_law_of_zipf_asks_for) {
    (void)state_;
    lode_sampler_desc d = plain("");
    d.mirostat = 1;
    d.mirostat_tau = 1;
    d.mirostat_eta = 0.3f;
    lode_sampler *s = open_ok(&d);
    double mu = 2;
    lode_err e = { 0 };
    for (int step = 0; step < 50; step++) {
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        int id[N];
        ref_sorted(&r, id);
        double tb = 0, tt = 0;
        for (int i = 0; i + 1 < N; i++) {
            const double t = log((i + 2.0) / (i + 1.0));
            tb += t * log(r.p[id[i]] / r.p[id[i + 1]]);
            tt += t * t;
        }
        const double zipf = tb / tt, eps = zipf - 1;
        double k = pow(eps * pow(2, mu) / (1 - pow(N, -eps)), 1 / zipf);
        k = fmin(N, fmax(1, floor(k)));
        for (int i = (int)k; i < N; i++) r.in[id[i]] = false;
        ref_softmax(&r);
        int32_t got;
        CHECK_OK(lode_sampler_sample(s, some, &got, &e), &e);
        lode_token_prob top[N];
        assert_int_equal(lode_sampler_probs(s, NULL, top, N), (int)k);
        CHECK_OK(lode_sampler_accept(s, got, &e), &e);
        mu -= 0.3 * (-log2(r.p[got]) - 1);
    }
    lode_sampler_close(s);
}

TEST(adaptive_p_bends_towards_its_aim_and_moves_it) {
    (void)state_;
    lode_sampler_desc d = plain("adaptive_p;min_p");
    d.adaptive_target = 0.3f;
    d.adaptive_decay = 0.8f;
    d.min_p = 0.02f;
    lode_sampler *s = open_ok(&d);
    double sum = 0.3 / (1 - 0.8), weight = 1 / (1 - 0.8);
    lode_err e = { 0 };
    for (int step = 0; step < 50; step++) {
        dist_ref r = ref_of(some);
        ref_softmax(&r);
        for (int i = 0; i < N; i++) r.in[i] = r.logit[i] >= 3.25 + log(0.02);
        ref_softmax(&r);
        dist_ref bent = r;
        const double aim = fmin(1, fmax(0, 2 * 0.3 - sum / weight));
        for (int i = 0; i < N; i++) {
            const double x = fabs(r.p[i] - aim) / 0.3;
            bent.logit[i] = 5 - 10 * x * x / (1 + x);
        }
        ref_softmax(&bent);
        int32_t id;
        CHECK_OK(lode_sampler_sample(s, some, &id, &e), &e);
        lode_token_prob top[N];
        const int n = lode_sampler_probs(s, NULL, top, N);
        for (int i = 0; i < n; i++) assert_true(fabs((double)top[i].prob - bent.p[top[i].id]) < 1e-4);
        CHECK_OK(lode_sampler_accept(s, id, &e), &e);
        sum = r.p[id] + 0.8 * sum;
        weight = 1 + 0.8 * weight;
    }
    lode_sampler_close(s);
}

TEST(infill_ends_when_no_text_stands_out) {
    (void)state_;
    const int32_t eog[] = { 11 };
    lode_sampler_desc d = plain("infill");
    d.eog = eog;
    d.n_eog = 1;
    d.piece = letters;
    float l[N];
    for (int i = 0; i < N; i++) l[i] = i < 2 ? 5 : -5; /* two clear texts stay */
    dist_ref r = ref_of(l);
    for (int i = 0; i < N; i++) r.in[i] = i < 2 || i == 11;
    check_left(open_ok(&d), l, &r);
    for (int i = 0; i < N; i++) l[i] = i == 11 ? -9 : 0; /* eleven equal texts below 0.2 */
    r = ref_of(l);
    for (int i = 0; i < N; i++) r.in[i] = i == 11;
    check_left(open_ok(&d), l, &r);
    l[11] = 0; /* the end as likely as any text */
    r = ref_of(l);
    for (int i = 0; i < N; i++) r.in[i] = i == 11;
    check_left(open_ok(&d), l, &r);
}

/* Two texts as likely as each other and an end: it ends where three times the end's probability is above the average
 * over all three, which is 2/3 of a text's. */
TEST(infill_ends_where_ending_is_likelier_than_a_third_of_an_average_text) {
    (void)state_;
    static const double ends[] = { 0.05, 0.2, 0.215, 0.23, 0.5, 0.65, 0.9, 3 }; /* times a text's; 2/9 decides */
    const int32_t eog[] = { 11 };
    lode_sampler_desc d = plain("infill");
    d.eog = eog;
    d.n_eog = 1;
    d.piece = letters;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        float l[N];
        for (int i = 0; i < N; i++) l[i] = i < 2 ? 1 : -INFINITY;
        l[11] = 1 + (float)log(ends[k]);
        dist_ref r = ref_of(l);
        for (int i = 0; i < 2; i++) r.in[i] = ends[k] < 2.0 / 9;
        check_left(open_ok(&d), l, &r);
    }
}

TEST(order_matters_where_the_definition_says_so) {
    (void)state_;
    lode_sampler_desc d = plain("temperature;top_p");
    d.temp = 3;
    d.top_p = 0.7f;
    dist_ref r = ref_of(some), cold = r;
    for (int i = 0; i < N; i++) r.logit[i] /= 3;
    int id[N], n_hot = 0, n_cold = 0;
    for (int hot = 0; hot < 2; hot++) {
        dist_ref *q = hot ? &r : &cold;
        ref_softmax(q);
        ref_sorted(q, id);
        double sum = 0;
        int n = 0;
        while (sum < (double)d.top_p) sum += q->p[id[n++]];
        for (int i = n; i < N; i++) q->in[id[i]] = false;
        *(hot ? &n_hot : &n_cold) = n;
    }
    assert_true(n_hot > n_cold);
    check_left(open_ok(&d), some, &r);
    lode_err e = { 0 };
    CHECK_OK(lode_sampler_chain_parse(&d.chain, "pt", &e), &e);
    for (int i = 0; i < N; i++) cold.logit[i] /= 3;
    check_left(open_ok(&d), some, &cold);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_k_keeps_the_k_largest_logits),
        cmocka_unit_test(top_p_keeps_the_smallest_set_that_reaches_p),
        cmocka_unit_test(min_p_keeps_what_is_likely_relative_to_the_best),
        cmocka_unit_test(min_keep_holds_back_the_truncating_samplers),
        cmocka_unit_test(typical_p_keeps_the_tokens_nearest_to_the_entropy),
        cmocka_unit_test(top_n_sigma_cuts_below_the_best_less_n_deviations),
        cmocka_unit_test(xtc_drops_all_tokens_above_the_threshold_but_the_least_likely),
        cmocka_unit_test(xtc_acts_with_its_probability),
        cmocka_unit_test(temperature_divides_and_zero_is_greedy),
        cmocka_unit_test(dynamic_temperature_follows_the_entropy),
        cmocka_unit_test(penalties_count_the_last_n_tokens),
        cmocka_unit_test(a_last_n_of_minus_one_is_the_context),
        cmocka_unit_test(dry_penalises_what_would_extend_a_repetition),
        cmocka_unit_test(a_dry_breaker_may_stretch_over_tokens),
        cmocka_unit_test(a_logit_bias_adds_and_forbids),
        cmocka_unit_test(forbidding_every_token_is_an_error),
        cmocka_unit_test(mirostat_2_keeps_tokens_below_its_surprise_and_learns),
        cmocka_unit_test(mirostat_1_takes_the_k_that_the_law_of_zipf_asks_for),
        cmocka_unit_test(adaptive_p_bends_towards_its_aim_and_moves_it),
        cmocka_unit_test(infill_ends_where_ending_is_likelier_than_a_third_of_an_average_text),
        cmocka_unit_test(infill_ends_when_no_text_stands_out),
        cmocka_unit_test(order_matters_where_the_definition_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
