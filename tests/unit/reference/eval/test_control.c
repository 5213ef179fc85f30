/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: IF and WHILE evaluated, in one row and in many, and loops without end. */
#include "tests/kit/control.h"

#include "base/clock.h"

static void test_if(void **state) {
    (void)state;
    holds(IF_SPEC("1", "1,2", "10,20", "11,22"));
    holds(IF_SPEC("0", "1,2", "10,20", "-9,-18"));
}

/* Any byte but 0 is true. */
static void test_if_of_another_byte(void **state) {
    (void)state;
    struct nnv_spec *spec = parse(IF_SPEC("1", "1,2", "10,20", "11,22"));
    struct nnv_golden out;
    struct nnv_err err;
    *(uint8_t *)spec->inputs[0].data = 2;
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, &out, &err), NNV_OK);
    assert_memory_equal(out.value.data, ((float[]){11, 22}), 8);
}

/* No arguments, several outputs, an operation whose result nobody reads, and the same subgraph for both. */
#define CONSTANTS                                                                                                      \
    GRAPH(ICONST("7") "," NUMBER("0") "," I("1", OUT) "," I("1", OUT) "," I("1", TEMP),                                \
          USE("ADD", "0,0,1", "2") "," USE("SUB", "0,0,1", "4") "," USE("MUL", "0,0,1", "3"), "", "3,2")
static void test_if_without_arguments(void **state) {
    (void)state;
    holds(SPEC("", GRAPH(BIN("0") "," MODEL("0") "," IOUT("49") "," IOUT("14"), USE("IF", "0,1,1", "2,3"), "0", "2,3"),
               CONSTANTS));
}

/* One operand is both arguments: x + x. */
static void test_if_same_argument_twice(void **state) {
    (void)state;
    holds(SPEC("",
               GRAPH(BIN("1") "," MODEL("0") "," MODEL("1") "," FIN("2", "3,-4") "," FOUT("2", "6,-8"),
                     USE("IF", "0,1,2,3,3", "4"), "0,3", "4"),
               BRANCH("ADD") "," BRANCH("SUB")));
}

/* A scalar as an argument: the activation of an ADD, which is 1, RELU. */
static void test_if_with_a_scalar(void **state) {
    (void)state;
    holds(
        SPEC("",
             GRAPH(BIN("0") "," MODEL("0") "," MODEL("1") "," FIN("2", "1,2") "," NUMBER("1") "," FIN(
                       "2", "-10,20") "," FOUT("2", "0,22"),
                   USE("IF", "0,1,2,3,4,5", "6"), "0,3,5", "6"),
             GRAPH(F("2", IN) "," OPERAND("INT32", "", IN, "") "," F("2", IN) "," F("2", OUT), USE("SUB", "0,2,1", "3"),
                   "0,1,2", "3") "," GRAPH(F("2", IN) "," OPERAND("INT32", "", IN, "") "," F("2", IN) "," F("2", OUT),
                                           USE("ADD", "0,2,1", "3"), "0,1,2", "3")));
}

/* An argument without elements is one. */
static void test_while_of_nothing(void **state) {
    (void)state;
    struct nnv_spec *spec = parse(GROWING("0", "3", "4", "1,5,5,5"));
    struct nnv_golden out;
    struct nnv_err err;
    spec->model.main.operands[3].dims[0] = 0;
    spec->inputs[0].dims[0] = 0;
    spec->inputs[0].bytes = 0;
    if (evaluate(spec, &(struct nnv_eval_options){.rows = 8, .k = 2}, &out, &err)) fail_msg("%s", err.text);
    assert_int_equal(out.value.dims[0], 3);
    assert_memory_equal(out.value.data, ((float[]){5, 5, 5}), 12);
}

static void test_if_decides_the_shape(void **state) {
    (void)state;
    holds(EITHER("1", "0", "4", "1,2,1,2"));
    holds(EITHER("0", "0", "2", "2,4"));
    holds(EITHER("1", "", "4", "1,2,1,2"));
    holds(EITHER("0", "", "2", "2,4"));
}

