/* tok_fuzz.c - fuzz target of tokenizers. Input: switches (1 byte), the pre-tokenizer's row (1 byte), lines of tokens
 * (SPM) or merges (BPE), NUL, the text (which may hold NULs). With TYPED a line of SPM starts with its type as a digit.
 * Run: make fuzz F=tok */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tok_naive.h"

enum { BPE = 1, SPECIAL = 2, NO_SPACE = 4, BOS = 8, STRIP = 16, TYPED = 32, MAX_NAIVE = 150 };

static void add_lines(naive_vocab *n, lode_slice lines, unsigned switches) {
    for (int k = 0; lines.n > 0; k++) {
        const char *end = memchr(lines.p, '\n', lines.n);
        lode_slice line = { lines.p, end ? (size_t)(end - lines.p) : lines.n };
        lines.n -= line.n + (end != NULL);
        lines.p += line.n + (end != NULL);
        int type = LODE_TOKEN_NORMAL;
        if (switches & TYPED && line.n) {
            type = line.p[0] - '0';
            line.p++;
            line.n--;
        }
        if (switches & BPE && type == LODE_TOKEN_NORMAL)
            naive_merge(n, line);
        else
            naive_token(n, line, type, (float)(-k / 2)); /* pairs of equal scores */
    }
}

/* One space for each that SPM writes. */
static void plain_spaces(lode_str *s, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const bool is = n - i >= 3 && memcmp(p + i, "\xE2\x96\x81", 3) == 0;
        lode_str_putc(s, is ? ' ' : p[i]);
        if (is) i += 2;
    }
}

static void check_text(const lode_vocab *v, lode_slice want, const char *got, size_t n) {
    if (lode_vocab_kind_of(v) == LODE_VOCAB_BPE) {
        FUZZ_CHECK(n == want.n && memcmp(got, want.p, n) == 0);
        return;
    }
    lode_str a = { 0 }, b = { 0 };
    plain_spaces(&a, want.p, want.n);
    plain_spaces(&b, got, n);
    FUZZ_CHECK(a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0));
    lode_str_free(&a);
    lode_str_free(&b);
}

/* Whether a character of the text starts at `at`. */
static bool is_start(const char *text, size_t n, size_t at) {
    size_t i = 0;
    while (i < at) {
        uint32_t cp;
        const int len = lode_utf8_next(text + i, n - i, &cp);
        i += len ? (size_t)len : 1;
    }
    return i == at;
}

/* Ids become the text again, at once and one by one, and what is shown never ends inside a character. */
static void check_back(const lode_vocab *v, const lode_tokens *ids, lode_slice text, bool compare) {
    char *whole;
    size_t n;
    lode_err e = { 0 };
    lode_str streamed = { 0 };
    lode_detok d;
    FUZZ_CHECK(lode_detokenize(v, ids->items, ids->n, LODE_DETOK_SPECIAL, &whole, &n, &e) == LODE_OK);
    lode_detok_init(&d, v, LODE_DETOK_SPECIAL);
    for (size_t i = 0; i < ids->n; i++) {
        lode_slice part;
        FUZZ_CHECK(ids->items[i] >= 0 && ids->items[i] < lode_vocab_n_tokens(v));
        FUZZ_CHECK(lode_detok_push(&d, ids->items[i], &part, &e) == LODE_OK);
        lode_str_add(&streamed, part.p, part.n);
        FUZZ_CHECK(is_start(whole, n, streamed.n));
    }
    const lode_slice rest = lode_detok_flush(&d);
    lode_str_add(&streamed, rest.p, rest.n);
    FUZZ_CHECK(streamed.n == n && memcmp(streamed.p, whole, n) == 0);
    if (compare) check_text(v, text, whole, n);
    lode_detok_free(&d);
    lode_str_free(&streamed);
    free(whole);
}

static bool same_ids(const lode_tokens *a, const lode_tokens *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->items, b->items, a->n * sizeof *a->items) == 0);
}

