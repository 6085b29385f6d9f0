/* quant_test.c - types, conversions and rows, against bytes that the format's reference package wrote
 * (tools/golden_quant.py). */
#include "base/file.h"
#include "base/test.h"
#include "lode/quant.h"
#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "quant/iq1_m.h"
#include "quant/iq1_s.h"
#include "quant/iq2_s.h"
#include "quant/iq2_xs.h"
#include "quant/iq2_xxs.h"
#include "quant/iq3_s.h"
#include "quant/iq3_xxs.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/nvfp4.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/q8a.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

static bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static float of_bits(uint32_t u) {
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* The golden file of a type, or NULL when there is none. */
static char *golden(lode_type t, const char *ext, size_t *n) {
    char path[128], *text = NULL;
    snprintf(path, sizeof path, "tests/golden/quant/%s.%s", lode_type_name(t), ext);
    if (!lode_is_file(path)) return NULL;
    lode_err e = { 0 };
    CHECK_OK(lode_file_read(path, 1 << 20, &text, n, &e), &e);
    return text;
}

static uint32_t next_random(uint32_t *s) { return *s = *s * 1664525u + 1013904223u; }

TEST(the_type_table_agrees_with_the_block_structs_and_the_file_numbers) {
    (void)state_;
    static const struct {
        uint32_t id;
        const char *name;
        int elements, bytes;
    } file_types[] = {
#define FILE_TYPE(id, name, elements, bytes) { id, name, elements, bytes },
#include "lode/file_types.def"
#undef FILE_TYPE
    };
    int seen = 0;
    for (size_t i = 0; i < sizeof file_types / sizeof *file_types; i++) {
        assert_int_equal(file_types[i].id, i);
        assert_string_equal(lode_file_type_name((uint32_t)i), file_types[i].name);
        const lode_type t = lode_type_of_file_id((uint32_t)i);
        if (t == LODE_N_TYPE) continue;
        seen++;
        assert_int_equal(lode_type_file_id(t), i);
        assert_int_equal(lode_type_block(t), file_types[i].elements);
        assert_int_equal(lode_type_bytes(t), file_types[i].bytes);
        assert_int_equal(lode_type_of_name(file_types[i].name), t);
    }
    assert_int_equal(seen, LODE_N_TYPE - 1); /* all but Q8A */
    const size_t sizes[LODE_N_TYPE] = {
        [LODE_F32] = sizeof(f32_block),
        [LODE_F16] = sizeof(f16_block),
        [LODE_BF16] = sizeof(bf16_block),
        [LODE_Q4_0] = sizeof(q4_0_block),
        [LODE_Q4_1] = sizeof(q4_1_block),
        [LODE_Q5_0] = sizeof(q5_0_block),
        [LODE_Q5_1] = sizeof(q5_1_block),
        [LODE_Q8_0] = sizeof(q8_0_block),
        [LODE_Q2_K] = sizeof(q2_k_block),
        [LODE_Q3_K] = sizeof(q3_k_block),
        [LODE_Q4_K] = sizeof(q4_k_block),
        [LODE_Q5_K] = sizeof(q5_k_block),
        [LODE_Q6_K] = sizeof(q6_k_block),
        [LODE_IQ1_S] = sizeof(iq1_s_block),
        [LODE_IQ1_M] = sizeof(iq1_m_block),
        [LODE_IQ2_XXS] = sizeof(iq2_xxs_block),
        [LODE_IQ2_XS] = sizeof(iq2_xs_block),
        [LODE_IQ2_S] = sizeof(iq2_s_block),
        [LODE_IQ3_XXS] = sizeof(iq3_xxs_block),
        [LODE_IQ3_S] = sizeof(iq3_s_block),
        [LODE_IQ4_NL] = sizeof(iq4_nl_block),
        [LODE_IQ4_XS] = sizeof(iq4_xs_block),
        [LODE_TQ1_0] = sizeof(tq1_0_block),
        [LODE_TQ2_0] = sizeof(tq2_0_block),
        [LODE_MXFP4] = sizeof(mxfp4_block),
        [LODE_NVFP4] = sizeof(nvfp4_block),
        [LODE_Q1_0] = sizeof(q1_0_block),
        [LODE_Q2_0] = sizeof(q2_0_block),
        [LODE_F64] = sizeof(double),
        [LODE_I8] = sizeof(int8_t),
        [LODE_I16] = sizeof(int16_t),
        [LODE_I32] = sizeof(int32_t),
        [LODE_I64] = sizeof(int64_t),
        [LODE_Q8A] = sizeof(q8a_block),
    };
    for (int t = 0; t < LODE_N_TYPE; t++) assert_int_equal(lode_type_bytes((lode_type)t), sizes[t]);
}

TEST(an_unknown_type_has_no_name_size_or_rows) {
    (void)state_;
    size_t bytes = 7;
    float x = 0.0f;
    assert_int_equal(lode_type_of_file_id(4), LODE_N_TYPE);
    assert_int_equal(lode_type_of_file_id(0xffffffffu), LODE_N_TYPE);
    assert_int_equal(lode_type_of_name("q9_z"), LODE_N_TYPE);
    assert_string_equal(lode_file_type_name(10000), "unknown");
    assert_string_equal(lode_type_name(LODE_N_TYPE), "unknown");
    assert_false(lode_row_bytes(LODE_N_TYPE, 32, &bytes));
    assert_false(lode_decode_row(LODE_N_TYPE, &x, &x, 0));
    assert_false(lode_encode_row(LODE_N_TYPE, &x, &x, 0));
    assert_int_equal(bytes, 7);
}

TEST(row_sizes_are_whole_blocks_and_do_not_wrap) {
    (void)state_;
    size_t bytes = 0;
    assert_true(lode_row_bytes(LODE_Q4_K, 512, &bytes));
    assert_int_equal(bytes, 288);
    assert_false(lode_row_bytes(LODE_Q4_K, 500, &bytes));
    assert_false(lode_row_bytes(LODE_F32, -1, &bytes));
    assert_false(lode_row_bytes(LODE_F32, INT64_MAX, &bytes));
    assert_true(lode_row_bytes(LODE_F32, 0, &bytes));
    assert_int_equal(bytes, 0);
}

/* One value more or less than whole blocks, and fewer than none. */
TEST(rows_that_are_no_whole_blocks_are_neither_read_nor_written) {
    (void)state_;
    float x[768] = { 0 };
    unsigned char raw[4096] = { 0 };
    size_t bytes;
    for (int t = 0; t < LODE_N_TYPE; t++) {
        const int block = lode_type_block((lode_type)t),
                  sizes[] = { -1, -block, 1, block - 1, block + 1, 2 * block - 1 };
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const int n = sizes[i];
            if (n >= 0 && n % block == 0) continue;
            for (int k = 0; k < 768; k++) x[k] = 7;
            memset(raw, 0xAB, sizeof raw);
            assert_false(lode_row_bytes((lode_type)t, n, &bytes));
            assert_false(lode_encode_row((lode_type)t, x, raw, n));
            assert_false(lode_decode_row((lode_type)t, raw, x, n));
            assert_true(isnan(lode_dot_row((lode_type)t, raw, x, n)));
            for (int k = 0; k < 768; k++) assert_true(x[k] == 7);
            for (size_t k = 0; k < sizeof raw; k++) assert_int_equal(raw[k], 0xAB);
        }
    }
}

