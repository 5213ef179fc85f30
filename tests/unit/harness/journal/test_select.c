/* SPDX-License-Identifier: Apache-2.0 */
/* The selection language: what it selects, and what it says of what it does not understand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/runner/run.h"
#include "harness/journal/select.h"

static enum nnv_status list_one(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    if (config->tier == 2) return nnv_fail(err, NNV_IO, "no file");
    const struct nnv_case c = {.name = "x/1", .suite = "x", .op = "", .type = "", .tags = ""};
    return nnv_case_add(list, &c, err);
}

static enum nnv_status list_two(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    const struct nnv_case c = {.name = "ops/1", .suite = "ops", .op = "", .type = "", .tags = ""};
    return nnv_case_add(list, &c, err);
}

static const struct nnv_suite one = {.name = "device", .by_default = true, .list = list_one};
static const struct nnv_suite two = {.name = "ops", .list = list_two};
static const struct nnv_suite *const table[] = {&one, &two};

const struct nnv_suite *const *nnv_suites(size_t *count) {
    *count = 2;
    return table;
}

const struct nnv_suite *nnv_suite_by_name(const char *name) {
    return strcmp(name, "device") == 0 ? &one : strcmp(name, "ops") == 0 ? &two : NULL;
}

static const struct nnv_case cases[] = {
    {.name = "ops/ADD/float32/1", .suite = "ops", .op = "ADD", .type = "float32", .tags = "exact edge", .level = 1},
    {.name = "ops/ADD/quant8_asymm/2", .suite = "ops", .op = "ADD", .type = "quant8_asymm", .tags = "", .level = 3},
    {.name = "ops/CONV_2D/quant8_asymm_signed/3",
     .suite = "ops",
     .op = "CONV_2D",
     .type = "quant8_asymm_signed",
     .tags = "slow",
     .level = 4},
    {.name = "ops/CONV_2D/float16/4", .suite = "ops", .op = "CONV_2D", .type = "float16", .tags = "edge", .level = 3},
    {.name = "device/status", .suite = "device", .op = "", .type = "", .tags = "", .level = 0},
    {.name = "spec/odd (name) & more!/5",
     .suite = "spec",
     .op = "SVDF",
     .type = "float32",
     .tags = "relaxed",
     .level = 2},
    {.name = "plain", .suite = "spec", .op = "SVDF", .type = "int32", .tags = "", .level = 2},
};
enum { COUNT = sizeof cases / sizeof *cases };

struct lists {
    struct nnv_arena *arena;
    struct nnv_case_list list;
};

static void open_list(struct lists *l) {
    *l = (struct lists){.arena = nnv_arena_new()};
    l->list.arena = l->arena;
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(nnv_case_add(&l->list, &cases[i], NULL), NNV_OK);
}

static void close_list(struct lists *l) {
    free(l->list.item);
    nnv_arena_free(l->arena);
}

/** The digits are the numbers of the cases (from 1) that are expected. */
static void selects(const char *expression, const char *expected) {
    struct lists l;
    struct nnv_err err = {0};
    char got[COUNT + 1] = "";
    open_list(&l);
    if (nnv_select(&l.list, expression, &err) != NNV_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < l.list.count; i++)
        for (size_t k = 0; k < COUNT; k++)
            if (strcmp(l.list.item[i].name, cases[k].name) == 0) got[i] = (char)('1' + k);
    if (strcmp(got, expected) != 0) fail_msg("'%s' selects %s, expected %s", expression, got, expected);
    close_list(&l);
}

static void refuses(const char *expression, const char *expected) {
    struct lists l;
    struct nnv_err err = {0};
    open_list(&l);
    assert_int_equal(nnv_select(&l.list, expression, &err), NNV_INVALID);
    assert_int_equal(l.list.count, COUNT);
    if (strstr(err.text, expected) == NULL) fail_msg("'%s', expected '%s'", err.text, expected);
    close_list(&l);
}

