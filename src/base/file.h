/* file.h - files: mapping, reading whole, writing so that no half-written file is ever left. */
#ifndef LODE_BASE_FILE_H
#define LODE_BASE_FILE_H

#include "lode/base.h"

#include <stdio.h>

/* A file mapped read-only. */
typedef struct lode_map {
    const uint8_t *data; /* own; NULL for an empty file */
    size_t size;
} lode_map;

/* Maps a regular file. A missing file, a folder or a device is refused by name. */
lode_status lode_map_open(lode_map *m, const char *path, lode_err *err);
void lode_map_close(lode_map *m);

/* The whole of a file of at most `limit` bytes as malloc'ed bytes with a NUL behind; "-" is standard input. */
lode_status lode_file_read(const char *path, size_t limit, char **out, size_t *n, lode_err *err);

/* A file that appears under its name only when it is whole: written beside it as NAME.part, renamed by commit. Where
 * the name is a link, the file it leads to is replaced; a device or a pipe is written to and stays. */
typedef struct lode_out {
    FILE *f;    /* own */
    char *path; /* own */
    char *tmp;  /* own; NULL: written to directly */
} lode_out;

lode_status lode_out_open(lode_out *o, const char *path, lode_err *err);
lode_status lode_out_write(lode_out *o, const void *data, size_t n, lode_err *err);
lode_status lode_out_commit(lode_out *o, lode_err *err); /* flushes, renames; removes the .part on failure */
void lode_out_discard(lode_out *o);                      /* removes the .part; fine after commit and on zeroed */

bool lode_is_dir(const char *path);
bool lode_is_file(const char *path);
#endif
