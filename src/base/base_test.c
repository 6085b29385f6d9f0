/* base_test.c - errors, memory, text and files. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(every_status_has_a_name_and_a_text) {
    (void)state_;
    for (int s = 0; s < LODE_N_STATUS; s++) {
        assert_true(strlen(lode_status_name((lode_status)s)) > 0);
        assert_true(strlen(lode_status_text((lode_status)s)) > 0);
    }
    assert_string_equal(lode_status_name((lode_status)999), "bug");
}

TEST(an_error_keeps_its_code_and_gets_context) {
    (void)state_;
    lode_err e = { 0 };
    assert_int_equal(lode_fail(&e, LODE_E_FORMAT, "count is %d", 7), LODE_E_FORMAT);
    assert_int_equal(lode_err_prefix(&e, LODE_E_FORMAT, "a.gguf"), LODE_E_FORMAT);
    assert_string_equal(e.text, "a.gguf: count is 7");
    assert_int_equal(lode_fail(NULL, LODE_E_IO, "x"), LODE_E_IO);
    lode_fail(&e, LODE_E_IO, "again: %s", e.text);
    assert_string_equal(e.text, "again: a.gguf: count is 7");
}

static void keep_line(void *user, lode_log_level level, const char *subsystem, const char *text) {
    (void)level;
    (void)subsystem;
    snprintf(user, 64, "%s", text);
}

TEST(text_of_others_stays_on_one_line_and_drives_no_terminal) {
    (void)state_;
    lode_err e = { 0 };
    char line[64] = "";
    lode_fail(&e, LODE_E_INPUT, "said '%s'", "a\r\nb\x1b[2J\x7f\t\xc3\xa9");
    assert_string_equal(e.text, "said 'a  b [2J  \xc3\xa9'");
    lode_err_prefix(&e, LODE_E_INPUT, "%s", "x\ny");
    assert_string_equal(e.text, "x y: said 'a  b [2J  \xc3\xa9'");
    lode_log_line(&(lode_log){ keep_line, line }, LODE_LOG_WARN, "t", "token '%s'", "a\nb");
    assert_string_equal(line, "token 'a b'");
}

TEST(size_arithmetic_that_wraps_is_refused) {
    (void)state_;
    size_t r = 5;
    assert_false(lode_mul_ok(SIZE_MAX / 2, 3, &r));
    assert_false(lode_add_ok(SIZE_MAX, 1, &r));
    assert_false(lode_align_ok(SIZE_MAX - 3, 64, &r));
    assert_int_equal(r, 5);
    assert_true(lode_align_ok(65, 64, &r));
    assert_int_equal(r, 128);
    assert_null(lode_calloc(SIZE_MAX / 2, 4));
}

TEST(an_arena_hands_out_zeroed_aligned_blocks) {
    (void)state_;
    lode_arena a = { 0 };
    for (size_t i = 1; i < 3000; i += 7) {
        unsigned char *p = lode_arena_alloc(&a, i, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < i * 3; k++) assert_int_equal(p[k], 0);
        memset(p, 0xAB, i * 3);
    }
    assert_null(lode_arena_alloc(&a, SIZE_MAX, 2));
    lode_arena_reset(&a);
    assert_int_equal(a.total, 0);
    lode_arena_free(&a);
}

TEST(text_grows_and_utf8_round_trips) {
    (void)state_;
    lode_str s = { 0 };
    for (uint32_t c = 1; c < 0x11000; c += 37) {
        lode_str_clear(&s);
        lode_str_utf8(&s, c);
        uint32_t back = 0;
        assert_int_equal(lode_utf8_next(s.p, s.n, &back), s.n);
        assert_int_equal(back, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    }
    lode_str_clear(&s);
    lode_str_printf(&s, "%d-%s", 42, "x");
    assert_string_equal(s.p, "42-x");
    lode_str_free(&s);
}

TEST(invalid_utf8_is_seen) {
    (void)state_;
    uint32_t c;
    const char *bad[] = { "\x80",         "\xC0\x80",         "\xC1\xBF",        "\xE0\x80\x80",
                          "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(lode_utf8_next(bad[i], strlen(bad[i]), &c), 0);
    /* Every sequence of the right form: no surrogate, nothing that a shorter one says, nothing above U+10FFFF. */
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    for (int n = 2; n <= 4; n++)
        for (uint32_t v = 0; v < 1u << (5 * n + 1); v += n < 4 ? 1 : 61) {
            char s[4] = { (char)((0xF00u >> n & 0xFF) | v >> 6 * (n - 1)) };
            for (int k = 1; k < n; k++) s[k] = (char)(0x80u | (v >> 6 * (n - 1 - k) & 63));
            const bool good = v >= least[n] && v <= 0x10FFFF && !(v >= 0xD800 && v < 0xE000);
            if (lode_utf8_next(s, (size_t)n, &c) != (good ? n : 0)) fail_msg("U+%04X in %d bytes", v, n);
            if (good) assert_int_equal(c, v);
        }
    assert_int_equal(lode_utf8_partial("ab\xE2\x82", 4), 2);
    assert_int_equal(lode_utf8_partial("ab\xE2\x82\xAC", 5), 0);
    assert_int_equal(lode_utf8_partial("\xF0\x9F\x98", 3), 3);
    assert_int_equal(lode_utf8_partial("", 0), 0);
}