static void test_terms(void **state) {
    (void)state;
    selects(NULL, "1234567");
    selects("ops/*", "1234");
    selects("ops/*/?loat*/?", "14");
    selects("*/[0-2]", "12");
    selects("*/[!0-2]", "346");
    selects("*", "1234567");
    selects("op:ADD", "12");
    selects("op:add", "12");
    selects("op:CONV*", "34");
    selects("type:float32", "16");
    selects("type:quant8", "23");
    selects("type:quant8_asymm", "2");
    selects("type:quant8*", "23");
    selects("suite:ops", "1234");
    selects("tag:edge", "14");
    selects("tag:none_has_this", "");
    selects("level:3", "24");
    selects("level<=2", "1567");
    selects("level>10", "");
    selects("level>3", "3");
    selects("level<1", "5");
    selects("level>=3", "234");
    selects("CONV_2D", "34");
    selects("edge", "14");
    selects("device", "5");
    selects("float16", "4");
    selects("name:plain", "7");
    selects("LSTM", ""); /* known, but there is no case */
}

static void test_operators(void **state) {
    (void)state;
    selects("op:CONV_2D & type:quant8 & !slow", "");
    selects("op:CONV_2D & type:quant8", "3");
    selects("ADD|device", "125");
    selects("ADD & edge | device & level<=0", "15");
    selects("ADD & (edge | level:3)", "12");
    selects("!(ops/* | device)", "67");
    selects("!!edge", "14");
    selects("  ( ops/*&!slow )  ", "124");
    selects("!exact & !slow & suite:ops", "24");
}

static void test_escapes(void **state) {
    (void)state;
    selects("spec/odd\\ \\(name\\)\\ \\&\\ more\\!/5", "6");
    for (size_t i = 0; i < COUNT; i++) {
        struct nnv_text t = {0};
        char expected[2] = {(char)('1' + i), '\0'};
        nnv_select_exactly(cases[i].name, &t);
        selects(t.data, expected);
        nnv_text_free(&t);
    }
}

/* What a regular expression holds of parentheses and brackets is its own. */
static void test_regular_expressions(void **state) {
    (void)state;
    selects("~^ops/(ADD|CONV_2D)/float(16|32)/[0-9]$", "14");
    selects("~AD{2}/ & !edge", "2");
    selects("(~^device|~plain)", "57");
    selects("~^[^/ |&)]+/[^/]+$", "5");
    selects("!~[[:upper:]]+_2D", "12567");
    selects("~odd\\ \\(name\\)[ ][&]\\ more & SVDF", "6");
    selects("name:~^plain$", "7");
    selects("op:~^(add|svdf)$", "1267"); /* letters of either case, as everywhere in names of operations */
    selects("type:~^quant8_asymm$", "2");
    selects("tag:~^(slow|exact)$", "13");
    selects("suite:~^dev & level:0", "5");
    selects("~[]|&)]x|plain*", "7");
    refuses("ADD & ~ops/(", "column 7: regular expression 'ops/(': Unmatched ( or");
    refuses("~", "column 1: a regular expression has 1 to 256 bytes");
    refuses("op:~^CONV3D", "unknown operation '^CONV3D'");
    refuses("kind:~x", "unknown kind of term");
    refuses("~(a)\\1", "back-references are not taken");
    refuses("~((a{30}){30}){2}", "more than 1000 repetitions");
    refuses("~a{,4000000000000000000000}", "more than 1000 repetitions");
}

static void test_errors(void **state) {
    (void)state;
    refuses("op:CONV_2D & (", "selection 'op:CONV_2D & (': column 15: expected a term, found the end");
    refuses("", "column 1: expected a term, found the end");
    refuses("   ", "expected a term, found the end");
    refuses("ADD &", "column 6: expected a term");
    refuses("& ADD", "column 1: expected a term, found '&'");
    refuses("ADD )", "column 5: expected & or |, found ')'");
    refuses("ADD edge", "column 5: expected & or |, found 'e'");
    refuses("(ADD | edge", "column 12: expected ')' for the '(' in column 1");
    refuses("()", "column 2: expected a term, found ')'");
    refuses("op:CONV2D", "column 1: unknown operation 'CONV2D' (did you mean 'CONV_2D'?)");
    refuses("ADD & op:CONV2D", "column 7: unknown operation");
    refuses("op:zzzzzzzz", "unknown operation 'zzzzzzzz'");
    refuses("type:float23", "unknown type 'float23' (did you mean 'float32'?)");
    refuses("type:SVDF", "unknown type 'SVDF'");
    refuses("suite:SVDF", "unknown suite 'SVDF'");
    refuses("op:int32", "unknown operation 'int32'");
    refuses("suite:opps", "unknown suite 'opps' (did you mean 'ops'?)");
    refuses("egde", "unknown operation, type, suite or tag 'egde' (did you mean 'edge'?)");
    refuses("op:", "unknown kind of term");
    refuses("kind:x", "unknown kind of term (known: op:");
    refuses("level:x", "expected level:N");
    refuses("level<=", "expected level:N");
    refuses("level:", "expected level:N");
    refuses("level<=123", "expected level:N");
}

