/* gguf_test.c - writing and reading back, look-ups, split models, speed on a large vocabulary. */
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "base/test.h"
#include "lode/gguf.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own, removed by end(). */
typedef struct place {
    char dir[64], path[160];
    lode_err e;
} place;

static place begin(void) {
    place p = { .dir = "/tmp/lode_gguf_XXXXXX" };
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.path, sizeof p.path, "%s/m.gguf", p.dir);
    return p;
}

static void end(place *p) {
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", p->dir);
    assert_int_equal(system(command), 0);
}

static lode_slice slice(const char *s) { return (lode_slice){ s, strlen(s) }; }

static bool slice_is(lode_slice a, const char *s) { return a.n == strlen(s) && memcmp(a.p, s, a.n) == 0; }

/* Writes a model of one tensor "t" [4, 2] of F32 holding first, first + 1, ...; with keys from `more`. */
static void write_small(const char *path, const char *name, float first, void (*more)(lode_gguf_writer *)) {
    lode_err e = { 0 };
    lode_gguf_writer *w;
    CHECK_OK(lode_gguf_writer_open(&w, path, &e), &e);
    lode_gguf_set_str(w, "general.architecture", "llama", 5);
    if (more) more(w);
    CHECK_OK(lode_gguf_add_tensor(w, name, LODE_F32, 2, (int64_t[]){ 4, 2 }, &e), &e);
    CHECK_OK(lode_gguf_begin(w, &e), &e);
    float x[8];
    for (int i = 0; i < 8; i++) x[i] = first + (float)i;
    CHECK_OK(lode_gguf_write_tensor(w, x, sizeof x, &e), &e);
    CHECK_OK(lode_gguf_finish(w, &e), &e);
}

static void every_kind(lode_gguf_writer *w) {
    const int32_t ints[] = { -1, 2, 3 };
    const uint64_t longs[] = { 1, UINT64_MAX };
    const float floats[] = { 0.5f, -1.5f };
    const double doubles[] = { 1e300, 0.25 };
    const int8_t tiny[] = { -128, 127 };
    const uint8_t flags[] = { 0, 1 };
    const lode_slice words[] = { { "a", 1 }, { NULL, 0 }, { "x\0y", 3 }, { "last", 4 } };
    lode_gguf_set_u32(w, "u", 4000000000u);
    lode_gguf_set_i32(w, "i", -7);
    lode_gguf_set_f32(w, "f", 1.25f);
    lode_gguf_set_bool(w, "b", true);
    lode_gguf_set_str(w, "s", "text", 4);
    lode_gguf_set_str(w, "none", "", 0);
    lode_gguf_set_arr(w, "ints", LODE_GGUF_I32, ints, 3);
    lode_gguf_set_arr(w, "longs", LODE_GGUF_U64, longs, 2);
    lode_gguf_set_arr(w, "floats", LODE_GGUF_F32, floats, 2);
    lode_gguf_set_arr(w, "doubles", LODE_GGUF_F64, doubles, 2);
    lode_gguf_set_arr(w, "tiny", LODE_GGUF_I8, tiny, 2);
    lode_gguf_set_arr(w, "flags", LODE_GGUF_BOOL, flags, 2);
    lode_gguf_set_arr(w, "empty", LODE_GGUF_F32, NULL, 0);
    lode_gguf_set_arr_str(w, "words", words, 4);
}

static lode_gguf *open_every_kind(place *p) {
    lode_gguf *g;
    write_small(p->path, "t", 0.0f, every_kind);
    CHECK_OK(lode_gguf_open(&g, p->path, &p->e), &p->e);
    return g;
}

