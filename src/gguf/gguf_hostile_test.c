/* gguf_hostile_test.c - the files that tests/cases/gen_gguf.py makes of public bug reports, each held to its MANIFEST
 * line. Needs python3. */
#include "base/clock.h"
#include "base/file.h"
#include "base/test.h"
#include "lode/gguf.h"

enum { MAX_CASES = 200 };

typedef struct hostile {
    char name[64], want[120];
} hostile;

static char dir[] = "/tmp/lode_hostile_XXXXXX";
static hostile cases[MAX_CASES];
static int n_cases;

static int make_files(void **state) {
    (void)state;
    char command[160], path[100];
    if (!mkdtemp(dir)) return -1;
    snprintf(command, sizeof command, "python3 tests/cases/gen_gguf.py %s > /dev/null", dir);
    if (system(command) != 0) return -1;
    snprintf(path, sizeof path, "%s/MANIFEST.tsv", dir);
    FILE *f = fopen(path, "r");
    if (!f) return -1;
    hostile c;
    while (n_cases < MAX_CASES && fscanf(f, "%63[^\t]\t%*d\t%119[^\n]\n", c.name, c.want) == 2) cases[n_cases++] = c;
    fclose(f);
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* "reject", without "if accepted ..." or "or accept ...". */
static bool must_refuse(const hostile *c) { return starts(c->want, "reject") && !strstr(c->want, "accepted"); }
static bool must_accept(const hostile *c) {
    return starts(c->want, "accept") || starts(c->want, "vocab:") || starts(c->want, "hparams:");
}

static lode_status open_case(const hostile *c, lode_gguf **g, lode_err *e) {
    char path[128];
    snprintf(path, sizeof path, "%.40s/%.63s.gguf", dir, c->name);
    *e = (lode_err){ 0 };
    return lode_gguf_open(g, path, e);
}

TEST(every_hostile_file_is_refused_and_every_good_one_opens) {
    (void)state_;
    int refused = 0, accepted = 0;
    for (int i = 0; i < n_cases; i++) {
        lode_gguf *g;
        lode_err e;
        const lode_status s = open_case(&cases[i], &g, &e);
        if (must_refuse(&cases[i])) {
            if (s == LODE_OK) fail_msg("%s opened, expected %s", cases[i].name, cases[i].want);
            refused++;
        }
        if (must_accept(&cases[i])) {
            if (s != LODE_OK) fail_msg("%s: %s, expected %s", cases[i].name, e.text, cases[i].want);
            accepted++;
        }
        lode_gguf_close(g);
    }
    assert_true(refused >= 55); /* the generator's list did not shrink or fail to parse */
    assert_true(accepted >= 25);
}

TEST(every_refusal_is_one_line_with_the_file_and_what_was_expected) {
    (void)state_;
    for (int i = 0; i < n_cases; i++) {
        lode_gguf *g;
        lode_err e;
        const lode_status s = open_case(&cases[i], &g, &e);
        lode_gguf_close(g);
        if (s == LODE_OK) continue;
        if ((s != LODE_E_FORMAT && s != LODE_E_UNSUPPORTED) || !strstr(e.text, cases[i].name) ||
            !strstr(e.text, ".gguf: ") || !strstr(e.text, "expected") || strchr(e.text, '\n'))
            fail_msg("%s: %s: '%s'", cases[i].name, lode_status_name(s), e.text);
    }
}

TEST(the_message_says_which_field_is_wrong_and_what_it_holds) {
    (void)state_;
    static const char *const want[][2] = {
        { "hdr_ver1", "version is 1 " },
        { "hdr_ver99", "version is 99, expected 2 or 3" },
        { "hdr_big_endian", "big-endian" },
        { "hdr_bad_magic", "bytes 46 55 47 47, expected \"GGUF\"" },
        { "hdr_empty", "0 bytes" },
        { "n_kv_2e63", "the number of keys is 9223372036854775808" },
        { "n_tensors_1e9_short", "the number of tensors is 1000000000" },
        { "key_len_2e64m1", "the name of key 0 has 18446744073709551615 bytes" },
        { "str_len_past_eof", "the value of key 'k' goes past the end" },
        { "kv_bad_type_13", "key 'k' has value kind 13, expected 0 to 12" },
        { "kv_dup_key", "keys 0 and 1 are both 'k'" },
        { "arr_n_times_size_wraps", "key 'k' is an array of 2305843009213693953 values" },
        { "arr_of_arr_deep", "key 'k' is an array of kind 9 (array)" },
        { "align_13", "general.alignment is 13, expected a power of two" },
        { "align_2e31", "general.alignment is 2147483648" },
        { "align_str", "general.alignment is of kind string, expected u32" },
        { "dims_5", "tensor 't' has 5 dimensions, expected at most 4" },
        { "ne_neg", "tensor 't' has dimension 0 of -32" },
        { "q4k_row_not_256", "rows of 288 values, expected a multiple of 256 (type Q4_K)" },
        { "type_removed_q4_2", "type 4 (Q4_2)" },
        { "type_10000", "type 10000 (unknown)" },
        { "off_past_eof", "tensor 't' has offset 1048576" },
        { "off_misaligned", "offset 4, expected a multiple of the alignment 32" },
        { "off_overlap", "tensors 'a' and 'b' overlap" },
        { "data_truncated", "tensor 't' has offset 0 and 256 bytes, expected an end within the 128 bytes" },
        { "dup_tensor", "tensors 0 and 1 are both 't'" },
        { "tname_64", "the name of tensor 0 has 64 bytes, expected 1 to 63" },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        hostile c = { { 0 }, { 0 } };
        lode_gguf *g;
        lode_err e;
        snprintf(c.name, sizeof c.name, "%s", want[i][0]);
        assert_int_not_equal(open_case(&c, &g, &e), LODE_OK);
        if (!strstr(e.text, want[i][1])) fail_msg("%s: '%s' lacks '%s'", want[i][0], e.text, want[i][1]);
    }
}

TEST(data_is_found_at_any_alignment_and_in_any_order) {
    (void)state_;
    static const char *const names[] = { "ok_min", "align_1", "align_64", "trailing_junk", "off_gap", "off_reordered" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hostile c = { { 0 }, { 0 } };
        lode_gguf *g;
        lode_err e;
        snprintf(c.name, sizeof c.name, "%s", names[i]);
        CHECK_OK(open_case(&c, &g, &e), &e);
        for (uint64_t k = 0; k < lode_gguf_n_tensors(g); k++) {
            const uint8_t *p = lode_gguf_tensor_data(g, lode_gguf_tensor_at(g, k));
            for (int v = 0; v < 32; v++) {
                float x;
                memcpy(&x, p + v * 4, 4);
                assert_true(x == (float)v);
            }
        }
        lode_gguf_close(g);
    }
}

TEST(all_hostile_files_together_take_less_than_a_second) {
    (void)state_;
    const int64_t start = lode_clock_ns();
    for (int i = 0; i < n_cases; i++) {
        lode_gguf *g;
        lode_err e;
        open_case(&cases[i], &g, &e);
        lode_gguf_close(g);
    }
    assert_true(lode_clock_ns() - start < 1000 * 1000 * 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hostile_file_is_refused_and_every_good_one_opens),
        cmocka_unit_test(every_refusal_is_one_line_with_the_file_and_what_was_expected),
        cmocka_unit_test(the_message_says_which_field_is_wrong_and_what_it_holds),
        cmocka_unit_test(data_is_found_at_any_alignment_and_in_any_order),
        cmocka_unit_test(all_hostile_files_together_take_less_than_a_second),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
