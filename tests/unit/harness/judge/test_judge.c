/* SPDX-License-Identifier: Apache-2.0 */
/** From a spec and a driver's answer to the verdict. */
#include <jansson.h>
#include <math.h>

#include "harness/judge/compare.h"
#include "tests/kit/judging.h"

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

/* -------------------------------------------------------------------- verdicts */

static void right_answers_pass(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_PASS);
        assert_int_equal(result.compared, 6);
        assert_int_equal(result.not_compared, 0);
        assert_int_equal(result.reason.len, 0);
        assert_false(result.worker_damaged);
        json_t *outputs = json_loads(result.outputs.data, 0, NULL), *o = json_array_get(outputs, 0);
        assert_int_equal(json_array_size(outputs), 1);
        assert_true(number(o, "compared") == 6 && number(o, "wrong") == 0 && number(o, "index") == 0);
        assert_string_equal(json_string_value(json_object_get(o, "type")), "TENSOR_FLOAT32");
        assert_true(number(json_object_get(o, "worst"), "error") == 0);
        assert_null(json_object_get(o, "window"));
        json_decref(outputs);
    }
}

/** NaN beside NaN is no evidence: an output without a finite number is not trusted. */
static void undefined_is_no_evidence(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const float answer[] = {NAN, NAN, NAN, NAN, NAN, NAN};
    fake.answer = answer;
    struct nnv_value *v = &((struct nnv_spec *)spec)->inputs[0];
    for (int i = 0; i < 6; i++) ((float *)v->data)[i] = NAN;
    memcpy(spec->outputs[0].data, answer, sizeof answer);
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_UNTRUSTED);
        assert_int_equal(result.why, NNVTS_WHY_NOTHING_COMPARED);
    }
}

#define FOUR OPERAND("TENSOR_FLOAT32", "4", "SUBGRAPH_INPUT", DATA("1,2,3,4"))
#define SCALAR(value) OPERAND("INT32", "", "CONSTANT_COPY", DATA(value))
#define HALF(values) OPERAND("TENSOR_FLOAT32", "2", "SUBGRAPH_OUTPUT", DATA(values))
#define HALVES FOUR "," SCALAR("0") "," SCALAR("2") "," HALF("1,2") "," HALF("3,4")
static const char halves[] = "{\"format\":\"nnvts-spec/1\",\"name\":\"halves\",\"min_version\":\"1.2\",\"main\":{"
                             "\"operands\":[" HALVES "],\"operations\":[{\"type\":\"SPLIT\",\"inputs\":[0,1,2],"
                             "\"outputs\":[3,4]}],\"inputs\":[0],\"outputs\":[3,4]}}";

/** Where an input holds NaN one output of two may be nothing else. */
static void one_output_may_be_undefined(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(halves, arena);
    fake.values = spec->outputs;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    for (int i = 0; i < 2; i++) {
        ((float *)spec->inputs[0].data)[i] = NAN;
        ((float *)spec->outputs[0].data)[i] = NAN;
    }
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(result.compared, 4);
    fake.values = NULL;
}

/** All of an output may be infinite where an input is; NaN made of it, and infinities of else, show nothing. */
static void infinities_of_inputs_stay_what_they_are(void **state) {
    static const struct {
        float in, out;
        enum nnvts_verdict verdict;
    } cases[] = {
        {INFINITY, INFINITY, NNVTS_PASS}, {-INFINITY, -INFINITY, NNVTS_PASS}, {INFINITY, NAN, NNVTS_UNTRUSTED},
        {NAN, INFINITY, NNVTS_UNTRUSTED}, {3, INFINITY, NNVTS_UNTRUSTED},
    };
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    fake.values = spec->outputs;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < 6; i++) {
            ((float *)spec->inputs[0].data)[i] = cases[c].in;
            ((float *)spec->outputs[0].data)[i] = cases[c].out;
        }
        assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), cases[c].verdict);
        assert_int_equal(judge(spec, NNV_PRECISION_AOSP), cases[c].verdict);
    }
    fake.values = NULL;
}