TEST(edit_distance_counts_changes) {
    (void)state_;
    assert_int_equal(lode_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(lode_edit_distance("", "abc"), 3);
    assert_int_equal(lode_edit_distance("same", "same"), 0);
    char a[300], b[300];
    static const int lengths[] = { 0, 1, 62, 63, 64, 65, 299 }; /* words of more than 63 bytes are far from any other */
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++) {
            memset(a, 'x', sizeof a);
            memset(b, 'x', sizeof b);
            a[lengths[i]] = b[lengths[k]] = '\0';
            const bool too_long = lengths[i] > 63 || lengths[k] > 63;
            assert_int_equal(lode_edit_distance(a, b), too_long ? 64 : abs(lengths[i] - lengths[k]));
        }
}

TEST(a_discarded_file_leaves_nothing_and_a_committed_one_is_whole) {
    (void)state_;
    lode_err e = { 0 };
    char path[] = "/tmp/lode_base_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    remove(path);
    lode_out o;
    CHECK_OK(lode_out_open(&o, path, &e), &e);
    CHECK_OK(lode_out_write(&o, "abc", 3, &e), &e);
    lode_out_discard(&o);
    assert_false(lode_is_file(path));
    CHECK_OK(lode_out_open(&o, path, &e), &e);
    CHECK_OK(lode_out_write(&o, "abc", 3, &e), &e);
    CHECK_OK(lode_out_commit(&o, &e), &e);
    char *text;
    size_t n;
    CHECK_OK(lode_file_read(path, 100, &text, &n, &e), &e);
    assert_int_equal(n, 3);
    assert_string_equal(text, "abc");
    free(text);
    CHECK_FAILS(lode_file_read(path, 2, &text, &n, &e), &e, LODE_E_FULL, "limit");
    lode_map m;
    CHECK_OK(lode_map_open(&m, path, &e), &e);
    assert_memory_equal(m.data, "abc", 3);
    lode_map_close(&m);
    CHECK_FAILS(lode_map_open(&m, "/tmp", &e), &e, LODE_E_INPUT, "folder");
    remove(path);
    CHECK_FAILS(lode_map_open(&m, path, &e), &e, LODE_E_NOT_FOUND, path);
}

/* Each step of writing that can fail does: the disk is full, the name was taken meanwhile, the folder is not there. */
TEST(a_file_that_could_not_be_written_is_an_error_and_leaves_nothing) {
    (void)state_;
    lode_err e = { 0 };
    lode_out o;
    char dir[] = "/tmp/lode_base_XXXXXX", path[40], part[48];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/taken", dir);
    snprintf(part, sizeof part, "%s.part", path);
    CHECK_OK(lode_out_open(&o, path, &e), &e);
    CHECK_OK(lode_out_write(&o, "abc", 3, &e), &e);
    assert_int_equal(mkdir(path, 0700), 0);
    CHECK_FAILS(lode_out_commit(&o, &e), &e, LODE_E_IO, path);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/none/x", dir);
    CHECK_FAILS(lode_out_open(&o, path, &e), &e, LODE_E_IO, "cannot be written");
    assert_int_equal(rmdir(dir), 0);
    if (access("/dev/full", W_OK) != 0) return;
    CHECK_OK(lode_out_open(&o, "/dev/full", &e), &e);
    CHECK_OK(lode_out_write(&o, "abc", 3, &e), &e); /* buffered */
    CHECK_FAILS(lode_out_commit(&o, &e), &e, LODE_E_FULL, "/dev/full");
    static char much[1 << 20];
    CHECK_OK(lode_out_open(&o, "/dev/full", &e), &e);
    CHECK_FAILS(lode_out_write(&o, much, sizeof much, &e), &e, LODE_E_FULL, "/dev/full");
    lode_out_discard(&o);
}

TEST(copies_of_text_end_in_a_zero_and_are_apart) {
    (void)state_;
    lode_arena a = { 0 };
    for (size_t n = 0; n < 70; n++) { /* whole units of the arena, one less and one more */
        char text[70];
        memset(text, 'x', n);
        char *p = lode_arena_strdup(&a, text, n);
        assert_non_null(p);
        memset(lode_arena_alloc(&a, 16, 1), 'y', 16);
        assert_int_equal(strlen(p), n);
    }
    assert_null(lode_arena_strdup(&a, "", SIZE_MAX));
    lode_arena_free(&a);
}

