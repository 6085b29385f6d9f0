/* file.c - POSIX files. */
#include "base/file.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

lode_status lode_map_open(lode_map *m, const char *path, lode_err *err) {
    *m = (lode_map){ 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return lode_fail(err, errno == ENOENT ? LODE_E_NOT_FOUND : LODE_E_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    lode_status s = LODE_OK;
    if (fstat(fd, &st) != 0) {
        s = lode_fail(err, LODE_E_IO, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        s = lode_fail(err, LODE_E_INPUT, "%s: is a %s, expected a file", path,
                      S_ISDIR(st.st_mode) ? "folder" : "device");
    } else if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            s = lode_fail(err, LODE_E_IO, "%s: cannot be mapped: %s", path, strerror(errno));
        } else {
            m->data = p;
            m->size = (size_t)st.st_size;
        }
    }
    close(fd);
    return s;
}

void lode_map_close(lode_map *m) {
    if (m->data) munmap((void *)(uintptr_t)m->data, m->size);
    *m = (lode_map){ 0 };
}

lode_status lode_file_read(const char *path, size_t limit, char **out, size_t *n, lode_err *err) {
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (is_stdin) path = "standard input";
    if (!f) return lode_fail(err, errno == ENOENT ? LODE_E_NOT_FOUND : LODE_E_IO, "%s: %s", path, strerror(errno));
    lode_status s = LODE_OK;
    lode_str text = { 0 };
    char buf[16384];
    size_t got;
    while ((got = fread(buf, 1, sizeof buf, f)) > 0) {
        lode_str_add(&text, buf, got);
        if (text.failed || text.n > limit) break;
    }
    if (text.failed)
        s = lode_fail(err, LODE_E_NOMEM, "%s: out of memory after %zu bytes", path, text.n);
    else if (text.n > limit)
        s = lode_fail(err, LODE_E_FULL, "%s: longer than the limit of %zu bytes", path, limit);
    else if (ferror(f))
        s = lode_fail(err, LODE_E_IO, "%s: %s", path, strerror(errno));
    if (!is_stdin) fclose(f);
    if (s == LODE_OK) lode_str_add(&text, "", 0);
    if (s == LODE_OK && text.failed) s = lode_fail(err, LODE_E_NOMEM, "%s: out of memory", path);
    if (s != LODE_OK) {
        lode_str_free(&text);
        return s;
    }
    *out = text.p;
    *n = text.n;
    return LODE_OK;
}

/* A file that is there is written where it lies, not over the link to it; a device or a pipe is no file to put another
 * in the place of: it is written to directly. */
lode_status lode_out_open(lode_out *o, const char *path, lode_err *err) {
    *o = (lode_out){ 0 };
    struct stat st;
    const bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return lode_fail(err, LODE_E_INPUT, "%s: is a folder, expected the name of a file to write", path);
    const bool direct = there && !S_ISREG(st.st_mode);
    o->path = there && !direct ? realpath(path, NULL) : strdup(path);
    const size_t n = o->path ? strlen(o->path) + sizeof ".part" : 0;
    if (o->path && !direct) o->tmp = lode_calloc(n, 1);
    if (!o->path || (!direct && !o->tmp)) {
        lode_out_discard(o);
        return lode_fail(err, LODE_E_NOMEM, "%s: out of memory", path);
    }
    if (o->tmp) snprintf(o->tmp, n, "%s.part", o->path);
    o->f = fopen(o->tmp ? o->tmp : o->path, "wb");
    if (o->f) return LODE_OK;
    const lode_status s = lode_fail(err, LODE_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    free(o->tmp);
    o->tmp = NULL;
    lode_out_discard(o);
    return s;
}

lode_status lode_out_write(lode_out *o, const void *data, size_t n, lode_err *err) {
    if (n == 0 || fwrite(data, 1, n, o->f) == n) return LODE_OK;
    return lode_fail(err, errno == ENOSPC ? LODE_E_FULL : LODE_E_IO, "%s: writing failed: %s", o->path,
                     strerror(errno));
}

lode_status lode_out_commit(lode_out *o, lode_err *err) {
    lode_status s = LODE_OK;
    if (fflush(o->f) != 0 || (o->tmp && fsync(fileno(o->f)) != 0))
        s = lode_fail(err, errno == ENOSPC ? LODE_E_FULL : LODE_E_IO, "%s: writing failed: %s", o->path,
                      strerror(errno));
    if (fclose(o->f) != 0 && s == LODE_OK)
        s = lode_fail(err, LODE_E_IO, "%s: writing failed: %s", o->path, strerror(errno));
    o->f = NULL;
    if (s == LODE_OK && o->tmp && rename(o->tmp, o->path) != 0)
        s = lode_fail(err, LODE_E_IO, "%s: %s", o->path, strerror(errno));
    if (s == LODE_OK) {
        free(o->tmp);
        o->tmp = NULL;
    }
    lode_out_discard(o);
    return s;
}

void lode_out_discard(lode_out *o) {
    if (o->f) fclose(o->f);
    if (o->tmp) remove(o->tmp);
    free(o->tmp);
    free(o->path);
    *o = (lode_out){ 0 };
}

bool lode_is_dir(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool lode_is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}