static void wrong_answers_fail(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const float answer[] = {11, 22, 33, 44.5f, 55, NAN};
    fake.answer = answer;
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_FAIL);
        assert_int_equal(result.compared, 6);
        assert_int_equal(result.why, NNVTS_WHY_VALUES);
        assert_reason("output 0 [2,3]: 2 of 6 values wrong; worst at [1,2]: expected 66, got nan, allowed ");
        json_t *outputs = json_loads(result.outputs.data, 0, NULL), *o = json_array_get(outputs, 0);
        assert_non_null(o);
        const json_t *worst = json_object_get(o, "worst"), *window = json_object_get(o, "window");
        assert_string_equal(json_string_value(json_object_get(worst, "actual")), "NaN");
        assert_true(json_integer_value(json_array_get(json_object_get(worst, "at"), 1)) == 2);
        assert_true(number(window, "rows") == 2 && number(window, "cols") == 3);
        assert_true(json_number_value(json_array_get(json_object_get(window, "actual"), 3)) == 44.5);
        const json_t *heat = json_object_get(o, "heat");
        assert_int_equal(json_string_length(json_object_get(heat, "data")), 8); /* 6 bytes in base64 */
        json_decref(outputs);
    }
}

/* Numbers of either sign, whole and not, as they are. */
static void numbers_are_told_with_their_signs(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const float answer[] = {-11, 22, -0.0f, -44.5f, 4e9f, -INFINITY};
    fake.answer = answer;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_non_null(strstr(result.outputs.data, "\"expected\":[11,22,33,44,55,66],"));
    assert_non_null(strstr(result.outputs.data, "\"actual\":[-11,22,-0,-44.5,4000000000,\"-Infinity\"],"));
}

/* Of a result that is used again nothing of the verdict before is left. */
static void results_begin_anew(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const float wrong[] = {11, 22, 33, 44, 55, 67};
    const void *right = fake.answer;
    fake.answer = wrong;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    const size_t reason = result.reason.len, outputs = result.outputs.len;
    assert_true(reason > 0);
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(result.reason.len, reason);
    assert_int_equal(result.outputs.len, outputs);
    assert_int_equal(result.compared, 6);
    fake.answer = right;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(result.why, NNVTS_WHY_NONE);
    assert_int_equal(result.reason.len, 0);
}

/* What the driver answered is kept where it is asked for. */
static void answers_are_kept(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    const float wrong[] = {11, 22, 33, 44, 55, 67};
    const void *right = fake.answer;
    struct nnv_case_env env = {.client = &client, .arena = case_arena};
    for (int i = 0; i < 8; i++) {
        const bool is_wrong = i & 1;
        env.keep_answer = i & 2;
        env.keep_right = i & 4;
        fake.answer = is_wrong ? wrong : right;
        nnv_judge(&env, spec, 0, NNV_PRECISION_BUDGET, &result);
        assert_int_equal(result.verdict, is_wrong ? NNVTS_FAIL : NNVTS_PASS);
        const bool kept = is_wrong ? env.keep_answer : env.keep_right;
        assert_int_equal(result.answer.len, kept ? sizeof wrong : 0);
        if (kept) assert_memory_equal(result.answer.data, fake.answer, sizeof wrong);
    }
    nnv_text_free(&result.answer);
}

