/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in the text itself: walks, what is sound, and that jansson thinks the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"
#include "base/text.h"

enum { DEPTH = 8 };

static struct nnv_json_walk walk(const char *text) {
    return (struct nnv_json_walk){.at = text, .end = text + strlen(text), .depth = DEPTH};
}

/** Every step of a walk over text: "name=value;" a member, "value;" an element, and what is behind; "!": damage. */
static void steps_are(const char *text, const char *wanted) {
    struct nnv_json_walk w = walk(text);
    struct nnv_text seen = {0};
    while (nnv_json_next(&w)) {
        if (w.name) nnv_text_addf(&seen, "%.*s=", (int)w.name_bytes, w.name);
        nnv_text_addf(&seen, "%.*s;", (int)(w.value_end - w.value), w.value);
    }
    nnv_text_addf(&seen, "|%s", w.at ? w.at : "!");
    assert_string_equal(seen.data, wanted);
    nnv_text_free(&seen);
}

static void walks(void **state) {
    (void)state;
    steps_are("{}", "|");
    steps_are("[ \t\r\n] rest", "| rest");
    steps_are("{\"a\":1,\"b\":{\"c\":[2]}}", "a=1;b={\"c\":[2]};|");
    steps_are("\n{ \"a\" : 1 }", "|!"); /* a walk begins at the bracket */
    steps_are("{ \"a\" :\t1\n,\r\n\"\" : [ ] } ,", "a=1;=[ ];| ,");
    steps_are("{\"\\u0061\\\"\":null,\"a\":\"}\"}]", "\\u0061\\\"=null;a=\"}\";|]");
    steps_are("[true,false , -0.5e+7,\"x\",{},[]]", "true;false;-0.5e+7;\"x\";{};[];|");
}

static void damage_ends_a_walk(void **state) {
    (void)state;
    steps_are("", "|!");
    steps_are("1", "|!");
    steps_are("\"a\"", "|!");
    steps_are("[", "|!");
    steps_are("{ ", "|!");
    steps_are("[1", "1;|!");
    steps_are("[1 2]", "1;|!");
    steps_are("[1,]", "1;|!");
    steps_are("[,1]", "|!");
    steps_are("[1}", "1;|!");
    steps_are("{\"a\":1]", "a=1;|!");
    steps_are("{\"a\"}", "|!");
    steps_are("{\"a\" 1}", "|!");
    steps_are("{\"a\":}", "|!");
    steps_are("{\"a", "|!");
    steps_are("{a:1}", "|!");
    steps_are("{\"a\":1,}", "a=1;|!");
    steps_are("{\"a\":[1,}", "|!");
    steps_are("[1,tru]", "1;|!");
}

/** A walk of depth n takes n brackets, of which its own is one. */
static void no_deeper_than_said(void **state) {
    (void)state;
    steps_are("[[[[[[[[]]]]]]]]", "[[[[[[[]]]]]]];|");
    steps_are("[[[[[[[[[]]]]]]]]]", "|!");
    struct nnv_json_walk w = walk("[]");
    assert_null(nnv_json_skip(w.at, w.end, 0));
    w.depth = 0;
    assert_false(nnv_json_next(&w));
    assert_null(w.at);
}

/** What members finds: "value," for a and b each, "-" where there is none; "!" behind it: no sound object. */
static void members_are(const char *text, const char *wanted) {
    static const char *const names[] = {"a", "b"};
    struct nnv_json_span values[2];
    struct nnv_text seen = {0};
    const bool sound = nnv_json_members((struct nnv_json_span){text, text + strlen(text)}, names, 2, values);
    for (size_t i = 0; i < 2; i++)
        if (values[i].begin)
            nnv_text_addf(&seen, "%.*s,", (int)(values[i].end - values[i].begin), values[i].begin);
        else
            nnv_text_add(&seen, "-,");
    if (!sound) nnv_text_add(&seen, "!");
    assert_string_equal(seen.data, wanted);
    nnv_text_free(&seen);
}

static void members(void **state) {
    (void)state;
    members_are("{\"b\":[1],\"c\":2,\"a\":\"x\"} \n", "\"x\",[1],");
    members_are("{\"a\":1,\"ab\":2,\"\":3,\"a\":4}", "4,-,");
    members_are("{\"c\":{\"x\":0,\"a\":1},\"d\":[{\"b\":2}],\"e\":\",\\\"a\\\":3\"}", "-,-,"); /* of others */
    members_are("{}", "-,-,");
    members_are("", "-,-,!");
    members_are(" {\"a\":1}", "-,-,!");
    members_are("[1]", "-,-,!");
    members_are("{\"a\":1}]", "1,-,!");
    members_are("{\"a\":1,\"b\":}", "1,-,!");
    const char *const names[] = {"a"};
    struct nnv_json_span none;
    assert_false(nnv_json_members((struct nnv_json_span){0}, names, 1, &none));
    assert_null(none.begin);
}