TEST(doubles_come_as_the_nearest_float_or_an_infinity_of_their_sign) {
    (void)state_;
    static const struct {
        double value;
        float want;
    } rows[] = { { 0.1, 0.1f },
                 { -2.5, -2.5f },
                 { 1e300, (float)INFINITY },
                 { -1e300, -(float)INFINITY },
                 { 3.4e38, 3.4e38f },
                 { -3.4e38, -3.4e38f },
                 { 3.5e38, (float)INFINITY },
                 { -3.5e38, -(float)INFINITY },
                 { 1e-300, 0 },
                 { (double)INFINITY, (float)INFINITY } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place p = begin();
        lode_gguf_writer *w;
        lode_gguf *g;
        float f = 7, item = 7;
        const lode_gguf_kv kv = { { "d", 1 }, LODE_GGUF_F64, LODE_GGUF_F64, 1, (const uint8_t *)&rows[i].value, 8 };
        CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
        lode_gguf_set_kv(w, &kv);
        lode_gguf_set_arr(w, "a", LODE_GGUF_F64, &rows[i].value, 1);
        CHECK_OK(lode_gguf_begin(w, &p.e), &p.e);
        CHECK_OK(lode_gguf_finish(w, &p.e), &p.e);
        CHECK_OK(lode_gguf_open(&g, p.path, &p.e), &p.e);
        CHECK_OK(lode_gguf_get_f32(g, "d", &f, NULL, &p.e), &p.e);
        assert_true(lode_gguf_arr_f32(lode_gguf_find(g, "a"), 0, &item));
        if (f != rows[i].want || item != rows[i].want) fail_msg("%g became %g", rows[i].value, (double)f);
        lode_gguf_close(g);
        end(&p);
    }
}

TEST(scalars_come_back_as_they_were_set) {
    (void)state_;
    place p = begin();
    lode_gguf *g = open_every_kind(&p);
    uint32_t u = 0;
    float f = 0.0f;
    bool b = false, found = false;
    lode_slice s = { 0 };
    assert_int_equal(lode_gguf_version(g), 3);
    assert_int_equal(lode_gguf_n_kv(g), 15);
    assert_string_equal(lode_gguf_path(g), p.path);
    CHECK_OK(lode_gguf_get_u32(g, "u", &u, NULL, &p.e), &p.e);
    assert_int_equal(u, 4000000000u);
    CHECK_OK(lode_gguf_get_f32(g, "f", &f, &found, &p.e), &p.e);
    assert_true(found && f == 1.25f);
    CHECK_OK(lode_gguf_get_bool(g, "b", &b, NULL, &p.e), &p.e);
    assert_true(b);
    CHECK_OK(lode_gguf_get_str(g, "s", &s, NULL, &p.e), &p.e);
    assert_true(slice_is(s, "text"));
    CHECK_OK(lode_gguf_get_str(g, "none", &s, NULL, &p.e), &p.e);
    assert_int_equal(s.n, 0);
    lode_gguf_close(g);
    end(&p);
}

TEST(an_absent_key_is_either_fine_or_named) {
    (void)state_;
    place p = begin();
    lode_gguf *g = open_every_kind(&p);
    uint32_t u = 17;
    bool found = true;
    CHECK_OK(lode_gguf_get_u32(g, "absent", &u, &found, &p.e), &p.e);
    assert_false(found);
    assert_int_equal(u, 17);
    CHECK_FAILS(lode_gguf_get_u32(g, "absent", &u, NULL, &p.e), &p.e, LODE_E_NOT_FOUND, "key 'absent' is missing");
    assert_null(lode_gguf_find(g, ""));
    lode_gguf_close(g);
    end(&p);
}

TEST(a_value_of_the_wrong_kind_or_range_is_refused_with_its_key) {
    (void)state_;
    place p = begin();
    lode_gguf *g = open_every_kind(&p);
    uint32_t u;
    float f;
    bool b;
    lode_slice s;
    CHECK_FAILS(lode_gguf_get_u32(g, "i", &u, NULL, &p.e), &p.e, LODE_E_FORMAT, "key 'i' is of kind i32 -7, expected");
    CHECK_FAILS(lode_gguf_get_u32(g, "s", &u, NULL, &p.e), &p.e, LODE_E_FORMAT, "kind string");
    CHECK_FAILS(lode_gguf_get_u32(g, "ints", &u, NULL, &p.e), &p.e, LODE_E_FORMAT, "kind array");
    CHECK_FAILS(lode_gguf_get_u32(g, "b", &u, NULL, &p.e), &p.e, LODE_E_FORMAT, "kind bool");
    CHECK_FAILS(lode_gguf_get_f32(g, "u", &f, NULL, &p.e), &p.e, LODE_E_FORMAT, "expected f32");
    CHECK_FAILS(lode_gguf_get_bool(g, "u", &b, NULL, &p.e), &p.e, LODE_E_FORMAT, "expected bool");
    CHECK_FAILS(lode_gguf_get_str(g, "u", &s, NULL, &p.e), &p.e, LODE_E_FORMAT, "expected string");
    lode_gguf_close(g);
    end(&p);
}