/* What a driver may be off by: of each element of each output that is compared by its value. */
static void bounds_of_a_spec(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    struct nnv_bounds bounds[1];
    struct nnv_err err = {0};
    if (nnv_judge_bounds(spec, NNV_PRECISION_BUDGET, arena, bounds, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(bounds[0].elems, 6);
    for (int i = 0; i < 6; i++) {
        assert_true(bounds[0].expected[i] == 11 * (i + 1));
        assert_true(bounds[0].bound[i] > 0x1p-24 * 11 * (i + 1) && bounds[0].bound[i] < 0x1p-20 * 11 * (i + 1));
    }
    if (nnv_judge_bounds(spec, NNV_PRECISION_NNAPI, arena, bounds, &err) != NNV_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 6; i++) assert_true(bounds[0].bound[i] == 1e-5 + 1e-5 * (11 * (i + 1)));
    spec->model.main.operands[spec->model.main.out[0]].ignored = true;
    if (nnv_judge_bounds(spec, NNV_PRECISION_BUDGET, arena, bounds, &err) != NNV_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 6; i++) assert_true(isnan(bounds[0].bound[i]));
    spec->model.main.operands[spec->model.main.out[0]].ignored = false;
    spec->outputs[0].dims[0] = 3;
    assert_int_equal(nnv_judge_bounds(spec, NNV_PRECISION_BUDGET, arena, bounds, &err), NNV_INVALID);
    assert_string_equal(err.text, "output 0: the golden result's shape is not the expected one");
}

#define UNITS(scale, lifetime, data)                                                                                   \
    OPERAND("TENSOR_QUANT8_ASYMM", "3", lifetime, ",\"scale\":" scale ",\"zero_point\":0" data)
/**
 * m = a + b lies at a tie: it is 1 or, as well, 0; that is 0.1 of the unit of y = m + c, which is 0.38, 0.33 and 0.25:
 * 0.12, 0.17 and 0.25 below the next tie.
 */
static const char two_sums[] =
    "{\"format\":\"nnvts-spec/1\",\"name\":\"two\",\"min_version\":\"1.0\",\"main\":{\"operands\":[" UNITS(
        "0.05", "SUBGRAPH_INPUT", DATA("1,1,1")) "," UNITS("0.05", "SUBGRAPH_INPUT", DATA("0,0,0")) //
    "," OPERAND("INT32", "", "CONSTANT_COPY", DATA("0")) "," UNITS("0.1", "TEMPORARY_VARIABLE", "") "," UNITS(
        "0.01", "SUBGRAPH_INPUT",
        DATA("28,23,15")) "," UNITS("1", "SUBGRAPH_OUTPUT",
                                    DATA("0,0,0")) "],"
                                                   "\"operations\":[{\"type\":\"ADD\",\"inputs\":[0,1,2],\"outputs\":["
                                                   "3]},{\"type\":\"ADD\",\"inputs\":[3,4,2],"
                                                   "\"outputs\":[5]}],\"inputs\":[0,1,4],\"outputs\":[5]}}";

/* What inputs may be off by counts one and a half times, of suites that have their own number of rows twice. */
static void spreads_of_inputs_count(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(two_sums, arena);
    for (int i = 0; i < 2 * NNV_SCHEME_COUNT; i++) { /* a scheme is of sums of products alone */
        const uint32_t rows = i % 2 ? 16 : 0;
        struct nnv_comparer c = {.spec = spec, .precision = NNV_PRECISION_BUDGET, .arena = arena, .rows = rows};
        c.arithmetic.schemes.one = (enum nnv_scheme)(i / 2);
        struct nnv_err err = {0};
        if (nnv_comparer_make(&c, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_true(c.expected[0].spread[0] == 1);
        assert_true(c.expected[0].spread[1] == (rows ? 1 : 0));
        assert_true(c.expected[0].spread[2] == 0);
        if (nnv_comparer_look_again(&c, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_true(c.expected[0].spread[1] == (rows ? 1 : 0)); /* 1.25 times with more rows */
    }
}

static void budgets_are_tight(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    float answer[] = {11, 22, 33, 44, 55, 66};
    fake.answer = answer;
    answer[4] = nextafterf(55, 100);
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    answer[4] = 55.0001f; /* 26 units in the last place: within the published rule */
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    struct nnv_spec exact = *spec;
    exact.exact = true;
    assert_int_equal(judge(&exact, NNV_PRECISION_NNAPI), NNVTS_FAIL);
    assert_int_equal(judge(&exact, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    answer[4] = 55;
    assert_int_equal(judge(&exact, NNV_PRECISION_BUDGET), NNVTS_PASS);
}

static void relaxed_models_are_judged_as_float16(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    float answer[] = {11, 22, 33, 44, 55, 66.01f};
    fake.answer = answer;
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        spec->model.relaxed = false;
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_FAIL);
        spec->model.relaxed = true;
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_PASS);
    }
}

#define Q8(lifetime, data) OPERAND("TENSOR_QUANT8_ASYMM", "4", lifetime, ",\"scale\":0.5,\"zero_point\":0" DATA(data))

static void quantised_units(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(ADD_SPEC("\"name\":\"mobilenet_sum\",", Q8("SUBGRAPH_INPUT", "1,2,3,200"),
                                               Q8("SUBGRAPH_INPUT", "1,2,3,100"), Q8("SUBGRAPH_OUTPUT", "2,4,6,255")),
                                      arena);
    uint8_t answer[] = {2, 4, 7, 255};
    fake.answer = answer;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL); /* no tie: it has to be exact */
    assert_reason("worst at [2]: expected 6, got 7, allowed 0");
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    answer[2] = 8;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS); /* by its name */
    spec->name = "sum";
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
}

static void levels(void **state) {
    (void)state;
    fake_start(&client, 1);
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    assert_int_equal(judge_at(spec, 3, NNV_PRECISION_NNAPI), NNVTS_SKIP);
    assert_reason("needs feature level 3, the driver has 1");
    assert_int_equal(judge_at(spec, 1, NNV_PRECISION_NNAPI), NNVTS_PASS);
#define H3(lifetime) OPERAND("TENSOR_FLOAT16", "3", lifetime, DATA("1,2,3"))
    spec = fake_spec(ADD_SPEC("\"name\":\"half\",", H3("SUBGRAPH_INPUT"), H3("SUBGRAPH_INPUT"), H3("SUBGRAPH_OUTPUT")),
                     arena);
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_SKIP); /* the spec is silent, the model is not */
    assert_reason("needs feature level 3");
    assert_int_equal(fake.prepared, 1);
}

static void honest_refusal(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM, arena);
    fake.fault = UNSUPPORTED;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_UNSUPPORTED);
    assert_reason("operation 0 (ADD)");
    fake.fault = PREPARE_FAILS;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
    assert_reason("although the driver had claimed to support the model");
    fake.fault = EXECUTE_BEHIND;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
    assert_true(result.worker_damaged);
    fake.fault = FINE;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    assert_false(result.worker_damaged);
}

