/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"

static void texts_grow(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, NULL);
    assert_null(t.data);
    for (int i = 0; i < 10000; i++) nnv_text_addf(&t, "%05d", i);
    assert_int_equal(t.len, 50000);
    assert_memory_equal(t.data + 49990, "0999809999", 11);
    nnv_text_addf(&t, "%*s|", 3000, "x");
    assert_int_equal(t.len, 53001);
    nnv_text_clear(&t);
    assert_string_equal(t.data, "");
    nnv_text_add_n(&t, "abcdef", 3);
    assert_string_equal(t.data, "abc");
    assert_false(t.failed);
    nnv_text_free(&t);
    assert_null(t.data);
    nnv_text_free(&t);
}

static void out_of_memory_is_remembered(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "kept");
    nnv_text_add_base64(&t, "x", SIZE_MAX);
    assert_true(t.failed);
    nnv_text_add(&t, "lost");
    assert_string_equal(t.data, "kept");
    nnv_text_free(&t);
    assert_true(nnv_text_lacked()); /* for good: main says so in the end */
}

/* What add makes of s. */
static const char *escaped(void (*add)(struct nnv_text *, const char *), const char *s) {
    static char buf[256];
    struct nnv_text t = {0};
    add(&t, s);
    snprintf(buf, sizeof buf, "%s", t.data ? t.data : "");
    nnv_text_free(&t);
    return buf;
}

#define BAD "\xEF\xBF\xBD"

static void json_strings(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"plain", "\"plain\""},
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\n\t\r\x01\x1f", "\"\\n\\t\\r\\u0001\\u001f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff\x80y", "\"" BAD BAD "y\""},
        {"\xc3", "\"" BAD "\""},
        {"\xf0\x9f\x98", "\"" BAD BAD BAD "\""},
        {"\xc0\x80", "\"" BAD BAD "\""},                 /* overlong */
        {"\xed\xa0\x80", "\"" BAD BAD BAD "\""},         /* a surrogate */
        {"\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""}, /* above U+10FFFF */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(escaped(nnv_text_add_json, pairs[i][0]), pairs[i][1]);
    assert_string_equal(escaped(nnv_text_add_json, NULL), "null");
}