TEST(array_elements_are_converted_and_bounded) {
    (void)state_;
    place p = begin();
    lode_gguf *g = open_every_kind(&p);
    int64_t v = 0;
    float f = 0.0f;
    lode_slice s;
    assert_true(lode_gguf_arr_i64(lode_gguf_find(g, "ints"), 0, &v) && v == -1);
    assert_false(lode_gguf_arr_i64(lode_gguf_find(g, "ints"), 3, &v));
    assert_true(lode_gguf_arr_i64(lode_gguf_find(g, "longs"), 0, &v) && v == 1);
    assert_false(lode_gguf_arr_i64(lode_gguf_find(g, "longs"), 1, &v)); /* does not fit */
    assert_true(lode_gguf_arr_i64(lode_gguf_find(g, "tiny"), 0, &v) && v == -128);
    assert_true(lode_gguf_arr_i64(lode_gguf_find(g, "flags"), 1, &v) && v == 1);
    assert_true(lode_gguf_arr_i64(lode_gguf_find(g, "i"), 0, &v) && v == -7); /* a scalar is an array of one */
    assert_false(lode_gguf_arr_i64(lode_gguf_find(g, "i"), 1, &v));
    assert_false(lode_gguf_arr_i64(lode_gguf_find(g, "floats"), 0, &v));
    assert_true(lode_gguf_arr_f32(lode_gguf_find(g, "floats"), 1, &f) && f == -1.5f);
    assert_true(lode_gguf_arr_f32(lode_gguf_find(g, "doubles"), 1, &f) && f == 0.25f);
    assert_true(lode_gguf_arr_f32(lode_gguf_find(g, "doubles"), 0, &f) && f > 3e38f);
    assert_true(lode_gguf_arr_f32(lode_gguf_find(g, "ints"), 2, &f) && f == 3.0f);
    assert_false(lode_gguf_arr_f32(lode_gguf_find(g, "empty"), 0, &f));
    assert_false(lode_gguf_arr_f32(lode_gguf_find(g, "words"), 0, &f));
    const lode_gguf_kv *words = lode_gguf_find(g, "words");
    assert_int_equal(words->n, 4);
    assert_true(lode_gguf_arr_str(g, words, 3, &s) && slice_is(s, "last"));
    assert_true(lode_gguf_arr_str(g, words, 2, &s) && s.n == 3 && memcmp(s.p, "x\0y", 3) == 0);
    assert_true(lode_gguf_arr_str(g, words, 1, &s) && s.n == 0);
    assert_false(lode_gguf_arr_str(g, words, 4, &s));
    assert_false(lode_gguf_arr_str(g, lode_gguf_find(g, "ints"), 0, &s));
    const lode_gguf_kv foreign = *words;
    assert_false(lode_gguf_arr_str(g, &foreign, 0, &s));
    lode_gguf_close(g);
    end(&p);
}

