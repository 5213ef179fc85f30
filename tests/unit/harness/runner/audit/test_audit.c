/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_audit.c The audit's counts and its exit code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "reports/audit.h"

enum { BUGS = 20, ALL = BUGS + 2, SUITES = 2 };

/** 20 bugs, caught by the second suite, a control and a legal variant. */
struct fixture {
    struct nnv_audit a;
    struct nnv_audit_subject subjects[ALL];
    struct nnv_audit_cell cells[ALL][SUITES];
};

static void fill(struct fixture *f) {
    static const char *const suites[] = {"device", "ops"};
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < ALL; i++) {
        f->subjects[i] = (struct nnv_audit_subject){.kind = i < BUGS    ? NNV_AUDIT_BUG
                                                            : i == BUGS ? NNV_AUDIT_LEGAL
                                                                        : NNV_AUDIT_CONTROL,
                                                    .name = "some",
                                                    .argument = "faulty:some",
                                                    .suite = "ops",
                                                    .models = "m",
                                                    .fires = "f",
                                                    .cells = f->cells[i]};
        for (size_t k = 0; k < SUITES; k++)
            f->cells[i][k] = (struct nnv_audit_cell){.run = true, .verdict = NNVTS_PASS, .until = 7, .compared = 9};
        if (i < BUGS) f->cells[i][1].bad = 1;
    }
    f->a = (struct nnv_audit){.driver = "faulty",
                              .tier = "smoke",
                              .suites = suites,
                              .suite_count = SUITES,
                              .subjects = f->subjects,
                              .count = ALL};
}

static void test_all_caught(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    struct nnv_audit_totals n = nnv_audit_count(&f.a);
    assert_int_equal(n.bugs, 20);
    assert_int_equal(n.caught, 20);
    assert_int_equal(n.controls, 2);
    assert_int_equal(n.alarms, 0);
    assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_PASS);
}

/** 19 of 20 are 95 %, 18 are not; a reason explains a survivor and does not catch it. */
static void test_survivors(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    f.cells[0][1].bad = 0;
    f.subjects[0].survives = "nobody can see it";
    assert_int_equal(nnv_audit_count(&f.a).caught, 19);
    assert_int_equal(nnv_audit_count(&f.a).explained, 1);
    assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_PASS);
    f.cells[1][1].bad = 0;
    assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_FAIL);
    f.cells[1][0].nothing = true; /* a suite that compares nothing has seen it */
    assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_PASS);
}

/** Errors of nnvts catch no bug, but a control that can't be judged is no quiet one. */
static void test_errors(void **state) {
    (void)state;
    struct fixture f;
    fill(&f);
    f.cells[0][1] = (struct nnv_audit_cell){.run = true, .errors = 3};
    assert_int_equal(nnv_audit_count(&f.a).caught, 19);
    assert_int_equal(nnv_audit_count(&f.a).alarms, 0);
    f.cells[BUGS + 1][0].errors = 1;
    assert_int_equal(nnv_audit_count(&f.a).alarms, 1);
    assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_FAIL);
}

static void test_alarms(void **state) {
    (void)state;
    for (size_t i = BUGS; i < ALL; i++) {
        struct fixture f;
        fill(&f);
        f.cells[i][0].bad = 1;
        f.cells[i][0].verdict = NNVTS_FAIL;
        assert_int_equal(nnv_audit_exit(&f.a), NNVTS_EXIT_FAIL);
    }
}

static void test_lines(void **state) {
    (void)state;
    struct fixture f;
    struct nnv_text t = {0};
    fill(&f);
    f.cells[0][1].verdict = NNVTS_CRASH;
    f.cells[0][1].until = 12;
    nnv_audit_line(&f.a, &f.subjects[0], &t);
    assert_non_null(strstr(t.data, " CRASH 12 "));
    assert_non_null(strstr(t.data, " caught"));
    nnv_text_clear(&t);
    nnv_audit_json(&f.a, &t);
    assert_non_null(strstr(t.data, "\"ops\": {\"verdict\": \"CRASH\", \"cases\": 12}"));
    nnv_text_clear(&t);
    f.subjects[0].models = "a < b";
    nnv_audit_html(&f.a, &t);
    assert_non_null(strstr(t.data, "a &lt; b"));
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_caught), cmocka_unit_test(test_survivors), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_alarms),     cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
