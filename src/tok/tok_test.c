/* tok_test.c - tokenizers without a model: time that grows no faster than the text, merging against its definition. */
#include "base/test.h"
#include "tests/fuzz/tok_naive.h"

#include <math.h>
#include <time.h>

enum { SMALL = 100 * 1000, LARGE = 10 * SMALL, N_ROUNDS = 3 };

static const double limit_s = 2.0;
/* Less counts as this much: the clock and the caches then say more than the code. Quadratic time takes seconds. */
static const double floor_s = 0.02;

/* What long runs are made of. The mixed ones are where an expression could begin to look for an end again and again. */
static const char *const units[] = { "a",    "1",  " ",   "\n", ".",  "\xF0\x9F\x98\x80", "\xE4\xB8\xAD",
                                     "\xFF", "aB", " \n", "a ", "'s", "\xC2\xA0" };
enum { N_UNITS = sizeof units / sizeof *units };

static char *repeat(const char *unit, size_t n) {
    char *text = malloc(n);
    assert_non_null(text);
    const size_t len = strlen(unit);
    for (size_t i = 0; i < n; i++) text[i] = unit[i % len];
    return text;
}

/* Work on a text, which a test repeats. */
typedef void (*work_fn)(const void *on, const char *text, size_t n);

static void encode(const void *on, const char *text, size_t n) {
    lode_tokens ids = { 0 };
    lode_err e = { 0 };
    CHECK_OK(lode_encode(on, text, n, 0, &ids, &e), &e);
    lode_tokens_free(&ids);
}

static void split(const void *on, const char *text, size_t n) {
    lode_pretok_room room = { 0 };
    lode_err e = { 0 };
    CHECK_OK(lode_pretok_split(on, &room, text, n, &e), &e);
    lode_pretok_room_free(&room);
}

/* Seconds of this program's own, the quickest of a few rounds: other programs make it slower even so. */
static double seconds(work_fn work, const void *on, const char *text, size_t n, int n_rounds) {
    double best = 1e9;
    for (int i = 0; i < n_rounds; i++) {
        const clock_t from = clock();
        work(on, text, n);
        const double s = (double)(clock() - from) / CLOCKS_PER_SEC;
        if (s < best) best = s;
    }
    return best;
}

/* Ten times the text takes at most 12 times as long, and under 2 s. */
static void check_growth(work_fn work, const void *on, const char *what) {
    for (int i = 0; i < N_UNITS; i++) {
        char *text = repeat(units[i], LARGE);
        double large = seconds(work, on, text, LARGE, 1);
        if (large > 12 * floor_s) {
            const double small = seconds(work, on, text, SMALL, N_ROUNDS);
            const double again = seconds(work, on, text, LARGE, N_ROUNDS);
            if (again < large) large = again;
            if (large > limit_s || large > 12 * (small > floor_s ? small : floor_s))
                fail_msg("%s, 1 MB of '%s': %.3f s; 100 KB: %.3f s", what, units[i], large, small);
        }
        free(text);
    }
}

/* Tokens that double: of one unit, two, four, eight. Their texts live in `texts`. */
static void add_doubles(naive_vocab *n, lode_str *texts) {
    for (int i = 0; i < N_UNITS; i++) {
        lode_str part = { 0 };
        for (const char *p = units[i]; *p; p++) {
            if (n->d.kind == LODE_VOCAB_BPE)
                lode_str_utf8(&part, naive_byte_char((uint8_t)*p));
            else
                lode_str_puts(&part, *p == ' ' ? "\xE2\x96\x81" : (char[]){ *p, '\0' });
        }
        for (int k = 0; k < 3; k++) {
            lode_str *s = &texts[i * 3 + k];
            lode_str_add(s, part.p, part.n);
            if (n->d.kind == LODE_VOCAB_BPE) lode_str_putc(s, ' ');
            lode_str_add(s, part.p, part.n);
            if (n->d.kind == LODE_VOCAB_BPE)
                naive_merge(n, (lode_slice){ s->p, s->n });
            else
                naive_token(n, (lode_slice){ s->p, s->n }, LODE_TOKEN_NORMAL, (float)-k);
            lode_str twice = { 0 };
            lode_str_add(&twice, part.p, part.n);
            lode_str_add(&twice, part.p, part.n);
            lode_str_free(&part);
            part = twice;
        }
        lode_str_free(&part);
    }
}

static naive_vocab vocab;
static lode_str doubles[N_UNITS * 3];

static lode_vocab *open_doubles(lode_vocab_kind kind, const char *pre) {
    lode_vocab *v;
    lode_err e = { 0 };
    naive_init(&vocab, kind);
    add_doubles(&vocab, doubles);
    if (pre) vocab.d.pre = (lode_slice){ pre, strlen(pre) };
    CHECK_OK(lode_vocab_open(&v, &vocab.d, &e), &e);
    return v;
}

static void close_doubles(lode_vocab *v) {
    lode_vocab_close(v);
    naive_free(&vocab);
    for (int i = 0; i < N_UNITS * 3; i++) lode_str_free(&doubles[i]);
}