TEST(tensors_come_back_with_their_bytes_at_aligned_places) {
    (void)state_;
    place p = begin();
    lode_gguf_writer *w;
    lode_gguf *g;
    char q8[68] = { 1, 2, 3 };
    CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
    lode_gguf_set_u32(w, "general.alignment", 256);
    CHECK_OK(lode_gguf_add_tensor(w, "a", LODE_Q8_0, 2, (int64_t[]){ 32, 2 }, &p.e), &p.e);
    CHECK_OK(lode_gguf_add_tensor(w, "nothing", LODE_F32, 2, (int64_t[]){ 4, 0 }, &p.e), &p.e);
    CHECK_OK(lode_gguf_add_tensor(w, "b", LODE_I32, 1, (int64_t[]){ 3 }, &p.e), &p.e);
    CHECK_OK(lode_gguf_begin(w, &p.e), &p.e);
    CHECK_OK(lode_gguf_write_tensor(w, q8, sizeof q8, &p.e), &p.e);
    CHECK_OK(lode_gguf_write_tensor(w, NULL, 0, &p.e), &p.e);
    CHECK_OK(lode_gguf_write_tensor(w, (int32_t[]){ 7, 8, 9 }, 12, &p.e), &p.e);
    CHECK_OK(lode_gguf_finish(w, &p.e), &p.e);
    CHECK_OK(lode_gguf_open(&g, p.path, &p.e), &p.e);
    assert_int_equal(lode_gguf_n_tensors(g), 3);
    const lode_gguf_tensor *a = lode_gguf_find_tensor(g, "a"), *b = lode_gguf_find_tensor(g, "b");
    assert_int_equal(a->type, LODE_Q8_0);
    assert_int_equal(a->bytes, 68);
    assert_int_equal(a->ne[1], 2);
    assert_int_equal(a->ne[3], 1);
    assert_int_equal(a->offset % 256, 0);
    assert_int_equal(b->offset - a->offset, 256);
    assert_memory_equal(lode_gguf_tensor_data(g, a), q8, sizeof q8);
    assert_int_equal(((const int32_t *)lode_gguf_tensor_data(g, b))[2], 9);
    assert_int_equal(lode_gguf_find_tensor(g, "nothing")->bytes, 0);
    assert_null(lode_gguf_find_tensor(g, "c"));
    lode_gguf_close(g);
    end(&p);
}

TEST(copied_keys_are_equal_to_their_source) {
    (void)state_;
    place p = begin();
    lode_gguf *g = open_every_kind(&p), *copy;
    lode_gguf_writer *w;
    char path[200];
    snprintf(path, sizeof path, "%s/copy.gguf", p.dir);
    CHECK_OK(lode_gguf_writer_open(&w, path, &p.e), &p.e);
    for (uint64_t i = 0; i < lode_gguf_n_kv(g); i++) lode_gguf_set_kv(w, lode_gguf_kv_at(g, i));
    CHECK_OK(lode_gguf_begin(w, &p.e), &p.e);
    CHECK_OK(lode_gguf_finish(w, &p.e), &p.e);
    CHECK_OK(lode_gguf_open(&copy, path, &p.e), &p.e);
    assert_int_equal(lode_gguf_n_kv(copy), lode_gguf_n_kv(g));
    for (uint64_t i = 0; i < lode_gguf_n_kv(g); i++) {
        const lode_gguf_kv *a = lode_gguf_kv_at(g, i), *b = lode_gguf_kv_at(copy, i);
        assert_true(a->key.n == b->key.n && memcmp(a->key.p, b->key.p, a->key.n) == 0);
        assert_true(a->kind == b->kind && a->item == b->item && a->n == b->n && a->data_bytes == b->data_bytes);
        assert_memory_equal(a->data, b->data, a->data_bytes);
    }
    lode_gguf_close(copy);
    lode_gguf_close(g);
    end(&p);
}

TEST(an_unfinished_or_discarded_file_leaves_nothing_behind) {
    (void)state_;
    place p = begin();
    lode_gguf_writer *w;
    char part[200];
    snprintf(part, sizeof part, "%s.part", p.path);
    for (int finish = 0; finish < 2; finish++) {
        CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
        CHECK_OK(lode_gguf_add_tensor(w, "a", LODE_F32, 1, (int64_t[]){ 8 }, &p.e), &p.e);
        CHECK_OK(lode_gguf_begin(w, &p.e), &p.e);
        assert_true(lode_is_file(part));
        if (finish)
            CHECK_FAILS(lode_gguf_finish(w, &p.e), &p.e, LODE_E_INPUT, "0 of 1 tensors were written");
        else
            lode_gguf_discard(w);
        assert_false(lode_is_file(part) || lode_is_file(p.path));
    }
    end(&p);
}

