/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_report_networks.c Runs of harvested cases, weighted by the networks that these are of. */
#include "reports/networks.h"

#include <stdlib.h>

#include "tests/kit/report.h"

#define LINE(name, more) "{\"case\":\"spec/" name "\"," more "}\n"
#define PASS "\"verdict\":\"PASS\",\"compared\":4"
#define FAIL "\"verdict\":\"FAIL\",\"why\":\"VALUES\",\"reason\":\"wrong\",\"compared\":4"

/** Network a: ADD MUL RELU RELU, b: RELU ADD ADD, c: MUL. ADD fails; MUL and RELU pass alone, but not together. */
static const char networks[] = "{\"a\":{\"operations\":4,\"cases\":{\"spec/a/ADD\":[[0]],\"spec/a/MUL\":[[1]],"
                               "\"spec/a/RELU\":[[2],[3]],\"spec/a/ADD+MUL\":[[0,1]],\"spec/a/MUL+RELU\":[[1,2]]}},"
                               "\"b\":{\"operations\":4,\"cases\":{\"spec/a/RELU\":[[0]],\"spec/a/ADD\":[[1],[2]],"
                               "\"spec/b/EXP\":[[3]],\"spec/b/ADD+EXP\":[[2,3],[2,9],[]]}},"
                               "\"c\":{\"operations\":2,\"cases\":{\"spec/a/MUL\":[[0]],\"spec/b/EXP\":[[-1]]}},"
                               "\"d\":{\"operations\":9,\"cases\":{\"spec/d/none\":[[0]]}},\"e\":7}";

static struct fx make(void) {
    struct fx f = fx_make(
        "spec/a/ADD\tspec\tADD\tfloat32\t\nspec/a/MUL\tspec\tMUL\tfloat32\t\n"
        "spec/a/RELU\tspec\tRELU\tfloat32\t\nspec/a/ADD+MUL\tspec\tADD\tfloat32\t\n"
        "spec/a/MUL+RELU\tspec\tMUL\tfloat32\t\nspec/b/EXP\tspec\tEXP\tfloat32\t\n"
        "spec/b/ADD+EXP\tspec\tADD\tfloat32\t\n",
        LINE("a/ADD", FAIL) LINE("a/MUL", PASS) LINE("a/RELU", PASS) LINE("a/ADD+MUL", FAIL) LINE("a/MUL+RELU", FAIL)
            LINE("b/EXP", "\"verdict\":\"UNSUPPORTED\",\"why\":\"OPERATION\",\"compared\":0") LINE("b/ADD+EXP", PASS));
    fx_load(&f);
    json_object_set_new(f.report->header, "networks", json_loads(networks, 0, NULL));
    return f;
}

static void weighs(void **state) {
    struct fx f = make();
    struct nnv_networks n;
    struct nnv_err err = {0};
    struct nnv_text t = {0};
    (void)state;
    assert_int_equal(nnv_networks_of(f.report, &n, &err), NNV_OK);
    assert_int_equal(n.count, 3);
    assert_string_equal(n.item[1].name, "b");
    /* a: ADD is wrong; MUL and the first RELU are among each other. */
    assert_int_equal(n.item[0].all.wrong, 3);
    assert_int_equal(n.item[0].all.right, 1);
    assert_int_equal(n.item[1].all.wrong, 2);
    assert_int_equal(n.item[1].all.unsupported, 1);
    assert_int_equal(n.item[2].all.right, 1);
    assert_int_equal(n.all.operations, 10);
    nnv_text_add_networks(&t, &n, "<", ">");
    assert_string_equal(t.data, "<3, of 10 operations 30 % right, 50 % wrong, 10 % not supported, 10 % not judged; "
                                "what is wrong touches 66.7 % of the networks, 50 % of their operations>");
    nnv_text_clear(&t);
    nnv_text_add_touched(&t, &n, n.touched, "<", ">");
    assert_string_equal(t.data, "<66.7 % of the networks, 50 % of their operations>");
    nnv_text_free(&t);
    nnv_networks_free(&n);
    fx_remove(&f);
}

static void bugs_touch(void **state) {
    struct fx f = make();
    struct nnv_networks n;
    struct nnv_bugs bugs = {0};
    struct nnv_err err = {0};
    (void)state;
    assert_int_equal(nnv_networks_of(f.report, &n, &err), NNV_OK);
    assert_int_equal(nnv_bugs_of(f.report, &bugs, &err), NNV_OK);
    for (uint32_t i = 0; i < 7; i++)
        if (bugs.of[i] != NNV_MAP_NONE) bugs.of[i] = i == 4; /* ADD and ADD+MUL, and the fusion */
    for (int twice = 0; twice < 2; twice++) {
        const struct nnv_touched add = nnv_networks_touched(&n, &bugs, 0), fusion = nnv_networks_touched(&n, &bugs, 1);
        assert_int_equal(add.networks, 2);
        assert_int_equal(add.operations, 3); /* of ADD+MUL what is wrong alone */
        assert_int_equal(fusion.networks, 1);
        assert_int_equal(fusion.operations, 2);
    }
    nnv_bugs_free(&bugs);
    nnv_networks_free(&n);
    fx_remove(&f);
}

/** The console's lines, summary.json and the page have them; a run of other cases has not. */
static void is_reported(void **state) {
    struct nnv_err err = {0};
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct fx f = make();
        size_t size;
        if (!with) json_object_del(f.report->header, "networks");
        assert_int_equal(nnv_report_write(f.report, false, &err), NNV_OK);
        char *summary = fx_get(&f, "summary.json", &size), *page = fx_get(&f, "report.html", &size);
        assert_true(with == (strstr(summary, "\"a\": {\"operations\": 4, \"right\": 1, \"wrong\": 3, "
                                             "\"not_supported\": 0}") != NULL));
        assert_true(with == (strstr(page, "<section id=\"networks\">") != NULL));
        assert_true(with == (strstr(page, "% of their operations") != NULL));
        free(summary);
        free(page);
        fx_remove(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(weighs), cmocka_unit_test(bugs_touch),
                                       cmocka_unit_test(is_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
