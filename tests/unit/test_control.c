/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: IF and WHILE evaluated, validated, written, and carried to drivers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "harness/core/abi.h"
#include "harness/core/suite.h"
#include "nnvts/result.h"
#include "reference/eval/eval.h"
#include "reference/model/spec.h"
#include "reference/model/validate.h"

static struct nnv_arena *arena;

static int set_up(void **state) {
    (void)state;
    arena = nnv_arena_new();
    return arena ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    nnv_arena_free(arena);
    return 0;
}

/* ----------------------------------------------------------------- spec texts */

#define OPERAND(type, dims, life, more) "{'type':'" type "','dims':[" dims "],'lifetime':'" life "'" more "}"
#define DATA(values) ",'data':[" values "]"
#define F(dims, life) OPERAND("TENSOR_FLOAT32", dims, life, "")
#define I(dims, life) OPERAND("TENSOR_INT32", dims, life, "")
#define B(life) OPERAND("TENSOR_BOOL8", "1", life, "")
#define IN "SUBGRAPH_INPUT"
#define OUT "SUBGRAPH_OUTPUT"
#define TEMP "TEMPORARY_VARIABLE"
#define FIN(dims, values) OPERAND("TENSOR_FLOAT32", dims, IN, DATA(values))
#define FOUT(dims, values) OPERAND("TENSOR_FLOAT32", dims, OUT, DATA(values))
#define IIN(values) OPERAND("TENSOR_INT32", "1", IN, DATA(values))
#define IOUT(values) OPERAND("TENSOR_INT32", "1", OUT, DATA(values))
#define BIN(values) OPERAND("TENSOR_BOOL8", "1", IN, DATA(values))
#define ICONST(value) OPERAND("TENSOR_INT32", "1", "CONSTANT_COPY", DATA(value))
#define NUMBER(value) OPERAND("INT32", "", "CONSTANT_COPY", DATA(value))
#define MODEL(index) OPERAND("SUBGRAPH", "", "SUBGRAPH", DATA(index))
#define USE(type, in, out) "{'type':'" type "','inputs':[" in "],'outputs':[" out "]}"
#define GRAPH(operands, operations, in, out)                                                                           \
    "{'operands':[" operands "],'operations':[" operations "],'inputs':[" in "],'outputs':[" out "]}"
#define SPEC(head, main, referenced)                                                                                   \
    "{'format':'nnvts-spec/1','name':'t'," head "'main':" main ",'referenced':[" referenced "]}"

/* y = x (type) z on two numbers each */
#define BRANCH(type)                                                                                                   \
    GRAPH(F("2", IN) "," F("2", IN) "," NUMBER("0") "," F("2", OUT), USE(type, "0,1,2", "3"), "0,1", "3")
/* y = condition ? x + z : x - z */
#define IF_SPEC(condition, x, z, y)                                                                                    \
    SPEC("",                                                                                                           \
         GRAPH(BIN(condition) "," MODEL("0") "," MODEL("1") "," FIN("2", x) "," FIN("2", z) "," FOUT("2", y),          \
               USE("IF", "0,1,2,3,4", "5"), "0,3,4", "5"),                                                             \
         BRANCH("ADD") "," BRANCH("SUB"))

/* Specs are written with ' for ". */
static struct nnv_spec *parse_as(const char *json, enum nnv_status want, struct nnv_err *err) {
    char *text = nnv_arena_strdup(arena, json);
    for (char *p = text; *p; p++)
        if (*p == '\'') *p = '"';
    struct nnv_spec *spec = NULL;
    *err = (struct nnv_err){0};
    if (nnv_spec_parse(text, strlen(text), "t", arena, &spec, err) != want) fail_msg("%s", err->text);
    return spec;
}

static struct nnv_spec *parse(const char *json) {
    struct nnv_err err;
    return parse_as(json, NNV_OK, &err);
}

/* ---------------------------------------------------------------- evaluating */

static enum nnv_status evaluate(const struct nnv_spec *spec, const struct nnv_eval_options *options,
                                struct nnv_golden *out, struct nnv_err *err) {
    *err = (struct nnv_err){0};
    enum nnv_status st = nnv_validate(&spec->model, arena, NULL, err);
    return st ? st : nnv_eval(&spec->model, spec->inputs, options, arena, out, err);
}