TEST(the_writer_refuses_what_the_reader_would) {
    (void)state_;
    place p = begin();
    lode_gguf_writer *w;
    char longer[80];
    memset(longer, 'n', 64);
    longer[64] = '\0';
    CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
    const int64_t odd[] = { 31, 1 }, huge[] = { INT64_MAX / 4, 8 };
    CHECK_FAILS(lode_gguf_add_tensor(w, "t", LODE_Q8_0, 1, odd, &p.e), &p.e, LODE_E_SHAPE, "whole blocks of 32");
    CHECK_FAILS(lode_gguf_add_tensor(w, "t", LODE_F32, 2, huge, &p.e), &p.e, LODE_E_SHAPE, "size that fits");
    CHECK_FAILS(lode_gguf_add_tensor(w, "t", LODE_F32, 5, odd, &p.e), &p.e, LODE_E_SHAPE, "5 dimensions");
    CHECK_FAILS(lode_gguf_add_tensor(w, "t", LODE_Q8A, 1, odd, &p.e), &p.e, LODE_E_TYPE, "q8a");
    CHECK_FAILS(lode_gguf_add_tensor(w, longer, LODE_F32, 1, odd, &p.e), &p.e, LODE_E_INPUT, "64 bytes");
    CHECK_OK(lode_gguf_add_tensor(w, "t", LODE_F32, 1, odd, &p.e), &p.e);
    CHECK_FAILS(lode_gguf_write_tensor(w, "", 0, &p.e), &p.e, LODE_E_INPUT, "begin");
    lode_gguf_set_u32(w, "k", 1);
    lode_gguf_set_f32(w, "k", 1.0f);
    CHECK_FAILS(lode_gguf_begin(w, &p.e), &p.e, LODE_E_INPUT, "key 'k' is set twice");
    lode_gguf_discard(w);
    CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
    CHECK_OK(lode_gguf_add_tensor(w, "t", LODE_F32, 1, odd, &p.e), &p.e);
    CHECK_OK(lode_gguf_add_tensor(w, "t", LODE_F32, 1, odd, &p.e), &p.e);
    CHECK_FAILS(lode_gguf_begin(w, &p.e), &p.e, LODE_E_INPUT, "'t' is added twice");
    lode_gguf_discard(w);
    CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
    assert_int_equal(lode_gguf_set_u32(w, "general.alignment", 13), LODE_E_INPUT);
    CHECK_FAILS(lode_gguf_begin(w, &p.e), &p.e, LODE_E_INPUT, "general.alignment");
    lode_gguf_discard(w);
    end(&p);
}

/* Split models: NAME-0000i-of-0000N.gguf, one tensor each. */
typedef struct split {
    int no, count, total;
} split;

static void write_part(const place *p, const char *file, const char *tensor, split s) {
    lode_err e = { 0 };
    lode_gguf_writer *w;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", p->dir, file);
    CHECK_OK(lode_gguf_writer_open(&w, path, &e), &e);
    const uint16_t no = (uint16_t)s.no, count = (uint16_t)s.count;
    const lode_gguf_kv kvs[] = {
        { { "split.no", 8 }, LODE_GGUF_U16, LODE_GGUF_U16, 1, (const uint8_t *)&no, 2 },
        { { "split.count", 11 }, LODE_GGUF_U16, LODE_GGUF_U16, 1, (const uint8_t *)&count, 2 },
    };
    lode_gguf_set_kv(w, &kvs[0]);
    lode_gguf_set_kv(w, &kvs[1]);
    lode_gguf_set_i32(w, "split.tensors.count", s.total);
    CHECK_OK(lode_gguf_add_tensor(w, tensor, LODE_F32, 1, (int64_t[]){ 1 }, &e), &e);
    CHECK_OK(lode_gguf_begin(w, &e), &e);
    const float x = (float)(tensor[0] - 'a');
    CHECK_OK(lode_gguf_write_tensor(w, &x, 4, &e), &e);
    CHECK_OK(lode_gguf_finish(w, &e), &e);
}

