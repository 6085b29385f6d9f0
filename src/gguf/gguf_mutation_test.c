/* gguf_mutation_test.c - damaged copies of the committed fuzz corpus, read in place: cut at every length, bits flipped,
 * numbers replaced by extreme ones. Each copy lies in a block of exactly its size, so that a sanitizer sees any byte
 * read too far. */
#include "base/clock.h"
#include "base/file.h"
#include "base/test.h"
#include "tests/fuzz/gguf_walk.h"

static const char *const corpus[] = { "tests/fuzz/gguf/keys.gguf", "tests/fuzz/gguf/tensors.gguf",
                                      "tests/fuzz/gguf/vocab.gguf" };
enum { N_CORPUS = sizeof corpus / sizeof *corpus };

static char *load(int i, size_t *n) {
    lode_err e = { 0 };
    char *text;
    CHECK_OK(lode_file_read(corpus[i], 1 << 20, &text, n, &e), &e);
    return text;
}

/* Walks a copy of exactly n bytes. */
static lode_status walk_copy(const char *data, size_t n) {
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, data, n);
    lode_err e = { 0 };
    uint64_t sum = 0;
    const lode_status s = gguf_walk(copy, n, &sum, &e);
    if (s != LODE_OK && (!strstr(e.text, "expected") || strchr(e.text, '\n'))) fail_msg("message: '%s'", e.text);
    free(copy);
    return s;
}

TEST(the_corpus_is_valid) {
    (void)state_;
    for (int i = 0; i < N_CORPUS; i++) {
        size_t n;
        char *text = load(i, &n);
        assert_int_equal(walk_copy(text, n), LODE_OK);
        free(text);
    }
}

TEST(every_prefix_of_a_file_with_tensors_is_refused) {
    (void)state_;
    size_t n;
    char *text = load(1, &n);
    for (size_t cut = 0; cut < n; cut++) assert_int_equal(walk_copy(text, cut), LODE_E_FORMAT);
    free(text);
}

TEST(every_prefix_of_the_header_of_a_vocabulary_is_refused) {
    (void)state_;
    size_t n;
    char *text = load(2, &n);
    while (n > 0 && text[n - 1] == '\0') n--; /* the padding at the end may go */
    for (size_t cut = 0; cut < n; cut++) assert_int_equal(walk_copy(text, cut), LODE_E_FORMAT);
    free(text);
}

TEST(every_flipped_bit_ends_in_a_status) {
    (void)state_;
    for (int i = 0; i < N_CORPUS; i++) {
        size_t n;
        char *text = load(i, &n);
        for (size_t at = 0; at < n; at++) {
            for (int bit = 0; bit < 8; bit++) {
                text[at] = (char)(text[at] ^ 1 << bit);
                walk_copy(text, n);
                text[at] = (char)(text[at] ^ 1 << bit);
            }
        }
        free(text);
    }
}

TEST(every_number_replaced_by_an_extreme_one_ends_in_a_status) {
    (void)state_;
    const uint64_t extreme[] = { 0,          1,         0x7fffffff, 0x80000000u,     0xffffffffu,
                                 1ull << 56, INT64_MAX, 1ull << 63, UINT64_MAX - 31, UINT64_MAX };
    for (int i = 0; i < N_CORPUS; i++) {
        size_t n;
        char *text = load(i, &n), saved[8];
        for (size_t at = 0; at + 8 <= n; at++) {
            memcpy(saved, text + at, 8);
            for (size_t v = 0; v < 2 * sizeof extreme / sizeof *extreme; v++) {
                memcpy(text + at, &extreme[v / 2], v % 2 ? 4 : 8);
                walk_copy(text, n);
                memcpy(text + at, saved, 8);
            }
        }
        free(text);
    }
}

TEST(random_damage_for_half_a_second_ends_in_a_status) {
    (void)state_;
    uint32_t seed = 12345;
    const int64_t until = lode_clock_ns() + 500 * 1000 * 1000;
    for (int round = 0; lode_clock_ns() < until; round++) {
        size_t n;
        char *text = load(round % N_CORPUS, &n);
        for (int hit = 0; hit < 1 + round % 6; hit++) {
            seed = seed * 1664525u + 1013904223u;
            text[(seed >> 8) % n] = (char)(seed & 0xff);
        }
        walk_copy(text, round % 5 ? n : (seed >> 4) % n);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corpus_is_valid),
        cmocka_unit_test(every_prefix_of_a_file_with_tensors_is_refused),
        cmocka_unit_test(every_prefix_of_the_header_of_a_vocabulary_is_refused),
        cmocka_unit_test(every_flipped_bit_ends_in_a_status),
        cmocka_unit_test(every_number_replaced_by_an_extreme_one_ends_in_a_status),
        cmocka_unit_test(random_damage_for_half_a_second_ends_in_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
