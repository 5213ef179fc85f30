/* SPDX-License-Identifier: Apache-2.0 */
/** Rules that say exactly which cases fail, on tables of which the rules are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "harness/debug/separate/rules.h"

enum { CASES = 300, ATTRIBUTES = 5 };

static struct nnv_attribute item[CASES][ATTRIBUTES];
static struct nnv_observation seen[CASES];

/** Cases with a dilation, a layout, channels, and a number that means nothing. */
static void draw(bool (*fails)(double dilation, bool nchw, double channels)) {
    struct nnv_rng r = nnv_rng_make(1, 0, 0);
    for (int i = 0; i < CASES; i++) {
        const double dilation = (double)nnv_rng_int(&r, 1, 3), channels = (double)nnv_rng_int(&r, 1, 200);
        const bool nchw = nnv_rng_int(&r, 0, 1) == 1;
        item[i][0] = (struct nnv_attribute){.name = "dilation", .number = dilation};
        item[i][1] =
            (struct nnv_attribute){.name = "layout", .kind = NNV_ATTRIBUTE_WORD, .word = nchw ? "nchw" : "nhwc"};
        item[i][2] = (struct nnv_attribute){.name = "channels", .number = channels};
        item[i][3] = (struct nnv_attribute){.name = "noise", .cost = 1, .number = (double)nnv_rng_int(&r, 0, 1000)};
        item[i][4] = (struct nnv_attribute){.name = "channels are even",
                                            .kind = NNV_ATTRIBUTE_FLAG,
                                            .cost = 1,
                                            .number = (int)channels % 2 == 0,
                                            .word = "channels are odd"};
        seen[i] = (struct nnv_observation){.failed = fails(dilation, nchw, channels), .item = item[i], .count = 5};
    }
}

static void expect(bool (*fails)(double, bool, double), size_t count, const char *const *all) {
    struct nnv_rules rules;
    draw(fails);
    assert_true(nnv_rules_learn(&rules, seen, CASES));
    assert_int_equal(rules.left, 0);
    assert_int_equal(rules.count, count);
    for (size_t i = 0; i < count; i++) {
        struct nnv_text t = {0};
        bool found = false;
        nnv_rule_tell_not(&rules, i, &t);
        for (size_t k = 0; k < count; k++) found = found || strcmp(t.data, all[k]) == 0;
        if (!found) fail_msg("not expected: %s", t.data);
        nnv_text_free(&t);
    }
    for (int i = 0; i < CASES; i++) assert_int_equal(nnv_rules_hold(&rules, &seen[i]), seen[i].failed);
    nnv_rules_free(&rules);
}

static bool three_causes(double dilation, bool nchw, double channels) {
    return dilation > 1 || nchw || (int)channels % 2 == 1;
}
static void test_several_rules(void **state) {
    (void)state;
    expect(three_causes, 3, (const char *const[]){"dilation < 2", "layout is nhwc", "channels are even"});
}

static bool both(double dilation, bool nchw, double channels) {
    (void)channels;
    return dilation > 1 && nchw;
}
static void test_two_terms(void **state) {
    (void)state;
    draw(both);
    struct nnv_rules rules;
    struct nnv_text t = {0};
    assert_true(nnv_rules_learn(&rules, seen, CASES));
    assert_int_equal(rules.count, 1);
    nnv_rule_tell_not(&rules, 0, &t);
    assert_non_null(strstr(t.data, "dilation < 2"));
    assert_non_null(strstr(t.data, " or "));
    assert_non_null(strstr(t.data, "layout is nhwc"));
    nnv_text_free(&t);
    nnv_rules_free(&rules);
}

static bool wide(double dilation, bool nchw, double channels) {
    (void)dilation, (void)nchw;
    return channels > 100;
}
/** A rule says something of cases that it was not learnt from. */
static void test_others(void **state) {
    (void)state;
    struct nnv_rules rules;
    struct nnv_attribute a = {.name = "channels", .number = 150};
    const struct nnv_observation o = {.item = &a, .count = 1};
    draw(wide);
    assert_true(nnv_rules_learn(&rules, seen, CASES));
    assert_int_equal(rules.count, 1);
    assert_true(nnv_rules_hold(&rules, &o));
    a.number = 50;
    assert_false(nnv_rules_hold(&rules, &o));
    a.name = "other";
    assert_false(nnv_rules_hold(&rules, &o));
    nnv_rules_free(&rules);
}

static uint64_t draws;
static bool by_chance(double dilation, bool nchw, double channels) {
    (void)dilation, (void)nchw, (void)channels;
    struct nnv_rng r = nnv_rng_make(2, draws++, 0);
    return nnv_rng_unit(&r) < 0.4;
}
/** Where cases fail at random nothing is said, however many numbers they have. */
static void test_chance(void **state) {
    (void)state;
    size_t rules = 0;
    for (int run = 0; run < 20; run++) {
        struct nnv_rules r;
        draw(by_chance);
        assert_true(nnv_rules_learn(&r, seen, CASES));
        rules += r.count;
        nnv_rules_free(&r);
    }
    assert_true(rules <= 2);
}

/** What fails with few others is told by the pair that says it, not by what most failing cases have. */
static bool rare_pair(double dilation, bool nchw, double channels) { return nchw || (dilation > 2 && channels < 60); }
static void test_rare_pair(void **state) {
    (void)state;
    struct nnv_rules rules;
    draw(rare_pair);
    assert_true(nnv_rules_learn(&rules, seen, CASES));
    assert_int_equal(rules.left, 0);
    assert_int_equal(rules.count, 2);
    nnv_rules_free(&rules);
}

/** A bound that lies close about a power of two is that. */
static void test_power_of_two(void **state) {
    (void)state;
    struct nnv_rules rules;
    struct nnv_text t = {0};
    draw(wide);
    for (int i = 0; i < CASES; i++) {
        item[i][2].number = seen[i].failed ? 256.7 + i : 255.4 - 0.1 * i;
        item[i][4].number = 0;
    }
    assert_true(nnv_rules_learn(&rules, seen, CASES));
    assert_int_equal(rules.count, 1);
    nnv_rule_tell_not(&rules, 0, &t);
    assert_string_equal(t.data, "channels < 256");
    nnv_text_free(&t);
    nnv_rules_free(&rules);
}

static bool never(double dilation, bool nchw, double channels) {
    (void)dilation, (void)nchw, (void)channels;
    return false;
}
static void test_no_failure(void **state) {
    (void)state;
    expect(never, 0, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_rules), cmocka_unit_test(test_two_terms), cmocka_unit_test(test_others),
        cmocka_unit_test(test_no_failure),    cmocka_unit_test(test_chance),    cmocka_unit_test(test_rare_pair),
        cmocka_unit_test(test_power_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
