/* backend_test.c - what the wrappers promise for any backend: ranges, alignment, copies between memories, names. */
#include "backend/iface.h"
#include "base/test.h"
#include "graph/graph.h"

#include <stdint.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_outside_a_buffer_are_refused_wherever_they_begin),
        cmocka_unit_test(memory_given_for_reading_is_not_written),
        cmocka_unit_test(copies_between_any_two_memories_arrive_byte_for_byte),
        cmocka_unit_test(placed_tensors_are_aligned_apart_and_inside_the_buffer),
        cmocka_unit_test(devices_are_found_by_name_in_any_case_and_unknown_ones_are_answered_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
