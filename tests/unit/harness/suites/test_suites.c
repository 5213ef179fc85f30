/* SPDX-License-Identifier: Apache-2.0 */
/** The registry, the suite of spec files, and the suite of the device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "harness/suites/relations/relations.h"
#include "harness/suites/suites.h"
#include "tests/kit/judging.h"

static struct nnv_case_list list;
static struct nnv_run_config config;
static char folder[64];

static void write_file(const char *name, const char *text) {
    char path[256];
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(nnv_file_write(path, text, strlen(text), &err), NNV_OK);
}

static int start(void **state) {
    snprintf(folder, sizeof folder, "/tmp/nnvts-suites-XXXXXX");
    if (start_judging(state) || !mkdtemp(folder)) return -1;
    list = (struct nnv_case_list){.arena = arena};
    config = (struct nnv_run_config){.driver = "fake", .specs = folder, .precision = -1};
    return 0;
}

static int end(void **state) {
    free(list.item);
    return end_judging(state) || remove_folder(folder);
}

static int run(const struct nnv_case *c) {
    static const float sum[] = {11, 22, 33, 44, 55, 66};
    uint32_t phase;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    fake.answer = sum;
    fake.rank = 2;
    fake.dims[0] = 2;
    fake.dims[1] = 3;
    nnv_case_run(&env, c, &result);
    nnv_arena_reset(case_arena);
    return result.verdict;
}

/* -------------------------------------------------------------------- registry */

static void registry(void **state) {
    (void)state;
    size_t count;
    const struct nnv_suite *const *suites = nnv_suites(&count);
    assert_true(count >= 3);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(nnv_suite_by_name(suites[i]->name), suites[i]);
        assert_true(strlen(suites[i]->summary) > 0);
        assert_non_null(suites[i]->list);
        assert_true(suites[i]->build || suites[i]->run);
    }
    assert_null(nnv_suite_by_name("nothing"));
}

static void many_cases(void **state) {
    (void)state;
    struct nnv_err err = {0};
    for (int i = 0; i < 1000; i++) {
        char name[32], tags[16];
        snprintf(name, sizeof name, "x/%d", i);
        snprintf(tags, sizeof tags, "t%d", i / 2);
        const struct nnv_case c = {.name = name, .suite = "x", .op = "ADD", .type = "", .tags = tags, .a = (uint64_t)i};
        assert_int_equal(nnv_case_add(&list, &c, &err), NNV_OK);
    }
    assert_int_equal(list.count, 1000);
    assert_string_equal(list.item[777].name, "x/777");
    assert_string_equal(list.item[777].tags, "t388");
    assert_int_equal(list.item[777].a, 777);
    assert_string_equal(list.item[999].op, "ADD");
}

/* ----------------------------------------------------------------------- specs */

#define UNKNOWN                                                                                                        \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"two\",\"expect_failure\":true,\"main\":{\"operands\":[" OPERAND(          \
        "TENSOR_FLOAT16", "1", "SUBGRAPH_INPUT",                                                                       \
        DATA("1")) "," OPERAND("TENSOR_FLOAT16", "1", "TEMPORARY_VARIABLE",                                            \
                               "") "," OPERAND("TENSOR_FLOAT16", "1", "SUBGRAPH_OUTPUT",                               \
                                               DATA("1")) "],"                                                         \
                                                          "\"operations\":[{\"type\":\"NO_SUCH\",\"inputs\":[0],"      \
                                                          "\"outputs\":[1]},"                                          \
                                                          "{\"type\":\"NEITHER\",\"inputs\":[1],\"outputs\":[2]}],"    \
                                                          "\"inputs\":[0],\"outputs\":[2]}}"

