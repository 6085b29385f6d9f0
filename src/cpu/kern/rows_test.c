/* rows_test.c - the row functions of every table against the maths library in double, at lengths around the vectors. */
#include "cpu/kern/kern.h"

#include "base/test.h"
#include "lode/quant.h"

#include <float.h>
#include <math.h>

enum { N = 1000 };

static const lode_kern *tables[4];
static int n_tables;
static float a[N], b[N], y[N + 1];
static const int64_t lengths[] = { 1, 3, 8, 17, 64, 67, 576, 999 };
enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

static uint32_t seed = 1;
static float noise(void) {
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) * 0x1p-23f - 1.0f;
}

/* `got` may be off by `ulps` units in the last place of the exact value, or by next to nothing. */
static void near(const char *what, double got, double want, double ulps) {
    if (isnan(want) ? isnan(got) : fabs(got - want) <= ulps * 0x1p-24 * 2 * fabs(want) + 1e-36 || got == want) return;
    if (fabs(want) > (double)FLT_MAX && isinf(got)) return;
    fail_msg("%s: %.9g, want %.9g", what, got, want);
}

static double silu(double x) { return x / (1 + exp(-x)); }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x))); }
static double gelu_erf(double x) { return 0.5 * x * (1 + erf(x * 0.7071067811865476)); }
static double relu(double x) { return x > 0 ? x : 0; }

static void check_unary(const char *what, void (*fn)(const float *, float *, int64_t), double (*want)(double),
                        double ulps) {
    for (int l = 0; l < N_LENGTHS; l++) {
        for (int i = 0; i < N; i++) a[i] = noise() * (i % 3 ? 4.0f : 100.0f);
        a[0] = l % 2 ? 0.0f : -200.0f;
        y[lengths[l]] = 7.0f;
        fn(a, y, lengths[l]);
        assert_true(y[lengths[l]] == 7.0f);
        for (int64_t i = 0; i < lengths[l]; i++) {
            /* far left tails are differences of nearly equal numbers: compare them absolutely */
            if (ulps > 50 && fabs(want((double)a[i])) < 1e-2)
                assert_true(fabs((double)y[i] - want((double)a[i])) < 2e-7);
            else
                near(what, (double)y[i], want((double)a[i]), ulps);
        }
    }
}

TEST(functions_of_one_value_are_close_to_the_exact_ones) {
    (void)state_;
    for (int t = 0; t < n_tables; t++) {
        const lode_kern *k = tables[t];
        check_unary("exp", k->exp, exp, 2);
        check_unary("tanh", k->tanh, tanh, 3);
        check_unary("silu", k->silu, silu, 4);
        check_unary("sigmoid", k->sigmoid, sigmoid, 4);
        check_unary("gelu", k->gelu, gelu, 100);
        check_unary("gelu_erf", k->gelu_erf, gelu_erf, 100);
        check_unary("relu", k->relu, relu, 0);
    }
}

TEST(exp_keeps_its_limits_and_nan) {
    (void)state_;
    const float x[] = { INFINITY, -INFINITY, NAN, 0.0f, 88.0f, 89.0f, -104.5f, -87.0f };
    for (int t = 0; t < n_tables; t++) {
        tables[t]->exp(x, y, 8);
        assert_true(isinf(y[0]) && y[1] == 0.0f && isnan(y[2]) && y[3] == 1.0f && isinf(y[5]) && y[6] == 0.0f);
        near("e^88", (double)y[4], exp(88.0), 2);
        near("e^-87", (double)y[7], exp(-87.0), 2);
    }
}

TEST(functions_of_two_rows_work_element_by_element) {
    (void)state_;
    for (int t = 0; t < n_tables; t++) {
        const lode_kern *k = tables[t];
        for (int l = 0; l < N_LENGTHS; l++) {
            const int64_t n = lengths[l];
            for (int i = 0; i < N; i++) a[i] = 5 * noise(), b[i] = noise();
            k->add(a, b, y, n);
            for (int i = 0; i < n; i++) assert_true(y[i] == a[i] + b[i]);
            k->sub(a, b, y, n);
            for (int i = 0; i < n; i++) assert_true(y[i] == a[i] - b[i]);
            k->mul(a, b, y, n);
            for (int i = 0; i < n; i++) assert_true(y[i] == a[i] * b[i]);
            k->div(a, b, y, n);
            for (int i = 0; i < n; i++) assert_true(y[i] == a[i] / b[i]);
            k->swiglu(a, b, y, n);
            for (int i = 0; i < n; i++) near("swiglu", (double)y[i], silu((double)a[i]) * (double)b[i], 5);
            k->geglu(a, b, y, n);
            for (int i = 0; i < n; i++) assert_true(fabs((double)y[i] - gelu((double)a[i]) * (double)b[i]) < 2e-6);
            k->scale(a, y, n, 3.0f, 0.0f);
            for (int i = 0; i < n; i++) assert_true(y[i] == a[i] * 3.0f);
            k->mad(b, y, n, 2.0f);
            for (int i = 0; i < n; i++)
                near("mad", (double)y[i], (double)a[i] * 3 + 2 * (double)b[i], 8 + 60 / (1e-3 + fabs((double)y[i])));
            k->softcap(a, y, n, 2.0f);
            for (int i = 0; i < n; i++) near("softcap", (double)y[i], 2 * tanh((double)a[i] / 2), 4);
        }
    }
}