static void write_split(place *p) {
    write_part(p, "m-00001-of-00003.gguf", "a", (split){ 0, 3, 3 });
    write_part(p, "m-00002-of-00003.gguf", "b", (split){ 1, 3, 3 });
    write_part(p, "m-00003-of-00003.gguf", "c", (split){ 2, 3, 3 });
    snprintf(p->path, sizeof p->path, "%s/m-00001-of-00003.gguf", p->dir);
}

TEST(a_split_model_opens_from_its_first_part) {
    (void)state_;
    place p = begin();
    lode_gguf *g;
    write_split(&p);
    CHECK_OK(lode_gguf_open(&g, p.path, &p.e), &p.e);
    assert_int_equal(lode_gguf_n_parts(g), 3);
    assert_int_equal(lode_gguf_n_tensors(g), 3);
    const lode_gguf_tensor *c = lode_gguf_find_tensor(g, "c");
    assert_int_equal(c->part, 2);
    assert_true(*(const float *)lode_gguf_tensor_data(g, c) == 2.0f);
    size_t bytes = 0;
    assert_non_null(lode_gguf_part_data(g, 2, &bytes));
    assert_true(bytes > 32);
    assert_null(lode_gguf_part_data(g, 3, &bytes));
    lode_gguf_close(g);
    end(&p);
}