static void spec_files(void **state) {
    (void)state;
    struct nnv_err err = {0};
    char sub[80];
    snprintf(sub, sizeof sub, "%s/v1", folder);
    assert_int_equal(mkdir(sub, 0700), 0);
    write_file("v1/sums.jsonl", SUM "\n\n{\"broken\": \n" SUM "\n" UNKNOWN "\n" SUM);
    write_file("alone.json", "\n  " SUM "\n");
    write_file("notes.txt", "not a spec");
    const struct nnv_suite *suite = nnv_suite_by_name("spec");
    assert_int_equal(suite->list(&config, &list, &err), NNV_OK);
    static const struct {
        const char *name, *op, *type, *tags, *reason;
        int level, verdict;
    } rows[] = {
        {"spec/alone/sum", "ADD", "float32", "", "", 1, NNVTS_PASS},
        {"spec/v1/sums/sum", "ADD", "float32", "", "", 1, NNVTS_PASS},
        {"spec/v1/sums/line3", "", "", "malformed", "v1/sums.jsonl:3: ", 0, NNVTS_ERROR},
        {"spec/v1/sums/sum~2", "ADD", "float32", "", "", 1, NNVTS_PASS},
        {"spec/v1/sums/two", "NO_SUCH", "float16", "expect_failure", "", 0, -1},
        {"spec/v1/sums/sum~3", "ADD", "float32", "", "", 1, NNVTS_PASS},
    };
    assert_int_equal(list.count, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < list.count; i++) {
        const struct nnv_case *c = &list.item[i];
        assert_string_equal(c->name, rows[i].name);
        assert_string_equal(c->suite, "spec");
        assert_string_equal(c->op, rows[i].op);
        assert_string_equal(c->type, rows[i].type);
        assert_string_equal(c->tags, rows[i].tags);
        assert_int_equal(c->level, rows[i].level);
        if (rows[i].verdict < 0) continue;
        assert_int_equal(run(c), rows[i].verdict);
        assert_reason(rows[i].reason);
    }
}

/** An operation of NNAPI without a record is no fault of the file, a word that is none is. */
static void unknown_operations(void **state) {
    (void)state;
    struct nnv_err err = {0};
    write_file("x.jsonl", UNKNOWN "\n");
    assert_int_equal(nnv_suite_by_name("spec")->list(&config, &list, &err), NNV_OK);
    int verdict = run(&list.item[0]);
    if (verdict == NNVTS_SKIP)
        assert_reason("nnvts does not know NO_SUCH, NEITHER yet");
    else
        assert_reason("NO_SUCH");
    assert_true(verdict == NNVTS_SKIP || verdict == NNVTS_ERROR);
}

static void spec_arguments(void **state) {
    (void)state;
    struct nnv_err err = {0};
    const struct nnv_suite *suite = nnv_suite_by_name("spec");
    assert_int_not_equal(suite->list(&config, &list, &err), NNV_OK); /* an empty folder */
    assert_non_null(strstr(err.text, "no .json, .jsonl, .example.cpp or .onnx files"));
    char path[80];
    snprintf(path, sizeof path, "%s/one.jsonl", folder);
    write_file("one.jsonl", SUM "\n");
    config.specs = path;
    assert_int_equal(suite->list(&config, &list, &err), NNV_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.item[0].name, "spec/one/sum");
    config.specs = "/nowhere/at/all";
    err = (struct nnv_err){0};
    assert_int_not_equal(suite->list(&config, &list, &err), NNV_OK);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    config.specs = NULL;
    assert_int_equal(suite->list(&config, &list, &err), NNV_OK);
    assert_int_equal(list.count, 1);
}

static void files_that_change(void **state) {
    (void)state;
    struct nnv_err err = {0};
    write_file("one.jsonl", SUM "\n");
    assert_int_equal(nnv_suite_by_name("spec")->list(&config, &list, &err), NNV_OK);
    write_file("one.jsonl", "{}");
    assert_int_equal(run(&list.item[0]), NNVTS_ERROR);
    assert_reason("the file became shorter during the run");
    char path[80];
    snprintf(path, sizeof path, "%s/one.jsonl", folder);
    assert_int_equal(remove(path), 0);
    assert_int_equal(run(&list.item[0]), NNVTS_ERROR);
    assert_reason("No such file");
}

/* ---------------------------------------------------------------------- device */

static int device_case(const char *name) {
    char full[64];
    snprintf(full, sizeof full, "device/%s", name);
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.item[i].name, full) == 0) return run(&list.item[i]);
    fail_msg("no case %s", full);
    return -1;
}

static const struct nnvts_operand_performance unsorted[] = {{3, {1, 1}}, {3, {1, 1}}};
static const struct nnvts_extension nameless = {.name = "noname"};