/* A refusal of what the driver lacks shows nothing. */
static void refusals_of_what_is_supported(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    spec->expect_failure = true;
    spec->valid = &fake_spec(SUM, arena)->model;
    fake.fault = PREPARE_FAILS;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    fake.fault = SUPPORTED_INVALID;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_UNSUPPORTED);
    assert_int_equal(result.why, NNVTS_WHY_VALID_MODEL);
    assert_reason("without the mistake: get_supported_operations answered INVALID_ARGUMENT");
    assert_int_equal(result.compared, 0);
}

static void expected_failures(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    static const int32_t nonsense = 9;
    for (int invalid = 0; invalid < 2; invalid++) {
        spec->expect_failure = true;
        if (invalid) spec->model.main.operands[2].data = &nonsense; /* no such activation */
        fake.fault = FINE;
        assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
        assert_reason("executed a model that a driver must refuse");
        const enum fault refusals[] = {SUPPORTED_INVALID, PREPARE_FAILS, EXECUTE_FAILS};
        for (size_t i = 0; i < 3; i++) {
            fake.fault = refusals[i];
            assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
            assert_int_equal(result.compared, 1);
            assert_int_equal(result.values, 0);
        }
        fake.fault = UNSUPPORTED;
        assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_UNSUPPORTED);
        fake.fault = PREPARE_77;
        assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
    }
}