/* Neither depth nor length nor stars may be its end. */
static void test_extremes(void **state) {
    (void)state;
    char *long_one = malloc(9000);
    memset(long_one, '(', 4000);
    long_one[4000] = '\0';
    refuses(long_one, "nested more than 64 deep");
    memset(long_one, '!', 4000);
    refuses(long_one, "nested more than 64 deep");
    memset(long_one, 'x', 5000);
    long_one[5000] = '\0';
    refuses(long_one, "more than 4095 characters");
    size_t n = 0;
    for (; n < 4000; n += 2) memcpy(long_one + n, "*|", 3);
    memcpy(long_one + n, "*", 2);
    selects(long_one, "1234567");
    n = 0;
    for (; n < 4000; n += 2) memcpy(long_one + n, "*a", 3);
    selects(long_one, "");
    free(long_one);
    refuses("\\", "unknown");
    selects("*[", "");
    selects("*[a", "");
    selects("*\\", "");
}

static void test_globs(void **state) {
    (void)state;
    assert_true(nnv_glob("", 0, ""));
    assert_false(nnv_glob("", 0, "a"));
    assert_true(nnv_glob("***", 3, ""));
    assert_true(nnv_glob("a*b*c", 5, "axxbyybzc"));
    assert_false(nnv_glob("a*b*c", 5, "axxbyybz"));
    assert_true(nnv_glob("[]x]", 4, "]"));
    assert_true(nnv_glob("[a-]", 4, "-"));
    assert_true(nnv_glob("\\*", 2, "*"));
    assert_false(nnv_glob("\\*", 2, "x"));
}

static void test_suites(void **state) {
    (void)state;
    struct nnv_run_config config = {.tier = 1};
    static const struct {
        const char *names;
        size_t count;
    } good[] = {{NULL, 1}, {"ops", 1}, {"ops,device", 2}, {"all", 2}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct nnv_arena *arena = nnv_arena_new();
        struct nnv_case_list list = {.arena = arena};
        struct nnv_err err = {0};
        assert_int_equal(nnv_list_suites(&config, good[i].names, &list, &err), NNV_OK);
        assert_int_equal(list.count, good[i].count);
        free(list.item);
        nnv_arena_free(arena);
    }
    struct nnv_case_list list = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_list_suites(&config, "opps", &list, &err), NNV_INVALID);
    assert_string_equal(err.text, "unknown suite 'opps' (did you mean 'ops'?)");
    err = (struct nnv_err){0};
    assert_int_equal(nnv_list_suites(&config, "ops,,device", &list, &err), NNV_INVALID);
    err = (struct nnv_err){0};
    assert_int_equal(nnv_list_suites(&config, "qqqqqqqqqq", &list, &err), NNV_INVALID);
    assert_string_equal(err.text, "unknown suite 'qqqqqqqqqq' (known: device, ops, all)");
    config.tier = 2;
    err = (struct nnv_err){0};
    assert_int_equal(nnv_list_suites(&config, "device", &list, &err), NNV_IO);
    assert_string_equal(err.text, "suite device: no file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),    cmocka_unit_test(test_operators),
        cmocka_unit_test(test_escapes),  cmocka_unit_test(test_errors),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_globs),
        cmocka_unit_test(test_suites),   cmocka_unit_test(test_regular_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