TEST(every_half_survives_the_way_to_float_and_back) {
    (void)state_;
    for (uint32_t h = 0; h < 0x10000; h++) {
        const uint16_t back = lode_f32_to_f16(lode_f16_to_f32((uint16_t)h));
        const bool nan = (h & 0x7c00u) == 0x7c00u && (h & 0x3ffu);
        assert_int_equal(back, nan ? h | 0x200u : h);
        const bool bnan = (h & 0x7f80u) == 0x7f80u && (h & 0x7fu);
        assert_int_equal(lode_f32_to_bf16(lode_bf16_to_f32((uint16_t)h)), bnan ? h | 0x40u : h);
    }
}

TEST(rounding_to_half_goes_to_nearest_even) {
    (void)state_;
    for (uint32_t h = 0; h < 0x7bff; h++) {
        const float a = lode_f16_to_f32((uint16_t)h), b = lode_f16_to_f32((uint16_t)(h + 1)), mid = (a + b) / 2.0f;
        assert_int_equal(lode_f32_to_f16(mid), h % 2 ? h + 1 : h);
        assert_int_equal(lode_f32_to_f16(nextafterf(mid, b)), h + 1);
        assert_int_equal(lode_f32_to_f16(nextafterf(-mid, -a)), 0x8000u | h);
    }
    assert_int_equal(lode_f32_to_f16(65519.0f), 0x7bff);
    assert_int_equal(lode_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(lode_f32_to_f16(-1e30f), 0xfc00);
    assert_int_equal(lode_f32_to_f16(1e-30f), 0);
}

TEST(rounding_to_bfloat16_goes_to_nearest_even) {
    (void)state_;
    for (uint32_t h = 0x0001; h < 0x7f7f; h++) {
        const uint32_t mid = h << 16 | 0x8000u;
        assert_int_equal(lode_f32_to_bf16(of_bits(mid)), h % 2 ? h + 1 : h);
        assert_int_equal(lode_f32_to_bf16(of_bits(mid + 1)), h + 1);
        assert_int_equal(lode_f32_to_bf16(of_bits(mid - 1)), h);
    }
}

TEST(decoding_equals_the_reference_bit_for_bit) {
    (void)state_;
    int files = 0;
    for (int i = 0; i < LODE_N_TYPE; i++) {
        const lode_type t = (lode_type)i;
        size_t n;
        char *g = golden(t, "dec", &n);
        if (!g) continue;
        files++;
        const size_t block = (size_t)lode_type_block(t), size = (size_t)lode_type_bytes(t);
        const size_t blocks = n / (size + 4 * block), values = blocks * block;
        assert_int_equal(blocks * (size + 4 * block), n);
        float *got = calloc(values, sizeof *got);
        assert_true(lode_decode_row(t, g, got, (int64_t)values));
        for (size_t k = 0; k < values; k++) {
            float want;
            memcpy(&want, g + blocks * size + k * 4, 4);
            if (!same_bits(got[k], want))
                fail_msg("%s: value %zu is %a, want %a", lode_type_name(t), k, (double)got[k], (double)want);
        }
        free(got);
        free(g);
    }
    assert_int_equal(files, 27);
}

TEST(encoding_equals_the_reference_byte_for_byte) {
    (void)state_;
    int files = 0;
    for (int i = 0; i < LODE_N_TYPE; i++) {
        const lode_type t = (lode_type)i;
        size_t n;
        char *g = golden(t, "enc", &n);
        if (!g) continue;
        files++;
        const size_t block = (size_t)lode_type_block(t), size = (size_t)lode_type_bytes(t);
        const size_t blocks = n / (size + 4 * block), values = blocks * block;
        assert_int_equal(blocks * (size + 4 * block), n);
        float *x = calloc(values, sizeof *x);
        memcpy(x, g, values * 4);
        char *got = calloc(blocks, size);
        assert_true(lode_encode_row(t, x, got, (int64_t)values));
        for (size_t k = 0; k < blocks * size; k++)
            if (got[k] != g[values * 4 + k]) fail_msg("%s: byte %zu differs", lode_type_name(t), k);
        free(got);
        free(x);
        free(g);
    }
    assert_int_equal(files, 14);
}

/* at() and at8() of one type against its row decoder, on random bytes. */
#define CHECK_AT(ID, name)                                                                  \
    do {                                                                                    \
        enum { N = 256 };                                                                   \
        union {                                                                             \
            unsigned char raw[1024];                                                        \
            name##_block b[1024 / sizeof(name##_block)];                                    \
        } u;                                                                                \
        float row[N], eight[8];                                                             \
        uint32_t seed = 7;                                                                  \
        for (int i = 0; i < 1024; i++) u.raw[i] = (uint8_t)(next_random(&seed) >> 24);      \
        assert_true(lode_decode_row(LODE_##ID, u.raw, row, N));                             \
        const int block = lode_type_block(LODE_##ID) == 1 ? N : lode_type_block(LODE_##ID); \
        for (int i = 0; i < N; i++) {                                                       \
            assert_true(same_bits(row[i], name##_at(&u.b[i / block], i % block)));          \
            if (i % 8 == 0) name##_at8(&u.b[i / block], i % block, eight);                  \
            assert_true(same_bits(row[i], eight[i % 8]));                                   \
        }                                                                                   \
    } while (0)

TEST(one_element_eight_elements_and_the_row_decoder_agree) {
    (void)state_;
    CHECK_AT(F32, f32);
    CHECK_AT(F16, f16);
    CHECK_AT(BF16, bf16);
    CHECK_AT(Q4_0, q4_0);
    CHECK_AT(Q4_1, q4_1);
    CHECK_AT(Q5_0, q5_0);
    CHECK_AT(Q5_1, q5_1);
    CHECK_AT(Q8_0, q8_0);
    CHECK_AT(Q2_K, q2_k);
    CHECK_AT(Q3_K, q3_k);
    CHECK_AT(Q4_K, q4_k);
    CHECK_AT(Q5_K, q5_k);
    CHECK_AT(Q6_K, q6_k);
    CHECK_AT(IQ1_S, iq1_s);
    CHECK_AT(IQ1_M, iq1_m);
    CHECK_AT(IQ2_XXS, iq2_xxs);
    CHECK_AT(IQ2_XS, iq2_xs);
    CHECK_AT(IQ2_S, iq2_s);
    CHECK_AT(IQ3_XXS, iq3_xxs);
    CHECK_AT(IQ3_S, iq3_s);
    CHECK_AT(IQ4_NL, iq4_nl);
    CHECK_AT(IQ4_XS, iq4_xs);
    CHECK_AT(TQ1_0, tq1_0);
    CHECK_AT(TQ2_0, tq2_0);
    CHECK_AT(MXFP4, mxfp4);
    CHECK_AT(NVFP4, nvfp4);
    CHECK_AT(Q1_0, q1_0);
    CHECK_AT(Q2_0, q2_0);
    CHECK_AT(Q8A, q8a);
}

TEST(rows_are_read_and_written_at_any_address) {
    (void)state_;
    float x[256], y[256], z[256];
    char raw[4096];
    for (int i = 0; i < 256; i++) x[i] = (float)i - 100.0f;
    for (int t = 0; t < LODE_N_TYPE; t++) {
        if (!lode_type_can_encode((lode_type)t)) continue;
        assert_true(lode_encode_row((lode_type)t, x, raw, 256));
        assert_true(lode_decode_row((lode_type)t, raw, y, 256));
        assert_true(lode_encode_row((lode_type)t, x, raw + 1, 256));
        assert_true(lode_decode_row((lode_type)t, raw + 1, z, 256));
        assert_memory_equal(y, z, sizeof y);
    }
}

TEST(nan_infinity_and_extremes_encode_without_a_crash) {
    (void)state_;
    const float odd[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-45f, -1e-45f, 0.0f, -0.0f };
    float x[256], y[256];
    char raw[4096];
    for (int t = 0; t < LODE_N_TYPE; t++) {
        if (!lode_type_can_encode((lode_type)t)) continue;
        for (size_t v = 0; v < sizeof odd / sizeof *odd; v++) {
            for (int fill = 0; fill < 2; fill++) {
                for (int i = 0; i < 256; i++) x[i] = fill || i % 32 == 5 ? odd[v] : (float)(i % 7) - 3.0f;
                assert_true(lode_encode_row((lode_type)t, x, raw, 256));
                assert_true(lode_decode_row((lode_type)t, raw, y, 256));
            }
        }
    }
}

/* Relative root mean square error of encoding 2^16 nearly normal values. */
static double encoding_error(lode_type t, float scale) {
    enum { N = 1 << 16 };
    float *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y);
    void *raw = calloc(N, 4);
    uint32_t seed = 99;
    double miss = 0.0, all = 0.0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 12; k++) x[i] += (float)(next_random(&seed) >> 8) / 16777216.0f - 0.5f;
        x[i] *= scale;
    }
    assert_true(lode_encode_row(t, x, raw, N));
    assert_true(lode_decode_row(t, raw, y, N));
    for (int i = 0; i < N; i++) {
        miss += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        all += (double)x[i] * (double)x[i];
    }
    free(x);
    free(y);
    free(raw);
    return sqrt(miss / all);
}

TEST(encoding_loses_no_more_than_the_reference_encoders) {
    (void)state_;
    /* what ggml's ggml_quantize_chunk (no importance matrix) loses on 2^18 normally distributed values, and 1 % for the
     * other sample */
    static const struct {
        lode_type type;
        double error;
    } want[] = { { LODE_Q4_0, 0.0870 }, { LODE_Q8_0, 0.0055 }, { LODE_Q2_K, 0.2970 }, { LODE_Q3_K, 0.1511 },
                 { LODE_Q4_K, 0.0716 }, { LODE_Q5_K, 0.0362 }, { LODE_Q6_K, 0.0178 }, { LODE_Q8A, 0.0055 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        for (float scale = 1e-3f; scale < 1e4f; scale *= 1e3f) {
            const double got = encoding_error(want[i].type, scale);
            if (!(got < want[i].error * 1.01))
                fail_msg("%s: %.5f, want %.5f", lode_type_name(want[i].type), got, want[i].error);
        }
    }
}

TEST(zeros_stay_zeros_and_a_constant_row_stays_constant) {
    (void)state_;
    float x[256], y[256];
    char raw[4096];
    for (int t = 0; t < LODE_N_TYPE; t++) {
        if (!lode_type_can_encode((lode_type)t)) continue;
        for (int v = -1; v <= 1; v++) {
            for (int i = 0; i < 256; i++) x[i] = 0.75f * (float)v;
            assert_true(lode_encode_row((lode_type)t, x, raw, 256));
            assert_true(lode_decode_row((lode_type)t, raw, y, 256));
            for (int i = 0; i < 256; i++)
                if (!(fabsf(x[i] - y[i]) <= 1e-3f * fabsf(x[i])))
                    fail_msg("%s: %g became %g", lode_type_name((lode_type)t), (double)x[i], (double)y[i]);
        }
    }
}

TEST(an_activation_block_has_its_scale_its_sums_and_nearest_values) {
    (void)state_;
    float x[64];
    q8a_block b[2];
    for (int i = 0; i < 32; i++) x[i] = 0.25f * (float)(i - 10); /* amax 5.25 */
    for (int i = 32; i < 64; i++) x[i] = 0.0f;
    assert_true(lode_encode_row(LODE_Q8A, x, b, 64));
    assert_true(same_bits(b[0].d, 5.25f / 127.0f));
    int s0 = 0, s1 = 0;
    for (int i = 0; i < 32; i++) {
        const int q = b[0].qs[i];
        assert_true(fabs((double)q - (double)x[i] / (double)b[0].d) <= 0.5 + 1e-5);
        *(i < 16 ? &s0 : &s1) += q;
    }
    assert_int_equal(b[0].s0, s0);
    assert_int_equal(b[0].s1, s1);
    assert_true(same_bits(b[0].ds, b[0].d * (float)(s0 + s1)));
    assert_true(b[1].d == 0.0f && b[1].ds == 0.0f && b[1].s0 == 0 && b[1].qs[31] == 0);
}

TEST(an_activation_block_with_a_nan_or_infinity_is_nan_and_its_neighbour_is_not) {
    (void)state_;
    const float odd[] = { NAN, INFINITY, -INFINITY };
    for (size_t v = 0; v < 3; v++) {
        float x[64], y[64];
        q8a_block b[2];
        for (int i = 0; i < 64; i++) x[i] = 1.0f;
        x[7] = odd[v];
        assert_true(lode_encode_row(LODE_Q8A, x, b, 64));
        assert_true(lode_decode_row(LODE_Q8A, b, y, 64));
        for (int i = 0; i < 32; i++) assert_true(isnan(y[i]));
        for (int i = 32; i < 64; i++) assert_true(fabsf(y[i] - 1.0f) < 1e-6f);
        assert_true(isnan(b[0].ds));
    }
}

TEST(the_reference_dot_product_sums_decoded_values) {
    (void)state_;
    float w[512], x[512], back[512];
    char raw[4096];
    for (int i = 0; i < 512; i++) {
        w[i] = sinf((float)i);
        x[i] = cosf((float)i * 0.3f);
    }
    assert_true(lode_encode_row(LODE_Q8_0, w, raw, 512));
    assert_true(lode_decode_row(LODE_Q8_0, raw, back, 512));
    double want = 0.0;
    for (int i = 0; i < 512; i++) want += (double)back[i] * (double)x[i];
    assert_true(fabs(lode_dot_row(LODE_Q8_0, raw, x, 512) - want) < 1e-12);
    assert_true(isnan(lode_dot_row(LODE_Q8_0, raw, x, 500)));
    assert_true(isnan(lode_dot_row(LODE_I32, raw, x, 32)));
}

TEST(a_tensor_knows_its_counts_and_whether_it_has_gaps) {
    (void)state_;
    lode_tensor t = { .type = LODE_Q4_K, .ne = { 512, 3, 2, 1 }, .nb = { 144, 288, 864, 1728 } };
    assert_int_equal(lode_n_elements(&t), 3072);
    assert_int_equal(lode_n_rows(&t), 6);
    assert_int_equal(lode_n_bytes(&t), 1728);
    assert_true(lode_is_contiguous(&t));
    t.nb[2] = 1000;
    assert_false(lode_is_contiguous(&t));
    assert_int_equal(lode_n_bytes(&t), 1864);
    t.ne[2] = 1;
    assert_true(lode_is_contiguous(&t));
    t.ne[1] = 0;
    assert_int_equal(lode_n_bytes(&t), 0);
    lode_tensor turned = { .type = LODE_F32, .ne = { 3, 4, 1, 1 }, .nb = { 16, 4, 48, 48 } };
    assert_false(lode_is_contiguous(&turned));
    assert_int_equal(lode_n_bytes(&turned), 48);
    /* every distance counts where its size is above one, and only there */
    for (int i = 0; i < LODE_MAX_DIMS; i++)
        for (int one = 0; one < 2; one++) {
            lode_tensor gap = { .type = LODE_F32, .ne = { 3, 4, 5, 6 }, .nb = { 4, 12, 48, 240 } };
            if (one) {
                gap.ne[i] = 1;
                for (int k = i + 1; k < LODE_MAX_DIMS; k++) gap.nb[k] = gap.nb[k - 1] * (size_t)gap.ne[k - 1];
            }
            assert_true(lode_is_contiguous(&gap));
            const size_t bytes = lode_n_bytes(&gap);
            assert_int_equal(bytes, 4 * lode_n_elements(&gap));
            gap.nb[i] += 4;
            assert_int_equal(lode_is_contiguous(&gap), one);
            assert_int_equal(lode_n_bytes(&gap), bytes + 4 * (size_t)(gap.ne[i] - 1));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_type_table_agrees_with_the_block_structs_and_the_file_numbers),
        cmocka_unit_test(an_unknown_type_has_no_name_size_or_rows),
        cmocka_unit_test(row_sizes_are_whole_blocks_and_do_not_wrap),
        cmocka_unit_test(rows_that_are_no_whole_blocks_are_neither_read_nor_written),
        cmocka_unit_test(every_half_survives_the_way_to_float_and_back),
        cmocka_unit_test(rounding_to_half_goes_to_nearest_even),
        cmocka_unit_test(rounding_to_bfloat16_goes_to_nearest_even),
        cmocka_unit_test(decoding_equals_the_reference_bit_for_bit),
        cmocka_unit_test(encoding_equals_the_reference_byte_for_byte),
        cmocka_unit_test(one_element_eight_elements_and_the_row_decoder_agree),
        cmocka_unit_test(rows_are_read_and_written_at_any_address),
        cmocka_unit_test(nan_infinity_and_extremes_encode_without_a_crash),
        cmocka_unit_test(encoding_loses_no_more_than_the_reference_encoders),
        cmocka_unit_test(zeros_stay_zeros_and_a_constant_row_stays_constant),
        cmocka_unit_test(an_activation_block_has_its_scale_its_sums_and_nearest_values),
        cmocka_unit_test(an_activation_block_with_a_nan_or_infinity_is_nan_and_its_neighbour_is_not),
        cmocka_unit_test(the_reference_dot_product_sums_decoded_values),
        cmocka_unit_test(a_tensor_knows_its_counts_and_whether_it_has_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
