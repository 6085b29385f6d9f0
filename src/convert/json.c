/* json.c - reads JSON files and takes checked values out of them. All numbers come as doubles, so whole numbers are
 * exact up to 2^53. */
#include "convert/json.h"
#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lode_status convert_json_parse(const char *text, size_t n, const char *name, bool strict, json_t **out, lode_err *err) {
    json_error_t e;
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL | (strict ? JSON_REJECT_DUPLICATES : 0u);
    *out = json_loadb(text, n, flags, &e);
    if (!*out)
        return lode_fail(err, LODE_E_FORMAT, "%s: line %d, column %d: not valid JSON: %s", name, e.line, e.column,
                         e.text);
    if (json_is_object(*out)) return LODE_OK;
    json_decref(*out);
    *out = NULL;
    return lode_fail(err, LODE_E_FORMAT, "%s: expected a JSON object", name);
}

lode_status convert_json_read(const char *path, size_t limit, json_t **out, lode_err *err) {
    char *text = NULL;
    size_t n = 0;
    *out = NULL;
    LODE_TRY(lode_file_read(path, limit, &text, &n, err));
    const lode_status s = convert_json_parse(text, n, path, false, out, err);
    free(text);
    return s;
}

static lode_status get(const json_t *o, const char *key, const json_t **v, bool *found, const char *name,
                       lode_err *err) {
    *v = json_object_get(o, key);
    const bool there = *v && !json_is_null(*v);
    if (found) *found = there;
    if (!there && !found) return lode_fail(err, LODE_E_FORMAT, "%s: %s is missing", name, key);
    if (!there) *v = NULL;
    return LODE_OK;
}

lode_status convert_json_u64(const json_t *o, const char *key, uint64_t lo, uint64_t hi, uint64_t *out, bool *found,
                             const char *name, lode_err *err) {
    const json_t *v = NULL;
    LODE_TRY(get(o, key, &v, found, name, err));
    if (!v) return LODE_OK;
    const double x = json_is_number(v) ? json_number_value(v) : -1;
    if (!(x >= (double)lo && x <= (double)hi) || x != floor(x)) {
        if (!json_is_number(v))
            return lode_fail(err, LODE_E_FORMAT, "%s: %s is not a number, expected %llu to %llu", name, key,
                             (unsigned long long)lo, (unsigned long long)hi);
        return lode_fail(err, LODE_E_FORMAT, "%s: %s is %.17g, expected a whole number from %llu to %llu", name, key, x,
                         (unsigned long long)lo, (unsigned long long)hi);
    }
    *out = (uint64_t)x;
    return LODE_OK;
}

lode_status convert_json_f64(const json_t *o, const char *key, double *out, bool *found, const char *name,
                             lode_err *err) {
    const json_t *v = NULL;
    LODE_TRY(get(o, key, &v, found, name, err));
    if (!v) return LODE_OK;
    if (!json_is_number(v)) return lode_fail(err, LODE_E_FORMAT, "%s: %s is not a number", name, key);
    *out = json_number_value(v);
    return LODE_OK;
}

const char *convert_json_text(const json_t *o, const char *key, size_t *n) {
    const json_t *v = json_object_get(o, key);
    if (!json_is_string(v)) return NULL;
    if (n) *n = json_string_length(v);
    return json_string_value(v);
}

bool convert_json_bool(const json_t *o, const char *key, bool def) {
    const json_t *v = json_object_get(o, key);
    return json_is_boolean(v) ? json_is_true(v) : def;
}
