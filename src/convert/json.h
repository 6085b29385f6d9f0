/* json.h - jansson with checks: files, numbers in range, text with its length. Errors name file and key. */
#ifndef LODE_CONVERT_JSON_H
#define LODE_CONVERT_JSON_H

#include "lode/base.h"

#include <jansson.h>

/* Reads a file of at most `limit` bytes whose outermost value is an object; *out is the caller's (json_decref). A file
 * that is not there is LODE_E_NOT_FOUND. */
lode_status convert_json_read(const char *path, size_t limit, json_t **out, lode_err *err);
/* The same from memory; `strict` refuses a key that stands twice (otherwise the last one counts). */
lode_status convert_json_parse(const char *text, size_t n, const char *name, bool strict, json_t **out, lode_err *err);

/* A whole number of lo..hi at o[key]. Absent or null: *found = false and *out is left alone; `found` NULL: needed.
 * `name` stands in errors ("DIR/config.json"). */
lode_status convert_json_u64(const json_t *o, const char *key, uint64_t lo, uint64_t hi, uint64_t *out, bool *found,
                             const char *name, lode_err *err);
lode_status convert_json_f64(const json_t *o, const char *key, double *out, bool *found, const char *name,
                             lode_err *err);
/* Text at o[key]; NULL when absent or something else. It may hold NULs; *n is its length. */
const char *convert_json_text(const json_t *o, const char *key, size_t *n);
/* true or false at o[key], else `def`. */
bool convert_json_bool(const json_t *o, const char *key, bool def);
#endif
