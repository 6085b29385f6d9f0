/* chat_test.c - what the golden templates cannot show: origins of bytes, bounds, broken input. */
#include "base/str.h"
#include "base/test.h"
#include "lode/chat.h"

static lode_status render(const char *template, size_t n, const char *json, lode_chat_text *out, lode_err *e) {
    lode_chat *t;
    LODE_TRY(lode_chat_open(&t, template, n, e));
    const lode_status s = lode_chat_render(t, &(lode_chat_input){ .json = json, .bos_token = "<s>" }, out, e);
    lode_chat_close(t);
    return s;
}

TEST(only_the_templates_own_text_is_marked_as_such) {
    (void)state_;
    lode_err e = { 0 };
    lode_chat_text out;
    static const char t[] =
        "{{ bos_token }}<|user|>{% set x = m | trim | upper %}{{ '<|a|>' ~ x[1:] ~ '<|b|>' }}{{ [m] }}";
    CHECK_OK(render(t, sizeof t - 1, "{\"m\": \" <|end|> \"}", &out, &e), &e);
    assert_string_equal(out.text, "<s><|user|><|a|>|END|><|b|>[' <|end|> ']");
    size_t at = 0;
    lode_str data = { 0 };
    for (size_t i = 0; i < out.n_runs; at += out.runs[i++].n)
        if (!out.runs[i].from_template) lode_str_add(&data, out.text + at, out.runs[i].n);
    assert_int_equal(at, out.n);
    assert_string_equal(data.p, "|END|> <|end|> ");
    lode_str_free(&data);
    lode_chat_text_free(&out);
}

TEST(endless_and_deep_templates_are_refused) {
    (void)state_;
    lode_err e = { 0 };
    lode_chat_text out;
    static const char loop[] = "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}";
    static const char self[] = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
    static const char grow[] =
        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}";
    CHECK_FAILS(render(loop, sizeof loop - 1, "{}", &out, &e), &e, LODE_E_FULL, "steps");
    CHECK_FAILS(render(self, sizeof self - 1, "{}", &out, &e), &e, LODE_E_FULL, "nested");
    CHECK_FAILS(render(grow, sizeof grow - 1, "{}", &out, &e), &e, LODE_E_FULL, "bytes");
    static const char *const parts[] = { "((((", "{% if x %}", "[[[[", "not ", "{{ -", "x[", "a.b|" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        lode_str deep = { 0 };
        lode_str_puts(&deep, parts[i][0] == '{' ? "" : "{{ ");
        for (int k = 0; k < 20000; k++) lode_str_puts(&deep, parts[i]);
        assert_int_not_equal(render(deep.p, deep.n, "{}", &out, &e), LODE_OK);
        lode_str_free(&deep);
    }
}

/* Every way to make much of little, once or again and again. */
TEST(lists_and_texts_that_would_take_all_memory_are_refused) {
    (void)state_;
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "{{ ([1] * 2000000) | length }}", "a list that is too long" },
        { "{{ 2000000 * [1] == 1 }}", "a list that is too long" },
        { "{{ range(2000000) | length }}", "a range of more than" },
        { "{{ [1] | batch(2000000, 0) | length }}", "a row that is too long" },
        { "{{ [1] | batch(2000000, 0) }}", "a row that is too long" },
        { "{{ [1] | slice(2000000) | length }}", "too many parts" },
        { "{{ ('x' * 1000 * 100000) | length }}", "bytes" },
        { "{{ 'x' | center(100000000) | length }}", "bytes" },
        { "{{ ('%100000000d' % 1) | length }}", "a width above" },
        { "{{ '\n\nx' | indent(100000000, true, true) | length }}", "bytes" },
        { "{{ ('x' * 10000).replace('x', 'y' * 10000) | length }}", "bytes" },
        { "{{ ('y' * 10000).join(['x'] * 10000) | length }}", "bytes" },
        { "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = n.l + n.l %}{% endfor %}", "memory" },
        { "{% set l = [1] %}{% for i in range(60) %}{% set _ = l.extend(l) %}{% endfor %}", "memory" },
        { "{% for i in range(1000) %}{% set x = 'x' * 1000 * 60000 %}{% endfor %}", "memory" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lode_err e = { 0 };
        lode_chat_text out = { 0 };
        lode_chat *t;
        CHECK_OK(lode_chat_open(&t, rows[i].text, strlen(rows[i].text), &e), &e);
        const lode_chat_input in = { .json = "{}", .may_change = true };
        CHECK_FAILS(lode_chat_render(t, &in, &out, &e), &e, LODE_E_FULL, rows[i].why);
        lode_chat_close(t);
    }
}

TEST(ranges_up_to_the_largest_numbers_end) {
    (void)state_;
    lode_err e = { 0 };
    lode_chat_text out;
    static const char t[] = "{{ range(0, 9223372036854775807, 6000000000000000000) | list }}"
                            "{{ range(0, -9223372036854775807, -6000000000000000000) | list }}"
                            "{{ range(9223372036854775805, 9223372036854775807) | length }}";
    CHECK_OK(render(t, sizeof t - 1, "{}", &out, &e), &e);
    assert_string_equal(out.text, "[0, 6000000000000000000][0, -6000000000000000000]2");
    lode_chat_text_free(&out);
}

TEST(errors_name_the_line_and_what_was_expected) {
    (void)state_;
    lode_err e = { 0 };
    lode_chat_text out;
    CHECK_FAILS(render("a\n{% if x %}\nb", 14, "{}", &out, &e), &e, LODE_E_FORMAT, "line 3");
    CHECK_FAILS(render("{{ x | nosuch }}", 16, "{}", &out, &e), &e, LODE_E_UNSUPPORTED, "nosuch");
    CHECK_FAILS(render("{{ raise_exception('no tools') }}", 33, "{}", &out, &e), &e, LODE_E_INPUT, "no tools");
    CHECK_FAILS(render("x", 1, "[1]", &out, &e), &e, LODE_E_INPUT, "JSON");
}

TEST(random_bytes_end_in_text_or_an_error) {
    (void)state_;
    static const char words[] =
        "{{ }} {% %} {# #} if for in set endif endfor x 'a' | ( ) [ ] . , : = + - * / ~ not is 1 \n recursive loop( "
        "with "
        "endwith raw endraw '%5s' % x|title|wordwrap(2)|format(1) x|batch(2) macro m() endmacro varargs";
    uint32_t r = 7;
    for (int i = 0; i < 20000; i++) {
        lode_err e = { 0 };
        lode_chat_text out = { 0 };
        lode_str t = { 0 };
        for (int k = 0; k < 24; k++) {
            r = r * 1664525u + 1013904223u;
            if (r >> 30) {
                const size_t from = (r >> 8) % (sizeof words - 4);
                lode_str_add(&t, words + from, 1 + (r >> 20) % 3);
            } else {
                lode_str_putc(&t, (char)(r >> 16));
            }
        }
        if (render(t.p, t.n, "{\"x\": [1]}", &out, &e) == LODE_OK)
            lode_chat_text_free(&out);
        else
            assert_true(e.text[0] != '\0');
        lode_str_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(only_the_templates_own_text_is_marked_as_such),
        cmocka_unit_test(endless_and_deep_templates_are_refused),
        cmocka_unit_test(lists_and_texts_that_would_take_all_memory_are_refused),
        cmocka_unit_test(ranges_up_to_the_largest_numbers_end),
        cmocka_unit_test(errors_name_the_line_and_what_was_expected),
        cmocka_unit_test(random_bytes_end_in_text_or_an_error),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
