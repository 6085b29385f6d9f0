/* place.h - for this folder's tests: a scratch folder with a fixture's checkpoint in it, and files written beside it.
 */
#ifndef LODE_CONVERT_PLACE_H
#define LODE_CONVERT_PLACE_H

#include "base/file.h"
#include "base/test.h"
#include "convert/convert.h"
#include "convert/fixture.h"
#include "lode/gguf.h"

#include <unistd.h>

typedef struct place {
    char dir[64], hf[80], out[80];
    lode_fixture f;
    lode_err e;
} place;

static inline void open_place(place *p, const char *fixture) {
    memset(p, 0, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/lode_convert_XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->hf, sizeof p->hf, "%s/hf", p->dir);
    snprintf(p->out, sizeof p->out, "%s/out.gguf", p->dir);
    char path[96];
    snprintf(path, sizeof path, "tests/golden/%s.json", fixture);
    CHECK_OK(lode_fixture_open(&p->f, path, &p->e), &p->e);
    CHECK_OK(lode_fixture_write(&p->f, p->hf, &p->e), &p->e);
}

static inline void close_place(place *p) {
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", p->dir);
    assert_int_equal(system(cmd), 0);
    lode_fixture_close(&p->f);
}

static inline void put_file(place *p, const char *name, const void *data, size_t n) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", p->hf, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void put_text(place *p, const char *name, const char *text) { put_file(p, name, text, strlen(text)); }

/* Changes one key of config.json; `json` is its new value, NULL removes it. */
static inline void set_config(place *p, const char *key, const char *json) {
    json_t *c = json_object_get(p->f.root, "config");
    if (json)
        assert_int_equal(json_object_set_new(c, key, json_loads(json, JSON_DECODE_ANY, NULL)), 0);
    else
        json_object_del(c, key);
    char *text = json_dumps(c, 0);
    put_text(p, "config.json", text);
    free(text);
}

static inline lode_status convert_to(place *p, lode_type type) {
    const lode_convert_desc d = { .in_dir = p->hf, .out_path = p->out, .type = type };
    return lode_convert(&d, &p->e);
}

static inline lode_gguf *convert_ok(place *p, lode_type type) {
    lode_gguf *g = NULL;
    CHECK_OK(convert_to(p, type), &p->e);
    CHECK_OK(lode_gguf_open(&g, p->out, &p->e), &p->e);
    return g;
}

/* The conversion fails with this code and text, and leaves no file behind. */
#define CONVERT_FAILS(p, code, part)                                 \
    do {                                                             \
        CHECK_FAILS(convert_to((p), LODE_F32), &(p)->e, code, part); \
        char left_[100];                                             \
        snprintf(left_, sizeof left_, "%s.part", (p)->out);          \
        assert_false(lode_is_file((p)->out) || lode_is_file(left_)); \
    } while (0)
#endif
