/* pretok.c - cutting: text becomes class bytes, then each step of the family cuts every piece of the step before.
 *
 * PCRE2 sees bytes (no UTF, no UCP), so its cost per byte is that of the class sets alone. Every pattern is written so
 * that a long run of one kind is matched whole and nothing is tried again from its middle; what cannot be written so is
 * a rule in C below. */
#include "tok/pretok.h"

#include "base/bug.h"
#include "base/mem.h"
#include "base/str.h"
#include "tok/pretok_build.h"
#include "tok/unicode.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MAX_STEPS = 6, JIT_STACK_MAX = 64 << 20 };

#define FAMILY(id, ...) FAMILY_##id,
#define PRETOK(name, family, flags)
typedef enum {
#include "tok/pretok.def"
    N_FAMILIES
} family_id;
#undef FAMILY
#undef PRETOK

#define FAMILY(id, ...) { __VA_ARGS__ },
#define PRETOK(name, family, flags)
static const char *const family_steps[N_FAMILIES][MAX_STEPS] = {
#include "tok/pretok.def"
};
#undef FAMILY
#undef PRETOK

#define FAMILY(id, ...)
#define PRETOK(name, family, flags) { name, FAMILY_##family, flags },
#define WHOLE LODE_PRETOK_WHOLE
#define BOS LODE_PRETOK_BOS
static const lode_pretok_name names[] = {
#include "tok/pretok.def"
};
#undef FAMILY
#undef PRETOK

enum { N_NAMES = sizeof names / sizeof *names };

/* A rule in C cuts the piece [from, to) of class bytes. */
typedef lode_status (*rule_fn)(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                               size_t to, lode_err *err);

typedef struct {
    pcre2_code *code; /* own; NULL for a rule */
    bool jit;
    rule_fn rule;
} step;

struct lode_pretok {
    lode_class_map map;
    int n_steps;
    step steps[MAX_STEPS];
};

const lode_pretok_name *lode_pretok_at(int i) { return i >= 0 && i < N_NAMES ? &names[i] : NULL; }

