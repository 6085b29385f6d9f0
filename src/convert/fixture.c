/* fixture.c - reads conformance fixtures and writes them out as checkpoint folders. */
#include "convert/fixture.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "lode/quant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIXTURE_MAX = 64 << 20, ELEMENTS_MAX = 1 << 28 };

uint64_t lode_fixture_seed(const char *salt, const char *name) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *p = salt; *p; p++) h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return h;
}

/* SplitMix64, its top 24 bits as a fraction. */
float lode_fixture_value(uint64_t seed, uint64_t i, float offset, float scale) {
    uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    const float u = (float)(z >> 40) / 16777216.0f;
    return offset + (u - 0.5f) * scale;
}

/* A list of numbers as ints and floats (either may be NULL). */
static lode_status list(const json_t *root, const char *key, const char *path, int32_t **ints, float **floats, int *n,
                        lode_err *err) {
    const json_t *l = json_object_get(root, key);
    const size_t count = json_array_size(l);
    if (!json_is_array(l) || count > 1 << 20) return lode_fail(err, LODE_E_FORMAT, "%s: %s is not a list", path, key);
    if (ints) *ints = lode_calloc(count + 1, sizeof **ints);
    if (floats) *floats = lode_calloc(count + 1, sizeof **floats);
    if ((ints && !*ints) || (floats && !*floats)) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const double v = json_number_value(json_array_get(l, i));
        if (ints && !(v >= 0 && v < 2147483648.0))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s[%zu] is not an id", path, key, i);
        if (ints) (*ints)[i] = (int32_t)v;
        if (floats) (*floats)[i] = (float)v;
    }
    *n = (int)count;
    return LODE_OK;
}

static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

static lode_status floats_of_base64(const char *text, size_t n, size_t want, float *out, const char *path,
                                    lode_err *err) {
    uint32_t bits = 0, word = 0;
    int n_bits = 0;
    size_t at = 0;
    for (size_t i = 0; i < n && text[i] != '='; i++) {
        const int d = base64_digit(text[i]);
        if (d < 0) return lode_fail(err, LODE_E_FORMAT, "%s: logits are not base64", path);
        bits = bits << 6 | (uint32_t)d;
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        word = word >> 8 | (bits >> n_bits & 255) << 24;
        if (++at % 4 != 0) continue;
        if (at / 4 > want) break;
        memcpy(&out[at / 4 - 1], &word, 4);
    }
    if (at != 4 * want)
        return lode_fail(err, LODE_E_FORMAT, "%s: logits have %zu bytes, expected %zu", path, at, 4 * want);
    return LODE_OK;
}

static lode_status read_all(lode_fixture *f, const char *path, lode_err *err) {
    LODE_TRY(convert_json_read(path, FIXTURE_MAX, &f->root, err));
    const char *base = strrchr(path, '/');
    snprintf(f->name, sizeof f->name, "%s", base ? base + 1 : path);
    char *dot = strstr(f->name, ".json");
    if (dot) *dot = 0;
    uint64_t n_vocab = 0;
    size_t n = 0;
    LODE_TRY(convert_json_u64(json_object_get(f->root, "config"), "vocab_size", 1, 1 << 24, &n_vocab, NULL, path, err));
    f->n_vocab = (int)n_vocab;
    LODE_TRY(list(f->root, "input_ids", path, &f->ids, NULL, &f->n_ids, err));
    LODE_TRY(list(f->root, "positions", path, &f->positions, NULL, &f->n_positions, err));
    LODE_TRY(list(f->root, "greedy", path, &f->greedy, NULL, &f->n_greedy, err));
    int n_gap = 0;
    LODE_TRY(list(f->root, "greedy_gap", path, NULL, &f->greedy_gap, &n_gap, err));
    if (n_gap != f->n_greedy) return lode_fail(err, LODE_E_FORMAT, "%s: greedy_gap has %d entries", path, n_gap);
    for (int i = 0; i < f->n_positions; i++)
        if (f->positions[i] >= f->n_ids) return lode_fail(err, LODE_E_FORMAT, "%s: positions beyond input_ids", path);
    const char *text = convert_json_text(f->root, "logits", &n);
    const size_t want = (size_t)f->n_positions * (size_t)f->n_vocab;
    f->logits = lode_calloc(want, sizeof *f->logits);
    if (!f->logits) return lode_fail(err, LODE_E_NOMEM, "out of memory");
    return floats_of_base64(text ? text : "", n, want, f->logits, path, err);
}

lode_status lode_fixture_open(lode_fixture *f, const char *path, lode_err *err) {
    memset(f, 0, sizeof *f);
    const lode_status s = read_all(f, path, err);
    if (s != LODE_OK) lode_fixture_close(f);
    return s;
}

void lode_fixture_close(lode_fixture *f) {
    json_decref(f->root);
    free(f->ids);
    free(f->positions);
    free(f->greedy);
    free(f->greedy_gap);
    free(f->logits);
    memset(f, 0, sizeof *f);
}

