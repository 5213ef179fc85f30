/* SPDX-License-Identifier: Apache-2.0 */
/** Results in any order: what may change places, what may not; ties, as far as they are proven. */
#include <math.h>

#include "tests/kit/judging.h"
#include "harness/judge/match.h"

/* --------------------------------------------------------------------- the set */

enum { ROWS = 5 };
#define NNAPI NNV_PRECISION_NNAPI

/** Score, two numbers of a box, class, group. */
struct row {
    float score, box[2];
    int32_t class, group;
};
struct outputs {
    float score[ROWS], box[ROWS][2];
    int32_t class[ROWS], group[ROWS];
};

static void spread_rows(const struct row *rows, struct outputs *o) {
    for (int i = 0; i < ROWS; i++) {
        o->score[i] = rows[i].score;
        memcpy(o->box[i], rows[i].box, sizeof rows[i].box);
        o->class[i] = rows[i].class;
        o->group[i] = rows[i].group;
    }
}

static void values_of(struct outputs *o, struct nnv_value v[4]) {
    v[0] = (struct nnv_value){.rank = 1, .dims = {ROWS}, .data = o->score, .bytes = sizeof o->score};
    v[1] = (struct nnv_value){.rank = 2, .dims = {ROWS, 2}, .data = o->box, .bytes = sizeof o->box};
    v[2] = (struct nnv_value){.rank = 1, .dims = {ROWS}, .data = o->class, .bytes = sizeof o->class};
    v[3] = (struct nnv_value){.rank = 1, .dims = {ROWS}, .data = o->group, .bytes = sizeof o->group};
}

static int ignored = -1; /* an output that is not compared, -1 none */

/** Wrong elements of all outputs, once rows are matched. The model's outputs stand in another order than the
 * operation's; hidden: an output that is not one of the model, -1 none. */
static size_t wrong(const struct row *expected, const struct row *actual, enum nnv_precision p, int hidden,
                    int32_t code) {
    static uint32_t op_out[] = {7, 8, 9, 5}, outs[] = {5, 7, 8, 9};
    struct nnv_operation op = {.type = code, .nout = 4, .out = op_out};
    struct nnv_subgraph main = {.noperations = 1, .operations = &op, .nout = 4, .out = outs};
    struct outputs e, a;
    struct nnv_value want[4], got[4], actual_values[4];
    struct nnv_expectation expectation[4];
    struct nnv_arena *rows_arena = nnv_arena_new();
    struct nnv_comparison *c = NNV_NEW(rows_arena, struct nnv_comparison, 1);
    size_t n = 0;
    spread_rows(expected, &e);
    spread_rows(actual, &a);
    values_of(&e, want);
    values_of(&a, got);
    for (int i = 0; i < 4; i++) {
        int from = (i + 3) % 4; /* the model's output 0 is the group */
        int32_t type = from < 2 ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_INT32;
        expectation[i] =
            (struct nnv_expectation){.type = type, .value = &want[from], .k = 2, .ignored = from == ignored};
        actual_values[i] = got[from];
        if (from == hidden) outs[i] = 3;
    }
    nnv_match(&main, expectation, p, rows_arena, actual_values);
    for (int i = 0; i < 4; i++) {
        nnv_check(&expectation[i], actual_values[i].data, p, c);
        n += c->wrong;
    }
    memcpy(outs, (uint32_t[]){5, 7, 8, 9}, sizeof outs);
    nnv_arena_free(rows_arena);
    return n;
}

static const int32_t NMS = ANEURALNETWORKS_BOX_WITH_NMS_LIMIT;
static const struct row golden[ROWS] = {
    {0.9f, {1, 2}, 1, 0}, {0.8f, {3, 4}, 1, 0}, {0.7f, {5, 6}, 2, 0}, {0.6f, {1, 2}, 1, 4}, {0.5f, {3, 4}, 1, 4}};

