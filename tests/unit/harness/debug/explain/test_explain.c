/* SPDX-License-Identifier: Apache-2.0 */
/** The catalogue of faults, on answers worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "harness/client/request.h"
#include "harness/debug/explain/explain.h"
#include "harness/debug/explain/fit.h"
#include "harness/debug/explain/work.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

enum { MOST = 64 };

static struct nnv_explanation found;
static const uint64_t MOST_WORK = UINT64_C(1) << 35;

#define F32(dims, lifetime, data)                                                                                      \
    "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[" dims "],\"lifetime\":\"" lifetime "\",\"data\":[" data "]}"
#define Q8(dims, scale, zero, lifetime, data)                                                                          \
    "{\"type\":\"TENSOR_QUANT8_ASYMM\",\"dims\":[" dims "],\"scale\":" scale ",\"zero_point\":" zero                   \
    ",\"lifetime\":\"" lifetime "\",\"data\":[" data "]}"
#define TEMPORARY "{\"type\":\"TENSOR_FLOAT32\",\"dims\":[3],\"lifetime\":\"TEMPORARY_VARIABLE\"}"
#define INT(v) "{\"type\":\"INT32\",\"dims\":[],\"lifetime\":\"CONSTANT_COPY\",\"data\":[" v "]}"
#define IN "SUBGRAPH_INPUT"
#define CONST "CONSTANT_COPY"
#define OUT "SUBGRAPH_OUTPUT"
#define SPEC(operands, operations, inputs, outputs)                                                                    \
    "{\"format\":\"nnvts-spec/1\",\"name\":\"x\",\"source\":\"\",\"min_version\":\"1.3\",\"expect_failure\":false,"    \
    "\"relaxed\":false,\"main\":{\"operands\":[" operands "],\"operations\":[" operations "],\"inputs\":[" inputs      \
    "],\"outputs\":[" outputs "]},\"referenced\":[]}"
#define OP(type, inputs, outputs) "{\"type\":\"" type "\",\"inputs\":[" inputs "],\"outputs\":[" outputs "]}"

static const struct nnv_spec *read_spec(const char *json) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_spec_parse(json, strlen(json), "test", arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    return spec;
}

/** The spec's first output with these stored numbers. */
static struct nnv_value *answer(const struct nnv_spec *spec, const double *v) {
    struct nnv_value *out = nnv_arena_copy(arena, spec->outputs, sizeof *out);
    int32_t type = spec->model.main.operands[spec->model.main.out[0]].type;
    out->data = nnv_arena_alloc(arena, out->bytes + 1, 1);
    nnv_store(type, v, out->bytes / nnv_type(type)->size, out->data);
    return out;
}

static void explain_all(const struct nnv_spec *spec, const struct nnv_explain_answers *answers) {
    struct nnv_err err = {0};
    if (nnv_explain(spec, NNV_PRECISION_BUDGET, answers, MOST_WORK, arena, &found, &err) != NNV_OK)
        fail_msg("%s", err.text);
}

static void explain(const char *json, const double *v) {
    const struct nnv_spec *spec = read_spec(json);
    const struct nnv_explain_answers answers = {.count = 1, .outputs = {answer(spec, v)}};
    explain_all(spec, &answers);
}

#define V(...)                                                                                                         \
    (const double[]) { __VA_ARGS__ }

static void assert_fault(const char *name, int at) {
    if (found.kind != NNV_EXPLAINED_FAULT) fail_msg("kind %d instead of %s", (int)found.kind, name);
    assert_string_equal(found.finding[0].fault->name, name);
    assert_int_equal(found.finding[0].at, at);
}

/* a - b = [4, 5, 6, -2] */
#define DIFFERENCE                                                                                                     \
    SPEC(F32("4", IN, "5,7,9,2") "," F32("4", IN, "1,2,3,4") "," INT("0") "," F32("4", OUT, "4,5,6,-2"),               \
         OP("SUB", "0,1,2", "3"), "0,1", "3")
/* x * w + b, a 1x4 image, taps [1, 10], bias 0.5, RELU: [21.5, 32.5, 43.5] */
#define CONVOLUTION                                                                                                    \
    SPEC(F32("1,1,4,1", IN, "1,2,3,4") "," F32("1,1,2,1", CONST, "1,10") "," F32("1", CONST, "0.5") "," INT(           \
             "2") "," INT("1") "," INT("1") "," INT("1") "," F32("1,1,3,1", OUT, "21.5,32.5,43.5"),                    \
         OP("CONV_2D", "0,1,2,3,4,5,6", "7"), "0", "7")