TEST(a_pipe_or_a_link_at_the_name_to_write_stays) {
    (void)state_;
    lode_err e = { 0 };
    char dir[] = "/tmp/lode_base_XXXXXX", pipe[40], file[40], link[40], part[48], got[8] = { 0 };
    assert_non_null(mkdtemp(dir));
    snprintf(pipe, sizeof pipe, "%s/pipe", dir);
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    snprintf(part, sizeof part, "%s.part", pipe);
    lode_out o;
    CHECK_FAILS(lode_out_open(&o, dir, &e), &e, LODE_E_INPUT, "folder");
    /* What is written goes through the pipe; replacing it by a file would, for root, take away devices. */
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int fd = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    for (int commit = 0; commit < 2; commit++) {
        CHECK_OK(lode_out_open(&o, pipe, &e), &e);
        CHECK_OK(lode_out_write(&o, "abc", 3, &e), &e);
        if (commit) CHECK_OK(lode_out_commit(&o, &e), &e);
        lode_out_discard(&o);
        struct stat st;
        assert_int_equal(lstat(pipe, &st), 0);
        assert_true(S_ISFIFO(st.st_mode));
        assert_int_equal(access(part, F_OK), -1);
        assert_int_equal(read(fd, got, sizeof got), 3);
        assert_memory_equal(got, "abc", 3);
    }
    close(fd);
    for (int old = 1; old >= 0; old--) {
        CHECK_OK(lode_out_open(&o, old ? file : link, &e), &e);
        CHECK_OK(lode_out_write(&o, old ? "old" : "new", 3, &e), &e);
        CHECK_OK(lode_out_commit(&o, &e), &e);
        if (old) assert_int_equal(symlink(file, link), 0);
    }
    assert_int_equal(readlink(link, part, sizeof part), strlen(file));
    const int in = open(file, O_RDONLY);
    assert_int_equal(read(in, got, 3), 3);
    assert_memory_equal(got, "new", 3);
    close(in);
    remove(link);
    remove(file);
    remove(pipe);
    assert_int_equal(rmdir(dir), 0);
}

/* Sizes around the limit and around the pieces in which a file is read. */
TEST(a_file_is_read_whole_up_to_the_limit_and_refused_beyond) {
    (void)state_;
    enum { MOST = 40000 };
    static const size_t sizes[] = { 0, 1, 100, 16383, 16384, 16385, 32768, MOST };
    char path[] = "/tmp/lode_base_XXXXXX", *bytes = malloc(MOST);
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && bytes);
    for (size_t i = 0; i < MOST; i++) bytes[i] = (char)(i * 31 >> 3);
    assert_int_equal(write(fd, bytes, MOST), MOST);
    for (size_t k = sizeof sizes / sizeof *sizes; k-- > 0;) {
        const size_t n = sizes[k];
        char *got = NULL;
        size_t n_got = 0;
        lode_err e = { 0 };
        assert_int_equal(ftruncate(fd, (off_t)n), 0);
        for (size_t limit = n; limit <= n + 1; limit++) {
            CHECK_OK(lode_file_read(path, limit, &got, &n_got, &e), &e);
            assert_int_equal(n_got, n);
            assert_memory_equal(got, bytes, n);
            assert_int_equal(got[n], 0);
            free(got);
        }
        if (n > 0) CHECK_FAILS(lode_file_read(path, n - 1, &got, &n_got, &e), &e, LODE_E_FULL, "limit");
    }
    close(fd);
    unlink(path);
    free(bytes);
}

TEST(the_clock_does_not_go_back) {
    (void)state_;
    const int64_t a = lode_clock_ns();
    assert_true(lode_clock_ns() >= a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(an_error_keeps_its_code_and_gets_context),
        cmocka_unit_test(text_of_others_stays_on_one_line_and_drives_no_terminal),
        cmocka_unit_test(size_arithmetic_that_wraps_is_refused),
        cmocka_unit_test(an_arena_hands_out_zeroed_aligned_blocks),
        cmocka_unit_test(text_grows_and_utf8_round_trips),
        cmocka_unit_test(invalid_utf8_is_seen),
        cmocka_unit_test(edit_distance_counts_changes),
        cmocka_unit_test(a_discarded_file_leaves_nothing_and_a_committed_one_is_whole),
        cmocka_unit_test(a_file_that_could_not_be_written_is_an_error_and_leaves_nothing),
        cmocka_unit_test(copies_of_text_end_in_a_zero_and_are_apart),
        cmocka_unit_test(a_pipe_or_a_link_at_the_name_to_write_stays),
        cmocka_unit_test(a_file_is_read_whole_up_to_the_limit_and_refused_beyond),
        cmocka_unit_test(the_clock_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
