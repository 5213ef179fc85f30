/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Suites that execute step by step judge values as the verdict on a spec does: the same ties, and the precision that
 * the user asked for.
 */
#include "tests/kit/fake_driver.h"
#include "harness/suites/kit/context.h"
#include "nnvts/result.h"

static struct nnv_client client;

static int set_up(void **state) {
    (void)state;
    fake_start(&client, 7);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    nnv_client_close(&client);
    return 0;
}

/** The verdict of a context that executes once, and how many values it compared. */
static int verdict(const char *text, int precision, const void *answer, size_t *values) {
    const struct nnv_run_config config = {.driver = "fake", .seed = 1, .precision = precision};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = nnv_arena_new()};
    struct nnv_result result = {0};
    struct nnv_context s;
    struct nnv_fixture fixture;
    struct nnv_request request;
    struct nnvts_prepared_model *prepared = NULL;
    const struct nnv_spec *spec = fake_spec(text, env.arena);
    fake.answer = answer;
    nnv_context_begin(&s, &env, &result);
    assert_true(nnv_context_model(&s, spec, &fixture));
    prepared = nnv_context_prepare(&s, &fixture);
    assert_non_null(prepared);
    assert_true(nnv_context_request(&s, &fixture, NNV_POOL_WRITABLE, &request));
    nnv_request_reset(&request);
    const enum nnvts_status status = nnv_context_sync(&s, prepared, &request);
    assert_true(nnv_context_check_outcome(&s, "execute", status, &request));
    const size_t before = result.compared;
    const bool right = nnv_context_check_values(&s, "execute", status, &request);
    *values = result.compared - before;
    nnv_context_release(&s, prepared);
    nnv_context_end(&s);
    assert_int_equal(right, result.verdict == NNVTS_PASS);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    nnv_arena_free(env.arena);
    return result.verdict;
}

#define VERDICT(spec, precision, type, ...) verdict(spec, precision, (const type[]){__VA_ARGS__}, &values)

/** A spec of one operation on four numbers with a scalar; the indices are its only output. */
#define SPEC(op, x, scalar, outputs, dims, y, more)                                                                    \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"context\",\"min_version\":\"1.2\",\"main\":{\"operands\":[" OPERAND(      \
        "TENSOR_FLOAT32", "4", "SUBGRAPH_INPUT",                                                                       \
        DATA(x)) "," OPERAND("INT32", "", "CONSTANT_COPY", DATA(scalar)) "," OPERAND("TENSOR_INT32", dims,             \
                                                                                     "SUBGRAPH_OUTPUT", DATA(y)) more  \
        "],\"operations\":[{\"type\":\"" op "\",\"inputs\":[0,1],\"outputs\":[" outputs                                \
        "]}],\"inputs\":[0],\"outputs\":[2]}}"

/* A driver may choose among equals, and among these alone. */
static void test_ties(void **state) {
    (void)state;
    size_t values, plain;
    static const char max[] = SPEC("ARGMAX", "7,3,7,6", "0", "2", "1", "0", "");
    static const char clear[] = SPEC("ARGMAX", "7,3,8,6", "0", "2", "1", "2", "");
    static const char top[] = SPEC("TOPK_V2", "5,9,5,9", "3", "3,2", "3", "3,1,2",
                                   "," OPERAND("TENSOR_FLOAT32", "3", "TEMPORARY_VARIABLE", ""));
    assert_int_equal(VERDICT(clear, -1, int32_t, 2), NNVTS_PASS);
    plain = values;
    assert_int_equal(VERDICT(clear, -1, int32_t, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(max, -1, int32_t, 0), NNVTS_PASS);
    assert_int_equal(values, plain); /* a tie is compared, too */
    assert_int_equal(VERDICT(max, -1, int32_t, 2), NNVTS_PASS);
    assert_int_equal(VERDICT(max, -1, int32_t, 1), NNVTS_FAIL);
    assert_int_equal(VERDICT(max, -1, int32_t, 3), NNVTS_FAIL);
    assert_int_equal(VERDICT(max, -1, int32_t, 4), NNVTS_FAIL);
    assert_int_equal(VERDICT(top, -1, int32_t, 3, 1, 2), NNVTS_PASS);
    assert_int_equal(VERDICT(top, -1, int32_t, 1, 3, 0), NNVTS_PASS);
    assert_int_equal(VERDICT(top, -1, int32_t, 1, 1, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(top, -1, int32_t, 1, 0, 3), NNVTS_FAIL);
}

/* What is out of the budget is within the published tolerance; what is out of both is wrong by each. */
static void test_precision(void **state) {
    (void)state;
    size_t values;
    static const char relu[] =
        "{\"format\":\"nnvts-spec/1\",\"name\":\"context\",\"min_version\":\"1.2\",\"main\":{\"operands\":[" OPERAND(
            "TENSOR_FLOAT32", "2", "SUBGRAPH_INPUT",
            DATA("3,-2")) "," OPERAND("TENSOR_FLOAT32", "2", "SUBGRAPH_OUTPUT",
                                      DATA("3,0")) "],\"operations\":[{\"type\":\"RELU\",\"inputs\":[0],\"outputs\":"
                                                   "[1]}],\"inputs\":[0],\"outputs\":[1]}}";
    assert_int_equal(VERDICT(relu, -1, float, 3, 0), NNVTS_PASS);
    assert_int_equal(VERDICT(relu, -1, float, 3.00002f, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(relu, NNV_PRECISION_BUDGET, float, 3.00002f, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(relu, NNV_PRECISION_NNAPI, float, 3.00002f, 0), NNVTS_PASS);
    assert_int_equal(VERDICT(relu, NNV_PRECISION_NNAPI, float, 3.001f, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(relu, NNV_PRECISION_AOSP, float, 3.00002f, 0), NNVTS_FAIL);
    assert_int_equal(VERDICT(relu, NNV_PRECISION_AOSP, float, 3.000001f, 0), NNVTS_PASS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ties, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_precision, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
