/* safetensors_test.c - reading safetensors: what is well-formed opens and decodes, everything else is refused. */
#include "convert/place.h"
#include "convert/safetensors.h"

#include <math.h>

/* A file from its header and n bytes of data that count up. */
static void put_tensors(place *p, const char *name, const char *header, size_t n) {
    const size_t len = strlen(header);
    unsigned char *file = calloc(1, 8 + len + n + 1);
    assert_non_null(file);
    for (int i = 0; i < 8; i++) file[i] = (unsigned char)((uint64_t)len >> (8 * i));
    memcpy(file + 8, header, len);
    for (size_t i = 0; i < n; i++) file[8 + len + i] = (unsigned char)i;
    put_file(p, name, file, 8 + len + n);
    free(file);
}

static void open_empty(place *p) {
    memset(p, 0, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/lode_st_XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    memcpy(p->hf, p->dir, sizeof p->dir);
}

TEST(headers_that_are_not_usable_are_refused) {
    (void)state_;
    static const struct {
        const char *header, *text;
        lode_status code;
    } rows[] = {
        { "{", "not valid JSON", LODE_E_FORMAT },
        { "[]", "expected a JSON object", LODE_E_FORMAT },
        { "{}", "holds no tensors", LODE_E_FORMAT },
        { "{\"__metadata__\":{\"format\":\"pt\"}}", "holds no tensors", LODE_E_FORMAT },
        { "{\"a\":7}", "tensor 'a' has no dtype", LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"Q9\",\"shape\":[1],\"data_offsets\":[0,1]}}", "dtype 'Q9', which is not known",
          LODE_E_UNSUPPORTED },
        { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", "shape is not a list", LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "shape[0] is not a size",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", "shape[0] is not a size",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", "5 dimensions",
          LODE_E_UNSUPPORTED },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}",
          "does not fit 64 bits", LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,4]}}", "is not a size",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "data_offsets is not a pair", LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[\"0\",4]}}", "data_offsets are not numbers",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", "data_offsets is not a pair",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,20]}}", "but the file has 16 bytes of data",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", "but the file has 16 bytes",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,4]}}", "its shape needs 4 bytes",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", "its shape needs 4 bytes",
          LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
          "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
          "overlaps tensor", LODE_E_FORMAT },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
          "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
          "duplicate", LODE_E_FORMAT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place p;
        open_empty(&p);
        put_tensors(&p, "model.safetensors", rows[i].header, 16);
        st_set *s;
        CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, rows[i].code, rows[i].text);
        assert_null(s);
        close_place(&p);
    }
}

TEST(a_header_longer_than_the_file_is_refused) {
    (void)state_;
    static const unsigned char lengths[][8] = { { 3 }, { 255, 255, 255, 255, 255, 255, 255, 255 }, { 0, 0, 0, 0, 1 } };
    place p;
    open_empty(&p);
    st_set *s;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned char file[10] = { 0 };
        memcpy(file, lengths[i], 8);
        put_file(&p, "model.safetensors", file, sizeof file);
        CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "the header should have");
    }
    put_file(&p, "model.safetensors", "abc", 3);
    CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "3 bytes are no safetensors file");
    put_file(&p, "model.safetensors", "", 0);
    CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "0 bytes");
    close_place(&p);
}

TEST(truncated_files_are_refused_wherever_they_end) {
    (void)state_;
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                                 "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}";
    place p;
    open_empty(&p);
    char file[256] = { (char)(sizeof header - 1) };
    memcpy(file + 8, header, sizeof header - 1);
    const size_t whole = 8 + sizeof header - 1 + 16;
    st_set *s;
    for (size_t n = 0; n < whole; n += 3) {
        put_file(&p, "model.safetensors", file, n);
        p.e = (lode_err){ 0 };
        assert_int_equal(st_open(&s, p.hf, &p.e), LODE_E_FORMAT);
    }
    put_file(&p, "model.safetensors", file, whole);
    CHECK_OK(st_open(&s, p.hf, &p.e), &p.e);
    st_close(s);
    close_place(&p);
}