static void test_while(void **state) {
    (void)state;
    holds(SUM_SPEC("", "0", "0", "5", "0", "5")); /* not once: the arguments themselves */
    holds(SUM_SPEC("", "9", "3", "5", "9", "5"));
    holds(SUM_SPEC("", "0", "1", "5", "1", "5"));
    holds(SUM_SPEC("", "2", "3", "5", "3", "7"));
    holds(SUM_SPEC("", "0", "5", "100", "5", "110")); /* 0 + 1 + 2 + 3 + 4 */
}

static void test_while_with_hidden_state(void **state) {
    (void)state;
    holds(FIBONACCI("0", "1"));
    holds(FIBONACCI("1", "1"));
    holds(FIBONACCI("2", "2"));
    holds(FIBONACCI("6", "13"));
}

static void test_while_of_growing_state(void **state) {
    (void)state;
    holds(GROWING("0", "0", "1", "1"));
    holds(GROWING("0", "3", "4", "1,5,5,5"));
    holds(GROWING("", "2", "3", "1,5,5"));
}

static void test_if_in_while(void **state) {
    (void)state;
    holds(CHOOSING("1", "11,22"));
    holds(CHOOSING("2", "21,42"));
    holds(CHOOSING("3", "11,22"));
    holds(CHOOSING("5", "-9,-18"));
}

/* While i < n: the inner loop sums 0 to i - 1 into a. n = 4: 0 + 0 + (0 + 1) + (0 + 1 + 2) = 4. */
#define INNER_BODY                                                                                                     \
    GRAPH(I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", OUT) "," I("1", OUT) "," ICONST("1") "," NUMBER("0"),    \
          USE("ADD", "0,5,6", "3") "," USE("ADD", "1,0,6", "4"), "0,1,2", "3,4")
#define LOOP_CONDITION GRAPH(I("1", IN) "," I("1", IN) "," I("1", IN) "," B(OUT), USE("LESS", "0,2", "3"), "0,1,2", "3")
static void test_while_in_while(void **state) {
    (void)state;
    holds(SPEC("",
               GRAPH(MODEL("0") "," MODEL("1") "," ICONST("0") "," IIN("0") "," IIN("4") "," IOUT("4") "," IOUT("4"),
                     USE("WHILE", "0,1,2,3,4", "5,6"), "3,4", "5,6"),
               LOOP_CONDITION "," GRAPH(
                   I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", OUT) "," I("1", OUT) "," ICONST("1") "," NUMBER(
                       "0") "," MODEL("0") "," MODEL("2") "," ICONST("0") "," I("1", TEMP),
                   USE("ADD", "0,5,6", "3") "," USE("WHILE", "7,8,9,1,0", "10,4"), "0,1,2", "3,4") "," INNER_BODY));
}

/* ------------------------------------------------------------------------ rows */

/* The condition is a + b < limit, where the sum may be rounded either way. */
#define NEAR(limit)                                                                                                    \
    SPEC("",                                                                                                           \
         GRAPH(                                                                                                        \
             FIN("1", "0.1") "," FIN("1", "0.2") "," FIN("1", limit) "," NUMBER("0") "," F("1", TEMP) "," B(           \
                 TEMP) "," MODEL("0") "," MODEL("1") "," FIN("2", "1,2") "," FIN("2", "10,20") "," FOUT("2", "11,22"), \
             USE("ADD", "0,1,3", "4") "," USE("LESS", "4,2", "5") "," USE("IF", "5,6,7,8,9", "10"), "0,1,2,8,9",       \
             "10"),                                                                                                    \
         BRANCH("ADD") "," BRANCH("SUB"))
static void test_doubt(void **state) {
    (void)state;
    static const struct {
        const char *json;
        bool compared;
    } cases[] = {{NEAR("0.5"), true}, {NEAR("0.3"), false}, {NEAR("0.30000001"), false}, {NEAR("0.2"), true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_golden out;
        struct nnv_err err;
        const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 3};
        if (evaluate(parse(cases[i].json), &options, &out, &err)) fail_msg("%s", err.text);
        for (int e = 0; e < 2; e++) assert_int_equal(isfinite(out.spread[e]) != 0, cases[i].compared);
        if (cases[i].compared) assert_true(out.spread[0] > 0 && out.spread[0] < 1e-5);
    }
}

