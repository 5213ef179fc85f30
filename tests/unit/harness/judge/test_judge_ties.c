/* SPDX-License-Identifier: Apache-2.0 */
/** Ties: the driver's choice is right where it is one among equals, and nowhere else. */
#include <math.h>

#include "harness/judge/compare.h"
#include "tests/kit/judging.h"
#include "harness/judge/ties.h"

/** The verdict on this answer. */
static int judge_answer(const struct nnv_spec *spec, enum nnv_precision precision, const void *answer) {
    fake.answer = answer;
    return judge(spec, precision);
}

#define JUDGE(spec, precision, type, ...) judge_answer(spec, precision, (const type[]){__VA_ARGS__})
#define BUDGET NNV_PRECISION_BUDGET

/* ---------------------------------------------------------- indices, one by one */

#define MAX 16

/** How many of the m indices of each line are wrong; x has the reach everywhere. */
static size_t wrong_indices(size_t outer, size_t n, size_t inner, size_t m, const double *x, double reach,
                            const int32_t *actual, size_t *not_compared) {
    double reaches[MAX];
    int32_t golden[MAX] = {0};
    for (int i = 0; i < MAX; i++) reaches[i] = isnan(x[i % (outer * n * inner)]) ? (double)NAN : reach;
    struct nnv_source source = {outer, n, inner, x, reaches};
    struct nnv_value value = {.rank = 1, .dims = {(uint32_t)(outer * m * inner)}, .data = golden};
    value.bytes = outer * m * inner * sizeof *golden;
    struct nnv_expectation e = {.type = ANEURALNETWORKS_TENSOR_INT32, .value = &value, .k = 2};
    assert_true(nnv_follow_indices(&e, &source, actual, arena));
    assert_ptr_not_equal(e.value, &value); /* the golden result stays */
    for (int i = 0; i < MAX; i++) assert_int_equal(golden[i], 0);
    struct nnv_comparison c;
    nnv_check(&e, actual, BUDGET, &c);
    *not_compared = c.not_compared;
    return c.wrong;
}

#define WRONG(outer, n, inner, m, x, reach, ...)                                                                       \
    wrong_indices(outer, n, inner, m, x, reach, (const int32_t[MAX]){__VA_ARGS__}, &skipped)

static void tied_indices(void **state) {
    (void)state;
    size_t skipped;
    const double x[] = {9, 7, 9, 3, 9};
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 0, 2, 4), 0);
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 4, 0, 2), 0);
    assert_int_equal(WRONG(1, 5, 1, 5, x, 0, 2, 4, 0, 1, 3), 0);
    assert_int_equal(WRONG(1, 5, 1, 1, x, 0, 4), 0);
    assert_int_equal(skipped, 0);
}

static void wrong_choices(void **state) {
    (void)state;
    size_t skipped;
    const double x[] = {9, 7, 9, 3, 9};
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 4, 4, 2), 1); /* twice */
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 0, 0, 0), 2); /* thrice */
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 4, 5, 2), 1); /* out of range */
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, -1, 0, 2), 1);
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 4, 0, INT32_MIN), 1);
    assert_int_equal(WRONG(1, 5, 1, 3, x, 0, 4, 2, 1), 1); /* a smaller number, the third 9 left out */
    assert_int_equal(WRONG(1, 5, 1, 1, x, 0, 1), 1);
    assert_int_equal(WRONG(1, 5, 1, 5, x, 0, 2, 4, 0, 3, 1), 1); /* 3 before 7 */
    assert_int_equal(WRONG(1, 5, 1, 5, x, 0, 3, 1, 0, 2, 4), 2); /* rising */
    const double below[] = {-9, -7, -9, -3, -9};
    assert_int_equal(WRONG(1, 5, 1, 1, below, 0, 5), 1);
    assert_int_equal(WRONG(1, 5, 1, 1, below, 0, 3), 0);
    assert_int_equal(skipped, 0);
}

/* Two lines each way: the rules are those of each line, and indices are strided. */
static void lines(void **state) {
    (void)state;
    size_t skipped;
    const double x[] = {5, 1, 5, 8, 2, 8}; /* [2,3]: 5 1 5 and 8 2 8; along axis 0: 5 8, 1 2, 5 8 */
    assert_int_equal(WRONG(2, 3, 1, 2, x, 0, 2, 0, 0, 2), 0);
    assert_int_equal(WRONG(2, 3, 1, 2, x, 0, 2, 0, 0, 1), 1);
    assert_int_equal(WRONG(1, 2, 3, 1, x, 0, 1, 1, 1), 0);
    assert_int_equal(WRONG(1, 2, 3, 1, x, 0, 1, 0, 1), 1);
    assert_int_equal(WRONG(1, 2, 3, 2, x, 0, 1, 1, 1, 0, 0, 0), 0);
    assert_int_equal(WRONG(1, 2, 3, 2, x, 0, 1, 1, 1, 0, 0, 1), 1);
}