static void bad_specs_are_errors(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    static const int32_t nonsense = 9;
    spec->model.main.operands[2].data = &nonsense;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_ERROR);
    assert_reason("the spec's model is invalid: operation 0 (ADD)");
    spec = fake_spec(SUM, arena);
    spec->model.main.operations[0].type = 10000; /* a vendor's own: nothing is known of it */
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_SKIP);
    assert_int_equal(fake.prepared, 0);
    spec = fake_spec(SUM, arena);
    spec->model.main.operations[0].type = 9999;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_ERROR);
    assert_int_equal(fake.prepared, 0);

    spec = fake_spec(SUM, arena); /* the file expects another shape than the operation gives */
    static uint32_t open[] = {0, 0};
    spec->model.main.operands[3].dims = open;
    spec->outputs[0].dims[0] = fake.dims[0] = 3;
    spec->outputs[0].dims[1] = fake.dims[1] = 2;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_ERROR);
    assert_reason("output 0: the golden result's shape is not the expected one");
}

static void refused_values_are_errors(void **state) {
    (void)state;
    static const char lookup[] =
        "{\"format\":\"nnvts-spec/1\"," NAMED
        "\"main\":{\"operands\":[" OPERAND("TENSOR_INT32", "1", "SUBGRAPH_INPUT", DATA("5")) "," OPERAND(
            "TENSOR_FLOAT32", "2,2", "SUBGRAPH_INPUT",
            DATA("1,2,3,4")) "," OPERAND("TENSOR_FLOAT32", "1,2", "SUBGRAPH_OUTPUT",
                                         DATA("1,2")) "],"
                                                      "\"operations\":[{\"type\":\"EMBEDDING_LOOKUP\",\"inputs\":[0,1],"
                                                      "\"outputs\":[2]}],"
                                                      "\"inputs\":[0,1],\"outputs\":[2]}}";
    assert_int_equal(judge(fake_spec(lookup, arena), NNV_PRECISION_BUDGET), NNVTS_ERROR);
    assert_reason("no golden result: ");
}

/** x * 1.1 - x * 1.1 is nothing but rounding: no result is certain enough to be compared. */
static void nothing_compared_is_not_trusted(void **state) {
    (void)state;
    static const char cancelled[] =
        "{\"format\":\"nnvts-spec/1\"," NAMED "\"main\":{\"operands\":[" A23
        "," OPERAND("TENSOR_FLOAT32", "1", "CONSTANT_COPY", DATA("1.1")) "," OPERAND(
            "INT32", "", "CONSTANT_COPY",
            DATA(
                "0")) "," OPERAND("TENSOR_FLOAT32", "2,3", "TEMPORARY_VARIABLE",
                                  "") "," OPERAND("TENSOR_FLOAT32", "2,3", "CONSTANT_COPY",
                                                  DATA(
                                                      "-1.1,-2.2,-3.3,-4.4,-5.5,-6.6")) "," Y23("") "],"
                                                                                                    "\"operations\":[{"
                                                                                                    "\"type\":\"MUL\","
                                                                                                    "\"inputs\":[0,1,2]"
                                                                                                    ",\"outputs\":[3]},"
                                                                                                    "{\"type\":\"ADD\","
                                                                                                    "\"inputs\":[3,4,2]"
                                                                                                    ",\"outputs\":[5]}]"
                                                                                                    ",\"inputs\":[0],"
                                                                                                    "\"outputs\":[5]}}";
    assert_int_equal(judge(fake_spec(cancelled, arena), NNV_PRECISION_BUDGET), NNVTS_UNTRUSTED);
    assert_reason("nothing was compared: the budget of each of the 6 values is as large as the value");
    assert_int_equal(result.not_compared, 6);
}