TEST(a_wrong_set_of_parts_is_refused_by_the_name_of_the_part) {
    (void)state_;
    static const struct {
        const char *file, *tensor;
        split s;
        lode_status code;
        const char *text;
    } cases[] = {
        { "m-00002-of-00003.gguf", "b", { 2, 3, 3 }, LODE_E_FORMAT, "m-00002-of-00003.gguf: split.no is 2" },
        { "m-00003-of-00003.gguf",
          "c",
          { 2, 4, 3 },
          LODE_E_FORMAT,
          "m-00003-of-00003.gguf: split.no is 2 and split.count 4" },
        { "m-00003-of-00003.gguf",
          "a",
          { 2, 3, 3 },
          LODE_E_FORMAT,
          "m-00003-of-00003.gguf: tensors 0 and 2 are both 'a'" },
        { "m-00003-of-00003.gguf", "c", { 2, 3, 9 }, LODE_E_FORMAT, "split.tensors.count differs" },
        { "m-00001-of-00003.gguf", "a", { 0, 0, 3 }, LODE_E_FORMAT, "split.count is 0, expected 1" },
        { "m-00001-of-00003.gguf",
          "a",
          { 1, 3, 3 },
          LODE_E_INPUT,
          "expected the first: open the file ending in -00001-of-00003.gguf" },
        { "m-00001-of-00003.gguf",
          "a",
          { 0, 65535, 3 },
          LODE_E_INPUT,
          "expected one that ends in -00001-of-65535.gguf" },
        { "m-00001-of-00003.gguf", "a", { 0, 1, 3 }, LODE_E_FORMAT, "the parts have 1 tensors, expected 3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place p = begin();
        lode_gguf *g;
        write_split(&p);
        write_part(&p, cases[i].file, cases[i].tensor, cases[i].s);
        CHECK_FAILS(lode_gguf_open(&g, p.path, &p.e), &p.e, cases[i].code, cases[i].text);
        assert_null(g);
        end(&p);
    }
}

TEST(a_missing_part_is_named) {
    (void)state_;
    place p = begin();
    lode_gguf *g;
    char path[200];
    write_split(&p);
    snprintf(path, sizeof path, "%s/m-00003-of-00003.gguf", p.dir);
    remove(path);
    CHECK_FAILS(lode_gguf_open(&g, p.path, &p.e), &p.e, LODE_E_NOT_FOUND,
                "m-00003-of-00003.gguf: part 3 of 3 is missing");
    end(&p);
}

TEST(what_is_no_file_is_refused_by_name) {
    (void)state_;
    place p = begin();
    lode_gguf *g;
    CHECK_FAILS(lode_gguf_open(&g, p.path, &p.e), &p.e, LODE_E_NOT_FOUND, p.path);
    CHECK_FAILS(lode_gguf_open(&g, p.dir, &p.e), &p.e, LODE_E_INPUT, "folder");
    CHECK_FAILS(lode_gguf_open(&g, "/dev/zero", &p.e), &p.e, LODE_E_INPUT, "device");
    assert_int_equal(symlink(p.path, p.path), 0);
    CHECK_FAILS(lode_gguf_open(&g, p.path, &p.e), &p.e, LODE_E_IO, p.path);
    end(&p);
}

TEST(a_message_is_one_clean_line_whatever_the_name_holds) {
    (void)state_;
    unsigned char file[200] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\144"; /* a key of 100 bytes */
    lode_err e = { 0 };
    lode_gguf *g;
    for (int i = 0; i < 100; i++) file[32 + i] = (unsigned char)(i % 2 ? '\n' : 0xff);
    file[132] = 99; /* of no kind */
    CHECK_FAILS(lode_gguf_open_mem(&g, file, sizeof file, "m\n.gguf", &e), &e, LODE_E_FORMAT, "\\xff\\x0a");
    assert_null(strchr(e.text, '\n'));
    assert_true(strlen(e.text) < 400);
    assert_non_null(strstr(e.text, "kind 99, expected 0 to 12"));
}

TEST(a_vocabulary_of_250000_strings_opens_in_milliseconds) {
    (void)state_;
    enum { N = 250000 };
    place p = begin();
    lode_gguf_writer *w;
    lode_gguf *g;
    lode_slice *words = calloc(N, sizeof *words);
    char *text = malloc((size_t)N * 8);
    for (int i = 0; i < N; i++) {
        snprintf(text + (size_t)i * 8, 8, "w%06d", i);
        words[i] = slice(text + (size_t)i * 8);
    }
    CHECK_OK(lode_gguf_writer_open(&w, p.path, &p.e), &p.e);
    lode_gguf_set_arr_str(w, "tokens", words, N);
    lode_gguf_set_arr_str(w, "merges", words, N);
    CHECK_OK(lode_gguf_begin(w, &p.e), &p.e);
    CHECK_OK(lode_gguf_finish(w, &p.e), &p.e);
    int64_t best = INT64_MAX;
    for (int round = 0; round < 5; round++) {
        const int64_t start = lode_clock_ns();
        CHECK_OK(lode_gguf_open(&g, p.path, &p.e), &p.e);
        const int64_t took = lode_clock_ns() - start;
        best = took < best ? took : best;
        lode_slice s;
        assert_true(lode_gguf_arr_str(g, lode_gguf_find(g, "merges"), N - 1, &s) && slice_is(s, "w249999"));
        lode_gguf_close(g);
    }
    print_message("opened in %.2f ms\n", (double)best / 1e6);
    assert_true(best < 100 * 1000 * 1000); /* some 3 ms on 2 cores; room for sanitizers and a busy machine */
    free(text);
    free(words);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_come_as_the_nearest_float_or_an_infinity_of_their_sign),
        cmocka_unit_test(scalars_come_back_as_they_were_set),
        cmocka_unit_test(an_absent_key_is_either_fine_or_named),
        cmocka_unit_test(a_value_of_the_wrong_kind_or_range_is_refused_with_its_key),
        cmocka_unit_test(array_elements_are_converted_and_bounded),
        cmocka_unit_test(tensors_come_back_with_their_bytes_at_aligned_places),
        cmocka_unit_test(copied_keys_are_equal_to_their_source),
        cmocka_unit_test(an_unfinished_or_discarded_file_leaves_nothing_behind),
        cmocka_unit_test(the_writer_refuses_what_the_reader_would),
        cmocka_unit_test(a_split_model_opens_from_its_first_part),
        cmocka_unit_test(a_wrong_set_of_parts_is_refused_by_the_name_of_the_part),
        cmocka_unit_test(a_missing_part_is_named),
        cmocka_unit_test(what_is_no_file_is_refused_by_name),
        cmocka_unit_test(a_message_is_one_clean_line_whatever_the_name_holds),
        cmocka_unit_test(a_vocabulary_of_250000_strings_opens_in_milliseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
