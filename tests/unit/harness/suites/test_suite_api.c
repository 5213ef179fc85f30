/* SPDX-License-Identifier: Apache-2.0 */
/** The suite api: its list, whom it is for, and that it tells right from wrong, on a tiny library (tests/nnapi/toy.c).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "harness/runner/run.h"
#include "base/words.h"
#include "harness/suites/api/api.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"

static struct nnv_arena *arena, *case_arena;
static struct nnv_case_list list;
static struct nnv_result result;

static void list_all(const char *driver, const char *suites) {
    struct nnv_err err = {0};
    const struct nnv_run_config config = {.driver = driver};
    free(list.item);
    list = (struct nnv_case_list){.arena = arena};
    assert_int_equal(nnv_list_suites(&config, suites, &list, &err), NNV_OK);
}

static int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    case_arena = nnv_arena_new();
    unsetenv("TOY_LIE");
    list_all(NULL, "api");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(list.item);
    list = (struct nnv_case_list){0};
    nnv_arena_free(arena);
    nnv_arena_free(case_arena);
    nnv_text_free(&result.reason);
    memset(&result, 0, sizeof result);
    return 0;
}

static const struct nnv_case *find(const char *name) {
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.item[i].name, name) == 0) return &list.item[i];
    fail_msg("no case %s", name);
    return NULL;
}

static int run(const char *driver, const char *name) {
    static struct nnv_client client;
    static uint32_t phase;
    const struct nnv_run_config config = {.driver = driver, .precision = -1};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    nnv_text_clear(&result.reason);
    result = (struct nnv_result){.verdict = NNVTS_ERROR, .reason = result.reason};
    nnv_suite_api.run(&env, find(name), &result);
    nnv_arena_reset(case_arena);
    return result.verdict;
}

static void assert_reason(const char *part) {
    const char *reason = result.reason.data ? result.reason.data : "";
    if (!strstr(reason, part)) fail_msg("'%s', expected '%s'", reason, part);
}

static const char *toy(const char *file) {
    static char driver[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(driver, sizeof driver, "ndk:%s/../tests/%s", folder ? folder : "build/drivers", file);
    return driver;
}

/* --------------------------------------------------------------------- the list */

static void many_cases_of_one_name_each(void **state) {
    (void)state;
    assert_true(list.count >= 400);
    for (size_t i = 0; i < list.count; i++) {
        assert_memory_equal(list.item[i].name, "api/", 4);
        for (size_t k = 0; k < i; k++)
            if (strcmp(list.item[i].name, list.item[k].name) == 0) fail_msg("two cases are %s", list.item[i].name);
    }
}

/** Some case whose name says that the pointer that is the function's argument is NULL. */
static bool has_refusal(const char *function, const char *what) {
    char name[160];
    size_t n = (size_t)snprintf(name, sizeof name, "api/%s/%s", function, what);
    for (size_t i = 0; i < list.count; i++)
        if (strncmp(list.item[i].name, name, n) == 0) return true;
    return false;
}

/* Every function that can answer with an error is called with a pointer that is NULL. */
static void every_function_is_refused_a_null(void **state) {
    (void)state;
    static const char *const without[] = {"_getDefaultLoopTimeout", "_getMaximumLoopTimeout",
                                          "_getRuntimeFeatureLevel"};
    static const char *const functions[] = {
#define NAME(name, level) #name,
        NNVTS_NDK_FUNCTIONS(NAME) NNVTS_NDK_OPTIONAL_FUNCTIONS(NAME)};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *end = strchr(functions[i], '_');
        bool exempt = end && strcmp(end, "_free") == 0;
        for (size_t k = 0; k < 3; k++) exempt = exempt || strcmp(functions[i], without[k]) == 0;
        if (!exempt && !has_refusal(functions[i], "null")) fail_msg("%s is never given a NULL", functions[i]);
    }
}

static bool lists_api(const char *driver, const char *suites) {
    list_all(driver, suites);
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.item[i].suite, "api") == 0) return true;
    return false;
}

static void default_for_libraries(void **state) {
    (void)state;
    assert_true(lists_api("ndk:./libneuralnetworks.so", NULL));
    assert_true(lists_api("sl:./libneuralnetworks.so#npu", NULL));
    assert_true(lists_api("runtime:cpu", NULL));
    assert_false(lists_api("cpu", NULL));
    assert_false(lists_api(NULL, NULL));
    assert_true(lists_api("cpu", "api"));
    assert_false(lists_api("ndk:./libneuralnetworks.so", "device"));
}

/* ------------------------------------------------------------------ what is said */

static void a_driver_is_no_library(void **state) {
    (void)state;
    assert_int_equal(run("cpu", "api/Model_finish/twice"), NNVTS_SKIP);
    assert_reason("--driver ndk:PATH");
}