static lode_status write_config(const lode_fixture *f, const char *dir, lode_err *err) {
    char *text = json_dumps(json_object_get(f->root, "config"), JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    lode_str path = { 0 };
    lode_str_printf(&path, "%s/config.json", dir);
    lode_out o = { 0 };
    lode_status s = text && !path.failed ? LODE_OK : lode_fail(err, LODE_E_NOMEM, "out of memory");
    if (s == LODE_OK) s = lode_out_open(&o, path.p, err);
    if (s == LODE_OK) s = lode_out_write(&o, text, strlen(text), err);
    if (s == LODE_OK) s = lode_out_commit(&o, err);
    lode_out_discard(&o);
    free(text);
    lode_str_free(&path);
    return s;
}

/* Rows [name, shape, offset, scale] of the fixture. */
static lode_status element_count(const json_t *row, uint64_t *n, lode_err *err) {
    const json_t *shape = json_array_get(row, 1);
    *n = 1;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const double d = json_number_value(json_array_get(shape, i));
        if (!(d >= 1 && d < (double)ELEMENTS_MAX) || *n * (uint64_t)d > ELEMENTS_MAX)
            return lode_fail(err, LODE_E_FORMAT, "fixture: a tensor's shape is not usable");
        *n *= (uint64_t)d;
    }
    if (!json_is_string(json_array_get(row, 0)) || json_array_size(row) != 4)
        return lode_fail(err, LODE_E_FORMAT, "fixture: a tensor is not [name, shape, offset, scale]");
    return LODE_OK;
}

static lode_status header_of(const json_t *rows, lode_str *head, lode_err *err) {
    uint64_t at = 0, n = 0;
    lode_str_putc(head, '{');
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *shape = json_array_get(row, 1);
        LODE_TRY(element_count(row, &n, err));
        lode_str_printf(head, "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[", i ? "," : "",
                        json_string_value(json_array_get(row, 0)));
        for (size_t k = 0; k < json_array_size(shape); k++)
            lode_str_printf(head, "%s%.0f", k ? "," : "", json_number_value(json_array_get(shape, k)));
        lode_str_printf(head, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                        (unsigned long long)(at + 2 * n));
        at += 2 * n;
    }
    lode_str_putc(head, '}');
    while (head->n % 8 != 0) lode_str_putc(head, ' ');
    return head->failed ? lode_fail(err, LODE_E_NOMEM, "out of memory") : LODE_OK;
}

static lode_status write_row(lode_out *o, const json_t *row, const char *salt, lode_err *err) {
    uint64_t n = 0;
    LODE_TRY(element_count(row, &n, err));
    const uint64_t seed = lode_fixture_seed(salt, json_string_value(json_array_get(row, 0)));
    const float offset = (float)json_number_value(json_array_get(row, 2));
    const float scale = (float)json_number_value(json_array_get(row, 3));
    uint16_t buf[1024];
    for (uint64_t i = 0; i < n;) {
        size_t k = 0;
        for (; k < 1024 && i < n; k++, i++) buf[k] = lode_f32_to_bf16(lode_fixture_value(seed, i, offset, scale));
        LODE_TRY(lode_out_write(o, buf, k * sizeof *buf, err));
    }
    return LODE_OK;
}

static lode_status write_weights(const lode_fixture *f, const char *path, lode_out *o, lode_str *head, lode_err *err) {
    const json_t *rows = json_object_get(f->root, "tensors");
    const char *salt = convert_json_text(f->root, "salt", NULL);
    LODE_TRY(header_of(rows, head, err));
    LODE_TRY(lode_out_open(o, path, err));
    uint8_t len[8];
    for (int i = 0; i < 8; i++) len[i] = (uint8_t)(head->n >> (8 * i));
    LODE_TRY(lode_out_write(o, len, 8, err));
    LODE_TRY(lode_out_write(o, head->p, head->n, err));
    for (size_t i = 0; i < json_array_size(rows); i++)
        LODE_TRY(write_row(o, json_array_get(rows, i), salt ? salt : "", err));
    return lode_out_commit(o, err);
}

lode_status lode_fixture_write(const lode_fixture *f, const char *dir, lode_err *err) {
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return lode_fail(err, LODE_E_IO, "%s: cannot be made: %s", dir, strerror(errno));
    LODE_TRY(write_config(f, dir, err));
    lode_str path = { 0 }, head = { 0 };
    lode_out o = { 0 };
    lode_str_printf(&path, "%s/model.safetensors", dir);
    const lode_status s =
        path.failed ? lode_fail(err, LODE_E_NOMEM, "out of memory") : write_weights(f, path.p, &o, &head, err);
    lode_out_discard(&o);
    lode_str_free(&path);
    lode_str_free(&head);
    return s;
}
