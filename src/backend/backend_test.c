/* backend_test.c - what the wrappers promise for any backend: ranges, alignment, copies between memories, names. */
#include "backend/iface.h"
#include "base/test.h"
#include "graph/graph.h"

#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

typedef struct {
    lode_runtime *rt;
    lode_device *cpu, *far; /* memory of the host, and memory that the host may not touch */
} place;

static void open_place(place *p) {
    lode_err e = { 0 };
    CHECK_OK(lode_runtime_open(&p->rt, &(lode_runtime_desc){ .n_null_devices = 2 }, &e), &e);
    CHECK_OK(lode_runtime_find(p->rt, "CPU", &p->cpu, &e), &e);
    CHECK_OK(lode_runtime_find(p->rt, "NULL1", &p->far, &e), &e);
}

static lode_buffer *open_buffer(lode_device *d, size_t size) {
    lode_buffer *b;
    lode_err e = { 0 };
    CHECK_OK(lode_buffer_open(&b, lode_device_buffer_type(d), size, &e), &e);
    CHECK_OK(lode_buffer_clear(b, 0xEE, &e), &e);
    return b;
}

/* Every way to touch bytes of a buffer. */
static void check_range(lode_buffer *b, lode_buffer *other, size_t off, size_t size, bool inside) {
    lode_err e[5] = { { 0 } };
    char bytes[64] = { 0 };
    const lode_status s[5] = { lode_buffer_set(b, off, bytes, size, &e[0]), lode_buffer_get(b, off, bytes, size, &e[1]),
                               lode_buffer_memset(b, off, 0, size, &e[2]),
                               lode_buffer_copy(b, off, other, 0, size, &e[3]),
                               lode_buffer_copy(other, 0, b, off, size, &e[4]) };
    for (int i = 0; i < 5; i++) {
        if (s[i] != (inside ? LODE_OK : LODE_E_INPUT))
            fail_msg("way %d, %zu bytes at %zu: %s", i, size, off, e[i].text);
        if (!inside) assert_non_null(strstr(e[i].text, "outside"));
    }
}

TEST(bytes_outside_a_buffer_are_refused_wherever_they_begin) {
    (void)state_;
    place p;
    open_place(&p);
    lode_device *const devices[] = { p.cpu, p.far };
    for (int i = 0; i < 2; i++) {
        lode_buffer *b = open_buffer(devices[i], 40), *other = open_buffer(devices[1 - i], 64);
        static const struct {
            size_t off, size;
            bool inside;
        } ranges[] = { { 0, 40, true },
                       { 8, 32, true },
                       { 40, 0, true },
                       { 39, 1, true },
                       { 0, 41, false },
                       { 8, 33, false },
                       { 40, 1, false },
                       { 41, 0, false },
                       { 64, 1, false },
                       { SIZE_MAX, 2, false },
                       { SIZE_MAX - 8, 16, false } };
        for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
            check_range(b, other, ranges[k].off, ranges[k].size, ranges[k].inside);
        lode_buffer_close(b);
        lode_buffer_close(other);
    }
    lode_runtime_close(p.rt);
}

TEST(memory_given_for_reading_is_not_written) {
    (void)state_;
    place p;
    open_place(&p);
    static _Alignas(64) char bytes[64] = "kept";
    lode_buffer *b, *other = open_buffer(p.cpu, 64);
    lode_err e = { 0 };
    CHECK_OK(lode_device_wrap(p.cpu, bytes, sizeof bytes, true, &b, &e), &e);
    CHECK_FAILS(lode_buffer_set(b, 0, "x", 1, &e), &e, LODE_E_INPUT, "read-only");
    CHECK_FAILS(lode_buffer_clear(b, 0, &e), &e, LODE_E_INPUT, "read-only");
    CHECK_FAILS(lode_buffer_copy(other, 0, b, 0, 4, &e), &e, LODE_E_INPUT, "read-only");
    CHECK_OK(lode_buffer_copy(b, 0, other, 8, 5, &e), &e);
    assert_string_equal((const char *)lode_buffer_host(other) + 8, "kept");
    assert_string_equal(bytes, "kept");
    lode_buffer_close(b);
    lode_buffer_close(other);
    lode_runtime_close(p.rt);
}