static void plain_strings(void **state) {
    (void)state;
    static const char plain[] = "\"ab\xc3\xa9\"", empty[] = "\"\"", escaped[] = "\"a\\n\"", number[] = "12";
    const char *text;
    size_t n;
    assert_true(nnv_json_plain(plain, plain + sizeof plain - 1, &text, &n));
    assert_ptr_equal(text, plain + 1);
    assert_int_equal(n, 4);
    assert_true(nnv_json_plain(empty, empty + 2, &text, &n));
    assert_int_equal(n, 0);
    assert_false(nnv_json_plain(escaped, escaped + sizeof escaped - 1, &text, &n));
    assert_false(nnv_json_plain(number, number + 2, &text, &n));
}

/** Is text of n bytes one JSON value, with space around? By jansson, which also wants numbers that it can hold. */
static bool jansson_takes(const char *text, size_t n, bool *too_large) {
    json_error_t why;
    json_t *value = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    *too_large = !value && json_error_code(&why) == json_error_numeric_overflow;
    json_decref(value);
    return value;
}

static const char *skip_space(const char *s, const char *end) {
    while (s < end && *s && strchr(" \t\r\n", *s)) s++;
    return s;
}

/** The same by nnv_json_skip. */
static bool skip_takes(const char *text, size_t n) {
    const char *end = text + n, *s = nnv_json_skip(skip_space(text, end), end, DEPTH);
    return s && skip_space(s, end) == end;
}

static void surrogates_come_in_pairs(void **state) {
    (void)state;
    static const char *const texts[] = {
        "\"\\ud83d\\ude00\"", "\"\\uD800\\uDC00\"", "\"\\udbff\\udfff\"", "\"\\ud7ff\"",
        "\"\\ue000\"",        "\"\\ud800\"",        "\"\\udfff\"",        "\"\\udc00\\ud800\"",
        "\"\\ud800x\"",       "\"\\ud800\\n\"",     "\"\\ud800\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\\ud800\\udc0\"",  "\"\\ud800",          "\"\\u00g0\"",        "\"\\ud800\\udc00\\ud800\"",
        "\"\\udbff\\ue000\"", "\"\\u12\"",          "\"\\U0041\"",        "\"\\ud800/udc00\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool too_large;
        assert_int_equal(skip_takes(texts[i], strlen(texts[i])), i < 5);
        assert_int_equal(jansson_takes(texts[i], strlen(texts[i]), &too_large), i < 5);
    }
}

/** Texts with up to three bytes changed, cut anywhere: the walk takes what jansson takes, and reads nothing beyond. */
static void agrees_with_jansson(void **state) {
    (void)state;
    static const char base[] =
        "{\"a\": [1,-2.5e+3, true ,null],\n\"b\\u00e9\":{\"\xc3\xa9\":\"\\ud83d\\ude00\"},\"c\":[]}";
    static const char bytes[] = "\"\\{}[]:,0129.eE-+aftrunldD8 \t\n\x01\x80\xc3\xa9";
    const size_t n = sizeof base - 1;
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    size_t sound = 0, damaged = 0;
    for (int i = 0; i < 60000; i++) {
        const size_t keep = i % 4 ? n : (size_t)nnv_rng_int(&rng, 0, (int64_t)n);
        char *text = malloc(keep + !keep); /* not terminated: a sanitizer sees reads beyond it */
        memcpy(text, base, keep);
        for (int64_t k = nnv_rng_int(&rng, 0, 3); k > 0 && keep > 0; k--)
            text[nnv_rng_int(&rng, 0, (int64_t)keep - 1)] = bytes[nnv_rng_int(&rng, 0, (int64_t)sizeof bytes - 2)];
        bool too_large;
        const bool wanted = jansson_takes(text, keep, &too_large);
        if (skip_takes(text, keep) != wanted && !too_large) fail_msg("not %d: %.*s", wanted, (int)keep, text);
        *(wanted ? &sound : &damaged) += 1;
        free(text);
    }
    assert_true(sound > 5000 && damaged > 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks),
        cmocka_unit_test(damage_ends_a_walk),
        cmocka_unit_test(no_deeper_than_said),
        cmocka_unit_test(members),
        cmocka_unit_test(plain_strings),
        cmocka_unit_test(surrogates_come_in_pairs),
        cmocka_unit_test(agrees_with_jansson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