TEST(every_float_type_is_decoded) {
    (void)state_;
    place p;
    open_empty(&p);
    static const char header[] = "{\"d\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                                 "\"f\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
                                 "\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[24,28]},"
                                 "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[28,32]},"
                                 "\"i\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[32,40]}}";
    const double d[2] = { 0.1, -3e-5 };
    const float f[2] = { 1.5f, -0.1f };
    const uint16_t h[2] = { 0x3C00, 0xC100 }, b[2] = { 0x3F80, 0xC0A0 }; /* 1, -2.5; 1, -5 */
    unsigned char file[600] = { 0 };
    size_t at = 8;
    for (int i = 0; i < 8; i++) file[i] = (unsigned char)((uint64_t)(sizeof header - 1) >> (8 * i));
    const struct {
        const void *p;
        size_t n;
    } parts[] = { { header, sizeof header - 1 }, { d, 16 }, { f, 8 }, { h, 4 }, { b, 4 } };
    for (size_t i = 0; i < 5; i++) {
        memcpy(file + at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    put_file(&p, "model.safetensors", file, at + 8);
    st_set *s;
    CHECK_OK(st_open(&s, p.hf, &p.e), &p.e);
    const struct {
        const char *name;
        float v[2];
    } want[] = { { "d", { 0.1f, -3e-5f } }, { "f", { 1.5f, -0.1f } }, { "h", { 1, -2.5f } }, { "b", { 1, -5 } } };
    for (size_t i = 0; i < 4; i++) {
        const st_tensor *t = st_find(s, want[i].name);
        float got[2];
        assert_true(t && st_is_float(t));
        st_decode(t, 0, 2, got);
        assert_memory_equal(got, want[i].v, sizeof got);
        st_decode(t, 1, 1, got);
        assert_true(got[0] == want[i].v[1]);
    }
    assert_false(st_is_float(st_find(s, "i")));
    assert_null(st_find(s, "x"));
    st_close(s);
    close_place(&p);
}

TEST(a_model_in_several_files_is_read_through_its_index) {
    (void)state_;
    place p;
    open_empty(&p);
    put_tensors(&p, "m-1.safetensors", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
    put_tensors(&p, "m-2.safetensors", "{\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8);
    put_text(&p, "model.safetensors.index.json",
             "{\"metadata\":{},\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\"}}");
    st_set *s;
    CHECK_OK(st_open(&s, p.hf, &p.e), &p.e);
    assert_int_equal(st_count(s), 2);
    assert_int_equal(st_find(s, "b")->data[0], 4);
    st_close(s);
    put_tensors(&p, "m-2.safetensors", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8);
    CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "stands also in");
    close_place(&p);
}

TEST(flipped_bytes_are_refused_or_stay_inside_the_file) {
    (void)state_;
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                                 "\"b\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[8,16]}}";
    place p;
    open_empty(&p);
    uint32_t x = 2024;
    int n_ok = 0;
    for (int round = 0; round < 1500; round++) {
        char file[8 + sizeof header - 1 + 16] = { (char)(sizeof header - 1) };
        memcpy(file + 8, header, sizeof header - 1);
        for (int k = 0; k <= round % 3; k++) {
            x = x * 1664525u + 1013904223u;
            const size_t at = (x >> 8) % sizeof file;
            file[at] = (char)(k % 2 ? "0123456789[]{},:\"-"[(x >> 24) % 18] : file[at] ^ (1 << (x >> 29)));
        }
        put_file(&p, "model.safetensors", file, sizeof file);
        st_set *s = NULL;
        const lode_status st = st_open(&s, p.hf, &p.e);
        assert_true(st == LODE_OK || st == LODE_E_FORMAT || st == LODE_E_UNSUPPORTED);
        for (size_t i = 0; s && i < st_count(s); i++) { /* touches every byte: the sanitizers would see one outside */
            const st_tensor *t = st_at(s, i);
            unsigned sum = 0;
            for (size_t b = 0; b < t->bytes; b++) sum += t->data[b];
            assert_true(sum < 1u << 20);
        }
        n_ok += s != NULL;
        st_close(s);
    }
    assert_true(n_ok > 20 && n_ok < 1400); /* both outcomes were seen */
    close_place(&p);
}

TEST(an_index_cannot_leave_its_folder) {
    (void)state_;
    static const char *const bad[] = { "{\"weight_map\":{\"a\":\"../m.safetensors\"}}",
                                       "{\"weight_map\":{\"a\":\"/etc/passwd\"}}",
                                       "{\"weight_map\":{\"a\":7}}",
                                       "{\"weight_map\":{\"a\":\"\"}}",
                                       "{\"weight_map\":{\"a\":\"m\\u0000x\"}}",
                                       "{\"weight_map\":{\"a\":\"..\"}}" };
    place p;
    open_empty(&p);
    st_set *s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_text(&p, "model.safetensors.index.json", bad[i]);
        CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "is no file name");
    }
    put_text(&p, "model.safetensors.index.json", "{}");
    CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_FORMAT, "weight_map is missing");
    put_text(&p, "model.safetensors.index.json", "{\"weight_map\":{\"a\":\"gone.safetensors\"}}");
    CHECK_FAILS(st_open(&s, p.hf, &p.e), &p.e, LODE_E_NOT_FOUND, "gone.safetensors");
    close_place(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_are_not_usable_are_refused),
        cmocka_unit_test(a_header_longer_than_the_file_is_refused),
        cmocka_unit_test(truncated_files_are_refused_wherever_they_end),
        cmocka_unit_test(every_float_type_is_decoded),
        cmocka_unit_test(a_model_in_several_files_is_read_through_its_index),
        cmocka_unit_test(flipped_bytes_are_refused_or_stay_inside_the_file),
        cmocka_unit_test(an_index_cannot_leave_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