/* Sizes around the pieces in which a copy goes through the host, from and to odd places. */
TEST(copies_between_any_two_memories_arrive_byte_for_byte) {
    (void)state_;
    enum { ROOM = 300 * 1024, FROM = 7, TO = 13 };
    static const size_t sizes[] = { 0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 200 * 1024 + 3 };
    place p;
    open_place(&p);
    lode_device *const devices[] = { p.cpu, p.far };
    uint8_t *want = malloc(ROOM), *got = malloc(ROOM);
    assert_true(want && got);
    for (size_t i = 0; i < ROOM; i++) want[i] = (uint8_t)(i * 2654435761u >> 13);
    for (int way = 0; way < 4; way++) {
        lode_buffer *a = open_buffer(devices[way / 2], ROOM), *b = open_buffer(devices[way % 2], ROOM);
        lode_err e = { 0 };
        CHECK_OK(lode_buffer_set(a, 0, want, ROOM, &e), &e);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            CHECK_OK(lode_buffer_clear(b, 0xEE, &e), &e);
            CHECK_OK(lode_buffer_copy(a, FROM, b, TO, sizes[k], &e), &e);
            CHECK_OK(lode_buffer_get(b, 0, got, ROOM, &e), &e);
            assert_memory_equal(got + TO, want + FROM, sizes[k]);
            for (size_t i = 0; i < TO; i++) assert_int_equal(got[i], 0xEE);
            for (size_t i = TO + sizes[k]; i < ROOM; i++) assert_int_equal(got[i], 0xEE);
        }
        lode_buffer_close(a);
        lode_buffer_close(b);
    }
    free(want);
    free(got);
    lode_runtime_close(p.rt);
}

TEST(placed_tensors_are_aligned_apart_and_inside_the_buffer) {
    (void)state_;
    place p;
    open_place(&p);
    lode_device *const devices[] = { p.cpu, p.far };
    for (int i = 0; i < 2; i++) {
        enum { N = 5 };
        lode_tensor t[N] = { { 0 } }, *all[N];
        lode_buffer_type *type = lode_device_buffer_type(devices[i]);
        const size_t align = lode_buffer_type_alignment(type);
        lode_buffer *b;
        lode_err e = { 0 };
        for (int k = 0; k < N; k++) {
            t[k] = (lode_tensor){ .type = LODE_F32, .ne = { 3 + 50 * k, 1 + k, 1, 1 } };
            CHECK_OK(lode_dense(&t[k], &e), &e);
            all[k] = &t[k];
        }
        CHECK_OK(lode_buffer_place(&b, type, all, N, &e), &e);
        for (int k = 0; k < N; k++) {
            assert_ptr_equal(t[k].buffer, b);
            assert_int_equal(t[k].offset % align, 0);
            if (k) assert_true(t[k].offset >= t[k - 1].offset + lode_n_bytes(&t[k - 1]));
            assert_true(t[k].offset + lode_n_bytes(&t[k]) <= lode_buffer_size(b));
        }
        lode_buffer_close(b);
    }
    lode_runtime_close(p.rt);
}

TEST(devices_are_found_by_name_in_any_case_and_unknown_ones_are_answered_with_a_list) {
    (void)state_;
    place p;
    open_place(&p);
    lode_device *d;
    lode_err e = { 0 };
    CHECK_OK(lode_runtime_find(p.rt, "null1", &d, &e), &e);
    assert_ptr_equal(d, p.far);
    CHECK_OK(lode_runtime_find(p.rt, "cpu", &d, &e), &e);
    assert_ptr_equal(d, p.cpu);
    CHECK_FAILS(lode_runtime_find(p.rt, "CPU9", &d, &e), &e, LODE_E_NOT_FOUND, "CPU9");
    CHECK_FAILS(lode_runtime_find(p.rt, "NULL", &d, &e), &e, LODE_E_NOT_FOUND, "CPU, NULL0, NULL1");
    assert_null(lode_runtime_device(p.rt, -1));
    assert_null(lode_runtime_device(p.rt, lode_runtime_n_devices(p.rt)));
    lode_runtime_close(p.rt);
}

/* A buffer type that holds 1000 bytes and counts what it is asked for. */
static int n_asked;
static const char *small_name(const lode_buffer_type *t) { return (void)t, "small"; }
static size_t small_align(const lode_buffer_type *t) { return (void)t, 64; }
static size_t small_max(const lode_buffer_type *t) { return (void)t, 1000; }
static lode_status small_alloc(lode_buffer_type *t, size_t size, lode_buffer **out, lode_err *err) {
    assert_in_range(size, 1, 1000);
    n_asked++;
    return lode_host_buffer_open(t, size, out, err);
}