/* Numbers that reach each other may change places; two that don't may not, even if both reach a third. */
static void reaches(void **state) {
    (void)state;
    size_t skipped;
    const double x[] = {1, 1.5, 2};
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0.25, 1, 2, 0), 0);
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0.25, 2, 0, 1), 0);
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0.25, 1, 0, 2), 1); /* 1 before 2 */
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0.24, 1, 2, 0), 1);
    assert_int_equal(WRONG(1, 3, 1, 1, x, 0.25, 0), 1);
    assert_int_equal(WRONG(1, 3, 1, 1, x, 0.25, 1), 0);
}

/* A number that nobody knows may stand anywhere, once; the others are judged all the same. */
static void unknown_numbers(void **state) {
    (void)state;
    size_t skipped;
    const double x[] = {1, NAN, 2};
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0, 1, 2, 0), 0);
    assert_int_equal(skipped, 1);
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0, 2, 1, 0), 0);
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0, 0, 2, 1), 1);
    assert_int_equal(WRONG(1, 3, 1, 3, x, 0, 1, 1, 2), 1);
}

/* ------------------------------------------------------------------- the judge */

/** A spec of one operation on x with a scalar; the indices are its only output. */
#define SPEC(op, dims, x, scalar, outputs, operands, y)                                                                \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"ties\",\"min_version\":\"1.2\",\"main\":{\"operands\":[" OPERAND(         \
        "TENSOR_FLOAT32", dims, "SUBGRAPH_INPUT",                                                                      \
        DATA(x)) "," OPERAND("INT32", "", "CONSTANT_COPY", DATA(scalar)) "," y operands "],"                           \
                                                                         "\"operations\":[{\"type\":\"" op             \
                                                                         "\",\"inputs\":[0,1],\"outputs\":[" outputs   \
                                                                         "]}],"                                        \
                                                                         "\"inputs\":[0],\"outputs\":[2]}}"
#define INDICES(dims, y) OPERAND("TENSOR_INT32", dims, "SUBGRAPH_OUTPUT", DATA(y))
#define ARG(op, x, y) SPEC(op, "4", x, "0", "2", "", INDICES("1", y))
#define TOPK(x, k, y)                                                                                                  \
    SPEC("TOPK_V2", "4", x, k, "3,2", "," OPERAND("TENSOR_FLOAT32", k, "TEMPORARY_VARIABLE", ""), INDICES(k, y))

static void arg_ties(void **state) {
    (void)state;
    const struct nnv_spec *max = fake_spec(ARG("ARGMAX", "7,3,7,6", "0"), arena);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, 0), NNVTS_PASS);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, 2), NNVTS_PASS);
    assert_int_equal(result.compared, 1);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, 3), NNVTS_FAIL);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, 1), NNVTS_FAIL);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, 4), NNVTS_FAIL);
    assert_int_equal(JUDGE(max, BUDGET, int32_t, -1), NNVTS_FAIL);
    const struct nnv_spec *min = fake_spec(ARG("ARGMIN", "3,7,3,4", "0"), arena);
    assert_int_equal(JUDGE(min, BUDGET, int32_t, 0), NNVTS_PASS);
    assert_int_equal(JUDGE(min, BUDGET, int32_t, 2), NNVTS_PASS);
    assert_int_equal(JUDGE(min, BUDGET, int32_t, 1), NNVTS_FAIL);
    assert_int_equal(JUDGE(min, BUDGET, int32_t, 3), NNVTS_FAIL);
}

static void topk_ties(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(TOPK("5,9,5,9", "3", "3,1,2"), arena);
    assert_int_equal(JUDGE(spec, BUDGET, int32_t, 3, 1, 2), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, BUDGET, int32_t, 1, 3, 0), NNVTS_PASS);
    assert_int_equal(result.compared, 3);
    assert_int_equal(JUDGE(spec, BUDGET, int32_t, 1, 1, 0), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, BUDGET, int32_t, 1, 0, 3), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, BUDGET, int32_t, 3, 1, 4), NNVTS_FAIL);
    assert_non_null(strstr(result.reason.data, "1 of 3 values wrong"));
}

