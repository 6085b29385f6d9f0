/* pretok_build.h - a family of pattern texts becomes class tables and byte patterns (see pretok_build.c). */
#ifndef LODE_TOK_PRETOK_BUILD_H
#define LODE_TOK_PRETOK_BUILD_H

#include "base/str.h"

enum {
    LODE_CLASS_FIRST = 0x80,  /* ASCII stands for itself */
    LODE_CLASS_INVALID = 0xFF /* a byte that is not part of any character; has no property */
};

/* What a class byte stands for. */
typedef struct lode_class_map {
    uint8_t *class_of;      /* own; [LODE_UNICODE_END] */
    uint32_t category[256]; /* one bit of the general category; 0 for bytes that stand for nothing */
    bool space[256];
} lode_class_map;

/* Fills *map for the patterns of a family and writes each translated pattern to its text in out[n]. Patterns that start
 * with '@' are rules in C and stay as they are. */
lode_status lode_class_map_build(lode_class_map *map, const char *const *patterns, int n, lode_str *out, lode_err *err);
#endif