/* (a - 10) / 2 + (b - 4) = [-1, 1, 3, 5] + [2, 5, 10, 20], RELU; stored 20 more */
#define QUANTISED_SUM                                                                                                  \
    SPEC(Q8("4", "0.5", "10", IN, "8,12,16,20") "," Q8("4", "1", "4", IN, "6,9,14,24") "," INT("1") "," Q8(            \
             "4", "1", "20", OUT, "21,26,33,45"),                                                                      \
         OP("ADD", "0,1,2", "3"), "0,1", "3")

static void right_answer(void **state) {
    (void)state;
    explain(DIFFERENCE, V(4, 5, 6, -2));
    assert_int_equal(found.kind, NNV_EXPLAINED_RIGHT);
    assert_int_equal(found.compared, 4);
}

static void nothing_known(void **state) {
    (void)state;
    explain(DIFFERENCE, V(17, 5.25, -3, 99));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    assert_int_equal(found.wrong, 4);
    assert_true(found.tried > 10);
    assert_int_equal(found.findings, 0);
}

/** One wrong value more than the mistake would make is one too many. */
static void all_values_must_fit(void **state) {
    (void)state;
    explain(DIFFERENCE, V(-4, -5, -6, 2.5));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

static void two_that_are_the_same(void **state) {
    (void)state;
    explain(DIFFERENCE, V(-4, -5, -6, 2)); /* b - a is also -(a - b) */
    assert_fault("operands-swapped", -1);
    assert_true(found.findings >= 2);
    assert_string_equal(found.finding[1].fault->name, "sign-flipped");
    assert_true(found.finding[1].same);
}

static void filter_and_bias(void **state) {
    (void)state;
    explain(CONVOLUTION, V(12.5, 23.5, 34.5)); /* 10 x + next + 0.5 */
    assert_fault("filter-flipped", -1);
    explain(CONVOLUTION, V(21, 32, 43));
    assert_fault("bias-ignored", -1);
    explain(CONVOLUTION, V(22, 33, 44));
    assert_fault("bias-doubled", -1);
}

static void quantisation(void **state) {
    (void)state;
    explain(QUANTISED_SUM, V(21, 26, 33, 45));
    assert_int_equal(found.kind, NNV_EXPLAINED_RIGHT);
    explain(QUANTISED_SUM, V(1, 6, 13, 25));
    assert_fault("output-zero-point-ignored", -1);
    /* b as a is: (b - 10) / 2 = -2, -0.5, 2, 7: sums -3, 0.5, 5, 12 */
    explain(QUANTISED_SUM, V(20, 21, 25, 32));
    assert_fault("second-like-first", -1);
    explain(QUANTISED_SUM, V(149, 154, 161, 173));
    assert_fault("signedness", -1);
    explain(QUANTISED_SUM, V(20, 26, 32, 44));
    assert_fault("low-bit-dropped", -1);
    explain(QUANTISED_SUM, V(21, 26, 32, 44)); /* not of all */
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** TANH, then SUB: the second is the wrong one. */
static void two_operations(void **state) {
    (void)state;
    explain(SPEC(F32("3", IN, "2,3,4") "," TEMPORARY "," F32("3", CONST, "1,2,5") "," INT("0") "," F32(
                     "3", OUT, "2,2,-2") "," F32("3", CONST, "1,1,1"),
                 OP("SUB", "0,5,3", "1") "," OP("SUB", "1,2,3", "4"), "0", "4"),
            V(0, 0, 2)); /* [1, 2, 3] - [1, 2, 5] = [0, 0, -2] */
    assert_fault("operands-swapped", 1);
}

/** Two outputs, the second of which is not compared: what it holds is neither right nor wrong. */
static void one_ignored(void **state) {
    (void)state;
    const struct nnv_spec *spec = read_spec(SPEC(F32("3", IN, "2,3,4") "," F32("3", CONST, "1,2,5") "," INT(
                                                     "0") "," F32("3", OUT, "1,1,-1") "," F32("3", OUT, "3,5,9"),
                                                 OP("SUB", "0,1,2", "3") "," OP("ADD", "0,1,2", "4"), "0", "3,4"));
    struct nnv_value both[2] = {spec->outputs[0], spec->outputs[1]};
    both[1].data = (float[]){99, 5, -7};
    const struct nnv_explain_answers answers = {.count = 1, .outputs = {both}};
    spec->model.main.operands[4].ignored = true;
    explain_all(spec, &answers);
    assert_int_equal(found.kind, NNV_EXPLAINED_RIGHT);
    assert_int_equal(found.compared, 3);
    assert_int_equal(found.wrong, 0);
    spec->model.main.operands[4].ignored = false;
    explain_all(spec, &answers);
    assert_int_equal(found.compared, 6);
    assert_int_equal(found.wrong, 2);
}

static void not_written(void **state) {
    (void)state;
    const struct nnv_spec *spec = read_spec(DIFFERENCE);
    struct nnv_value *v = answer(spec, V(4, 5, 6, 0));
    uint8_t poison[16];
    nnv_request_poison(0, sizeof poison, poison);
    memcpy((uint8_t *)v->data + 12, poison + 12, 4);
    explain_all(spec, &(struct nnv_explain_answers){.count = 1, .outputs = {v}});
    assert_fault("last-element-unwritten", -1);
    /* a wrong last element that is not what the buffer held */
    explain(DIFFERENCE, V(4, 5, 6, 77));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** Which elements were not written only the answer says. */
static void some_not_written(void **state) {
    (void)state;
    const struct nnv_spec *spec = read_spec(DIFFERENCE);
    struct nnv_value *v = answer(spec, V(0, 5, 0, -2));
    uint8_t poison[16];
    nnv_request_poison(0, sizeof poison, poison);
    memcpy(v->data, poison, 4);
    memcpy((uint8_t *)v->data + 8, poison + 8, 4);
    explain_all(spec, &(struct nnv_explain_answers){.count = 1, .outputs = {v}});
    assert_fault("elements-unwritten", -1);
    /* one of them holds something else */
    ((uint8_t *)v->data)[8] ^= 1;
    explain_all(spec, &(struct nnv_explain_answers){.count = 1, .outputs = {v}});
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** a - b, eight numbers: [10, 20 ... 80] - [1, 2, 4, 8, 16, 32, 64, 128] */
#define LONG_DIFFERENCE                                                                                                \
    SPEC(F32("8", IN, "10,20,30,40,50,60,70,80") "," F32("8", IN, "1,2,4,8,16,32,64,128") "," INT("0") "," F32(        \
             "8", OUT, "9,18,26,32,34,28,6,-48"),                                                                      \
         OP("SUB", "0,1,2", "3"), "0,1", "3")

/** Values that a fault moves keep their bounds, where others have smaller ones. */
static void moved_with_its_bound(void **state) {
    (void)state;
    explain(SPEC(F32("8", IN, "-20,-10,-5,0,5,10,15,20") "," F32("8", OUT,
                                                                 "2.0611537e-09,4.539993e-05,0.006737947,1,148.41316,"
                                                                 "22026.466,3269017.4,485165195"),
                 OP("EXP", "0", "1"), "0", "1"),
            V(485165200, 3269017.5, 22026.465, 148.41315, 1, 0.0067379466, 4.5399924e-05, 2.061154e-09));
    assert_fault("all-reversed", -1);
}

/** As numbers the buffer's poison is NaN, or true: what a driver wrote may be, too. */
static void written_after_all(void **state) {
    (void)state;
    const double nan = (double)NAN;
    explain(DIFFERENCE, V(nan, nan, nan, nan));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    explain(LONG_DIFFERENCE, V(nan, nan, nan, nan, nan, nan, nan, nan));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    explain(SPEC("{\"type\":\"TENSOR_BOOL8\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[1,0,1,1]},"
                 "{\"type\":\"TENSOR_BOOL8\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[0,1,0,0]}",
                 OP("LOGICAL_NOT", "0", "1"), "0", "1"),
            V(1, 1, 1, 1));
    if (found.kind == NNV_EXPLAINED_FAULT) assert_string_not_equal(found.finding[0].fault->name, "output-unwritten");
}

static void assert_words(const char *words) {
    if (found.kind != NNV_EXPLAINED_FAULT) fail_msg("kind %d instead of '%s'", (int)found.kind, words);
    for (int i = 0; i < found.findings; i++)
        if (strstr(found.finding[i].fault->words, words)) return;
    fail_msg("'%s' instead of '%s'", found.finding[0].fault->words, words);
}

/** What is in no catalogue follows from the record. */
static void generated(void **state) {
    (void)state;
    /* b is read again after four */
    explain(LONG_DIFFERENCE, V(9, 18, 26, 32, 49, 58, 66, 72));
    assert_words("b, axis 0: repeated after 4");
    /* of a the last two are lost */
    explain(LONG_DIFFERENCE, V(9, 18, 26, 32, 34, 28, -64, -128));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN); /* two wrong values are too few */
    explain(LONG_DIFFERENCE, V(9, 18, 26, 32, -16, -32, -64, -128));
    assert_words("a, axis 0: lost from 4 on");
    explain(LONG_DIFFERENCE, V(9, 18, 26, 31, 31, 28, 6, -48));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/* a 4x4 image, padded by 2 at the left, by 1 above and below, under a filter whose last tap of 3x3 is 1 */
#define PADDED                                                                                                               \
    SPEC(                                                                                                                    \
        F32("1,4,4,1", IN, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16") "," F32("1,3,3,1", CONST, "0,0,0,0,0,0,0,0,1") "," F32( \
            "1", CONST,                                                                                                      \
            "0") "," INT("2") "," INT("0") "," INT("1") "," INT("1") "," INT("0") "," F32("1,4,4,1", OUT,                    \
                                                                                          "5,6,7,8,9,10,11,12,13,14,"        \
                                                                                          "15,16,0,0,0,0"),                  \
        OP("CONV_2D", "0,1,2,3,4,5,6,5,6,7", "8"), "0", "8")
/* three pixels of two channels, each under filters of its own [1, 2] and [3, 4] */
#define MULTIPLIED                                                                                                     \
    SPEC(F32("1,1,3,2", IN, "1,10,2,20,5,7") "," F32("1,1,1,4", CONST, "1,2,3,4") "," F32(                             \
             "4", CONST,                                                                                               \
             "0,0,0,0") "," INT("2") "," INT("1") "," INT("1") "," INT("2") "," INT("0") "," F32("1,1,3,4", OUT,       \
                                                                                                 "1,2,30,40,2,4,60,"   \
                                                                                                 "80,5,10,21,28"),     \
         OP("DEPTHWISE_CONV_2D", "0,1,2,3,4,5,6,7", "8"), "0", "8")

/** Where padding begins, which channel is read: with as many results as there must be. */
static void windows_and_channels(void **state) {
    (void)state;
    explain(PADDED, V(2, 3, 4, 0, 6, 7, 8, 0, 10, 11, 12, 0, 14, 15, 16, 0));
    assert_words("padding before taken for that of the other axis");
    explain(PADDED, V(6, 7, 8, 0, 10, 11, 12, 0, 14, 15, 16, 0, 0, 0, 0, 0));
    assert_words("padding left taken for that at the top");
    explain(PADDED, V(2, 33, 4, 0, 6, 7, 8, 0, 10, 11, 12, 0, 14, -7, 16, 0));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    explain(MULTIPLIED, V(1, 20, 3, 40, 2, 40, 6, 80, 5, 14, 15, 28));
    assert_words("output channel k made of input channel k modulo their number");
    explain(MULTIPLIED, V(1, 20, 3, 40, 2, 40, 6, 80, 5, 14, 17, 29));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** Products and operands in too few bits; vectors that overlap. */
static void too_few_bits(void **state) {
    (void)state;
    explain(SPEC(Q8("8", "1", "0", IN, "200,250,100,255,220,240,230,210") "," Q8(
                     "8", "1", "0", IN,
                     "200,180,100,255,230,250,240,220") "," INT("0") "," Q8("8", "256", "0", OUT,
                                                                            "156,176,39,254,198,234,216,180"),
                 OP("MUL", "0,1,2", "3"), "0,1", "3"),
            V(128, 128, 39, 128, 128, 128, 128, 128));
    assert_words("products of codes saturate in 16 bits");
    explain(LONG_DIFFERENCE, V(9, 18, 26, 32, 34, 52, 54, 48));
    assert_words("b, axis 0: the last block of 3 taken from the aligned one before");
#define I32(lifetime, data) "{\"type\":\"TENSOR_INT32\",\"dims\":[8],\"lifetime\":\"" lifetime "\",\"data\":[" data "]}"
    explain(SPEC(I32(IN, "16777217,33554433,67108865,16777219,33554435,67108869,16777223,33554439") "," I32(
                     IN, "1,1,1,1,1,1,1,1") "," INT("0") "," I32(OUT, "16777216,33554432,67108864,16777218,33554434,"
                                                                      "67108868,16777222,33554438"),
                 OP("SUB", "0,1,2", "3"), "0,1", "3"),
            V(16777215, 33554432, 67108864, 16777220, 33554436, 67108872, 16777224, 33554440));
    assert_fault("int-operands-through-float", -1);
}

#define SLOPES "124,126,130,132,124,126,130,132"
#define ROWS(row) row "," row "," row

/** Limits that no catalogue knows are those of the answer; real numbers have signs in codes, too. */
static void suggested_by_the_answer(void **state) {
    (void)state;
    explain(LONG_DIFFERENCE, V(9, 18, 26, 26, 26, 26, 6, -48));
    assert_words("output not above 26");
    explain(LONG_DIFFERENCE, V(9, 18, 26, 27, 27, 27, 6, -48.5));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    /* PRELU of -8 to -1, slopes -2, -1, 1, 2 */
    explain(SPEC(Q8("3,8", "1", "128", IN, ROWS("120,121,122,123,124,125,126,127")) "," Q8(
                     "8", "0.5", "128", CONST, SLOPES) "," Q8("3,8", "1", "128", OUT,
                                                              ROWS("144,135,122,118,136,131,126,126")),
                 OP("PRELU", "0,1", "2"), "0", "2"),
            V(128, 128, 122, 118, 128, 128, 126, 126, 128, 128, 122, 118, 128, 128, 126, 126, 128, 128, 122, 118, 128,
              128, 126, 126));
    assert_words("negative ones of alpha taken for 0");
}

/* (x - 128) / 2, at most 6: the code 140, and 12 without the zero point */
#define TWICE(codes) codes "," codes
#define LIMITED                                                                                                        \
    SPEC(Q8("16", "0.5", "128", IN, TWICE("128,132,136,140,144,150,160,200")) "," Q8(                                  \
             "16", "0.5", "128", OUT, TWICE("128,132,136,140,140,140,140,140")),                                       \
         OP("RELU6", "0", "1"), "0", "1")
/* PRELU of -128, -78, -28, -1, 0, 12, 52 and 127, slopes 1 and 2, in units of 1 and 2 */
#define HANDED_ON                                                                                                      \
    SPEC(Q8("2,8", "1", "128", IN, TWICE("0,50,100,127,128,140,180,255")) "," Q8(                                      \
             "8", "1", "0", CONST, "1,2,1,2,1,2,1,2") "," Q8("2,8", "2", "100", OUT,                                   \
                                                             TWICE("36,22,86,99,100,106,126,164")),                    \
         OP("PRELU", "0,1", "2"), "0", "2")

/** Limits of an activation are codes of the output, and numbers that are handed on are rescaled. */
static void codes_of_limits(void **state) {
    (void)state;
    explain(LIMITED, V(12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12));
    assert_words("upper limit of the activation without the output's zero point");
    explain(LIMITED, V(12, 12, 12, 12, 12, 12, 13, 12, 12, 12, 12, 12, 12, 12, 12, 12));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
    explain(HANDED_ON, V(36, 22, 86, 99, 128, 140, 180, 255, 36, 22, 86, 99, 128, 140, 180, 255));
    assert_words("codes of input copied, not rescaled, where the result is its number and not negative");
    explain(HANDED_ON, V(36, 22, 86, 99, 128, 140, 180, 255, 36, 22, 86, 99, 128, 140, 181, 255));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** Two integers that are one number in float32. */
static void integers_through_float(void **state) {
    (void)state;
#define INTS(lifetime, data)                                                                                           \
    "{\"type\":\"TENSOR_INT32\",\"dims\":[4],\"lifetime\":\"" lifetime "\",\"data\":[" data "]}"
#define EQUAL_INTS                                                                                                     \
    SPEC(INTS(IN, "16777217,5,2147483647,-7") "," INTS(                                                                \
             IN, "16777216,5,2147483646,7") ",{\"type\":\"TENSOR_BOOL8\","                                             \
                                            "\"dims\":[4],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[0,1,0,0]}",       \
         OP("EQUAL", "0,1", "2"), "0,1", "2")
    explain(EQUAL_INTS, V(1, 1, 1, 0));
    assert_fault("int-operands-through-float", -1);
    explain(EQUAL_INTS, V(1, 1, 0, 0));
    assert_int_equal(found.kind, NNV_EXPLAINED_UNKNOWN);
}

/** Axis 0 of two is the last, counted from there. */
static void axes_from_the_other_end(void **state) {
    (void)state;
    explain(SPEC(F32("2,3", IN, "1,2,3,4,5,6") ",{\"type\":\"TENSOR_INT32\",\"dims\":[1],\"lifetime\":\"" CONST
                                               "\",\"data\":[0]}," F32("2,3", OUT, "4,5,6,1,2,3"),
                 OP("REVERSE", "0,1", "2"), "0", "2"),
            V(3, 2, 1, 6, 5, 4));
    assert_words("axis counted from the last one");
}

/** A vector kernel that begins anew with what is left counts all elements, whatever the axes. */
static void flat_places(void **state) {
    (void)state;
    explain(SPEC(F32("2,7", IN, "0,0,0,0,0,0,0,0,0,0,0,0,0,0") "," F32(
                     "2,7", IN, "1,2,3,4,5,6,7,8,9,10,11,12,13,14") "," INT("0") "," F32("2,7", OUT,
                                                                                         "-1,-2,-3,-4,-5,-6,-7,-8,-9,-"
                                                                                         "10,-11,-12,-13,-14"),
                 OP("SUB", "0,1,2", "3"), "0,1", "3"),
            V(-1, -2, -3, -4, -5, -6, -7, -8, -1, -2, -3, -4, -5, -6));
    assert_words("all of b: the rest behind blocks of 8 taken from the");
}

/** What explains one dump is looked for in another. */
static void known_from_others(void **state) {
    uint64_t left = MOST_WORK;
    struct nnv_spec *spec = (struct nnv_spec *)(uintptr_t)read_spec(LONG_DIFFERENCE);
    (void)state;
    spec->actual = answer(spec, V(9, 18, 26, 32, -16, -32, -64, -128));
    assert_true(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "a, axis 0: lost from 4 on", arena, &left));
    assert_true(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "a, axis 0: lost from 5 on", arena, &left)); /* alike */
    assert_false(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "a, axis 0: the last lost", arena, &left));
    assert_false(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "first and second operand swapped", arena, &left));
    spec->actual = answer(spec, V(-9, -18, -26, -32, -34, -28, -6, 48));
    assert_true(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "first and second operand swapped", arena, &left));
    /* two wrong values are enough for what explains others */
    spec->actual = answer(spec, V(9, 18, 26, 32, 34, 28, -64, -128));
    assert_true(nnv_explain_does(spec, NNV_PRECISION_BUDGET, "a, axis 0: lost from 4 on", arena, &left));
    assert_true(left < MOST_WORK);
}

/** Of a the second half is lost, and of b the first number. */
/** A mistake that would spoil a right answer is not made by a driver that gives it. */
static void what_would_show(void **state) {
    (void)state;
    const char *words = "first and second operand swapped", *lost = "a, axis 0: lost from 2 on";
#define OF_THREE(a, b, y)                                                                                              \
    SPEC(F32("3", IN, a) "," F32("3", IN, b) "," INT("0") "," F32("3", OUT, y), OP("SUB", "0,1,2", "3"), "0,1", "3")
    uint64_t left = MOST_WORK;
    const struct nnv_spec *differ = read_spec(OF_THREE("1,2,3", "4,6,8", "-3,-4,-5"));
    const struct nnv_spec *same = read_spec(OF_THREE("1,2,3", "1,2,3", "0,0,0"));
    assert_true(nnv_explain_shows(differ, NNV_PRECISION_BUDGET, words, arena, &left));
    assert_true(left < MOST_WORK);
    assert_false(nnv_explain_shows(same, NNV_PRECISION_BUDGET, words, arena, &left));
    /* one that is alike, lost from 1 on, would show; this one has nothing to lose; and one cannot happen here */
    assert_false(
        nnv_explain_shows(read_spec(OF_THREE("1,2,0", "4,6,8", "-3,-4,-8")), NNV_PRECISION_BUDGET, lost, arena, &left));
    assert_true(nnv_explain_shows(differ, NNV_PRECISION_BUDGET, lost, arena, &left));
    assert_false(nnv_explain_shows(differ, NNV_PRECISION_BUDGET, "a, axis 0: lost from 4 on", arena, &left));
    /* what cannot happen here, or could not be tried, is not known */
    assert_false(
        nnv_explain_shows(differ, NNV_PRECISION_BUDGET, "dilation ignored: the taps lie side by side", arena, &left));
    left = 1;
    assert_false(nnv_explain_shows(differ, NNV_PRECISION_BUDGET, words, arena, &left));
}

static void two_at_once(void **state) {
    (void)state;
    explain(LONG_DIFFERENCE, V(10, 18, 26, 32, -16, -32, -64, -128));
    assert_words("; and ");
    assert_words("a, axis 0: lost from 4 on");
    assert_words("b, axis 0: the first lost");
}

/** The exponential of four numbers in a type. */
#define EXPONENTIAL(type)                                                                                              \
    SPEC("{\"type\":\"TENSOR_" type "\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_INPUT\",\"data\":[0,1,2,3]},"             \
         "{\"type\":\"TENSOR_" type                                                                                    \
         "\",\"dims\":[4],\"lifetime\":\"SUBGRAPH_OUTPUT\",\"data\":[1,2.7182817,7.389056,20.085537]}",                \
         OP("EXP", "0", "1"), "0", "1")

/** Nobody promises functions of float16 that are right to three bits, though the answer would be right by that. */
static void poor_functions(void **state) {
    (void)state;
    explain(EXPONENTIAL("FLOAT32"), V(1.000005, 2.71827, 7.38909, 20.0856));
    assert_int_equal(found.weaker, 1);
    assert_string_equal(found.right_if[0], "functions are within 256 ulps");
    explain(EXPONENTIAL("FLOAT16"), V(1.1, 2.5, 7.9, 19));
    assert_int_equal(found.weaker, 0);
}

static void unsteady(void **state) {
    (void)state;
    const struct nnv_spec *spec = read_spec(DIFFERENCE);
    struct nnv_value *right = answer(spec, V(4, 5, 6, -2)), *wrong = answer(spec, V(4, 5, 6, (double)NAN));
    explain_all(spec, &(struct nnv_explain_answers){.count = 3, .outputs = {right, wrong, right}});
    assert_int_equal(found.kind, NNV_EXPLAINED_UNSTEADY);
    assert_int_equal(found.wrong, 1);
    assert_true(found.nan);
}

static void no_answer(void **state) {
    (void)state;
    explain_all(read_spec(DIFFERENCE), &(struct nnv_explain_answers){.reason = "it refused"});
    assert_int_equal(found.kind, NNV_EXPLAINED_NO_ANSWER);
    assert_string_equal(found.reason, "it refused");
}

/* --------------------------------------------------------------------- the bank */

static bool is_slot(const char *name, const struct nnv_fault *m) {
    size_t count;
    const struct nnv_op *const *op = nnv_ops(&count);
    for (size_t i = 0; i < count; i++)
        for (uint8_t f = 0; f < op[i]->nforms && nnv_fault_fits(m, op[i]->code); f++)
            for (uint8_t k = 0; k < op[i]->forms[f].nin; k++)
                if (strcmp(op[i]->forms[f].in[k].name, name) == 0) return true;
    return false;
}

static void rows_are_whole(void **state) {
    (void)state;
    size_t count;
    const struct nnv_fault *m = nnv_faults(&count);
    assert_true(count >= 60);
    for (size_t i = 0; i < count; i++) {
        if (!m[i].name || !m[i].words || (!nnv_fault_is_edit(&m[i]) && !m[i].element)) fail_msg("row %zu has a gap", i);
        if (m[i].numbers && !m[i].slots[0]) fail_msg("%s: numbers of no input", m[i].name);
        assert_ptr_equal(nnv_fault_by_name(m[i].name), &m[i]);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(m[i].name, m[k].name);
        for (uint8_t k = 0; k < m[i].nops; k++)
            if (!nnv_op(m[i].ops[k])) fail_msg("%s: no operation %d", m[i].name, m[i].ops[k]);
        for (int k = 0; k < NNV_FAULT_SLOTS && m[i].slots[k]; k++)
            if (!is_slot(m[i].slots[k], &m[i])) fail_msg("%s: no input '%s'", m[i].name, m[i].slots[k]);
        if (!nnv_op(m[i].code) || !nnv_op(m[i].other_code)) fail_msg("%s: no such operation", m[i].name);
    }
}

/** Judging by promises is counted, too: what breaks one is evaluated in all rows. So are the steps of a sequence. */
static void work_is_counted(void **state) {
    (void)state;
    const char *json = SPEC(F32("3", IN, "1,2,3") "," F32("3", OUT, "0.8414709848,0.9092974268,0.1411200081"),
                            OP("SIN", "0", "1"), "0", "1");
    struct nnv_spec spec = *read_spec(json);
    const uint64_t row = nnv_explain_work(&spec.model);
    uint64_t left = MOST_WORK;
    struct nnv_arithmetic weaker;
    size_t promises = 0;
    explain(json, V(5, 5, 5));
    while (nnv_arithmetic_weaker(&spec.arithmetic, promises, &weaker)) promises++;
    assert_true(found.work > promises * row * (1 + NNV_ROWS_SECOND));
    spec.actual = answer(&spec, V(5, 5, 5));
    spec.bounds = NULL;
    assert_int_equal(nnv_explain_promise(&spec, NNV_PRECISION_BUDGET, "functions are within 256 ulps", arena, &left),
                     NNV_PROMISE_BROKEN);
    assert_int_equal(MOST_WORK - left, row * (2 + NNV_ROWS_QUANTISED + NNV_ROWS_SECOND));

    uint32_t input[] = {1, 100}, weights[] = {200, 100};
    struct nnv_operand operands[] = {{.rank = 2, .dims = input}, {.rank = 2, .dims = weights}};
    uint32_t in[] = {0, 1};
    struct nnv_operation rnn = {.type = ANEURALNETWORKS_RNN, .nin = 2, .in = in};
    struct nnv_model model = {.main = {.noperands = 2, .operands = operands, .noperations = 1, .operations = &rnn}};
    const uint64_t one = nnv_explain_work(&model);
    input[0] = 50;
    assert_true(nnv_explain_work(&model) >= one + UINT64_C(49) * 200 * 100);

    /* Each of 400 numbers is a sum of as many products as a filter has taps: 1 * 1 * 2, then 3 * 3 * 2. */
    uint32_t image[] = {1, 10, 10, 2}, filter[] = {4, 1, 1, 2}, bias[] = {4}, made[] = {1, 10, 10, 4};
    uint32_t of_conv[] = {0, 1, 2}, out[] = {3};
    struct nnv_operand tensors[] = {
        {.rank = 4, .dims = image}, {.rank = 4, .dims = filter}, {.rank = 1, .dims = bias}, {.rank = 4, .dims = made}};
    struct nnv_operation conv = {.type = ANEURALNETWORKS_CONV_2D, .nin = 3, .in = of_conv, .nout = 1, .out = out};
    model.main = (struct nnv_subgraph){.noperands = 4, .operands = tensors, .noperations = 1, .operations = &conv};
    const uint64_t point = nnv_explain_work(&model);
    filter[1] = filter[2] = 3;
    assert_true(nnv_explain_work(&model) >= point + UINT64_C(400) * (18 - 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answer),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(all_values_must_fit),
        cmocka_unit_test(filter_and_bias),
        cmocka_unit_test(two_that_are_the_same),
        cmocka_unit_test(quantisation),
        cmocka_unit_test(two_operations),
        cmocka_unit_test(one_ignored),
        cmocka_unit_test(not_written),
        cmocka_unit_test(moved_with_its_bound),
        cmocka_unit_test(written_after_all),
        cmocka_unit_test(generated),
        cmocka_unit_test(some_not_written),
        cmocka_unit_test(windows_and_channels),
        cmocka_unit_test(too_few_bits),
        cmocka_unit_test(suggested_by_the_answer),
        cmocka_unit_test(codes_of_limits),
        cmocka_unit_test(integers_through_float),
        cmocka_unit_test(axes_from_the_other_end),
        cmocka_unit_test(flat_places),
        cmocka_unit_test(known_from_others),
        cmocka_unit_test(what_would_show),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(poor_functions),
        cmocka_unit_test(unsteady),
        cmocka_unit_test(no_answer),
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(work_is_counted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