/* The golden results are the spec's own expectations, with and without perturbed rows. */
static void holds(const char *json) {
    const struct nnv_spec *spec = parse(json);
    for (int rows = 0; rows <= 8; rows += 8) {
        struct nnv_golden out[4];
        struct nnv_err err;
        const struct nnv_eval_options options = {.rows = rows, .k = 2, .seed = 1};
        if (evaluate(spec, &options, out, &err)) fail_msg("%s", err.text);
        for (uint32_t i = 0; i < spec->model.main.nout; i++) {
            const struct nnv_value *want = &spec->outputs[i], *got = &out[i].value;
            assert_int_equal(got->rank, want->rank);
            for (uint32_t d = 0; d < got->rank; d++) assert_int_equal(got->dims[d], want->dims[d]);
            assert_int_equal(got->bytes, want->bytes);
            assert_memory_equal(got->data, want->data, want->bytes);
            assert_non_null(out[i].exact);
        }
    }
}

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

/* The branches give two and four numbers, or are of another rank. */
#define TWICE GRAPH(F("2", IN) "," NUMBER("0") "," F("4", OUT), USE("CONCATENATION", "0,0,1", "2"), "0", "2")
#define DOUBLE GRAPH(F("2", IN) "," NUMBER("0") "," F("2", OUT), USE("ADD", "0,0,1", "2"), "0", "2")
#define EITHER(condition, declared, actual, y)                                                                         \
    SPEC("",                                                                                                           \
         GRAPH(BIN(condition) "," MODEL("0") "," MODEL("1") "," FIN("2", "1,2") "," OPERAND(                           \
                   "TENSOR_FLOAT32", declared, OUT, ",'value_dims':[" actual "],'data':[" y "]"),                      \
               USE("IF", "0,1,2,3", "4"), "0,3", "4"),                                                                 \
         TWICE "," DOUBLE)
static void test_if_decides_the_shape(void **state) {
    (void)state;
    holds(EITHER("1", "0", "4", "1,2,1,2"));
    holds(EITHER("0", "0", "2", "2,4"));
    holds(EITHER("1", "", "4", "1,2,1,2"));
    holds(EITHER("0", "", "2", "2,4"));
}