static void orders(void **state) {
    (void)state;
    struct row r[ROWS];
    memcpy(r, golden, sizeof r);
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 0);
    r[0] = golden[2]; /* a rotation in group 0, a swap in group 4 */
    r[1] = golden[0];
    r[2] = golden[1];
    r[3] = golden[4];
    r[4] = golden[3];
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 0);
    assert_int_equal(wrong(golden, r, NNV_PRECISION_AOSP, -1, NMS),
                     15);                                  /* in order; classes off by one are fine there */
    assert_int_equal(wrong(golden, r, NNAPI, 3, NMS), 17); /* no output tells the groups */
    ignored = 3;
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 17);
    ignored = -1;
    assert_int_equal(wrong(golden, r, NNAPI, -1, ANEURALNETWORKS_DETECTION_POSTPROCESSING), 17); /* by falling score */
    r[0].score = nextafterf(r[0].score, 1);                                                      /* within the rule */
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 0);
}

static void wrong_rows_stay_wrong(void **state) {
    (void)state;
    struct row r[ROWS];
    memcpy(r, golden, sizeof r);
    r[0] = golden[1];
    r[1] = golden[0];
    r[1].box[1] = 2.5f; /* a wrong box */
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 1);
    r[1] = golden[0];
    r[1].class = 2; /* a wrong class */
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 1);
    r[1] = golden[0];
    r[1].score = 0.91f;
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 1);
    r[1] = golden[1]; /* doubled, and the best one is missing: its score and its box */
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 3);
}

static void parts_of_rows_do_not_mix(void **state) {
    (void)state;
    struct row r[ROWS];
    memcpy(r, golden, sizeof r);
    r[0].score = golden[1].score; /* all values are there, but not together */
    r[1].score = golden[0].score;
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 2);
}

static void groups_do_not_mix(void **state) {
    (void)state;
    struct row r[ROWS];
    memcpy(r, golden, sizeof r);
    r[0] = golden[3]; /* with its own group: two wrong groups, too */
    r[3] = golden[0];
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 4);
    r[0].group = 0; /* as if it were of the other image */
    r[3].group = 4;
    assert_int_equal(wrong(golden, r, NNAPI, -1, NMS), 2);
}

static void each_row_stands_once(void **state) {
    (void)state;
    /* about 1.00001 fits both, about 0.99999 only the first: taking what fits first would not do */
    const struct row e[ROWS] = {
        {1, {0, 0}, 0, 0}, {1.00002f, {0, 0}, 0, 0}, {5, {0, 0}, 0, 0}, {6, {0, 0}, 0, 0}, {7, {0, 0}, 0, 0}};
    struct row r[ROWS];
    memcpy(r, e, sizeof r);
    r[0].score = 1.00001f;
    r[1].score = 0.99999f;
    assert_int_equal(wrong(e, r, NNAPI, -1, NMS), 0);
    r[0].score = 0.99999f; /* both fit only the first */
    assert_int_equal(wrong(e, r, NNAPI, -1, NMS), 1);
}

/* -------------------------------------------------------------------- the judge */

#define F32(dims, lifetime, data) OPERAND("TENSOR_FLOAT32", dims, lifetime, DATA(data))
#define I32(dims, lifetime, data) OPERAND("TENSOR_INT32", dims, lifetime, DATA(data))
#define NUMBER(v) OPERAND("FLOAT32", "", "CONSTANT_COPY", DATA(v))
#define WHOLE(v) OPERAND("INT32", "", "CONSTANT_COPY", DATA(v))

/** Hard NMS at 0.5 of three regions in one image; two results, of at most `most`. */
/* clang-format off */
#define NMS_SPEC(scores, boxes, out_scores, out_boxes) NMS_MOST("-1", scores, boxes, out_scores, out_boxes)
#define NMS_MOST(most, scores, boxes, out_scores, out_boxes)                                               \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"nms\",\"main\":{\"operands\":["                               \
    F32("3,2", "SUBGRAPH_INPUT", scores) "," F32("3,8", "SUBGRAPH_INPUT", boxes) ","                       \
    I32("3", "SUBGRAPH_INPUT", "0,0,0") "," NUMBER("0.2") "," WHOLE(most) "," WHOLE("0") ","               \
    NUMBER("0.5") "," NUMBER("1") "," NUMBER("0.1") ","                                                    \
    F32("2", "SUBGRAPH_OUTPUT", out_scores) "," F32("2,4", "SUBGRAPH_OUTPUT", out_boxes) ","               \
    I32("2", "SUBGRAPH_OUTPUT", "1,1") "," I32("2", "SUBGRAPH_OUTPUT", "0,0") "],"                         \
    "\"operations\":[{\"type\":\"BOX_WITH_NMS_LIMIT\",\"inputs\":[0,1,2,3,4,5,6,7,8],"                     \
    "\"outputs\":[9,10,11,12]}],\"inputs\":[0,1,2],\"outputs\":[9,10,11,12]}}"