lode_status lode_pretok_find(const lode_pretok_name **out, lode_slice name, lode_err *err) {
    char text[48] = { 0 };
    memcpy(text, name.p, name.n < sizeof text ? name.n : sizeof text - 1);
    int best = 0, best_distance = 1000;
    for (int i = 0; i < N_NAMES; i++) {
        if (strlen(names[i].name) == name.n && memcmp(names[i].name, name.p, name.n) == 0) {
            *out = &names[i];
            return LODE_OK;
        }
        const int distance = lode_edit_distance(text, names[i].name);
        if (distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return lode_fail(err, LODE_E_UNSUPPORTED,
                     "pre-tokenizer '%s' (tokenizer.ggml.pre) is not known here; the nearest known is '%s'", text,
                     names[best].name);
}

static lode_status no_memory(lode_err *err) {
    return lode_fail(err, LODE_E_NOMEM, "tokenizer: no memory for cutting the text into words");
}

static lode_status add_end(lode_pretok_room *r, size_t end, lode_err *err) {
    if (r->n_end && r->end[r->n_end - 1] == end) return LODE_OK;
    if (r->n_end == r->cap_end && !lode_grow((void **)&r->end, &r->cap_end, r->n_end + 1, sizeof *r->end))
        return no_memory(err);
    r->end[r->n_end++] = (uint32_t)end;
    return LODE_OK;
}

/* White space at the end of the piece is a piece. */
static lode_status cut_trailing_space(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                                      size_t to, lode_err *err) {
    size_t at = to;
    while (at > from && map->space[cls[at - 1]]) at--;
    if (at > from) LODE_TRY(add_end(r, at, err));
    return add_end(r, to, err);
}

/* White space alone, without a line's end, in pieces of powers of two, from 512 down, the largest first. */
static lode_status cut_blanks(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                              size_t to, lode_err *err) {
    size_t at = from;
    while (at < to && map->space[cls[at]] && cls[at] != '\r' && cls[at] != '\n') at++;
    if (at == to)
        for (size_t piece = 512, cut = from; piece > 0; piece /= 2)
            for (; to - cut >= piece; cut += piece)
                if (cut > from) LODE_TRY(add_end(r, cut, err));
    return add_end(r, to, err);
}

/* Digits in groups of three from the right: 1|234|567. In words: the groups are pieces of their own, and only where
 * the digits end at a word's end (12a stays whole); else cuts are made before whole groups only. */
static lode_status cut_digits(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                              size_t to, bool in_words, lode_err *err) {
    const uint32_t word = lode_unicode_category_bits("L", 1) | lode_unicode_category_bits("M", 1) |
                          lode_unicode_category_bits("N", 1) | lode_unicode_category_bits("Pc", 2);
    const uint32_t digit = lode_unicode_category_bits("Nd", 2);
    for (size_t at = from; at < to;) {
        if (!(map->category[cls[at]] & digit)) {
            at++;
            continue;
        }
        size_t end = at;
        while (end < to && (map->category[cls[end]] & digit)) end++;
        if (!in_words || end == to || !(map->category[cls[end]] & word)) {
            if (at > from && (in_words || (end - at) % 3 == 0)) LODE_TRY(add_end(r, at, err));
            for (size_t cut = at + (end - at) % 3; cut < end; cut += 3)
                if (cut > at) LODE_TRY(add_end(r, cut, err));
            if (in_words) LODE_TRY(add_end(r, end, err));
        }
        at = end;
    }
    return add_end(r, to, err);
}

static lode_status cut_digits_plain(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                                    size_t to, lode_err *err) {
    return cut_digits(map, r, cls, from, to, false, err);
}

static lode_status cut_digits_in_words(const lode_class_map *map, lode_pretok_room *r, const uint8_t *cls, size_t from,
                                       size_t to, lode_err *err) {
    return cut_digits(map, r, cls, from, to, true, err);
}

static const struct {
    const char *name;
    rule_fn rule;
} rules[] = {
    { "@trailing-space", cut_trailing_space },
    { "@blanks-by-powers-of-2", cut_blanks },
    { "@digits-by-3", cut_digits_plain },
    { "@digits-by-3-in-words", cut_digits_in_words },
};

static lode_status make_step(step *s, const char *pattern, size_t n, lode_err *err) {
    if (pattern[0] == '@') {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            if (strcmp(rules[i].name, pattern) == 0) s->rule = rules[i].rule;
        LODE_BUG(!s->rule);
        return LODE_OK;
    }
    int code;
    PCRE2_SIZE where;
    s->code = pcre2_compile((PCRE2_SPTR)pattern, n, PCRE2_DOLLAR_ENDONLY, &code, &where, NULL);
    if (!s->code && code == PCRE2_ERROR_HEAP_FAILED) return no_memory(err);
    LODE_BUG(!s->code);
    s->jit = pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE) == 0; /* where there is no JIT, PCRE2 interprets */
    return LODE_OK;
}

lode_status lode_pretok_open(lode_pretok **out, int family, lode_err *err) {
    LODE_BUG(family < 0 || family >= N_FAMILIES);
    lode_pretok *p = lode_calloc(1, sizeof *p);
    if (!p) return no_memory(err);
    while (p->n_steps < MAX_STEPS && family_steps[family][p->n_steps]) p->n_steps++;
    lode_str text[MAX_STEPS] = { 0 };
    lode_status st = lode_class_map_build(&p->map, family_steps[family], p->n_steps, text, err);
    for (int i = 0; i < p->n_steps && st == LODE_OK; i++) st = make_step(&p->steps[i], text[i].p, text[i].n, err);
    for (int i = 0; i < p->n_steps; i++) lode_str_free(&text[i]);
    if (st != LODE_OK) {
        lode_pretok_close(p);
        return st;
    }
    *out = p;
    return LODE_OK;
}

void lode_pretok_close(lode_pretok *p) {
    if (!p) return;
    for (int i = 0; i < p->n_steps; i++) pcre2_code_free(p->steps[i].code);
    free(p->map.class_of);
    free(p);
}

void lode_pretok_room_free(lode_pretok_room *r) {
    free(r->cls);
    free(r->at);
    free(r->end);
    free(r->old);
    pcre2_match_data_free(r->match);
    pcre2_match_context_free(r->context);
    pcre2_jit_stack_free(r->stack);
    *r = (lode_pretok_room){ 0 };
}

/* Class bytes of the text. Pure ASCII is its own class text and needs no table of offsets (*cls == text). */
static lode_status classify(const lode_pretok *p, lode_pretok_room *r, const char *text, size_t n, const uint8_t **cls,
                            size_t *n_cls, lode_err *err) {
    size_t ascii = 0;
    while (ascii < n && !(text[ascii] & 0x80)) ascii++;
    *cls = (const uint8_t *)text;
    *n_cls = n;
    if (ascii == n) return LODE_OK;
    if (!lode_grow((void **)&r->cls, &r->cap_cls, n, 1) ||
        !lode_grow((void **)&r->at, &r->cap_at, n + 1, sizeof *r->at))
        return no_memory(err);
    size_t k = 0;
    for (size_t i = 0; i < n; k++) {
        const uint8_t c = (uint8_t)text[i];
        r->at[k] = (uint32_t)i;
        if (c < 0x80) {
            r->cls[k] = c;
            i++;
            continue;
        }
        uint32_t cp;
        const int len = lode_utf8_next(text + i, n - i, &cp);
        r->cls[k] = len ? p->map.class_of[cp] : (uint8_t)LODE_CLASS_INVALID;
        i += len ? (size_t)len : 1;
    }
    r->at[k] = (uint32_t)n;
    *cls = r->cls;
    *n_cls = k;
    return LODE_OK;
}

/* Matches from `at`. The JIT works on 32 KiB of the thread's stack; a bigger one is made when a pattern asks for it. */
static int match_at(const step *s, lode_pretok_room *r, const uint8_t *subject, size_t n, size_t at) {
    const int rc = s->jit ? pcre2_jit_match(s->code, subject, n, at, 0, r->match, r->context)
                          : pcre2_match(s->code, subject, n, at, 0, r->match, r->context);
    if (rc != PCRE2_ERROR_JIT_STACKLIMIT || r->stack) return rc;
    if (!r->context) r->context = pcre2_match_context_create(NULL);
    r->stack = pcre2_jit_stack_create(64 << 10, JIT_STACK_MAX, NULL);
    if (!r->context || !r->stack) return PCRE2_ERROR_NOMEMORY;
    pcre2_jit_stack_assign(r->context, NULL, r->stack);
    return pcre2_jit_match(s->code, subject, n, at, 0, r->match, r->context);
}

static lode_status cut_by_pattern(const step *s, lode_pretok_room *r, const uint8_t *cls, size_t from, size_t to,
                                  lode_err *err) {
    const uint8_t *subject = cls + from;
    const size_t n = to - from;
    size_t at = 0;
    while (at < n) {
        const int rc = match_at(s, r, subject, n, at);
        if (rc == PCRE2_ERROR_NOMATCH) break;
        if (rc < 0) return lode_fail(err, LODE_E_FULL, "tokenizer: a word pattern gave up (PCRE2 error %d)", rc);
        const PCRE2_SIZE *where = pcre2_get_ovector_pointer(r->match);
        if (where[1] == where[0]) { /* no pattern of ours matches nothing, but never loop on it */
            at = where[1] + 1;
            continue;
        }
        if (where[0] > 0) LODE_TRY(add_end(r, from + where[0], err));
        LODE_TRY(add_end(r, from + where[1], err));
        at = where[1];
    }
    return add_end(r, to, err);
}

static lode_status make_room(lode_pretok_room *r, lode_err *err) {
    if (!r->match) r->match = pcre2_match_data_create(1, NULL);
    return r->match ? LODE_OK : no_memory(err);
}

lode_status lode_pretok_split(const lode_pretok *p, lode_pretok_room *r, const char *text, size_t n, lode_err *err) {
    r->n_end = 0;
    if (n == 0) return LODE_OK;
    const uint8_t *cls;
    size_t n_cls;
    LODE_TRY(make_room(r, err));
    LODE_TRY(classify(p, r, text, n, &cls, &n_cls, err));
    LODE_TRY(add_end(r, n_cls, err));
    for (int i = 0; i < p->n_steps; i++) {
        uint32_t *pieces = r->end;
        const size_t n_pieces = r->n_end, cap = r->cap_end;
        r->end = r->old;
        r->cap_end = r->cap_old;
        r->old = pieces;
        r->cap_old = cap;
        r->n_end = 0;
        const step *s = &p->steps[i];
        for (size_t k = 0, from = 0; k < n_pieces; from = r->old[k++])
            LODE_TRY(s->rule ? s->rule(&p->map, r, cls, from, r->old[k], err)
                             : cut_by_pattern(s, r, cls, from, r->old[k], err));
    }
    if (cls != (const uint8_t *)text)
        for (size_t k = 0; k < r->n_end; k++) r->end[k] = r->at[r->end[k]];
    return LODE_OK;
}