TEST(a_device_is_not_asked_for_more_than_its_limit) {
    (void)state_;
    static const lode_buffer_type_ops ops = { small_name, small_alloc, small_align, small_max, NULL, NULL };
    lode_buffer_type type = { .ops = &ops };
    lode_err e = { 0 };
    lode_buffer *b;
    lode_tensor t = { .type = LODE_F32, .ne = { 251, 1, 1, 1 }, .nb = { 4, 1004, 1004, 1004 } }, *one[] = { &t, &t };
    static const size_t sizes[] = { 0, 1, 999, 1000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_OK(lode_buffer_open(&b, &type, sizes[i], &e), &e);
        lode_buffer_close(b);
    }
    assert_int_equal(n_asked, 4);
    CHECK_FAILS(lode_buffer_open(&b, &type, 1001, &e), &e, LODE_E_NOMEM, "limit of 1000");
    CHECK_FAILS(lode_buffer_open(&b, &type, SIZE_MAX, &e), &e, LODE_E_NOMEM, "limit of 1000");
    CHECK_FAILS(lode_buffer_place(&b, &type, one, 1, &e), &e, LODE_E_NOMEM, "limit of 1000");
    t.ne[0] = 130;
    CHECK_FAILS(lode_buffer_place(&b, &type, one, 2, &e), &e, LODE_E_NOMEM, "limit of 1000"); /* 520 and 520 */
    assert_int_equal(n_asked, 4);
}

/* A stream that is behind: what was enqueued happens when somebody waits for it. */
typedef struct {
    lode_stream base;
    lode_buffer *to;
    char late;
} slow_stream;

static lode_status slow_synchronize(lode_stream *s, lode_err *err) {
    slow_stream *slow = (slow_stream *)(void *)s;
    const char c = slow->late;
    slow->late = 0;
    return c ? lode_buffer_set(slow->to, 0, &c, 1, err) : LODE_OK;
}

TEST(transfers_come_after_what_was_enqueued_before) {
    (void)state_;
    static const lode_stream_ops ops = { .synchronize = slow_synchronize };
    place p;
    open_place(&p);
    lode_err e = { 0 };
    lode_buffer *a = open_buffer(p.cpu, 4), *b = open_buffer(p.cpu, 4);
    slow_stream s = { { .ops = &ops }, a, 0 }, t = { { .ops = &ops }, b, 0 };
    char got = 0;
    s.late = 'g';
    CHECK_OK(lode_stream_get(&s.base, a, 0, &got, 1, &e), &e);
    assert_int_equal(got, 'g');
    s.late = 'x';
    CHECK_OK(lode_stream_set(&s.base, a, 0, "y", 1, &e), &e);
    CHECK_OK(lode_stream_synchronize(&s.base, &e), &e);
    CHECK_OK(lode_buffer_get(a, 0, &got, 1, &e), &e);
    assert_int_equal(got, 'y');
    s.late = 'c'; /* comes first at the source, and what the target was given before does not stay */
    t.late = 'z';
    CHECK_OK(lode_stream_copy(&s.base, a, 0, &t.base, b, 0, 1, &e), &e);
    CHECK_OK(lode_stream_synchronize(&t.base, &e), &e);
    CHECK_OK(lode_buffer_get(b, 0, &got, 1, &e), &e);
    assert_int_equal(got, 'c');
    lode_event *event;
    CHECK_OK(lode_event_open(&event, p.cpu, &e), &e);
    CHECK_OK(lode_event_wait(event, &t.base, &e), &e); /* nothing was recorded */
    s.late = 'e';
    CHECK_OK(lode_event_record(event, &s.base, &e), &e);
    CHECK_OK(lode_event_wait(event, &t.base, &e), &e);
    CHECK_OK(lode_buffer_get(a, 0, &got, 1, &e), &e);
    assert_int_equal(got, 'e');
    s.late = 'f';
    CHECK_OK(lode_event_synchronize(event, &e), &e);
    CHECK_OK(lode_buffer_get(a, 0, &got, 1, &e), &e);
    assert_int_equal(got, 'f');
    lode_stream *done; /* never behind: what was recorded on it is reached, and it may be closed before the event */
    CHECK_OK(lode_stream_open(&done, p.cpu, NULL, &e), &e);
    CHECK_OK(lode_event_record(event, done, &e), &e);
    lode_stream_close(done);
    assert_null(event->stream);
    CHECK_OK(lode_event_wait(event, &t.base, &e), &e);
    CHECK_OK(lode_event_synchronize(event, &e), &e);
    lode_event_close(event);
    lode_buffer_close(a);
    lode_buffer_close(b);
    lode_runtime_close(p.rt);
}