/* The sum of 0 to n - 1, and where the counter ends. */
#define SUM_SPEC(head, first, limit, start, end, y)                                                                    \
    SPEC(head,                                                                                                         \
         GRAPH(MODEL("0") "," MODEL("1") "," IIN(first) "," IIN(start) "," IIN(limit) "," IOUT(end) "," IOUT(y),       \
               USE("WHILE", "0,1,2,3,4", "5,6"), "2,3,4", "5,6"),                                                      \
         GRAPH(I("1", IN) "," I("1", IN) "," I("1", IN) "," B(OUT), USE("LESS", "0,2", "3"), "0,1,2", "3") "," GRAPH(  \
             I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", OUT) "," I("1", OUT) "," ICONST("1") "," NUMBER("0"), \
             USE("ADD", "0,5,6", "3") "," USE("ADD", "1,0,6", "4"), "0,1,2", "3,4"))
static void test_while(void **state) {
    (void)state;
    holds(SUM_SPEC("", "0", "0", "5", "0", "5")); /* not once: the arguments themselves */
    holds(SUM_SPEC("", "9", "3", "5", "9", "5"));
    holds(SUM_SPEC("", "0", "1", "5", "1", "5"));
    holds(SUM_SPEC("", "2", "3", "5", "3", "7"));
    holds(SUM_SPEC("", "0", "5", "100", "5", "110")); /* 0 + 1 + 2 + 3 + 4 */
}

/* Fibonacci: a is given out, b and the counter are not, and the limit never changes. 1 1 2 3 5 8 13 */
#define FIBONACCI(limit, y)                                                                                                           \
    SPEC(                                                                                                                             \
        "",                                                                                                                           \
        GRAPH(MODEL("0") "," MODEL("1") "," ICONST("1") "," ICONST("1") "," ICONST("0") "," IIN(limit) "," IOUT(y),                   \
              USE("WHILE", "0,1,2,3,4,5", "6"), "5", "6"),                                                                            \
        GRAPH(I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", IN) "," B(OUT), USE("LESS", "2,3", "4"), "0,1,2,3", "4") "," GRAPH( \
            I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", OUT) "," I("1", OUT) "," I(                            \
                "1", OUT) "," ICONST("1") "," ICONST("0") "," NUMBER("0"),                                                            \
            USE("ADD", "1,8,9", "4") "," USE("ADD", "0,1,9", "5") "," USE("ADD", "2,7,9", "6"), "0,1,2,3", "4,5,6"))
static void test_while_with_hidden_state(void **state) {
    (void)state;
    holds(FIBONACCI("0", "1"));
    holds(FIBONACCI("1", "1"));
    holds(FIBONACCI("2", "2"));
    holds(FIBONACCI("6", "13"));
}

/* x becomes x, 5 in each iteration. */
#define GROWING(dims, limit, actual, y)                                                                                \
    SPEC("",                                                                                                           \
         GRAPH(MODEL("0") "," MODEL("1") "," ICONST("0") "," FIN("1", "1") "," IIN(limit) "," I(                       \
                   "1", TEMP) "," OPERAND("TENSOR_FLOAT32", dims, OUT, ",'value_dims':[" actual "],'data':[" y "]"),   \
               USE("WHILE", "0,1,2,3,4", "5,6"), "3,4", "6"),                                                          \
         GRAPH(I("1", IN) "," F(dims, IN) "," I("1", IN) "," B(OUT), USE("LESS", "0,2", "3"), "0,1,2", "3") "," GRAPH( \
             I("1", IN) "," F(dims, IN) "," I("1", IN) "," I("1", OUT) "," F(dims, OUT) "," ICONST("1") "," NUMBER(    \
                 "0") "," OPERAND("TENSOR_FLOAT32", "1", "CONSTANT_COPY", DATA("5")),                                  \
             USE("ADD", "0,5,6", "3") "," USE("CONCATENATION", "1,7,6", "4"), "0,1,2", "3,4"))
static void test_while_of_growing_state(void **state) {
    (void)state;
    holds(GROWING("0", "0", "1", "1"));
    holds(GROWING("0", "3", "4", "1,5,5,5"));
    holds(GROWING("", "2", "3", "1,5,5"));
}

/* i < 2 ? x + z : x - z, in each of n iterations; the branches are subgraphs 2 and 3. */
#define CHOOSING(limit, y)                                                                                                            \
    SPEC(                                                                                                                             \
        "",                                                                                                                           \
        GRAPH(MODEL("0") "," MODEL("1") "," ICONST("0") "," FIN("2", "1,2") "," IIN(limit) "," FIN(                                   \
                  "2", "10,20") "," I("1", TEMP) "," FOUT("2", y),                                                                    \
              USE("WHILE", "0,1,2,3,4,5", "6,7"), "3,4,5", "7"),                                                                      \
        GRAPH(I("1", IN) "," F("2", IN) "," I("1", IN) "," F("2", IN) "," B(OUT), USE("LESS", "0,2", "4"), "0,1,2,3", "4") "," GRAPH( \
            I("1", IN) "," F("2", IN) "," I("1", IN) "," F("2", IN) "," I("1", OUT) "," F("2", OUT) "," ICONST(                       \
                "1") "," NUMBER("0") "," ICONST("2") "," B(TEMP) "," MODEL("2") "," MODEL("3"),                                       \
            USE("ADD", "0,6,7", "4") "," USE("LESS", "0,8", "9") "," USE("IF", "9,10,11,1,3", "5"), "0,1,2,3",                        \
            "4,5") "," BRANCH("ADD") "," BRANCH("SUB"))
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

#define ENDLESS(head)                                                                                                  \
    SPEC(head, GRAPH(MODEL("0") "," MODEL("1") "," IIN("0") "," IOUT("0"), USE("WHILE", "0,1,2", "3"), "2", "3"),      \
         GRAPH(I("1", IN) "," B(OUT), USE("EQUAL", "0,0", "1"), "0", "1") "," GRAPH(                                   \
             I("1", IN) "," I("1", OUT) "," ICONST("1") "," NUMBER("0"), USE("ADD", "0,2,3", "1"), "0", "1"))

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

/* ----------------------------------------------------------------- refused uses */

static void check_refused(const struct nnv_spec *spec, const char *reason) {
    struct nnv_err err = {0};
    int level = 0;
    if (nnv_validate(&spec->model, arena, &level, &err) != NNV_INVALID) fail_msg("not refused: %s", reason);
    assert_string_equal(err.text, reason);
}

/* The valid model is refused after a change to main m, its operation o, or the referenced subgraphs r. */
#define REFUSED(json, change, reason)                                                                                  \
    do {                                                                                                               \
        struct nnv_spec *spec = parse(json);                                                                           \
        struct nnv_subgraph *m = &spec->model.main, *r = spec->model.referenced;                                       \
        struct nnv_operation *o = m->operations;                                                                       \
        assert_int_equal(nnv_validate(&spec->model, arena, NULL, NULL), NNV_OK);                                       \
        (void)m, (void)r, (void)o;                                                                                     \
        change;                                                                                                        \
        check_refused(spec, reason);                                                                                   \
    } while (0)

static void test_refused_ifs(void **state) {
    (void)state;
    static const char valid[] = IF_SPEC("1", "1,2", "10,20", "11,22");
    REFUSED(valid, m->operands[0].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (IF): input 0 (condition): TENSOR_INT32 is not accepted here, expected TENSOR_BOOL8");
    REFUSED(valid, m->operands[0].dims[0] = 2,
            "operation 0 (IF): input 0 (condition): a condition of shape [2], expected [1]");
    REFUSED(valid, m->operands[0].dims[0] = 0,
            "operation 0 (IF): input 0 (condition): a condition of shape [?], expected [1]");
    REFUSED(valid, m->operands[0].rank = 0,
            "operation 0 (IF): input 0 (condition): a condition of shape [?...], expected [1]");
    REFUSED(valid, o->in[1] = 3,
            "operation 0 (IF): input 1 (then): TENSOR_FLOAT32 is not accepted here, expected MODEL");
    REFUSED(valid, o->nin = 2, "operation 0 (IF): 2 inputs: expected at least 3");
    REFUSED(valid, o->nin = 3, "operation 0 (IF): 0 arguments, but the then subgraph takes 2");
    REFUSED(valid, m->operands[1].subgraph = 9, "operand 1: there is no referenced subgraph 9");
    REFUSED(valid, r[1].nin = 1, "operation 0 (IF): 2 arguments, but the else subgraph takes 1");
    REFUSED(valid, r[1].nout = 0, "operation 0 (IF): 1 output, but the else subgraph gives 0");
    REFUSED(valid, r[0].operands[0].type = ANEURALNETWORKS_TENSOR_FLOAT16,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: TENSOR_FLOAT32, but TENSOR_FLOAT16 in the "
            "subgraph");
    REFUSED(valid, r[1].operands[1].dims[0] = 3,
            "operation 0 (IF): input 4 as input 1 of the else subgraph: shape [2], but [3] in the subgraph");
    REFUSED(valid, r[1].operands[3].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (IF): output 0 as output 0 of the else subgraph: TENSOR_FLOAT32, but TENSOR_INT32 in the "
            "subgraph");
    REFUSED(valid, r[0].in[0] = 99,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: there is no operand 99 in the subgraph");
    REFUSED(valid, (m->operands[4].lifetime = NNV_NO_VALUE, m->nin = 2),
            "operation 0 (IF): input 4 (argument): has no value, but may not be omitted");
    REFUSED(valid, r[1].operations[0].in[0] = 3,
            "referenced subgraph 1: operation 0 (SUB): input 0: operand 3 is read before it is written");
}

static void test_model_is_no_argument(void **state) {
    (void)state;
    struct nnv_spec *spec = parse(IF_SPEC("1", "1,2", "10,20", "11,22"));
    struct nnv_err err = {0};
    spec->model.main.operations[0].in[3] = 1;
    assert_int_equal(nnv_validate(&spec->model, arena, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "operation 0 (IF): input 3 (argument): MODEL is not accepted here"));
}

#define QUANT(life) OPERAND("TENSOR_QUANT8_ASYMM", "2", life, ",'scale':0.5,'zero_point':9")
#define QUANT_BRANCH GRAPH(QUANT(IN) "," QUANT(OUT), USE("RELU", "0", "1"), "0", "1")
static void test_refused_quantisation(void **state) {
    (void)state;
    static const char valid[] = SPEC(
        "",
        GRAPH(BIN("1") "," MODEL("0") "," OPERAND(
                  "TENSOR_QUANT8_ASYMM", "2", IN,
                  ",'scale':0.5,'zero_point':9,'data':[1,2]") "," OPERAND("TENSOR_QUANT8_ASYMM", "2", OUT,
                                                                          ",'scale':0.5,'zero_point':9,'data':[9,9]"),
              USE("IF", "0,1,1,2", "3"), "0,2", "3"),
        QUANT_BRANCH);
    holds(valid);
    REFUSED(valid, m->operands[2].scale = 0.25f,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: scale 0.25, but 0.5 in the subgraph");
    REFUSED(valid, m->operands[3].zero_point = 8,
            "operation 0 (IF): output 0 as output 0 of the then subgraph: zero point 8, but 9 in the subgraph");
}

static void test_refused_whiles(void **state) {
    (void)state;
    static const char valid[] = SUM_SPEC("", "0", "5", "100", "5", "110");
    REFUSED(valid, o->nin = 2, "operation 0 (WHILE): 2 inputs: expected at least 3");
    REFUSED(valid, r[0].operands[3].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (WHILE): output 0 of the condition subgraph: a condition of type TENSOR_INT32, expected "
            "TENSOR_BOOL8");
    REFUSED(valid, r[0].operands[3].dims[0] = 2,
            "operation 0 (WHILE): output 0 of the condition subgraph: a condition of shape [2], expected [1]");
    REFUSED(valid, r[0].nout = 0, "operation 0 (WHILE): the condition subgraph gives 0 outputs, expected 1");
    REFUSED(valid, r[0].nin = 2, "operation 0 (WHILE): 3 arguments, but the condition subgraph takes 2");
    REFUSED(valid, r[1].nin = 2, "operation 0 (WHILE): 3 arguments, but the body takes 2");
    REFUSED(valid, r[1].nout = 1, "operation 0 (WHILE): 2 outputs, but the body gives only 1");
    REFUSED(valid, r[1].nin = 1, "operation 0 (WHILE): the body gives 2 values, but takes only 1");
    REFUSED(
        valid, r[0].operands[2].type = ANEURALNETWORKS_TENSOR_FLOAT32,
        "operation 0 (WHILE): input 4 as input 2 of the condition subgraph: TENSOR_INT32, but TENSOR_FLOAT32 in the "
        "subgraph");
    REFUSED(valid, r[1].operands[4].dims[0] = 2,
            "operation 0 (WHILE): output 1 as output 1 of the body: shape [1], but [2] in the subgraph");
    /* what only the next iteration would take amiss */
    static const char hidden[] = FIBONACCI("2", "2");
    REFUSED(hidden, r[1].operands[5].dims[0] = 2,
            "operation 0 (WHILE): output 1 of the body as input 1 of the body: shape [2], but [1] in the subgraph");
}

/* Shapes that no validation can know: the body gives what the condition, or itself, does not take. */
static void test_refused_at_run_time(void **state) {
    (void)state;
    struct nnv_golden out[2];
    struct nnv_err err;
    struct nnv_spec *spec = parse(GROWING("0", "3", "4", "1,5,5,5"));
    spec->model.referenced[0].operands[1].dims[0] = 3;
    spec->model.main.operands[3].dims[0] = 3; /* three numbers to begin with */
    spec->inputs[0].dims[0] = 3;
    spec->inputs[0].bytes = 12;
    spec->inputs[0].data = nnv_arena_copy(arena, (float[]){1, 2, 3}, 12);
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, out, &err), NNV_INVALID);
    assert_string_equal(err.text,
                        "operation 0 (WHILE): iteration 2: subgraph 0: input 1: its shape is [4] but the model "
                        "declares [3]");
    spec = parse(EITHER("1", "0", "4", "1,2,1,2"));
    spec->model.referenced[0].operands[2].rank = 0;
    spec->model.main.operands[4].dims[0] = 2;
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, out, &err), NNV_INVALID);
    assert_string_equal(err.text, "operation 0 (IF): output 0: its shape is [4] but the model declares [2]");
}

