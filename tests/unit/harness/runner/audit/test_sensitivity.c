/* SPDX-License-Identifier: Apache-2.0 */
/* How small an error the judge notices: what is planted, and that verdicts turn where the table says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/runner/audit/sensitivity.h"
#include "randgraph/single/single.h"
#include "tests/kit/arena.h"

static void test_errors_are_steps_of_the_type(void **state) {
    (void)state;
    float f = -1;
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_FLOAT32, &f, 4));
    assert_true(f == -1 - 4 * 0x1p-23f);
    uint16_t h = 0x7bff, nan = 0x7e00, zero = 0; /* 65504: one more is infinite */
    assert_false(nnv_plant_error(ANEURALNETWORKS_TENSOR_FLOAT16, &h, 1));
    assert_false(nnv_plant_error(ANEURALNETWORKS_TENSOR_FLOAT16, &nan, 1));
    assert_false(nnv_plant_error(ANEURALNETWORKS_TENSOR_FLOAT16, &zero, 1));
    h = 0xbc00; /* -1 */
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_FLOAT16, &h, 2));
    assert_int_equal(h, 0xbc02);
    uint8_t u = 250, high = 255;
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, &u, 5));
    assert_int_equal(u, 255);
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, &high, 3)); /* there is room below only */
    assert_int_equal(high, 252);
    int8_t s = -128;
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, &s, 1));
    assert_int_equal(s, -127);
    assert_false(nnv_plant_error(ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, &u, 256));
    int32_t i = -7;
    assert_true(nnv_plant_error(ANEURALNETWORKS_TENSOR_INT32, &i, 7));
    assert_int_equal(i, 0);
}

static struct nnv_spec *build(const char *op, int32_t type) {
    struct nnv_single w = {.op = nnv_op_by_name(op), .seed = 1, .name = "case"};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    while (w.op->sigs[w.sig].type[NNV_T] != type) w.sig++;
    if (nnv_single_build(&w, arena, &spec, &err)) fail_msg("%s", err.text);
    return spec;
}

static int verdict_of(struct nnv_spec *spec, int32_t type, uint32_t step) {
    struct nnv_case_env env = {.arena = arena};
    struct nnv_result result = {0};
    struct nnv_value answer = spec->outputs[0];
    const size_t size = nnv_type(type)->size;
    answer.data = nnv_arena_copy(arena, answer.data, answer.bytes);
    for (size_t at = 0; at < answer.bytes && step > 0; at += size)
        nnv_plant_error(type, (uint8_t *)answer.data + at, step);
    nnv_judge_answer(&env, spec, NNV_PRECISION_BUDGET, &answer, &result);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    nnv_text_free(&result.answer);
    return result.verdict;
}

static void test_verdicts_turn_at_the_step(void **state) {
    (void)state;
    static const struct {
        const char *op;
        int32_t type;
        uint32_t least, most; /* of an error in all elements */
    } some[] = {{"SIN", ANEURALNETWORKS_TENSOR_FLOAT32, 8, 32},
                {"TANH", ANEURALNETWORKS_TENSOR_FLOAT16, 4, 64},
                {"ADD", ANEURALNETWORKS_TENSOR_FLOAT32, 2, 8},
                {"ADD", ANEURALNETWORKS_TENSOR_INT32, 1, 1},
                {"CONV_2D", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, 2}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct nnv_spec *spec = build(some[i].op, some[i].type);
        uint32_t step[NNV_PLANTED_IN_COUNT];
        struct nnv_err err = {0};
        if (nnv_sensitivity_of_spec(spec, NNV_PRECISION_BUDGET, arena, step, &err)) fail_msg("%s", err.text);
        const uint32_t all = step[NNV_PLANTED_ALL];
        if (all < some[i].least || all > some[i].most) fail_msg("%s: %u", some[i].op, all);
        assert_true(all <= step[NNV_PLANTED_CHANNEL] && step[NNV_PLANTED_CHANNEL] <= step[NNV_PLANTED_ELEMENT]);
        assert_int_equal(verdict_of(spec, some[i].type, 0), NNVTS_PASS);
        assert_int_equal(verdict_of(spec, some[i].type, all), NNVTS_FAIL);
        if (all > 1) assert_int_equal(verdict_of(spec, some[i].type, all / 2), NNVTS_PASS);
    }
}

static void test_the_table_has_each_operation_and_type_once(void **state) {
    (void)state;
    struct nnv_run_config config = {.seed = 1, .tier = 1, .precision = -1};
    struct nnv_case_list list = {.arena = arena};
    struct nnv_sensitivity_table table;
    struct nnv_err err = {0};
    const struct nnv_suite *ops = nnv_suite_by_name("ops");
    assert_int_equal(ops->list(&config, &list, &err), NNV_OK);
    size_t count = 0;
    while (strcmp(list.item[count].op, "ADD") == 0) count++;
    assert_int_equal(nnv_sensitivity_of(&config, list.item, count, 2, arena, &table, &err), NNV_OK);
    assert_int_equal(table.count, 5);
    for (size_t i = 0; i < table.count; i++) {
        assert_string_equal(table.row[i].op, "ADD");
        assert_int_equal(table.row[i].cases, 2);
        assert_true(table.row[i].exact > 0);
        assert_in_range(table.row[i].step[NNV_PLANTED_ELEMENT], 1, 16);
        assert_non_null(table.row[i].best);
    }
    struct nnv_text t = {0};
    nnv_sensitivity_text(&table, true, &t);
    assert_non_null(strstr(t.data, "| ADD | int32 | unit | 1 | 1 | 1 |"));
    nnv_text_clear(&t);
    nnv_sensitivity_json(&table, &t);
    assert_non_null(strstr(t.data, "\"op\": \"ADD\", \"type\": \"float32\", \"unit\": \"ulp\", \"element\": "));
    nnv_text_free(&t);
    free(list.item);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_are_steps_of_the_type),
        cmocka_unit_test(test_verdicts_turn_at_the_step),
        cmocka_unit_test(test_the_table_has_each_operation_and_type_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