TEST(norms_divide_by_the_size_of_the_row) {
    (void)state_;
    for (int t = 0; t < n_tables; t++) {
        for (int l = 0; l < N_LENGTHS; l++) {
            const int64_t n = lengths[l];
            double square = 0, mean = 0, var = 0;
            for (int i = 0; i < N; i++) a[i] = 5 * noise() + 1, b[i] = noise();
            for (int i = 0; i < n; i++) square += (double)a[i] * (double)a[i], mean += (double)a[i] / (double)n;
            for (int i = 0; i < n; i++) var += ((double)a[i] - mean) * ((double)a[i] - mean) / (double)n;
            tables[t]->rms_norm(a, b, y, n, 1e-5f);
            const double rms = 1 / sqrt(square / (double)n + 1e-5);
            for (int i = 0; i < n; i++) near("rms_norm", (double)y[i], (double)a[i] * rms * (double)b[i], 6);
            tables[t]->rms_norm(a, NULL, y, n, 1e-5f);
            for (int i = 0; i < n; i++) near("rms_norm", (double)y[i], (double)a[i] * rms, 6);
            tables[t]->layer_norm(a, b, b, y, n, 1e-3f);
            for (int i = 0; i < n; i++) {
                const double want = ((double)a[i] - mean) / sqrt(var + 1e-3) * (double)b[i] + (double)b[i];
                assert_true(fabs((double)y[i] - want) < 4e-6);
            }
            tables[t]->l2_norm(a, y, n, 1e-6f);
            for (int i = 0; i < n; i++) near("l2_norm", (double)y[i], (double)a[i] / sqrt(square), 6);
        }
    }
}

TEST(softmax_adds_up_to_one_and_masks) {
    (void)state_;
    for (int t = 0; t < n_tables; t++) {
        for (int l = 0; l < N_LENGTHS; l++) {
            const int64_t n = lengths[l];
            for (int cap = 0; cap < 2; cap++) {
                double top = -1e30, sum = 0;
                static double s[N];
                for (int i = 0; i < N; i++) a[i] = 20 * noise(), b[i] = i % 5 == 4 ? -INFINITY : noise();
                for (int i = 0; i < n; i++) {
                    s[i] = (double)a[i] * 0.5;
                    if (cap) s[i] = 3 * tanh(s[i] / 3);
                    s[i] += (double)b[i];
                    top = s[i] > top ? s[i] : top;
                }
                for (int i = 0; i < n; i++) sum += exp(s[i] - top);
                tables[t]->softmax(a, b, y, n, 0.5f, cap ? 3.0f : 0.0f);
                for (int i = 0; i < n; i++) near("softmax", (double)y[i], exp(s[i] - top) / sum, 60);
            }
        }
    }
}

/* One score far above all others, wherever it stands: e^200 does not fit a float, so only the right maximum helps. */
TEST(softmax_of_far_apart_scores_is_one_and_zeros) {
    (void)state_;
    for (int t = 0; t < n_tables; t++)
        for (int n = 1; n <= 70; n++)
            for (int peak = 0; peak < n; peak++) {
                for (int i = 0; i < n; i++) a[i] = i == peak ? 200.0f : (float)(i % 7) - 3;
                tables[t]->softmax(a, NULL, y, n, 1, 0);
                for (int i = 0; i < n; i++)
                    if (!(fabsf(y[i] - (i == peak)) < 1e-6f)) fail_msg("%d of %d, %d: %g", peak, n, i, (double)y[i]);
            }
}