/* ------------------------------------------------------------------- recursion */

/* A chain: main refers to 0, each subgraph to the next, the last is `last`. */
static struct nnv_spec *chain(int deep, const char *last) {
    struct nnv_text t = {0};
    nnv_text_add(&t, "{'format':'nnvts-spec/1','name':'t','main':" GRAPH(
                         BIN("1") "," MODEL("0") "," OPERAND("TENSOR_BOOL8", "1", OUT, DATA("0")),
                         USE("IF", "0,1,1,0", "2"), "0", "2") ",'referenced':[");
    for (int i = 1; i < deep; i++)
        nnv_text_addf(&t, GRAPH(B(IN) "," MODEL("%d") "," B(OUT), USE("IF", "0,1,1,0", "2"), "0", "2") ",", i);
    nnv_text_addf(&t, "%s]}", last);
    struct nnv_spec *spec = parse(t.data);
    nnv_text_free(&t);
    return spec;
}

#define NOT GRAPH(B(IN) "," B(OUT), USE("LOGICAL_NOT", "0", "1"), "0", "1")
static void test_nesting(void **state) {
    (void)state;
    struct nnv_golden out;
    struct nnv_err err;
    const struct nnv_spec *spec = chain(NNV_MAX_NESTING, NOT);
    if (evaluate(spec, &(struct nnv_eval_options){.rows = 8, .k = 2}, &out, &err)) fail_msg("%s", err.text);
    assert_int_equal(*(uint8_t *)out.value.data, 0);
    spec = chain(NNV_MAX_NESTING + 1, NOT);
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, &out, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "subgraphs are nested more than 64 deep"));
}

