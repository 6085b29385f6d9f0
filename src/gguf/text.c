/* text.c - names, paths and kinds as they stand in messages. A file may hold any bytes; a message is one clean line. */
#include "gguf/gguf.h"

#include <stdio.h>
#include <string.h>

gguf_text gguf_show(lode_slice name) {
    enum { HEAD = 28, TAIL = 12, MAX = 40 }; /* four characters for each escaped byte still fit */
    gguf_text t = { { 0 } };
    size_t at = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.n > MAX && i == HEAD) {
            at += (size_t)snprintf(t.s + at, sizeof t.s - at, "..");
            i = name.n - TAIL;
        }
        const unsigned char c = (unsigned char)name.p[i];
        at += (size_t)snprintf(t.s + at, sizeof t.s - at, c < 32 || c > 126 ? "\\x%02x" : "%c", c);
    }
    return t;
}

gguf_text gguf_show_path(const char *path) {
    enum { MAX = 160 };
    gguf_text t;
    const size_t n = strlen(path);
    if (n <= MAX)
        memcpy(t.s, path, n + 1);
    else
        snprintf(t.s, sizeof t.s, "..%s", path + n - MAX + 2);
    for (char *c = t.s; *c; c++)
        if ((unsigned char)*c < 32) *c = '?';
    return t;
}

static const struct {
    const char *name;
    size_t bytes;
} kinds[LODE_GGUF_N_KIND] = {
#define KIND(id, name, bytes, integer) [LODE_GGUF_##id] = { name, bytes },
#include "gguf/kind.def"
#undef KIND
};

const char *gguf_kind_name(uint32_t kind) { return kind < LODE_GGUF_N_KIND ? kinds[kind].name : "unknown"; }
size_t gguf_kind_bytes(uint32_t kind) { return kind < LODE_GGUF_N_KIND ? kinds[kind].bytes : 0; }