/** Without a golden evaluation the spec's own indices count, as far as the profile says. */
static void fixed_profiles(void **state) {
    (void)state;
    const struct nnv_spec *spec = fake_spec(TOPK("5,9,5,9", "3", "3,1,2"), arena);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_NNAPI, int32_t, 3, 1, 2), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_NNAPI, int32_t, 1, 3, 2), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_AOSP, int32_t, 3, 1, 2), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_AOSP, int32_t, 2, 1, 2), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_AOSP, int32_t, 1, 3, 2), NNVTS_FAIL);
}

/** Sums of 1 and these numbers, of which the second is the largest; the output is its index. */
#define SUMS(b)                                                                                                        \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"ties\",\"min_version\":\"1.2\",\"main\":{\"operands\":[" OPERAND(         \
        "TENSOR_FLOAT32", "3", "SUBGRAPH_INPUT",                                                                       \
        DATA("1,1,1")) "," OPERAND("TENSOR_FLOAT32", "3", "SUBGRAPH_INPUT",                                            \
                                   DATA(                                                                               \
                                       b)) "," OPERAND("INT32", "", "CONSTANT_COPY",                                   \
                                                       DATA(                                                           \
                                                           "0")) "," OPERAND("TENSOR_FLOAT32", "3",                    \
                                                                             "TEMPORARY_VARIABLE",                     \
                                                                             "") "," INDICES("1",                      \
                                                                                             "1") "],\"operations\":[" \
                                                                                                  "{\"type\":\"ADD\"," \
                                                                                                  "\"inputs\":[0,1,2]" \
                                                                                                  ",\"outputs\":[3]}," \
                                                                                                  "{\"type\":"         \
                                                                                                  "\"ARGMAX\","        \
                                                                                                  "\"inputs\":[3,2],"  \
                                                                                                  "\"outputs\":[4]}]," \
                                                                                                  "\"inputs\":[0,1],"  \
                                                                                                  "\"outputs\":[4]}}"

/* A sum of 2 may be off by twice its half unit 2^-23 and by a unit: two sums by 4 units of 2^-22 together. */
static void ties_by_rounding(void **state) {
    (void)state;
    const struct nnv_spec *near = fake_spec(SUMS("1,1.0000007152557373,0.5"), arena); /* 3 units */
    assert_int_equal(JUDGE(near, BUDGET, int32_t, 1), NNVTS_PASS);
    assert_int_equal(JUDGE(near, BUDGET, int32_t, 0), NNVTS_PASS);
    assert_int_equal(result.compared, 1);
    assert_int_equal(JUDGE(near, BUDGET, int32_t, 2), NNVTS_FAIL);
    const struct nnv_spec *clear = fake_spec(SUMS("1,1.0000011920928955,0.5"), arena); /* 5 units */
    assert_int_equal(JUDGE(clear, BUDGET, int32_t, 1), NNVTS_PASS);
    assert_int_equal(JUDGE(clear, BUDGET, int32_t, 0), NNVTS_FAIL);
}

/* A second look with more rows takes nothing back of what each number may be off by. */
static void a_second_look_at_ties(void **state) {
    (void)state;
    struct nnv_comparer c = {
        .spec = fake_spec(SUMS("1,1.0000007152557373,0.5"), arena), .precision = BUDGET, .arena = arena};
    struct nnv_err err = {0};
    double before[3];
    if (nnv_comparer_make(&c, &err) != NNV_OK) fail_msg("%s", err.text);
    memcpy(before, c.golden[0].source->reach, sizeof before);
    assert_true(before[0] >= 0x1p-21 && before[1] >= 0x1p-21); /* twice 2^-23, and a unit of 2^-22 */
    if (nnv_comparer_look_again(&c, &err) != NNV_OK) fail_msg("%s", err.text);
    const double *after = c.golden[0].source->reach;
    for (int i = 0; i < 3; i++) assert_true(before[i] > 0 && after[i] >= before[i] && after[i] <= 0x1p-20);
}

/* -------------------------------------------------------------------- keypoints */

#define ROW_PEAKS "0,0,0,0,0, 0,1,0,1,0, 0,0,0,0,0, 0,0,0,0,0, 0,0,0,0,0"
/**
 * Maxima at (y,x) = (1,1) and (3,2), the second with 0.5 to its right: it leans there by 1/6 and rises by 1/48. In a
 * box of 5 by 5 the keypoints are (1.5, 1.5) and (2 + 2/3, 3.5).
 */