/* The depth is that of the longest way, whatever is seen first: 0 is also reached by way of all the others. */
static void test_nesting_by_a_detour(void **state) {
    (void)state;
    struct nnv_spec *spec = chain(60, NOT);
    struct nnv_model *m = &spec->model;
    struct nnv_subgraph *more = NNV_NEW(arena, struct nnv_subgraph, 65);
    memcpy(more, m->referenced, 60 * sizeof *more);
    const struct nnv_spec *before = chain(6, NOT);
    for (int i = 0; i < 5; i++) { /* 60 -> 61 -> ... -> 64 -> 0 */
        more[60 + i] = before->model.referenced[i];
        more[60 + i].operands[1].subgraph = i < 4 ? 61 + (uint32_t)i : 0;
    }
    m->referenced = more;
    m->nreferenced = 65;
    struct nnv_err err = {0};
    struct nnv_operand *added = NNV_NEW(arena, struct nnv_operand, 4); /* main refers to 0, then to 60 */
    memcpy(added, m->main.operands, 3 * sizeof *added);
    added[3] = (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = 60};
    m->main.operands = added;
    m->main.noperands = 4;
    assert_int_equal(nnv_validate(m, arena, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "subgraphs are nested more than 64 deep"));
    added[3].subgraph = 61;
    more[60].operands[1].subgraph = 1; /* nobody runs 60; 61 to 64 and 0 to 59 are 64 */
    if (nnv_validate(m, arena, NULL, &err)) fail_msg("%s", err.text);
}