/* Noise from before a loop and from its body reaches the outputs: 8 products of a sum. */
static void test_noise_goes_through(void **state) {
    (void)state;
    double most[2];
    for (int n = 0; n < 2; n++) {
        struct nnv_golden out;
        struct nnv_err err;
        const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 3};
        if (evaluate(parse(n ? CHOOSING("2", "21,42") : CHOOSING("1", "11,22")), &options, &out, &err))
            fail_msg("%s", err.text);
        most[n] = out.spread[0];
    }
    assert_true(most[0] > 0.5 * 0x1p-24 * 11 && most[0] < 1.5 * 0x1p-24 * 11);
    assert_true(most[1] > most[0] && most[1] < 1.5 * 0x1p-24 * (11 + 21));
}

/* Float32 constants of a body may be rounded to float16 in a relaxed model: 0.1 is none. */
static void test_relaxed_constants(void **state) {
    (void)state;
    const char *json = SPEC(
        "'relaxed':true,",
        GRAPH(BIN("1") "," MODEL("0") "," FIN("1", "0") "," FOUT("1", "0.1"), USE("IF", "0,1,1,2", "3"), "0,2", "3"),
        GRAPH(F("1", IN) "," OPERAND("TENSOR_FLOAT32", "1", "CONSTANT_COPY", DATA("0.1")) "," F("1", OUT),
              USE("MAXIMUM", "0,1", "2"), "0", "2"));
    struct nnv_golden out;
    struct nnv_err err;
    const struct nnv_eval_options options = {.rows = 8, .k = 2, .seed = 3};
    if (evaluate(parse(json), &options, &out, &err)) fail_msg("%s", err.text);
    assert_true(out.spread[0] > 0.9 * 0x1p-11 * 0.1);
}

/* ------------------------------------------------------------------ without end */

static void test_loop_timeout(void **state) {
    (void)state;
    struct nnv_golden out;
    struct nnv_err err;
    const struct nnv_spec *spec = parse(ENDLESS(""));
    uint64_t start = nnv_now_ns();
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){.loop_timeout_ns = 1000000}, &out, &err), NNV_TIMEOUT);
    assert_true(nnv_now_ns() - start < 1000000000);
    assert_non_null(strstr(err.text, "operation 0 (WHILE): iteration "));
    assert_non_null(strstr(err.text, ": the loop did not end within 0.001 s"));
}

/* Every subgraph runs the next one twice: 2^22 times the last one, without any loop. */
static void test_too_many_subgraphs(void **state) {
    (void)state;
    enum { DEEP = 22 };
    struct nnv_text t = {0};
    nnv_text_add(&t, "{'format':'nnvts-spec/1','name':'t','main':" GRAPH(
                         BIN("1") "," MODEL("0") "," BIN("1") "," OPERAND("TENSOR_BOOL8", "1", OUT, DATA("1")),
                         USE("IF", "0,1,1,2", "3"), "0,2", "3") ",'referenced':[");
    for (int i = 1; i <= DEEP; i++)
        nnv_text_addf(&t,
                      GRAPH(B(IN) "," MODEL("%d") "," B(TEMP) "," B(OUT),
                            USE("IF", "0,1,1,0", "2") "," USE("IF", "0,1,1,2", "3"), "0", "3") ",",
                      i);
    nnv_text_add(&t, GRAPH(B(IN) "," B(OUT), USE("LOGICAL_NOT", "0", "1"), "0", "1") "]}");
    struct nnv_golden out;
    struct nnv_err err;
    const struct nnv_spec *spec = parse(t.data);
    nnv_text_free(&t);
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, &out, &err), NNV_TIMEOUT);
    assert_non_null(strstr(err.text, "more than 1048576 subgraphs were run"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_if),
        TEST(test_if_of_another_byte),
        TEST(test_if_without_arguments),
        TEST(test_if_same_argument_twice),
        TEST(test_if_with_a_scalar),
        TEST(test_while_of_nothing),
        TEST(test_if_decides_the_shape),
        TEST(test_while),
        TEST(test_while_with_hidden_state),
        TEST(test_while_of_growing_state),
        TEST(test_if_in_while),
        TEST(test_while_in_while),
        TEST(test_doubt),
        TEST(test_noise_goes_through),
        TEST(test_relaxed_constants),
        TEST(test_loop_timeout),
        TEST(test_too_many_subgraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
