/* pretok_build.c - patterns over Unicode become patterns over bytes.
 *
 * Each code point gets a class: its general category, whether it is white space, and in which of the family's bracket
 * expressions it is named. Two code points of one class cannot be told apart by any pattern of the family, so a text
 * turned into class bytes (ASCII as it is) is cut in the same places. A family has well under 127 classes.
 *
 * Known syntax: literals, ( ) | ? * + {n,m} and lookahead pass through; \p{..} \s \S \d \x{..} and [..] with ranges,
 * \p{..}, \s, \d, \x{..} and escapes become sets of bytes. The patterns are ours (pretok.def), so what is not known is
 * LODE_E_BUG, found by the test that opens every family.
 *
 * Built in two passes over the same walk: the first collects the ranges that brackets name, the second, when classes
 * are known, prints. */
#include "tok/pretok_build.h"

#include "base/bug.h"
#include "base/mem.h"
#include "tok/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 192, MAX_GROUPS = 8, MAX_KEYS = 1 << (5 + 1 + MAX_GROUPS) };

typedef struct {
    uint32_t categories;
    bool space, negated;
    int group; /* which collected ranges belong to it, or -1 */
    bool ascii[128];
} byte_set;

typedef struct {
    lode_class_map *map;
    struct {
        uint32_t first, last;
        int group;
    } range[MAX_RANGES];
    int n_ranges, n_groups;
    bool print;
    lode_str *out;
    uint16_t key_of[256]; /* category | space << 5 | groups << 6 */
    uint8_t class_of_key[MAX_KEYS];
    int n_classes;
} builder;

static lode_status add_range(builder *b, byte_set *s, uint32_t first, uint32_t last, lode_err *err) {
    for (; first <= last && first < 0x80; first++) s->ascii[first] = true;
    if (first > last) return LODE_OK;
    if (s->group < 0) s->group = b->n_groups++;
    LODE_BUG(s->group >= MAX_GROUPS);
    if (b->print) return LODE_OK;
    LODE_BUG(b->n_ranges >= MAX_RANGES);
    b->range[b->n_ranges].first = first;
    b->range[b->n_ranges].last = last;
    b->range[b->n_ranges++].group = s->group;
    return LODE_OK;
}

static bool has(const builder *b, const byte_set *s, int byte) {
    const int key = b->key_of[byte];
    bool in = (byte < 0x80 && s->ascii[byte]) || (s->categories & b->map->category[byte]) ||
              (s->space && b->map->space[byte]);
    if (byte >= 0x80 && s->group >= 0 && (key >> 6 >> s->group & 1)) in = true;
    return in != s->negated;
}

/* Prints the set as one bracket expression; an empty one never matches. */
static void print_set(builder *b, const byte_set *s) {
    if (!b->print) return;
    bool any = false;
    for (int from = 0; from < 256; from++) {
        if (!has(b, s, from)) continue;
        int to = from;
        while (to < 255 && has(b, s, to + 1)) to++;
        lode_str_printf(b->out, any ? "\\x%02X-\\x%02X" : "[\\x%02X-\\x%02X", (unsigned)from, (unsigned)to);
        any = true;
        from = to;
    }
    lode_str_puts(b->out, any ? "]" : "(?!)");
}

/* Reads \p{..}, \s, \S or \d at *p into the set; false (and *p unmoved) when something else stands there. */
static bool read_class(const char **p, byte_set *s) {
    const char *c = *p;
    if (c[0] != '\\') return false;
    if (c[1] == 's' || c[1] == 'S') {
        s->space = true;
        s->negated = c[1] == 'S';
        *p = c + 2;
        return true;
    }
    if (c[1] == 'd') {
        s->categories |= lode_unicode_category_bits("Nd", 2);
        *p = c + 2;
        return true;
    }
    if (c[1] != 'p' || c[2] != '{') return false;
    const char *end = strchr(c, '}');
    if (!end) return false;
    s->categories |= lode_unicode_category_bits(c + 3, (int)(end - c - 3));
    *p = end + 1;
    return true;
}

/* Reads one character, perhaps escaped. */
static uint32_t read_char(const char **p) {
    const char *c = *p;
    if (c[0] != '\\') {
        *p = c + 1;
        return (unsigned char)c[0];
    }
    if (c[1] == 'x' && c[2] == '{') {
        char *end;
        const unsigned long v = strtoul(c + 3, &end, 16);
        *p = end + 1;
        return (uint32_t)v;
    }
    *p = c + 2;
    if (c[1] == 'r') return '\r';
    if (c[1] == 'n') return '\n';
    if (c[1] == 't') return '\t';
    return (unsigned char)c[1];
}

static lode_status walk_bracket(builder *b, const char **p, lode_err *err) {
    byte_set s = { .group = -1 };
    const char *c = *p + 1;
    const bool negated = *c == '^';
    if (negated) c++;
    while (*c && *c != ']') {
        if (read_class(&c, &s)) continue;
        const uint32_t first = read_char(&c);
        uint32_t last = first;
        if (c[0] == '-' && c[1] != ']') {
            c++;
            last = read_char(&c);
        }
        LODE_TRY(add_range(b, &s, first, last, err));
    }
    LODE_BUG(*c != ']' || s.negated);
    s.negated = negated;
    print_set(b, &s);
    *p = c + 1;
    return LODE_OK;
}