/** A spec that ignores all outputs asks for an execution, and for nothing to compare. */
static void ignored_outputs_need_an_execution(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(ADD_SPEC(NAMED, A23, B23, Y23(",\"ignored\":true")), arena);
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_PASS);
        assert_int_equal(result.compared, 1); /* the shape */
        assert_int_equal(result.values, 0);
        assert_int_equal(result.outputs.len, 0);
        assert_int_equal(result.not_compared, 6);
    }
}

static void empty_outputs_pass_by_their_shape(void **state) {
    (void)state;
#define E03(lifetime) OPERAND("TENSOR_FLOAT32", "0,3", lifetime, DATA(""))
    struct nnv_spec *spec = fake_spec(
        ADD_SPEC("\"name\":\"empty\",", E03("SUBGRAPH_INPUT"), E03("SUBGRAPH_INPUT"), E03("SUBGRAPH_OUTPUT")), arena);
    for (int i = 0; i < 2; i++) spec->inputs[i].omitted = false; /* in a file, no data means omitted */
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    assert_int_equal(result.compared, 1);
    assert_int_equal(result.values, 0);
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    fake.fault = EXECUTE_WRONG_EXTENT;
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);
}

static void doubtful_files(void **state) {
    (void)state;
    struct nnv_spec *spec = fake_spec(SUM, arena);
    float right[] = {11, 22, 33, 44, 55, 66}, wrong[] = {11, 22, 33, 44, 55, 67}, files[] = {11, 22, 33, 44, 55, 68};
    spec->outputs[0].data = files;
    fake.answer = right;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS); /* the golden result counts */
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_FAIL);  /* the file's expectation counts */
    fake.answer = wrong;
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_reason("expected 66, got 67");
    assert_reason("note: the spec's own expectation of output 0 differs from the golden result in 1 values");
}

/* ----------------------------------------------------------------------- cases */

static void cases(void **state) {
    (void)state;
    uint32_t phase = 0;
    const struct nnv_run_config config = {.driver = "fake", .precision = -1};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    struct nnv_case c = {.name = "x/y", .suite = "no such suite", .op = "", .type = "", .tags = ""};
    nnv_case_run(&env, &c, &result);
    assert_int_equal(result.verdict, NNVTS_ERROR);
    assert_reason("no suite named 'no such suite'");
    c.suite = "device";
    c.level = 8;
    nnv_case_run(&env, &c, &result);
    assert_int_equal(result.verdict, NNVTS_SKIP);
    c.level = 0;
    nnv_case_run(&env, &c, &result);
    assert_int_equal(result.verdict, NNVTS_PASS);
    assert_int_equal(result.reason.len, 0);
    assert_true(result.compared > 0);
    c.a = 9999;
    nnv_case_run(&env, &c, &result);
    assert_int_equal(result.verdict, NNVTS_ERROR);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_judging, end_judging)
    const struct CMUnitTest tests[] = {
        TEST(right_answers_pass),
        TEST(wrong_answers_fail),
        TEST(undefined_is_no_evidence),
        TEST(one_output_may_be_undefined),
        TEST(infinities_of_inputs_stay_what_they_are),
        TEST(numbers_are_told_with_their_signs),
        TEST(results_begin_anew),
        TEST(answers_are_kept),
        TEST(bounds_of_a_spec),
        TEST(spreads_of_inputs_count),
        TEST(budgets_are_tight),
        TEST(relaxed_models_are_judged_as_float16),
        TEST(quantised_units),
        TEST(levels),
        TEST(honest_refusal),
        TEST(expected_failures),
        TEST(refusals_of_what_is_supported),
        TEST(bad_specs_are_errors),
        TEST(refused_values_are_errors),
        TEST(nothing_compared_is_not_trusted),
        TEST(ignored_outputs_need_an_execution),
        TEST(empty_outputs_pass_by_their_shape),
        TEST(doubtful_files),
        TEST(cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