static void test_recursion(void **state) {
    (void)state;
    static const char *const self = GRAPH(B(IN) "," MODEL("0") "," B(OUT), USE("IF", "0,1,1,0", "2"), "0", "2");
    struct nnv_spec *spec = chain(1, self);
    check_refused(spec, "operand 1: referenced subgraph 0: operand 1: referenced subgraph 0 refers to itself in the "
                        "end, but recursion is not allowed");
    spec = chain(3, self); /* 0 -> 1 -> 2 -> 0 */
    check_refused(spec, "operand 1: referenced subgraph 0: operand 1: referenced subgraph 0 refers to itself in the "
                        "end, but recursion is not allowed");
    spec = chain(3, NOT); /* main does not reach 1 and 2 any more, which refer to each other */
    spec->model.referenced[0] = spec->model.referenced[2];
    spec->model.referenced[2] = spec->model.referenced[1];
    spec->model.referenced[2].operands =
        nnv_arena_copy(arena, spec->model.referenced[1].operands, 3 * sizeof *spec->model.referenced[1].operands);
    spec->model.referenced[2].operands[1].subgraph = 1;
    check_refused(spec, "referenced subgraph 1: operand 1: referenced subgraph 1 refers to itself in the end, but "
                        "recursion is not allowed");
}

static void test_malformed_texts(void **state) {
    (void)state;
    static const struct {
        const char *json, *reason;
    } cases[] = {
        {SPEC("", GRAPH(MODEL("1"), "", "", ""), NOT),
         "t: main.operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got 1"},
        {SPEC("", GRAPH(MODEL("-1"), "", "", ""), NOT),
         "t: main.operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got -1"},
        {SPEC("", GRAPH(MODEL("0"), "", "", ""), ""),
         "t: main.operands[0].data: expected subgraphs in \"referenced\" to refer to, got an array of 1"},
        {SPEC("", GRAPH(MODEL("0"), "", "", ""), GRAPH(MODEL("7"), "", "", "")),
         "t: referenced[0].operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got 7"},
        {SPEC("", GRAPH(OPERAND("SUBGRAPH", "", "SUBGRAPH", ""), "", "", ""), NOT),
         "t: main.operands[0].data: expected an array with one index into \"referenced\", got nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_err err;
        parse_as(cases[i].json, NNV_INVALID, &err);
        assert_string_equal(err.text, cases[i].reason);
    }
}

/* --------------------------------------------------------------------- writing */

static void test_writers(void **state) {
    (void)state;
    struct nnv_text t = {0}, again = {0};
    const struct nnv_spec *spec = parse(CHOOSING("3", "11,22"));
    for (int pretty = 0; pretty < 2; pretty++) {
        struct nnv_spec *copy = NULL;
        nnv_text_clear(&t);
        nnv_text_clear(&again);
        nnv_spec_write_json(spec, pretty, &t);
        assert_int_equal(nnv_spec_parse(t.data, t.len, "t", arena, &copy, NULL), NNV_OK);
        nnv_spec_write_json(copy, pretty, &again);
        assert_string_equal(t.data, again.data);
        assert_int_equal(copy->model.nreferenced, 4);
        assert_int_equal(copy->model.referenced[1].operands[11].subgraph, 3);
    }
    nnv_text_clear(&t);
    nnv_spec_write_modpy(spec, &t);
    const char *branch = strstr(t.data, "sub3 = Model(\"sub3\").IdentifyInputs(sub3_op0, sub3_op1)");
    const char *body = strstr(t.data, "sub1_op11 = SubgraphReference(\"sub1_op11\", sub3)\n");
    const char *use = strstr(t.data, "model = model.Operation(\"WHILE\", op0, op1, op2, op3, op4, op5).To(op6, op7)\n");
    assert_true(branch && body && use && branch < body && body < use); /* a name stands before its uses */
    nnv_text_clear(&t);
    nnv_spec_write_dot(spec, 0, &t);
    assert_non_null(strstr(t.data, "subgraph cluster_3 {\n  label=\"subgraph 3\";\n"));
    assert_non_null(strstr(t.data, "label=\"%1\\nsubgraph 1\""));
    nnv_text_clear(&t);
    nnv_spec_write_summary(spec, &t);
    assert_non_null(strstr(t.data, "0  WHILE(%0 = subgraph 0, %1 = subgraph 1, "));
    assert_non_null(strstr(t.data, "2  IF(%9 TENSOR_BOOL8 [1], %10 = subgraph 2, %11 = subgraph 3, "));
    nnv_text_free(&t);
    nnv_text_free(&again);
}

/* --------------------------------------------------------------------- drivers */

static struct nnv_client open_client(const char *name, const char *options) {
    struct nnv_client client = {0};
    struct nnv_err err = {0};
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    const char *path = nnv_arena_printf(arena, "%s/%s.so", folder ? folder : "build/drivers", name);
    if (nnv_client_open(&client, path, options, &err) != NNV_OK) fail_msg("%s (make builds it)", err.text);
    return client;
}

static int judge(const char *driver, const char *options, const char *json) {
    struct nnv_client client = open_client(driver, options);
    struct nnv_result result = {0};
    const struct nnv_run_config config = {.precision = -1};
    struct nnv_case_env env = {&config, &client, arena, NULL};
    nnv_judge(&env, parse(json), 0, NNV_PRECISION_BUDGET, &result);
    int verdict = result.verdict;
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    return verdict;
}

/* Subgraphs, and large constants in them, come to a driver as they are. */
#define LARGE "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38"
#define HEAVY                                                                                                          \
    SPEC("",                                                                                                           \
         GRAPH(BIN("1") "," MODEL("0") "," FIN("38", LARGE) "," FOUT("38", LARGE), USE("IF", "0,1,1,2", "3"), "0,2",   \
               "3"),                                                                                                   \
         GRAPH(F("38", IN) "," OPERAND("TENSOR_FLOAT32", "38", "CONSTANT_REFERENCE", DATA(LARGE)) "," F("38", OUT),    \
               USE("MAXIMUM", "0,1", "2"), "0", "2"))
static void test_drivers(void **state) {
    (void)state;
    static const char *const specs[] = {IF_SPEC("0", "1,2", "10,20", "-9,-18"),
                                        EITHER("1", "0", "4", "1,2,1,2"),
                                        SUM_SPEC("", "0", "5", "100", "5", "110"),
                                        CHOOSING("3", "11,22"),
                                        GROWING("", "2", "3", "1,5,5"),
                                        HEAVY};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        assert_int_equal(judge("reference", NULL, specs[i]), NNVTS_PASS);
        int cpu = judge("cpu", NULL, specs[i]); /* says honestly what it can do */
        assert_true(cpu == NNVTS_UNSUPPORTED || cpu == NNVTS_PASS);
    }
}