TEST(text_without_a_vocabulary_is_refused) {
    (void)state_;
    lode_err e = { 0 };
    lode_tokens ids = { 0 };
    CHECK_FAILS(lode_encode(NULL, "x", 1, 0, &ids, &e), &e, LODE_E_INPUT, "lode_model_vocab_note");
    assert_int_equal(ids.n, 0);
}

TEST(encoding_takes_time_that_grows_as_the_text) {
    (void)state_;
    static const struct {
        lode_vocab_kind kind;
        const char *pre;
    } kinds[] = { { LODE_VOCAB_SPM, "SPM" }, { LODE_VOCAB_BPE, "gpt-2" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        lode_vocab *v = open_doubles(kinds[i].kind, kinds[i].pre);
        check_growth(encode, v, kinds[i].pre);
        close_doubles(v);
    }
}

/* The families' first names. */
static const lode_pretok_name *next_family(int *at, uint64_t *seen) {
    for (const lode_pretok_name *pre; (pre = lode_pretok_at((*at)++)) != NULL;) {
        assert_true(pre->family < 64);
        if (*seen >> pre->family & 1) continue;
        *seen |= 1ull << pre->family;
        return pre;
    }
    return NULL;
}

TEST(every_family_of_pre_tokenizers_takes_time_that_grows_as_the_text) {
    (void)state_;
    uint64_t seen = 0;
    int at = 0;
    for (const lode_pretok_name *pre = next_family(&at, &seen); pre; pre = next_family(&at, &seen)) {
        lode_pretok *p;
        lode_err e = { 0 };
        CHECK_OK(lode_pretok_open(&p, pre->family, &e), &e);
        check_growth(split, p, pre->name);
        lode_pretok_close(p);
    }
}

/* Lengths of the pieces, in words: "512 2 2". */
static void check_cuts(const char *pre, const char *text, const char *want) {
    const lode_pretok_name *name;
    lode_pretok *p;
    lode_pretok_room room = { 0 };
    lode_str got = { 0 };
    lode_err e = { 0 };
    CHECK_OK(lode_pretok_find(&name, (lode_slice){ pre, strlen(pre) }, &e), &e);
    CHECK_OK(lode_pretok_open(&p, name->family, &e), &e);
    CHECK_OK(lode_pretok_split(p, &room, text, strlen(text), &e), &e);
    for (size_t i = 0; i < room.n_end; i++)
        lode_str_printf(&got, i ? " %u" : "%u", room.end[i] - (i ? room.end[i - 1] : 0));
    assert_string_equal(got.p, want);
    lode_str_free(&got);
    lode_pretok_room_free(&room);
    lode_pretok_close(p);
}

/* Its tokenizer.json: \s{512}(?!\S)|\s{256}(?!\S)|...|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1} behind the letters, digits and
 * lines' ends of Llama 3. */
TEST(jais_2_cuts_blanks_into_powers_of_two_and_leaves_one_before_a_word) {
    (void)state_;
    char text[1100];
    static const struct {
        int blanks;
        const char *behind, *want;
    } cases[] = { { 1, "x", "2" },       { 2, "x", "1 2" },         { 3, "x", "2 2" },
                  { 4, "x", "2 1 2" },   { 5, "x", "4 2" },         { 512, "x", "256 128 64 32 16 8 4 2 1 2" },
                  { 513, "x", "512 2" }, { 1025, "", "512 512 1" }, { 7, "", "4 2 1" },
                  { 3, "1", "2 1 1" },   { 6, "\n  y", "7 1 2" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%*s%s", cases[i].blanks, "", cases[i].behind);
        check_cuts("jais-2", text, cases[i].want);
    }
}

/* Scores of any kind, best first: NaN comes last, whatever its sign; of equal ones the left pair joins. */
TEST(pairs_join_in_the_order_of_their_scores_also_where_these_are_no_numbers) {
    (void)state_;
    static const struct {
        float ab, bc;
        bool left; /* ab joins */
    } rows[] = { { 1, 0, true },
                 { 0, 1, false },
                 { 0, 0, true },
                 { -1, -2, true },
                 { -2, -1, false },
                 { -0.0f, 0, true },
                 { NAN, -1e30f, false },
                 { -1e30f, NAN, true },
                 { -NAN, 0, false },
                 { NAN, -INFINITY, false },
                 { INFINITY, 3e38f, true },
                 { 3e38f, INFINITY, false },
                 { -INFINITY, -3e38f, false },
                 { 1e-40f, 0, true },
                 { 0, 1e-40f, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int n = 1; n <= 20; n += 19) { /* a short word and a long one */
            lode_vocab *v;
            lode_err e = { 0 };
            lode_tokens ids = { 0 };
            char text[64];
            naive_init(&vocab, LODE_VOCAB_SPM);
            vocab.d.add_space_prefix = 0;
            naive_token(&vocab, (lode_slice){ "ab", 2 }, LODE_TOKEN_NORMAL, rows[i].ab);
            naive_token(&vocab, (lode_slice){ "bc", 2 }, LODE_TOKEN_NORMAL, rows[i].bc);
            CHECK_OK(lode_vocab_open(&v, &vocab.d, &e), &e);
            for (int k = 0; k < n; k++) memcpy(text + 3 * k, "abc", 3);
            CHECK_OK(lode_encode(v, text, (size_t)(3 * n), 0, &ids, &e), &e);
            assert_int_equal(ids.n, 2 * n);
            for (int k = 0; k < n; k++)
                if (ids.items[2 * k] != (rows[i].left ? lode_vocab_find(v, "ab", 2) : 3 + 'a'))
                    fail_msg("scores %g and %g, %d times", (double)rows[i].ab, (double)rows[i].bc, n);
            lode_tokens_free(&ids);
            lode_vocab_close(v);
            naive_free(&vocab);
        }
}

/* The text of a control token in two or three parts, with text around it. */
TEST(a_control_token_is_seen_only_where_all_of_it_may_be_one) {
    (void)state_;
    static const char text[] = "x</s>y";
    enum { FROM = 1, TO = 5, N = 6 };
    lode_vocab *v;
    lode_err e = { 0 };
    for (int kind = 0; kind < 2; kind++) {
        naive_init(&vocab, kind ? LODE_VOCAB_BPE : LODE_VOCAB_SPM);
        vocab.d.add_space_prefix = 0;
        CHECK_OK(lode_vocab_open(&v, &vocab.d, &e), &e);
        for (size_t a = 0; a <= N; a++)
            for (size_t b = a; b <= N; b++)
                for (unsigned special = 0; special < 8; special++) {
                    lode_tokens ids = { 0 };
                    const lode_text_part parts[] = { { text, a, special & 1 },
                                                     { text + a, b - a, special & 2 },
                                                     { text + b, N - b, special & 4 } };
                    bool want = true;
                    for (size_t i = FROM; i < TO; i++) want = want && special >> (i < a ? 0 : i < b ? 1 : 2) & 1;
                    CHECK_OK(lode_encode_parts(v, parts, 3, 0, &ids, &e), &e);
                    bool seen = false;
                    for (size_t i = 0; i < ids.n; i++) seen = seen || ids.items[i] == 2;
                    if (seen != want || ids.n != (want ? 3 : N))
                        fail_msg("cut at %zu and %zu, special %u: %zu ids", a, b, special, ids.n);
                    lode_tokens_free(&ids);
                }
        lode_vocab_close(v);
        naive_free(&vocab);
    }
}

/* Phi-3's rule: white space behind control tokens, but BOS, PAD and UNK, is swallowed; behind what users define not. */
TEST(white_space_behind_control_tokens_alone_is_swallowed_where_a_vocabulary_says_so) {
    (void)state_;
    static const struct {
        const char *text;
        bool swallowed;
    } rows[] = { { "<ctl>", true },  { "</s>", true },   { "<s>", false },
                 { "<unk>", false }, { "<pad>", false }, { "<user>", false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int strip = 0; strip < 2; strip++) {
            lode_vocab *v;
            lode_err e = { 0 };
            lode_tokens ids = { 0 };
            char text[32];
            naive_init(&vocab, LODE_VOCAB_SPM);
            vocab.d.add_space_prefix = 0;
            vocab.d.strip_after_special = strip;
            naive_token(&vocab, (lode_slice){ "<ctl>", 5 }, LODE_TOKEN_CONTROL, 0);
            vocab.d.special[LODE_SPECIAL_PAD] = (lode_token)vocab.d.n_tokens;
            naive_token(&vocab, (lode_slice){ "<pad>", 5 }, LODE_TOKEN_CONTROL, 0);
            naive_token(&vocab, (lode_slice){ "<user>", 6 }, LODE_TOKEN_USER, 0);
            CHECK_OK(lode_vocab_open(&v, &vocab.d, &e), &e);
            const size_t n = (size_t)snprintf(text, sizeof text, "a%s \n b ", rows[i].text);
            CHECK_OK(lode_encode(v, text, n, LODE_ENCODE_SPECIAL, &ids, &e), &e);
            if (ids.n != (strip && rows[i].swallowed ? 4u : 7u)) fail_msg("%s: %zu ids", rows[i].text, ids.n);
            assert_int_equal(ids.items[1], lode_vocab_find(v, rows[i].text, strlen(rows[i].text)));
            lode_tokens_free(&ids);
            lode_vocab_close(v);
            naive_free(&vocab);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_without_a_vocabulary_is_refused),
        cmocka_unit_test(encoding_takes_time_that_grows_as_the_text),
        cmocka_unit_test(every_family_of_pre_tokenizers_takes_time_that_grows_as_the_text),
        cmocka_unit_test(jais_2_cuts_blanks_into_powers_of_two_and_leaves_one_before_a_word),
        cmocka_unit_test(pairs_join_in_the_order_of_their_scores_also_where_these_are_no_numbers),
        cmocka_unit_test(white_space_behind_control_tokens_alone_is_swallowed_where_a_vocabulary_says_so),
        cmocka_unit_test(a_control_token_is_seen_only_where_all_of_it_may_be_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