/* clang-format on */
#define A_ "0,0,10,10"
#define B_ "1,0,11,10"
#define D_ "50,50,60,60"
#define THREE A_ "," A_ "," B_ "," B_ "," D_ "," D_

/** The driver answers the spec's outputs with scores and boxes replaced. */
static struct nnv_spec *answer(const char *json, const float *scores, const float *boxes) {
    struct nnv_spec *spec = fake_spec(json, arena);
    struct nnv_value *v = nnv_arena_copy(arena, spec->outputs, 4 * sizeof *v);
    v[0].data = nnv_arena_copy(arena, scores, v[0].bytes);
    v[1].data = nnv_arena_copy(arena, boxes, v[1].bytes);
    fake.values = v;
    return spec;
}

static void sets_are_judged(void **state) {
    (void)state;
    const char *json = NMS_SPEC("0,0.9,0,0.8,0,0.5", THREE, "0.9,0.5", A_ "," D_);
    const float right[] = {0, 0, 10, 10, 50, 50, 60, 60}, swapped[] = {50, 50, 60, 60, 0, 0, 10, 10};
    const float other[] = {1, 0, 11, 10, 50, 50, 60, 60};
    struct nnv_spec *spec = answer(json, (float[]){0.9f, 0.5f}, right);
    for (int p = 0; p < NNV_PRECISION_COUNT; p++) {
        assert_int_equal(judge(spec, (enum nnv_precision)p), NNVTS_PASS);
        assert_int_equal(result.compared, 2 + 8 + 2 + 2);
    }
    spec = answer(json, (float[]){0.5f, 0.9f}, swapped);
    assert_int_equal(judge(spec, NNV_PRECISION_NNAPI), NNVTS_PASS);
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(spec, NNV_PRECISION_AOSP), NNVTS_FAIL);
    spec = answer(json, (float[]){0.5f, 0.9f}, right);
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    spec = answer(json, (float[]){0.9f, 0.9f}, (float[]){0, 0, 10, 10, 0, 0, 10, 10});
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
    spec = answer(json, (float[]){0.8f, 0.5f}, other); /* the worse of two that overlap */
    assert_int_equal(judge(spec, NNV_PRECISION_BUDGET), NNVTS_FAIL);
}