/* A backend built as somebody else would build it, whose table is as the definitions say. */
static bool build_backend(const char *dir, const char *definitions) {
    static const char text[] =
        "#include \"backend/iface.h\"\n"
        "static lode_status open_it(void **c, const lode_runtime_desc *d, lode_err *e) {"
        " (void)d; (void)e; *c = NULL; return LODE_OK; }\n"
        "static void close_it(void *c) { (void)c; }\n"
        "static int none(void *c) { (void)c; return 0; }\n"
        "static const lode_backend b = { .magic = LODE_BACKEND_MAGIC + MAGIC, .abi = LODE_BACKEND_ABI + ABI,"
        " .size = sizeof b + SIZE, .name = \"other\", .open = open_it, .close = close_it, .n_devices = none };\n"
        "const lode_backend *lode_backend_entry(void);\n"
        "const lode_backend *lode_backend_entry(void) { return FOUND ? &b : NULL; }\n";
    char path[64], command[400];
    snprintf(path, sizeof path, "%s/b.c", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, sizeof text - 1, f), sizeof text - 1);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command, "cc -shared -fPIC -Iinclude -Isrc %s -o %s/b.so %s", definitions, dir, path);
    const bool ok = system(command) == 0;
    remove(path);
    return ok;
}

TEST(a_loaded_backend_is_taken_only_with_the_right_mark_version_and_size_of_table) {
    (void)state_;
    static const struct {
        const char *definitions, *why;
    } rows[] = {
        { "-DMAGIC=0 -DABI=0 -DSIZE=0 -DFOUND=1", NULL },
        { "-DMAGIC=1 -DABI=0 -DSIZE=0 -DFOUND=1", "not a lode backend" },
        { "-DMAGIC=0 -DABI=1 -DSIZE=0 -DFOUND=1", "rebuild it" },
        { "-DMAGIC=0 -DABI=-1 -DSIZE=0 -DFOUND=1", "rebuild it" },
        { "-DMAGIC=0 -DABI=0 -DSIZE=8 -DFOUND=1", "rebuild it" },
        { "-DMAGIC=0 -DABI=0 -DSIZE=-8 -DFOUND=1", "rebuild it" },
        { "-DMAGIC=0 -DABI=0 -DSIZE=0 -DFOUND=0", "returned nothing" },
    };
    if (system("cc --version > /dev/null 2>&1") != 0) skip();
    place p;
    open_place(&p);
    const int n = lode_runtime_n_devices(p.rt);
    char good[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char dir[] = "/tmp/lode_backend_XXXXXX", path[64];
        lode_err e = { 0 };
        assert_non_null(mkdtemp(dir));
        snprintf(path, sizeof path, "%s/b.so", dir);
        assert_true(build_backend(dir, rows[i].definitions));
        if (rows[i].why)
            CHECK_FAILS(lode_runtime_load(p.rt, path, &e), &e, LODE_E_UNSUPPORTED, rows[i].why);
        else
            CHECK_OK(lode_runtime_load(p.rt, path, &e), &e);
        assert_int_equal(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL,
                         rows[i].why != NULL); /* a refused one is let go */
        if (i == 0) snprintf(good, sizeof good, "%s", path);
        remove(path);
        rmdir(dir);
    }
    assert_int_equal(lode_runtime_n_devices(p.rt), n);
    lode_runtime_close(p.rt);
    void *mine = dlopen(good, RTLD_NOW | RTLD_NOLOAD); /* held by the look above alone */
    assert_non_null(mine);
    dlclose(mine);
    dlclose(mine);
    assert_null(dlopen(good, RTLD_NOW | RTLD_NOLOAD));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_outside_a_buffer_are_refused_wherever_they_begin),
        cmocka_unit_test(memory_given_for_reading_is_not_written),
        cmocka_unit_test(copies_between_any_two_memories_arrive_byte_for_byte),
        cmocka_unit_test(placed_tensors_are_aligned_apart_and_inside_the_buffer),
        cmocka_unit_test(devices_are_found_by_name_in_any_case_and_unknown_ones_are_answered_with_a_list),
        cmocka_unit_test(a_device_is_not_asked_for_more_than_its_limit),
        cmocka_unit_test(transfers_come_after_what_was_enqueued_before),
        cmocka_unit_test(a_loaded_backend_is_taken_only_with_the_right_mark_version_and_size_of_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