TEST(rope_turns_pairs_of_both_layouts_and_copies_the_rest) {
    (void)state_;
    static const int32_t dims[][3] = { { 3, 64, 64 }, { 2, 40, 40 }, { 2, 96, 72 }, { 1, 8, 6 } };
    for (int t = 0; t < n_tables; t++) {
        for (int c = 0; c < 8; c++) {
            const int32_t *d = dims[c / 2];
            const lode_rope_kind kind = c % 2 ? LODE_ROPE_HALVES : LODE_ROPE_PAIRS;
            float cs[128];
            for (int i = 0; i < d[2] / 2; i++) cs[2 * i] = (float)cos(i + 0.5), cs[2 * i + 1] = (float)sin(i + 0.5);
            for (int i = 0; i < N; i++) a[i] = y[i] = noise();
            const size_t stride = sizeof(float) * (size_t)d[1];
            tables[t]->rope(c % 3 ? a : y, stride, cs, y, stride, d, kind);
            for (int h = 0; h < d[0]; h++) {
                const float *x = a + h * d[1], *got = y + h * d[1];
                for (int i = 0; i < d[2] / 2; i++) {
                    const int p = kind == LODE_ROPE_PAIRS ? 2 * i : i,
                              q = kind == LODE_ROPE_PAIRS ? 2 * i + 1 : i + d[2] / 2;
                    const double cv = (double)cs[2 * i], sv = (double)cs[2 * i + 1];
                    assert_true(fabs((double)got[p] - ((double)x[p] * cv - (double)x[q] * sv)) < 2e-7);
                    assert_true(fabs((double)got[q] - ((double)x[p] * sv + (double)x[q] * cv)) < 2e-7);
                }
                for (int i = d[2]; i < d[1]; i++) assert_true(got[i] == x[i]);
            }
        }
    }
}

TEST(conversions_are_those_of_the_types) {
    (void)state_;
    static uint16_t h[N], g[N];
    static float back[N], want[N];
    for (int i = 0; i < N; i++) a[i] = noise() * expf(12 * noise());
    a[3] = INFINITY, a[4] = -0.0f, a[5] = 65520.0f, a[6] = 1e-7f, a[7] = 1e9f;
    for (int t = 0; t < n_tables; t++) {
        tables[t]->f32_to_f16(a, h, 999);
        assert_true(lode_encode_row(LODE_F16, a, g, 999));
        assert_memory_equal(h, g, 999 * 2);
        tables[t]->f16_to_f32(h, back, 999);
        assert_true(lode_decode_row(LODE_F16, g, want, 999));
        assert_memory_equal(back, want, 999 * 4);
        tables[t]->f32_to_bf16(a, h, 999);
        assert_true(lode_encode_row(LODE_BF16, a, g, 999));
        assert_memory_equal(h, g, 999 * 2);
        tables[t]->bf16_to_f32(h, back, 999);
        assert_true(lode_decode_row(LODE_BF16, g, want, 999));
        assert_memory_equal(back, want, 999 * 4);
    }
}

TEST(argmax_is_the_first_largest_and_never_nan) {
    (void)state_;
    for (int t = 0; t < n_tables; t++) {
        for (int at = 0; at < 70; at += 3) {
            for (int i = 0; i < N; i++) a[i] = i % 7 == 1 ? NAN : noise();
            a[at] = a[at + 9] = 2.0f;
            assert_int_equal(tables[t]->argmax(a, 80), at);
        }
        a[0] = -INFINITY;
        assert_int_equal(tables[t]->argmax(a, 1), 0);
    }
}

int main(void) {
    tables[n_tables++] = lode_kern_portable();
    if (lode_kern_by_name(&tables[n_tables], "avx2", NULL) == LODE_OK) n_tables++;
    if (lode_kern_by_name(&tables[n_tables], "avx512", NULL) == LODE_OK) n_tables++;
    if (lode_kern_by_name(&tables[n_tables], "amx", NULL) == LODE_OK) n_tables++;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_value_are_close_to_the_exact_ones),
        cmocka_unit_test(exp_keeps_its_limits_and_nan),
        cmocka_unit_test(functions_of_two_rows_work_element_by_element),
        cmocka_unit_test(norms_divide_by_the_size_of_the_row),
        cmocka_unit_test(softmax_adds_up_to_one_and_masks),
        cmocka_unit_test(softmax_of_far_apart_scores_is_one_and_zeros),
        cmocka_unit_test(rope_turns_pairs_of_both_layouts_and_copies_the_rest),
        cmocka_unit_test(conversions_are_those_of_the_types),
        cmocka_unit_test(argmax_is_the_first_largest_and_never_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
