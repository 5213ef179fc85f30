/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What judges the compiler must fail when the compiler is wrong: a test a fault, over the programs by hand, the random
 * ones and those of the suite "compiler"; and none may fail when it is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/client/driver.h"
#include "harness/suites/compiler/values.h"
#include "nnvts/result.h"
#include "tests/kit/compiler/divide.h"

enum { DRAWS = 10 };

/** What the suite sees of a fault. */
struct fault_edit {
    struct nnv_values_edit edit;
    const struct compiler_fault *fault;
};

static void spoil(const struct nnv_values_edit *edit, struct nnv_model *m, struct nnv_arena *arena) {
    compiler_fault_spoil(((const struct fault_edit *)edit)->fault, m, arena);
}

static size_t count_programs(const struct compiler_fault *fault, bool all, struct nnv_arena *arena) {
    size_t wrong = 0;
    for (size_t i = 0; i < structure_case_count && (all || !wrong); i++) {
        struct nnv_text why = {0};
        nnv_arena_reset(arena);
        if (structure_case_holds(&structure_cases[i], fault, arena, &why)) continue;
        wrong++;
        if (all) printf("%s: %s\n", structure_cases[i].name, why.data ? why.data : "");
        nnv_text_free(&why);
    }
    return wrong;
}

static size_t count_values(const struct compiler_fault *fault, bool all, struct nnv_arena *arena) {
    struct nnv_client client = {0};
    struct nnv_run_config config = {0};
    uint32_t phase = 0;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = arena, .phase = &phase};
    const struct fault_edit edit = {{.cut = fault ? fault->cut : NULL, .model = fault ? spoil : NULL}, fault};
    size_t wrong = 0;
    for (size_t i = 0; i < nnv_values_case_count && (all || !wrong); i++) {
        struct nnv_context s;
        struct nnv_result result = {0};
        struct nnv_values_models models;
        nnv_arena_reset(arena);
        nnv_context_begin(&s, &env, &result);
        nnv_values_check(&s, &nnv_values_cases[i], &edit.edit, &models);
        nnv_context_end(&s);
        /* a fault is found by a comparison, not by an error of nnvts */
        wrong += result.verdict == NNVTS_FAIL;
        if (all && result.verdict != NNVTS_PASS) printf("%s: %s\n", nnv_values_cases[i].name, result.reason.data);
        if (!fault) assert_int_equal(result.verdict, NNVTS_PASS);
        nnv_text_free(&result.reason);
    }
    return wrong;
}

static size_t count_draws(const struct compiler_fault *fault, bool all, struct nnv_arena *arena) {
    struct nnv_draw_figures figures = {0};
    size_t wrong = 0;
    for (size_t r = 0; r < nnv_draw_row_count; r++)
        for (size_t i = 0; i < DRAWS && (all || !wrong); i++) {
            struct nnv_text why = {0};
            nnv_arena_reset(arena);
            if (nnv_draw_judge(&nnv_draw_rows[r], 1, i, fault, arena, &figures, &why)) continue;
            wrong++;
            if (all) puts(why.data);
            nnv_text_free(&why);
        }
    return wrong;
}

static void test_fault(void **state) {
    const struct compiler_fault *fault = *state;
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    /* a changed model is seen by values alone, a changed program or table by how it is divided, a changed cut by both
     */
    bool models = fault->operation || fault->model;
    size_t divided = models ? 0 : count_programs(fault, false, arena);
    if (!models && !divided) divided = count_draws(fault, false, arena);
    size_t values = models || fault->cut ? count_values(fault, false, arena) : 0;
    if (!divided && !values) fail_msg("%s: %s: nothing sees it", fault->name, fault->models);
    nnv_arena_free(arena);
}

static void test_no_fault(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    assert_int_equal(count_programs(NULL, true, arena), 0);
    assert_int_equal(count_values(NULL, true, arena), 0);
    assert_int_equal(count_draws(NULL, true, arena), 0);
    nnv_arena_free(arena);
}

int main(void) {
    size_t n;
    const struct compiler_fault *faults = compiler_faults(&n);
    struct CMUnitTest *tests = calloc(n + 1, sizeof *tests);
    if (!tests || n < 43) return 1;
    tests[0] = (struct CMUnitTest)cmocka_unit_test(test_no_fault);
    for (size_t i = 0; i < n; i++)
        tests[1 + i] = (struct CMUnitTest){faults[i].name, test_fault, NULL, NULL, (void *)&faults[i]};
    int failed = _cmocka_run_group_tests("faults", tests, n + 1, NULL, NULL);
    free(tests);
    return failed;
}
