/* SPDX-License-Identifier: Apache-2.0 */
/* A wrong output that is no result at all is told as such: one number everywhere, what was read, the answer before,
 * what was never written. */
#include <math.h>

#include "harness/client/request.h"
#include "harness/judge/degenerate.h"
#include "tests/kit/judging.h"

#define A24 OPERAND("TENSOR_FLOAT32", "2,4", "SUBGRAPH_INPUT", DATA("1,2,3,4,5,6,7,8"))
#define B24 OPERAND("TENSOR_FLOAT32", "2,4", "CONSTANT_COPY", DATA("10,20,30,40,50,60,70,80"))
#define Y24 OPERAND("TENSOR_FLOAT32", "2,4", "SUBGRAPH_OUTPUT", DATA("11,22,33,44,55,66,77,88"))
#define SUM24                                                                                                          \
    "{\"format\":\"nnvts-spec/1\"," NAMED "\"main\":{\"operands\":[" A24 "," B24                                       \
    "," OPERAND("INT32", "", "CONSTANT_COPY", DATA("0")) "," Y24 "],\"operations\":[{\"type\":\"ADD\",\"inputs\":"     \
                                                         "[0,1,2],\"outputs\":[3]}],\"inputs\":[0],\"outputs\":[3]}}"

static struct nnv_before before;

/** The reason of judging this answer, behind what is allowed; NULL: the answer is right. */
static const char *judged(const struct nnv_spec *spec, const void *answer) {
    uint32_t phase = 0;
    const struct nnv_run_config config = {.driver = "fake", .seed = 1, .precision = -1};
    struct nnv_case_env env = {
        .config = &config, .client = &client, .arena = case_arena, .phase = &phase, .before = &before};
    fake.answer = answer;
    nnv_judge(&env, spec, 0, NNV_PRECISION_BUDGET, &result);
    nnv_arena_reset(case_arena);
    if (result.verdict == NNVTS_PASS) return NULL;
    assert_int_equal(result.verdict, NNVTS_FAIL);
    assert_int_equal(result.why, NNVTS_WHY_VALUES);
    const char *allowed = strstr(result.reason.data, "allowed ");
    assert_non_null(allowed);
    return allowed + strcspn(allowed, ";");
}

/** A right answer of which the last eight bytes were never written. */
static void leave_tail(float tail[8]) {
    static const float right[] = {11, 22, 33, 44, 55, 66};
    nnv_request_poison(0, 8 * sizeof *tail, (uint8_t *)tail);
    memcpy(tail, right, sizeof right);
}

static void what_it_is_instead(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM24, arena);
    before = (struct nnv_before){.count = 0};
    static const float zero[8], half[] = {.5, .5, .5, .5, .5, .5, .5, .5}, a[] = {1, 2, 3, 4, 5, 6, 7, 8},
                                b[] = {10, 20, 30, 40, 50, 60, 70, 80}, close[] = {1, 2, 3, 4, 5, 6, 7, 9};
    const float none[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    float tail[8], hole[] = {11, 22, 33, 44, 55, 66, 77, 88};
    uint8_t poison[32];
    nnv_request_poison(0, sizeof poison, poison);
    leave_tail(tail);
    memcpy(&hole[1], &poison[4], 12);
    hole[6] = 0;
    assert_string_equal(judged(spec, zero), "; every value is 0");
    assert_string_equal(judged(spec, half), "; every value is 0.5");
    assert_string_equal(judged(spec, none), "; every value is nan");
    assert_string_equal(judged(spec, a), "; it has the bytes of input 0");
    assert_string_equal(judged(spec, b), "; it has the bytes of operand 1, a constant");
    assert_string_equal(judged(spec, close), "");
    assert_string_equal(judged(spec, tail), "; bytes 24 to 31 of 32 were never written");
    assert_string_equal(judged(spec, hole), "; bytes 4 to 15 of 32 were never written");
    memcpy(&hole[1], (const float[]){22, 33, 44}, 12);
    memcpy(&hole[4], &poison[16], 4); /* four bytes might be so by chance */
    assert_string_equal(judged(spec, hole), "");
}

/** What the execution before answered, only where that would have been wrong to answer again. */
static void the_answer_before(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM24, arena);
    struct nnv_spec other = *spec;
    struct nnv_value in = spec->inputs[0], out = spec->outputs[0];
    static const float more[] = {2, 3, 4, 5, 6, 7, 8, 9}, sums[] = {12, 23, 34, 45, 56, 67, 78, 89},
                       right[] = {11, 22, 33, 44, 55, 66, 77, 88}, wrong[] = {11, 22, 33, 44, 55, 66, 77, 80};
    in.data = (void *)more;
    out.data = (void *)sums;
    other.inputs = &in;
    other.outputs = &out;
    before = (struct nnv_before){.count = 0};
    assert_null(judged(spec, right));
    assert_string_equal(judged(&other, right), "; it is output 0 of the execution before");
    assert_string_equal(judged(spec, sums), ""); /* nobody answered that before */
    assert_string_equal(judged(spec, wrong), "");
    assert_string_equal(judged(spec, wrong), ""); /* the same question had the same wrong answer */
    assert_string_equal(judged(&other, wrong), "; it is output 0 of the execution before");
    float tail[8];
    leave_tail(tail);
    assert_string_equal(judged(spec, tail), "; bytes 24 to 31 of 32 were never written");
    assert_string_equal(judged(&other, tail), "; it is output 0 of the execution before"); /* that alone is told */
    nnv_before_note(NULL, NULL, NULL, 1);
}

/** Few elements are what they are by chance; what is right to be so is no remark. */
static void what_is_right_to_be_so(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(SUM24, arena);
    static float data[8] = {7, 7, 7, 7, 7, 7, 7, 7}, golden[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    struct nnv_value answer = {.data = data, .bytes = sizeof data}, right = {.data = golden, .bytes = sizeof golden};
    struct nnv_suspect s = {.model = &spec->model, .inputs = spec->inputs, .answer = &answer, .golden = &right};
    struct nnv_text t = {0};
    s.elems = 8;
    s.value = 7;
    nnv_degenerate_words(&s, &t); /* one wrong number in the place of one number */
    assert_int_equal(t.len, 0);
    golden[3] = 4;
    nnv_degenerate_words(&s, &t);
    assert_string_equal(t.data, "; every value is 7");
    nnv_text_clear(&t);
    answer.bytes = right.bytes = 7 * sizeof *data;
    s.elems = 7;
    nnv_degenerate_words(&s, &t);
    assert_int_equal(t.len, 0);
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_it_is_instead, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(the_answer_before, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(what_is_right_to_be_so, start_judging, end_judging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