static void proven_ties_may_be_decided_either_way(void **state) {
    (void)state;
    const char *tie = NMS_SPEC("0,0.9,0,0.9,0,0.5", THREE, "0.9,0.5", A_ "," D_);
    const char *clear = NMS_SPEC("0,0.9,0,0.8999999,0,0.5", THREE, "0.9,0.5", A_ "," D_);
    const float other[] = {1, 0, 11, 10, 50, 50, 60, 60}, neither[] = {0.5f, 0, 10.5f, 10, 50, 50, 60, 60};
    const float swapped[] = {50, 50, 60, 60, 1, 0, 11, 10};
    const float *scores = (float[]){0.9f, 0.5f};
    assert_int_equal(judge(answer(tie, scores, other), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(result.compared, 2 + 8 + 2 + 2);
    assert_int_equal(judge(answer(tie, (float[]){0.5f, 0.9f}, swapped), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(tie, scores, neither), NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(answer(clear, scores, other), NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(answer(tie, scores, other), NNV_PRECISION_NNAPI), NNVTS_FAIL); /* the file's values */
    /* also where a single value tells them apart */
    const char *near = NMS_SPEC("0,0.9,0,0.9,0,0.5", A_ "," A_ ",0,0,11,10,0,0,11,10," D_ "," D_, "0.9,0.5", A_ "," D_);
    assert_int_equal(judge(answer(near, scores, (float[]){0, 0, 11, 10, 50, 50, 60, 60}), NNV_PRECISION_BUDGET),
                     NNVTS_PASS);
    assert_int_equal(judge(answer(near, scores, (float[]){0, 0, 12, 10, 50, 50, 60, 60}), NNV_PRECISION_BUDGET),
                     NNVTS_FAIL);
    assert_non_null(strstr(result.reason.data, "1 of 8 values wrong"));
}

/** The model leaves the number of results open; the driver answers n of `scores` and `boxes`. */
static int judge_number(const char *json, uint32_t n, const float *scores, const float *boxes) {
    static const int32_t ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
    struct nnv_spec *spec = answer(json, (float[]){0, 0}, (float[]){0, 0, 0, 0, 0, 0, 0, 0});
    const void *const data[] = {scores, boxes, ones, zeros};
    struct nnv_value v[4];
    for (uint32_t i = 0; i < 4; i++) {
        spec->model.main.operands[9 + i].dims[0] = 0;
        v[i] = spec->outputs[i];
        v[i].dims[0] = n;
        v[i].bytes = 4 * n * (i == 1 ? 4u : 1u);
        v[i].data = nnv_arena_copy(arena, data[i], v[i].bytes);
    }
    fake.values = v;
    return judge(spec, NNV_PRECISION_BUDGET);
}

/* The first two overlap by just a half: one result is right, or two; the third lies apart. */
static void numbers_of_results(void **state) {
    (void)state;
#define OVERLAP "0,0,0,0,0,0,2,1,0,0,0,0,0,0,1,1,0,0,0,0,50,50,60,60"
    const char *open = NMS_SPEC("0,0.9,0,0.8,0,0.5", OVERLAP, "0.9,0.5", "0,0,2,1," D_);
    const char *clear = NMS_SPEC("0,0.9,0,0.8,0,0.5", "0,0,0,0,0,0,2,1,0,0,0,0,0,0,1.01,1,0,0,0,0,50,50,60,60",
                                 "0.9,0.5", "0,0,2,1," D_);
    const float two[] = {0.9f, 0.5f}, three[] = {0.9f, 0.8f, 0.5f}, lost[] = {0.9f};
    const float two_boxes[] = {0, 0, 2, 1, 50, 50, 60, 60};
    float three_boxes[] = {0, 0, 2, 1, 0, 0, 1, 1, 50, 50, 60, 60};
    assert_int_equal(judge_number(open, 2, two, two_boxes), NNVTS_PASS);
    assert_int_equal(judge_number(open, 3, three, three_boxes), NNVTS_PASS);
    assert_int_equal(result.compared, 3 * 7);
    assert_int_equal(judge_number(open, 1, lost, two_boxes), NNVTS_FAIL);
    assert_int_equal(judge_number(clear, 2, two, two_boxes), NNVTS_PASS);
    three_boxes[6] = 1.01f;
    assert_int_equal(judge_number(clear, 3, three, three_boxes), NNVTS_FAIL); /* it overlaps by more than a half */
    assert_int_equal(judge_number(open, 3, three, three_boxes), NNVTS_FAIL);  /* a wrong box */
}

/* The first two overlap by just a half, and two of three are kept: scores and boxes follow the same decision. */
static void alternatives_are_taken_whole(void **state) {
    (void)state;
    const char *open = NMS_MOST("2", "0,0.9,0,0.8,0,0.5", OVERLAP, "0.9,0.5", "0,0,2,1," D_);
    const float dropped[] = {0.9f, 0.5f}, kept[] = {0.9f, 0.8f};
    const float dropped_boxes[] = {0, 0, 2, 1, 50, 50, 60, 60}, kept_boxes[] = {0, 0, 2, 1, 0, 0, 1, 1};
    assert_int_equal(judge(answer(open, dropped, dropped_boxes), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(open, kept, kept_boxes), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(open, kept, dropped_boxes), NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(answer(open, dropped, kept_boxes), NNV_PRECISION_BUDGET), NNVTS_FAIL);
}

/** Regular detections of three anchors apart, one class: (0,0,2,2), (0,4,2,6), (0,8,2,10). */
#define DETECT_SPEC(scores, out_scores, out_boxes)                                                                                                                                                                                                                                                                                                                                                                                                                                               \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"detect\",\"main\":{\"operands\":[" F32("1,3,2", "SUBGRAPH_INPUT", scores) "," F32(                                                                                                                                                                                                                                                                                                                                                                  \
        "1,3,4", "SUBGRAPH_INPUT",                                                                                                                                                                                                                                                                                                                                                                                                                                                               \
        "0,0,0,0,0,0,0,0,0,0,0,0") "," F32("3,4", "SUBGRAPH_INPUT",                                                                                                                                                                                                                                                                                                                                                                                                                              \
                                           "1,1,2,2,1,5,2,2,1,9,2,2") "," NUMBER("1") "," NUMBER("1") "," NUMBER("1") "," NUMBER("1") "," OPERAND("BOOL",                                                                                                                                                                                                                                                                                                                                        \
                                                                                                                                                  "",                                                                                                                                                                                                                                                                                                                                            \
                                                                                                                                                  "CONSTANT_COPY", DATA("1")) "," WHOLE("2") "," WHOLE("1") "," WHOLE("3") "," NUMBER("0.2") "," NUMBER("0.5") "," OPERAND("BOOL", "", "CONSTANT_COPY",                                                                                                                                                                                          \
                                                                                                                                                                                                                                                                           DATA(                                                                                                                                                                                                                 \
                                                                                                                                                                                                                                                                               "0")) "," F32("1,2",                                                                                                                                                                                              \
                                                                                                                                                                                                                                                                                             "SUBGRAPH_OUTPUT", out_scores) "," F32("1,2,4", "SUBGRAPH_OUTPUT", out_boxes) "," I32("1,2",                                                                                                        \
                                                                                                                                                                                                                                                                                                                                                                                   "SUBGRAPH_OUTPUT", "0,0") "," I32("1",                                                                        \
                                                                                                                                                                                                                                                                                                                                                                                                                     "SUBGRAPH_OUTPUT",                                                          \
                                                                                                                                                                                                                                                                                                                                                                                                                     "2") "],\"operations\":[{\"type\":\"DETECTION_POSTPROCESSING\",\"inputs\":" \
                                                                                                                                                                                                                                                                                                                                                                                                                          "[0,1,2,3,4,5,6,7,8,9,10,11,12,13],\"outputs\":[14,15,16,17]}],\"inputs\":[0,1,2],\"outputs\":[14,15,16,17]}}"

static void ordered_detections(void **state) {
    (void)state;
    const char *clear = DETECT_SPEC("0,0.9,0,0.7,0,0.5", "0.9,0.7", "0,0,2,2,0,4,2,6");
    const char *tie = DETECT_SPEC("0,0.9,0,0.9,0,0.5", "0.9,0.9", "0,0,2,2,0,4,2,6");
    const char *last = DETECT_SPEC("0,0.9,0,0.5,0,0.5", "0.9,0.5", "0,0,2,2,0,4,2,6");
    const float right[] = {0, 0, 2, 2, 0, 4, 2, 6}, swapped[] = {0, 4, 2, 6, 0, 0, 2, 2};
    const float third[] = {0, 0, 2, 2, 0, 8, 2, 10};
    assert_int_equal(judge(answer(clear, (float[]){0.9f, 0.7f}, right), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(clear, (float[]){0.7f, 0.9f}, swapped), NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(answer(clear, (float[]){0.7f, 0.9f}, swapped), NNV_PRECISION_NNAPI), NNVTS_FAIL);
    assert_int_equal(judge(answer(tie, (float[]){0.9f, 0.9f}, swapped), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(last, (float[]){0.9f, 0.5f}, third), NNV_PRECISION_BUDGET), NNVTS_PASS);
    assert_int_equal(judge(answer(tie, (float[]){0.9f, 0.9f}, third), NNV_PRECISION_BUDGET), NNVTS_FAIL);
    assert_int_equal(judge(answer(tie, (float[]){0.9f, 0.9f}, (float[]){0, 0, 2, 2, 0, 0, 2, 2}), NNV_PRECISION_BUDGET),
                     NNVTS_FAIL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_judging, end_judging)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(wrong_rows_stay_wrong),
        cmocka_unit_test(parts_of_rows_do_not_mix),
        cmocka_unit_test(groups_do_not_mix),
        cmocka_unit_test(each_row_stands_once),
        TEST(sets_are_judged),
        TEST(proven_ties_may_be_decided_either_way),
        TEST(numbers_of_results),
        TEST(alternatives_are_taken_whole),
        TEST(ordered_detections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