static void libraries_that_cannot_be_used(void **state) {
    (void)state;
    assert_int_equal(run("ndk:/nonexistent.so", "api/Model_finish/twice"), NNVTS_ERROR);
    assert_reason("'/nonexistent.so' cannot be loaded");
    assert_int_equal(run("ndk:libm.so.6", "api/Model_finish/twice"), NNVTS_ERROR);
    assert_reason("is no NNAPI library: it lacks ANeuralNetworksModel_create");
    assert_int_equal(run("sl:libm.so.6", "api/Model_finish/twice"), NNVTS_ERROR);
    assert_reason("no symbol ANeuralNetworks_getSLDriverImpl");
    char driver[4200];
    snprintf(driver, sizeof driver, "%s#nobody", toy("toy.so"));
    assert_int_equal(run(driver, "api/Model_finish/twice"), NNVTS_ERROR);
    assert_reason("has no device 'nobody'");
}

static void right_is_passed(void **state) {
    (void)state;
    assert_int_equal(run(toy("toy_old.so"), "api/computes/add_two"), NNVTS_PASS);
    assert_true(result.compared > 10);
}

static void lacking_is_unsupported(void **state) {
    (void)state;
    assert_int_equal(run(toy("toy_old.so"), "api/Burst_create/null_burst"), NNVTS_UNSUPPORTED);
    assert_reason("the library has no ANeuralNetworksBurst_create");
    assert_int_equal(run(toy("toy_old.so"), "api/reusable/compute"), NNVTS_SKIP);
    assert_reason("the library is of feature level 1; this asks for 5");
}

/* The toy checks next to nothing. */
static void wrong_fails_with_the_call(void **state) {
    (void)state;
    assert_int_equal(run(toy("toy_old.so"), "api/Compilation_finish/twice"), NNVTS_FAIL);
    assert_reason("Compilation_finish(compilation) answered NO_ERROR, expected BAD_STATE");
    assert_int_equal(run(toy("toy_old.so"), "api/Execution_setInput/other_rank"), NNVTS_FAIL);
    assert_reason("(execution, 0, OF(FLOAT32, 4), a->in[0], 16) answered NO_ERROR, expected BAD_DATA");
}

/* A case ends at the first step that fails: without a compilation no values are laid out for its executions. */
static void ends_at_the_first_failure(void **state) {
    (void)state;
    setenv("TOY_LIE", "finish-77", 1);
    assert_int_equal(run(toy("toy.so"), "api/fenced/signalled_later"), NNVTS_FAIL);
    assert_reason("answered result 77, expected NO_ERROR");
    unsetenv("TOY_LIE");
}

static void codes_have_names(void **state) {
    (void)state;
    char buf[32];
    assert_string_equal(nnv_result_name(ANEURALNETWORKS_DEAD_OBJECT, buf), "DEAD_OBJECT");
    assert_string_equal(nnv_result_name(15, buf), "result 15");
    assert_string_equal(nnv_result_name(-1, buf), "result -1");
}

static void expectations(void **state) {
    (void)state;
    const struct nnv_run_config config = {.driver = "ndk:x"};
    struct nnv_case_env env = {.config = &config, .arena = case_arena};
    struct nnv_api a = {.s = {.env = &env, .result = &result}};
    result = (struct nnv_result){.verdict = NNVTS_PASS};
    assert_true(nnv_api_check(&a, "f()", ANEURALNETWORKS_BAD_DATA, NNV_API_ERROR));
    assert_true(nnv_api_check(&a, "f()", ANEURALNETWORKS_NO_ERROR, NNV_API_DONE_OR_MISSED));
    assert_int_equal(result.verdict, NNVTS_PASS);
    assert_false(nnv_api_check(&a, "f()", ANEURALNETWORKS_NO_ERROR, NNV_API_ERROR));
    assert_reason("f() answered NO_ERROR, expected an error");
    assert_false(nnv_api_check(&a, "g()", 77, NNV_API_UNEXPECTED_NULL | NNV_API_BAD_DATA));
    assert_reason("g() answered result 77, expected UNEXPECTED_NULL or BAD_DATA");
    assert_false(nnv_api_check(&a, "h()", 32, NNV_API_NO_ERROR)); /* not 1 << 0 */
    assert_false(nnv_api_check(&a, "h()", -32, NNV_API_NO_ERROR));
    assert_int_equal(result.compared, 6);
    assert_int_equal(result.verdict, NNVTS_FAIL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_cases_of_one_name_each, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_function_is_refused_a_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(default_for_libraries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_driver_is_no_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(libraries_that_cannot_be_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(right_is_passed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lacking_is_unsupported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_fails_with_the_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_at_the_first_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(codes_have_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(expectations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