static void device_rules(void **state) {
    (void)state;
    struct nnv_err err = {0};
    assert_int_equal(nnv_suite_by_name("device")->list(&config, &list, &err), NNV_OK);
    assert_true(list.count >= 12);
    for (size_t i = 0; i < list.count; i++) {
        int expected = strcmp(list.item[i].name, "device/bad_index") == 0 ? NNVTS_FAIL : NNVTS_PASS;
        if (run(&list.item[i]) != expected) fail_msg("%s: %s", list.item[i].name, result.reason.data);
        assert_true(result.compared > 0);
    }
    struct nnvts_device *d = client.device;
    const struct nnvts_device fine = *d;
#define BROKEN(change, name, why)                                                                                      \
    do {                                                                                                               \
        change;                                                                                                        \
        assert_int_equal(device_case(name), NNVTS_FAIL);                                                               \
        assert_reason(why);                                                                                            \
        *d = fine;                                                                                                     \
    } while (0)
    BROKEN(d->name = "", "identity", "the device's name is empty");
    BROKEN(d->name = "a\n", "identity", "control characters");
    BROKEN(d->version = "", "version", "the device's version is empty");
    BROKEN(d->type = 0, "type", "device type 0 is none of");
    BROKEN(d->type = 5, "type", "device type 5 is none of");
    BROKEN(d->feature_level = 0, "level", "feature level 0 is not between 1 and 8");
    BROKEN(d->feature_level = 9, "level", "feature level 9");
    BROKEN(d->struct_size = 1u << 20, "struct_size", "of the device");
    BROKEN(d->data_cache_files = 33, "cache_files", "33 data cache files");
    BROKEN(d->model_cache_files = 1, "functions", "prepare_from_cache is missing");
    BROKEN(d->capabilities.relaxed_scalar.exec_time = 0, "capabilities", "relaxed_scalar: exec_time 0");
    BROKEN(d->capabilities.while_performance.power_usage = NAN, "capabilities", "while_performance: power_usage");
    BROKEN(d->capabilities.if_performance.exec_time = INFINITY, "capabilities", "if_performance: exec_time inf");
    BROKEN((d->capabilities.operand_performance = unsorted, d->capabilities.operand_performance_count = 2),
           "operand_performance", "must be sorted");
    BROKEN(d->capabilities.operand_performance_count = 2, "operand_performance", "is NULL, its count is 2");
    BROKEN((d->extensions = &nameless, d->extension_count = 1), "extensions", "names no vendor");
    BROKEN(d->extension_count = 1, "extensions", "extensions is NULL");
    BROKEN(fake.fault = SUPPORTED_INVALID, "supported_stable", "answered INVALID_ARGUMENT, expected NONE");
    BROKEN(fake.fault = UNFILLED, "supported_stable", "and nothing else");
    BROKEN(fake.fault = UNSUPPORTED, "supported_prepares", "unsupported ADD answered NONE, expected GENERAL_FAILURE");
    BROKEN(fake.fault = PREPARE_FAILS, "supported_prepares", "supported ADD answered GENERAL_FAILURE, expected NONE");
    BROKEN(fake.fault = PREPARE_NOTHING, "supported_prepares", "without a prepared model");
    fake.fault = UNSUPPORTED;
    assert_int_equal(device_case("two_prepared"), NNVTS_UNSUPPORTED);
}

/** A dump of a case says what its relation, or its way to execute, is. */
static void relations_say_what_they_are(void **state) {
    (void)state;
    struct nnv_err err = {0};
    size_t n = 0;
    config = (struct nnv_run_config){.seed = 1};
    assert_int_equal(nnv_suite_relations.list(&config, &list, &err), NNV_OK);
    for (size_t v = 0; v < nnv_variation_count; v++)
        for (size_t i = 0; i < list.count; i++) {
            char name[96];
            struct nnv_spec *spec;
            snprintf(name, sizeof name, "relations/%s/0", nnv_variations[v].name);
            if (strcmp(list.item[i].name, name) != 0) continue;
            if (nnv_suite_relations.build(&config, &list.item[i], arena, &spec, &err)) fail_msg("%s", err.text);
            assert_string_equal(spec->source, nnv_variations[v].says);
            n++;
        }
    assert_int_equal(n, nnv_variation_count);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(registry),
        TEST(many_cases),
        TEST(spec_files),
        TEST(unknown_operations),
        TEST(spec_arguments),
        TEST(files_that_change),
        TEST(relations_say_what_they_are),
        TEST(device_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