#define PEAKS "0,0,0,0,0, 0,1,0,0,0, 0,0,0,0,0, 0,0,1,0.5,0, 0,0,0,0,0"
#define HEATMAP(peaks, outputs, y)                                                                                     \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"peaks\",\"min_version\":\"1.2\",\"main\":{\"operands\":[" OPERAND(        \
        "TENSOR_FLOAT32", "1,5,5,1", "SUBGRAPH_INPUT",                                                                 \
        DATA(peaks)) "," OPERAND("TENSOR_FLOAT32", "1,4", "SUBGRAPH_INPUT",                                            \
                                 DATA("0,0,5,5")) "," OPERAND("BOOL", "", "CONSTANT_COPY",                             \
                                                              DATA("0")) "," y "],\"operations\":[{\"type\":"          \
                                                                         "\"HEATMAP_MAX_KEYPOINT\","                   \
                                                                         "\"inputs\":[0,1,2],\"outputs\":[" outputs    \
                                                                         "]}],\"inputs\":[0,1],\"outputs\":[3]}}"

static void keypoint_ties(void **state) {
    (void)state;
    const struct nnv_spec *spec =
        fake_spec(HEATMAP(PEAKS, "4,3",
                          OPERAND("TENSOR_FLOAT32", "1,1,2", "SUBGRAPH_OUTPUT", DATA("1.5,1.5")) "," //
                          OPERAND("TENSOR_FLOAT32", "1,1", "TEMPORARY_VARIABLE", "")),
                  arena);
    const float third = 2 + 2.0f / 3;
    assert_int_equal(JUDGE(spec, BUDGET, float, 1.5f, 1.5f), NNVTS_PASS);
    assert_int_equal(result.compared, 2);
    assert_int_equal(JUDGE(spec, BUDGET, float, third, 3.5f), NNVTS_PASS);
    assert_int_equal(result.compared, 2);
    assert_int_equal(JUDGE(spec, BUDGET, float, third, 1.5f), NNVTS_FAIL); /* x of the one, y of the other */
    assert_int_equal(JUDGE(spec, BUDGET, float, 1.5f, 3.5f), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, BUDGET, float, 2, 2), NNVTS_FAIL); /* between them */
    assert_int_equal(JUDGE(spec, BUDGET, float, third, 3.501f), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, BUDGET, float, NAN, NAN), NNVTS_FAIL);
    assert_int_equal(JUDGE(spec, NNV_PRECISION_NNAPI, float, third, 3.5f), NNVTS_FAIL);
}

/* Both coordinates decide which of the tied it is: here y is the same. */
static void keypoints_of_a_row(void **state) {
    (void)state;
    const struct nnv_spec *spec =
        fake_spec(HEATMAP(ROW_PEAKS, "4,3",
                          OPERAND("TENSOR_FLOAT32", "1,1,2", "SUBGRAPH_OUTPUT", DATA("1.5,1.5")) "," //
                          OPERAND("TENSOR_FLOAT32", "1,1", "TEMPORARY_VARIABLE", "")),
                  arena);
    assert_int_equal(JUDGE(spec, BUDGET, float, 1.5f, 1.5f), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, BUDGET, float, 3.5f, 1.5f), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, BUDGET, float, 2.5f, 1.5f), NNVTS_FAIL);
}

static void score_ties(void **state) {
    (void)state;
    const struct nnv_spec *spec =
        fake_spec(HEATMAP(PEAKS, "3,4",
                          OPERAND("TENSOR_FLOAT32", "1,1", "SUBGRAPH_OUTPUT", DATA("1")) "," //
                          OPERAND("TENSOR_FLOAT32", "1,1,2", "TEMPORARY_VARIABLE", "")),
                  arena);
    assert_int_equal(JUDGE(spec, BUDGET, float, 1), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, BUDGET, float, 1 + 1.0f / 48), NNVTS_PASS);
    assert_int_equal(JUDGE(spec, BUDGET, float, 1.01f), NNVTS_FAIL);
    assert_int_equal(result.compared, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tied_indices, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(wrong_choices, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(lines, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(reaches, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(unknown_numbers, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(arg_ties, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(topk_ties, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(fixed_profiles, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(ties_by_rounding, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(a_second_look_at_ties, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(keypoint_ties, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(keypoints_of_a_row, start_judging, end_judging),
        cmocka_unit_test_setup_teardown(score_ties, start_judging, end_judging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
