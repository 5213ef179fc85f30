/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What judges the compiler must fail when the compiler is wrong: a test a fault, over the programs by hand, the random
 * ones, those of the suite "compiler", and the texts and classes that go in and out; and none may fail when it is
 * right.
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
#include "tests/kit/compiler/checks.h"
#include "tests/kit/compiler/divide.h"

enum { DRAWS = 10, OTHERS = 2 /**< tests, beside those of faults */ };

/** What the suite sees of a fault. */
struct fault_edit {
    struct nnv_values_edit edit;
    const struct compiler_fault *fault;
};

static void spoil(const struct nnv_values_edit *edit, struct nnv_model *m, struct nnv_arena *arena) {
    compiler_fault_spoil(((const struct fault_edit *)edit)->fault, m, arena);
}

/* Each: the name of the first that does not hold, or NULL; what is wrong is printed where there is no fault. */

static const char *find(const char *name, bool holds, const struct compiler_fault *fault, struct nnv_text *why) {
    if (!holds && !fault) print_message("%s: %s\n", name, why->data ? why->data : "");
    nnv_text_free(why);
    return holds ? NULL : name;
}

static const char *find_program(const struct compiler_fault *fault, struct nnv_arena *arena) {
    const char *found = NULL;
    for (size_t i = 0; i < structure_case_count && !found; i++) {
        const struct structure_case *c = &structure_cases[i];
        struct nnv_text why = {0};
        nnv_arena_reset(arena);
        const bool holds = structure_case_holds(c, fault, arena, &why);
        found = find(c->name, holds, fault, &why);
    }
    return found;
}

/* What the suite says of a program; why is its reason. */
static int judge_values(const struct nnv_values_case *c, const struct compiler_fault *fault, struct nnv_arena *arena,
                        struct nnv_text *why) {
    struct nnv_client client = {0};
    struct nnv_run_config config = {0};
    uint32_t phase = 0;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = arena, .phase = &phase};
    const struct fault_edit edit = {{.cut = fault ? fault->cut : NULL, .model = fault ? spoil : NULL}, fault};
    struct nnv_context s;
    struct nnv_result result = {0};
    struct nnv_values_models models;
    nnv_arena_reset(arena);
    nnv_context_begin(&s, &env, &result);
    nnv_values_check(&s, c, &edit.edit, &models);
    nnv_context_end(&s);
    *why = result.reason;
    return result.verdict;
}

static const char *find_values(const struct compiler_fault *fault, struct nnv_arena *arena) {
    const char *found = NULL;
    for (size_t i = 0; i < nnv_values_case_count && !found; i++) {
        struct nnv_text why = {0};
        const int verdict = judge_values(&nnv_values_cases[i], fault, arena, &why);
        /* a fault is found by a comparison, not by an error of nnvts */
        const bool holds = fault ? verdict != NNVTS_FAIL : verdict == NNVTS_PASS;
        found = find(nnv_values_cases[i].name, holds, fault, &why);
    }
    return found;
}

static const char *find_draw(const struct compiler_fault *fault, struct nnv_arena *arena) {
    struct nnv_draw_figures figures = {0};
    const char *found = NULL;
    for (size_t i = 0; i < nnv_draw_row_count * DRAWS && !found; i++) {
        const struct nnv_draw_row *row = &nnv_draw_rows[i / DRAWS];
        struct nnv_text why = {0};
        nnv_arena_reset(arena);
        const bool holds = nnv_draw_judge(row, 1, i % DRAWS, fault, arena, &figures, &why);
        found = find(row->name, holds, fault, &why);
    }
    return found;
}

static const char *find_text(const struct compiler_fault *fault, struct nnv_arena *arena) {
    struct nnv_text why = {0};
    nnv_arena_reset(arena);
    bool holds = metadata_holds(fault, arena, &why);
    const char *found = find("constants in text", holds, fault, &why);
    for (size_t i = 0; i < relax_pair_count && !found; i++) {
        why = (struct nnv_text){0};
        holds = relax_pair_holds(&relax_pairs[i], fault, arena, &why);
        found = find("Relax", holds, fault, &why);
    }
    return found;
}

static const char *find_class(const struct compiler_fault *fault, struct nnv_arena *arena) {
    struct nnv_text why = {0};
    nnv_arena_reset(arena);
    const bool holds = class_holds(fault, arena, &why);
    return find("class of a program", holds, fault, &why);
}

/* A changed model is seen by values alone, a changed program or table by how it is divided, a changed cut by both. */
static const char *find_any(const struct compiler_fault *fault, struct nnv_arena *arena) {
    const char *found = NULL;
    if (fault->program || fault->source.from) return find_class(fault, arena);
    if (fault->operation || fault->model) return find_values(fault, arena);
    if (!(found = find_text(fault, arena)) && !(found = find_program(fault, arena))) found = find_draw(fault, arena);
    return found || !fault->cut ? found : find_values(fault, arena);
}

static void test_fault(void **state) {
    const struct compiler_fault *fault = *state;
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    const char *found = find_any(fault, arena);
    if (!found) fail_msg("%s: %s: nothing sees it", fault->name, fault->models);
    print_message("%s: seen by %s\n", fault->name, found);
    nnv_arena_free(arena);
}

static void test_no_fault(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    assert_null(find_program(NULL, arena));
    assert_null(find_values(NULL, arena));
    assert_null(find_draw(NULL, arena));
    assert_null(find_text(NULL, arena));
    assert_null(find_class(NULL, arena));
    nnv_arena_free(arena);
}

/* NaN beside NaN shows nothing. */
static void test_undefined_values(void **state) {
    (void)state;
    static const struct nnv_values_case nan = {"sqrt", "%x: Tensor[(4), float32]", "sqrt(negative(exp(%x)))", 0};
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_text why = {0};
    assert_non_null(arena);
    assert_int_equal(judge_values(&nan, NULL, arena, &why), NNVTS_FAIL);
    assert_string_equal(why.data, "result 0 of the program has no finite value");
    nnv_text_free(&why);
    nnv_arena_free(arena);
}

int main(void) {
    size_t n;
    const struct compiler_fault *faults = compiler_faults(&n);
    struct CMUnitTest *tests = calloc(n + OTHERS, sizeof *tests);
    if (!tests || n < 60) return 1;
    tests[0] = (struct CMUnitTest)cmocka_unit_test(test_no_fault);
    tests[1] = (struct CMUnitTest)cmocka_unit_test(test_undefined_values);
    for (size_t i = 0; i < n; i++)
        tests[OTHERS + i] = (struct CMUnitTest){faults[i].name, test_fault, NULL, NULL, (void *)&faults[i]};
    int failed = _cmocka_run_group_tests("faults", tests, n + OTHERS, NULL, NULL);
    free(tests);
    return failed;
}