static void test_planted_bugs(void **state) {
    (void)state;
    assert_int_equal(judge("faulty", "wrong-branch,over=reference", IF_SPEC("0", "1,2", "10,20", "-9,-18")),
                     NNVTS_FAIL);
    assert_int_equal(judge("faulty", "wrong-branch,over=reference", CHOOSING("3", "11,22")), NNVTS_PASS);
    static const char bug[] = "last-iteration-missing,over=reference";
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "5", "100", "5", "110")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "1", "5", "1", "5")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "0", "5", "0", "5")), NNVTS_PASS); /* nothing is missing */
    assert_int_equal(judge("faulty", bug, FIBONACCI("6", "13")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, CHOOSING("3", "11,22")), NNVTS_FAIL);
}

/* The reference driver keeps to the loop timeout of the request, and says that the deadline was missed. */
static void test_loop_timeout_of_a_driver(void **state) {
    (void)state;
    struct nnv_client client = open_client("reference", NULL);
    const struct nnv_spec *spec = parse(ENDLESS(""));
    struct nnvts_model model;
    struct nnv_err err = {0};
    int fd;
    if (nnv_abi_model(&spec->model, arena, &model, &fd, &err)) fail_msg("%s", err.text);
    const struct nnvts_prepare_config prepare = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                                 .priority = NNVTS_PRIORITY_MEDIUM,
                                                 .deadline_ns = NNVTS_NO_TIME};
    struct nnvts_prepared_model *p = NULL;
    assert_int_equal(client.device->prepare_model(client.device, &model, &prepare, &p), NNVTS_STATUS_NONE);
    int32_t values[2] = {0, 77};
    struct nnvts_memory pool = {
        .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = -1, .size = sizeof values, .data = values};
    struct nnvts_argument in = {.location = {.length = 4}}, out = {.location = {.offset = 4, .length = 4}};
    const struct nnvts_request request = {1, 1, 1, &in, &out, &pool};
    uint32_t dims[4];
    struct nnvts_output_shape shape = {false, 4, dims};
    struct nnvts_execution_result result = {.shapes = &shape};
    static const uint64_t timeouts[] = {0, 1000000, 20000000};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        const struct nnvts_execution_config config = {.deadline_ns = NNVTS_NO_TIME, .loop_timeout_ns = timeouts[i]};
        uint64_t start = nnv_now_ns();
        assert_int_equal(p->execute(p, &request, &config, &result), NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT);
        uint64_t took = nnv_now_ns() - start;
        assert_true(took >= timeouts[i] && took < timeouts[i] + 1500000000);
        assert_int_equal(values[1], 77);
    }
    p->release(p);
    nnv_client_close(&client);
}

/* A loop without end that must be refused is: by the default timeout of 2 s. */
static void test_endless_loop_is_refused(void **state) {
    (void)state;
    assert_int_equal(judge("reference", NULL, ENDLESS("'expect_failure':true,")), NNVTS_PASS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_if),
        TEST(test_if_of_another_byte),
        TEST(test_if_without_arguments),
        TEST(test_if_same_argument_twice),
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
        TEST(test_refused_ifs),
        TEST(test_model_is_no_argument),
        TEST(test_refused_quantisation),
        TEST(test_refused_whiles),
        TEST(test_refused_at_run_time),
        TEST(test_nesting),
        TEST(test_nesting_by_a_detour),
        TEST(test_recursion),
        TEST(test_malformed_texts),
        TEST(test_writers),
        TEST(test_drivers),
        TEST(test_planted_bugs),
        TEST(test_loop_timeout_of_a_driver),
        TEST(test_endless_loop_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
