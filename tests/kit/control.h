/* SPDX-License-Identifier: Apache-2.0 */
/** @file control.h For tests of control flow: models as texts, and their evaluation. */
#ifndef KIT_CONTROL_H
#define KIT_CONTROL_H

#include "reference/eval/eval.h"
#include "reference/model/validate.h"
#include "reference/spec/spec.h"
#include "tests/kit/arena.h"

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

/* The branches give two and four numbers, or are of another rank. */
#define TWICE GRAPH(F("2", IN) "," NUMBER("0") "," F("4", OUT), USE("CONCATENATION", "0,0,1", "2"), "0", "2")
#define DOUBLE GRAPH(F("2", IN) "," NUMBER("0") "," F("2", OUT), USE("ADD", "0,0,1", "2"), "0", "2")
#define EITHER(condition, declared, actual, y)                                                                         \
    SPEC("",                                                                                                           \
         GRAPH(BIN(condition) "," MODEL("0") "," MODEL("1") "," FIN("2", "1,2") "," OPERAND(                           \
                   "TENSOR_FLOAT32", declared, OUT, ",'value_dims':[" actual "],'data':[" y "]"),                      \
               USE("IF", "0,1,2,3", "4"), "0,3", "4"),                                                                 \
         TWICE "," DOUBLE)
/* The sum of 0 to n - 1, and where the counter ends. */
#define SUM_SPEC(head, first, limit, start, end, y)                                                                    \
    SPEC(head,                                                                                                         \
         GRAPH(MODEL("0") "," MODEL("1") "," IIN(first) "," IIN(start) "," IIN(limit) "," IOUT(end) "," IOUT(y),       \
               USE("WHILE", "0,1,2,3,4", "5,6"), "2,3,4", "5,6"),                                                      \
         GRAPH(I("1", IN) "," I("1", IN) "," I("1", IN) "," B(OUT), USE("LESS", "0,2", "3"), "0,1,2", "3") "," GRAPH(  \
             I("1", IN) "," I("1", IN) "," I("1", IN) "," I("1", OUT) "," I("1", OUT) "," ICONST("1") "," NUMBER("0"), \
             USE("ADD", "0,5,6", "3") "," USE("ADD", "1,0,6", "4"), "0,1,2", "3,4"))
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
#define ENDLESS(head)                                                                                                  \
    SPEC(head, GRAPH(MODEL("0") "," MODEL("1") "," IIN("0") "," IOUT("0"), USE("WHILE", "0,1,2", "3"), "2", "3"),      \
         GRAPH(I("1", IN) "," B(OUT), USE("EQUAL", "0,0", "1"), "0", "1") "," GRAPH(                                   \
             I("1", IN) "," I("1", OUT) "," ICONST("1") "," NUMBER("0"), USE("ADD", "0,2,3", "1"), "0", "1"))

/* Specs are written with ' for ". */
struct nnv_spec *parse_as(const char *json, enum nnv_status want, struct nnv_err *err);

struct nnv_spec *parse(const char *json);

/* ---------------------------------------------------------------- evaluating */

enum nnv_status evaluate(const struct nnv_spec *spec, const struct nnv_eval_options *options, struct nnv_golden *out,
                         struct nnv_err *err);

/* The golden results are the spec's own expectations, with and without perturbed rows. */
void holds(const char *json);

#endif
