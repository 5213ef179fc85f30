/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that cannot fail: a case that a fault reaches, one that none does, and one without values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/debug/reach.h"

static struct nnv_run_config config = {.seed = 1, .tier = 1, .precision = -1};
static struct nnv_arena *arena;
static struct nnv_case_list list;

static int set_up(void **state) {
    (void)state;
    struct nnv_err err = {0};
    list.arena = arena = nnv_arena_new();
    return nnv_suite_by_name("ops")->list(&config, &list, &err) == NNV_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    free(list.item);
    nnv_arena_free(arena);
    return 0;
}

static const struct nnv_case *find(const char *name) {
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.item[i].name, name) == 0) return &list.item[i];
    fail_msg("no case %s", name);
    return NULL;
}

static const char *reached(const struct nnv_case *c, bool *values) {
    const char *fault = NULL;
    struct nnv_err err = {0};
    if (nnv_reach_case(&config, c, arena, &fault, values, &err)) fail_msg("%s", err.text);
    return fault;
}

static void test_a_fault_reaches_a_case(void **state) {
    (void)state;
    bool values = false;
    assert_non_null(reached(find("ops/CONV_2D/float32/cover/1"), &values));
    assert_true(values);
    assert_non_null(reached(find("ops/RESHAPE/quant8_asymm/cover/1"), &values));
    assert_true(values);
}

static void test_refused_models_have_no_values(void **state) {
    (void)state;
    bool values = true;
    assert_null(reached(find("ops/CONV_2D/float32/refused/1"), &values));
    assert_false(values);
}

/* All outputs are ignored: no fault is noticed. */
static void test_cases_that_compare_nothing_are_found(void **state) {
    (void)state;
    const struct nnv_case *c = find("ops/ADD/float32/cover/1");
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    struct nnv_reach reach;
    const char *fault = "";
    assert_int_equal(nnv_suite_by_name("ops")->build(&config, c, arena, &spec, &err), NNV_OK);
    struct nnv_subgraph *main = &spec->model.main;
    main->operands = nnv_arena_copy(arena, main->operands, main->noperands * sizeof *main->operands);
    for (uint32_t i = 0; i < main->nout; i++) main->operands[main->out[i]].ignored = true;
    assert_int_equal(nnv_reach_spec(spec, NNV_PRECISION_BUDGET, arena, &fault, &err), NNV_OK);
    assert_null(fault);
    assert_int_equal(nnv_reach_of(&config, c, 1, arena, &reach, &err), NNV_OK);
    assert_int_equal(reach.cases, 1);
    assert_int_equal(reach.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fault_reaches_a_case),
        cmocka_unit_test(test_refused_models_have_no_values),
        cmocka_unit_test(test_cases_that_compare_nothing_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