/* Two parts are one text. */
static void check_parts(const lode_vocab *v, lode_slice text, unsigned flags, const lode_tokens *want) {
    const size_t cut = text.n / 2;
    const bool special = flags & LODE_ENCODE_SPECIAL;
    const lode_text_part parts[] = { { text.p, cut, special }, { text.p + cut, text.n - cut, special } };
    lode_tokens got = { 0 };
    lode_err e = { 0 };
    FUZZ_CHECK(lode_encode_parts(v, parts, 2, flags, &got, &e) == LODE_OK);
    FUZZ_CHECK(same_ids(&got, want));
    lode_tokens_free(&got);
}

/* The words of a family are all of the text; merged slowly they give the ids. */
static void check_naive(const naive_vocab *n, const lode_vocab *v, lode_slice text, const lode_tokens *want) {
    static lode_pretok *families[64]; /* kept: opening one takes longer than cutting */
    lode_pretok_room room = { 0 };
    const lode_pretok_name *name = NULL;
    lode_err e = { 0 };
    uint32_t all = (uint32_t)text.n;
    const bool bpe = n->d.kind == LODE_VOCAB_BPE;
    if (bpe) {
        FUZZ_CHECK(lode_pretok_find(&name, n->d.pre, &e) == LODE_OK);
        lode_pretok **p = &families[name->family % 64];
        FUZZ_CHECK(*p || lode_pretok_open(p, name->family, &e) == LODE_OK);
        FUZZ_CHECK(lode_pretok_split(*p, &room, text.p, text.n, &e) == LODE_OK);
        for (size_t i = 0; i < room.n_end; i++) FUZZ_CHECK(room.end[i] > (i ? room.end[i - 1] : 0));
        FUZZ_CHECK((room.n_end ? room.end[room.n_end - 1] : 0) == text.n);
    }
    lode_tokens got = { 0 };
    if (!bpe || !(name->flags & LODE_PRETOK_WHOLE)) {
        naive_encode(n, v, text.p, bpe ? room.end : &all, bpe ? room.n_end : text.n > 0, &got);
        FUZZ_CHECK(same_ids(&got, want));
    }
    lode_tokens_free(&got);
    lode_pretok_room_free(&room);
}

static void encode(const naive_vocab *n, const lode_vocab *v, lode_slice text, unsigned switches) {
    lode_tokens ids = { 0 };
    lode_err e = { 0 };
    const unsigned flags =
        (switches & SPECIAL ? LODE_ENCODE_SPECIAL : 0u) | (switches & BOS ? LODE_ENCODE_BOS | LODE_ENCODE_EOS : 0u);
    FUZZ_CHECK(lode_encode(v, text.p, text.n, flags, &ids, &e) == LODE_OK);
    const bool plain = !(switches & (SPECIAL | BOS | TYPED));
    check_back(v, &ids, text, plain);
    check_parts(v, text, flags, &ids);
    if (plain && text.n <= MAX_NAIVE) check_naive(n, v, text, &ids);
    lode_tokens_free(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
    static naive_vocab n;
    fuzz_input in = { (const char *)data, n_data };
    const unsigned switches = fuzz_byte(&in), row = fuzz_byte(&in);
    naive_init(&n, switches & BPE ? LODE_VOCAB_BPE : LODE_VOCAB_SPM);
    n.d.add_space_prefix = !(switches & NO_SPACE);
    n.d.strip_after_special = switches & STRIP;
    const lode_pretok_name *pre = lode_pretok_at((int)row);
    if (pre) n.d.pre = (lode_slice){ pre->name, strlen(pre->name) };
    add_lines(&n, fuzz_text(&in), switches);
    lode_vocab *v;
    lode_err e = { 0 };
    FUZZ_CHECK(lode_vocab_open(&v, &n.d, &e) == LODE_OK);
    encode(&n, v, (lode_slice){ in.p, in.n }, switches);
    lode_vocab_close(v);
    naive_free(&n);
    return 0;
}