static void xml_text(void **state) {
    (void)state;
    assert_string_equal(escaped(nnv_text_add_xml, "a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    assert_string_equal(escaped(nnv_text_add_xml, "t\tn\n\x08\x1b[0m\xef\xbf\xbe"), "t\tn\n" BAD BAD "[0m" BAD);
    assert_string_equal(escaped(nnv_text_add_xml, NULL), "");
}

static void legal_text(void **state) {
    (void)state;
    assert_string_equal(escaped(nnv_text_add_legal, "a<b> & \"c\" 'd'\t\r\n\x7f"), "a<b> & \"c\" 'd'\t\r\n\x7f");
    assert_string_equal(escaped(nnv_text_add_legal, "\x01\x1f\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd"),
                        BAD BAD BAD BAD BAD);
    assert_string_equal(escaped(nnv_text_add_legal, "\xf0\x9f\x98\x80\xff\xed\xa0\x80"),
                        "\xf0\x9f\x98\x80" BAD BAD BAD BAD);
    assert_string_equal(escaped(nnv_text_add_legal, NULL), "");
}

static void base64_round_trips(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct nnv_text t = {0};
        nnv_text_add_base64(&t, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(t.data, pairs[i][1]);
        char back[8];
        assert_true(nnv_base64_decode(t.data, t.len, back, i));
        assert_memory_equal(back, pairs[i][0], i);
        assert_false(nnv_base64_decode(t.data, t.len, back, i + 3));
        if (t.len) assert_false(nnv_base64_decode(t.data, t.len - 1, back, i));
        nnv_text_free(&t);
    }
    unsigned char bytes[256], back[256];
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
    struct nnv_text t = {0};
    nnv_text_add_base64(&t, bytes, 256);
    assert_true(nnv_base64_decode(t.data, t.len, back, 256));
    assert_memory_equal(bytes, back, 256);
    nnv_text_free(&t);
}

static void bad_base64_is_refused(void **state) {
    (void)state;
    char dst[8];
    assert_false(nnv_base64_decode("Zm9?", 4, dst, 3));
    assert_false(nnv_base64_decode("Zm9\xff", 4, dst, 3));
    assert_false(nnv_base64_decode("Zg==", 4, dst, 2));
    assert_false(nnv_base64_decode("Zm8=", 4, dst, 3));
    assert_false(nnv_base64_decode("Zm9v", 4, dst, 2)); /* no padding */
    assert_false(nnv_base64_decode("Z===", 4, dst, 1));
    assert_false(nnv_base64_decode("Zh==", 4, dst, 1)); /* bits beyond the last byte */
    assert_false(nnv_base64_decode("Zg==Zg==", 8, dst, 4));
    assert_false(nnv_base64_decode("Zm9v\n", 5, dst, 3));
    assert_false(nnv_base64_decode("", 0, dst, SIZE_MAX));
}

static const char *float_text(float v) {
    static char buf[64];
    struct nnv_text t = {0};
    nnv_text_add_float(&t, v);
    snprintf(buf, sizeof buf, "%s", t.data);
    nnv_text_free(&t);
    return buf;
}

static const char *double_text(double v) {
    static char buf[64];
    struct nnv_text t = {0};
    nnv_text_add_double(&t, v);
    snprintf(buf, sizeof buf, "%s", t.data);
    nnv_text_free(&t);
    return buf;
}

static void floats_are_short(void **state) {
    (void)state;
    assert_string_equal(float_text(0.1f), "0.1");
    assert_string_equal(float_text(-3), "-3");
    assert_string_equal(float_text(0), "0");
    assert_string_equal(float_text(-0.0f), "-0.0");
    assert_string_equal(float_text(16777216), "16777216");
    assert_string_equal(float_text(1e-45f), "1e-45");
    assert_string_equal(float_text(1e-7f), "1e-7");
    assert_string_equal(float_text(-1e10f), "-1e10");
    assert_string_equal(float_text(FLT_MAX), "3.4028235e38");
    assert_string_equal(float_text(NAN), "\"NaN\"");
    assert_string_equal(float_text(INFINITY), "\"Infinity\"");
    assert_string_equal(float_text(-INFINITY), "\"-Infinity\"");
    assert_string_equal(double_text(0.1), "0.1");
    assert_string_equal(double_text(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(double_text(5e-324), "5e-324");
    assert_string_equal(double_text(-DBL_MAX), "-1.7976931348623157e308");
    assert_string_equal(double_text(NAN), "\"NaN\"");
}

static void floats_read_back(void **state) {
    (void)state;
    struct nnv_rng r = nnv_rng_make(7, 7, 7);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = nnv_rng_u64(&r);
        float f;
        double d;
        memcpy(&f, &bits, sizeof f);
        memcpy(&d, &bits, sizeof d);
        if (isfinite(f)) {
            const char *s = float_text(f);
            assert_true(strtof(s, NULL) == f && (float)strtod(s, NULL) == f);
        }
        if (isfinite(d)) assert_true(strtod(double_text(d), NULL) == d);
    }
}

/** Errors may have words of others in them. */
static void errors_are_harmless(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain, \t\xc3\xa4\xe2\x82\xac\xe2\x80\x93\n", "plain, \t\xc3\xa4\xe2\x82\xac\xe2\x80\x93\n"},
        {"\033[2J\r\x7f", "?[2J??"},
        {"\xc2\x9b|\xc2\xa0|\xc2", "??|\xc2\xa0|\xc2"},
        {"\xe2\x80\x8e|\xe2\x80\x90|\xe2\x80\xa7|\xe2\x80\xa8|\xe2\x80\xae|\xe2\x80\xaf",
         "???|\xe2\x80\x90|\xe2\x80\xa7|???|???|\xe2\x80\xaf"},
        {"\xe2\x81\xa5|\xe2\x81\xa6|\xe2\x81\xa9|\xe2\x81\xaa", "\xe2\x81\xa5|???|???|\xe2\x81\xaa"},
        {"\xe2\x80", "\xe2\x80"},
        {"\xe2", "\xe2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_err err;
        nnv_err_set(&err, NNV_INVALID, "%s", cases[i].in);
        assert_string_equal(err.text, cases[i].out);
    }
}

static void ends_are_told(void **state) {
    (void)state;
    assert_true(nnv_ends_with("a.json", ".json") && nnv_ends_with(".json", ".json") && nnv_ends_with("a", ""));
    assert_false(nnv_ends_with("json", ".json") || nnv_ends_with("a.json ", ".json") || nnv_ends_with("", "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(out_of_memory_is_remembered),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(xml_text),
        cmocka_unit_test(legal_text),
        cmocka_unit_test(base64_round_trips),
        cmocka_unit_test(bad_base64_is_refused),
        cmocka_unit_test(floats_are_short),
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(errors_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