static lode_status walk(builder *b, const char *p, lode_err *err) {
    while (*p) {
        byte_set s = { .group = -1 };
        if (*p == '[') {
            LODE_TRY(walk_bracket(b, &p, err));
        } else if (read_class(&p, &s)) {
            print_set(b, &s);
        } else if (p[0] == '\\' && p[1] == 'x') {
            const uint32_t c = read_char(&p);
            LODE_TRY(add_range(b, &s, c, c, err));
            print_set(b, &s);
        } else {
            const size_t n = p[0] == '\\' && p[1] ? 2 : 1;
            if (b->print) lode_str_add(b->out, p, n);
            p += n;
        }
    }
    return LODE_OK;
}

static int by_value(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The class byte of code points [first, next) of one category, none of which differ in any range or in white space. */
static lode_status put_class(builder *b, uint32_t first, uint32_t next, int category, lode_err *err) {
    const bool space = lode_unicode_is_space(first);
    unsigned groups = 0;
    for (int i = 0; i < b->n_ranges; i++)
        if (first >= b->range[i].first && first <= b->range[i].last) groups |= 1u << b->range[i].group;
    if (first < 0x80) {
        for (uint32_t c = first; c < next; c++) {
            b->map->category[c] = 1u << category;
            b->map->space[c] = space;
            b->map->class_of[c] = (uint8_t)c;
        }
        return LODE_OK;
    }
    const unsigned key = (unsigned)category | (unsigned)space << 5 | groups << 6;
    if (!b->class_of_key[key]) {
        const int byte = LODE_CLASS_FIRST + b->n_classes++;
        LODE_BUG(byte >= LODE_CLASS_INVALID);
        b->class_of_key[key] = (uint8_t)byte;
        b->key_of[byte] = (uint16_t)key;
        b->map->category[byte] = 1u << category;
        b->map->space[byte] = space;
    }
    memset(b->map->class_of + first, b->class_of_key[key], next - first);
    return LODE_OK;
}

/* Cuts the code space wherever category, white space or a range changes, and gives each stretch its class. */
static lode_status put_classes(builder *b, lode_err *err) {
    static const uint32_t always[] = { 0x09, 0x0E, 0x20, 0x21, 0x7F, 0x80, 0x85, 0x86, LODE_UNICODE_END };
    struct {
        uint32_t *items;
        size_t n, cap;
    } cut = { 0 };
    bool ok = true;
    lode_unicode_run run;
    for (int i = 0; lode_unicode_run_at(i, &run); i++) ok = LODE_PUSH(&cut, run.first) && ok;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) ok = LODE_PUSH(&cut, always[i]) && ok;
    for (int i = 0; i < b->n_ranges; i++)
        ok = LODE_PUSH(&cut, b->range[i].first) && LODE_PUSH(&cut, b->range[i].last + 1) && ok;
    if (!ok) {
        free(cut.items);
        return lode_fail(err, LODE_E_NOMEM, "pre-tokenizer: no memory for its tables");
    }
    qsort(cut.items, cut.n, sizeof *cut.items, by_value);
    lode_status st = LODE_OK;
    int at = 0;
    for (size_t i = 0; i + 1 < cut.n && st == LODE_OK; i++) {
        if (cut.items[i] == cut.items[i + 1]) continue;
        while (lode_unicode_run_at(at, &run) && run.last < cut.items[i]) at++;
        st = put_class(b, cut.items[i], cut.items[i + 1], run.category, err);
    }
    free(cut.items);
    return st;
}

static lode_status build(builder *b, const char *const *patterns, int n, lode_str *out, lode_err *err) {
    for (int i = 0; i < n; i++)
        if (patterns[i][0] != '@') LODE_TRY(walk(b, patterns[i], err));
    LODE_TRY(put_classes(b, err));
    b->n_groups = 0;
    b->print = true;
    for (int i = 0; i < n; i++) {
        b->out = &out[i];
        if (patterns[i][0] == '@')
            lode_str_puts(b->out, patterns[i]);
        else
            LODE_TRY(walk(b, patterns[i], err));
        if (b->out->failed) return lode_fail(err, LODE_E_NOMEM, "pre-tokenizer: no memory for its patterns");
    }
    return LODE_OK;
}

lode_status lode_class_map_build(lode_class_map *map, const char *const *patterns, int n, lode_str *out,
                                 lode_err *err) {
    *map = (lode_class_map){ .class_of = malloc(LODE_UNICODE_END) };
    builder *b = lode_calloc(1, sizeof *b);
    lode_status st = LODE_OK;
    if (!map->class_of || !b) {
        st = lode_fail(err, LODE_E_NOMEM, "pre-tokenizer: no memory for its tables");
    } else {
        b->map = map;
        st = build(b, patterns, n, out, err);
    }
    free(b);
    if (st != LODE_OK) {
        free(map->class_of);
        map->class_of = NULL;
    }
    return st;
}
