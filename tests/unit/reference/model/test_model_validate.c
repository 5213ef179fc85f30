/* SPDX-License-Identifier: Apache-2.0 */
/* Validation: a legal model passes, and each broken rule gives its one reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/model/validate.h"

/* A model under construction. */
struct box {
    struct nnv_arena *arena;
    struct nnv_model m;
};

static int open_box(void **state) {
    static struct box b;
    b = (struct box){.arena = nnv_arena_new()};
    b.m.main.operands = NNV_NEW(b.arena, struct nnv_operand, 32);
    b.m.main.operations = NNV_NEW(b.arena, struct nnv_operation, 4);
    b.m.main.in = NNV_NEW(b.arena, uint32_t, 32);
    b.m.main.out = NNV_NEW(b.arena, uint32_t, 32);
    *state = &b;
    return 0;
}

static int close_box(void **state) {
    nnv_arena_free(((struct box *)*state)->arena);
    return 0;
}

static struct nnv_operand *add(struct box *b, int32_t type, enum nnv_lifetime lifetime, uint32_t rank,
                               const uint32_t *dims) {
    struct nnv_subgraph *s = &b->m.main;
    struct nnv_operand *o = &s->operands[s->noperands];
    *o = (struct nnv_operand){.type = type, .lifetime = lifetime, .rank = rank};
    o->dims = nnv_arena_copy(b->arena, dims, rank * sizeof *dims);
    if (nnv_is_quant(type) && type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) o->scale = 0.5f;
    if (lifetime == NNV_SUBGRAPH_INPUT) s->in[s->nin++] = s->noperands;
    if (lifetime == NNV_SUBGRAPH_OUTPUT) s->out[s->nout++] = s->noperands;
    if (lifetime == NNV_CONSTANT_COPY) {
        size_t elems;
        assert_true(nnv_size_bytes(type, rank, dims, &elems, &o->bytes));
        o->data = nnv_arena_alloc(b->arena, o->bytes, 1);
    }
    s->noperands++;
    return o;
}
#define TENSOR(b, type, lifetime, ...)                                                                                 \
    add(b, ANEURALNETWORKS_TENSOR_##type, lifetime, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static struct nnv_operand *scalar(struct box *b, int32_t value) {
    struct nnv_operand *o = add(b, ANEURALNETWORKS_INT32, NNV_CONSTANT_COPY, 0, NULL);
    o->data = nnv_arena_copy(b->arena, &value, sizeof value);
    return o;
}

static struct nnv_operand *flag(struct box *b, bool value) {
    struct nnv_operand *o = add(b, ANEURALNETWORKS_BOOL, NNV_CONSTANT_COPY, 0, NULL);
    o->data = nnv_arena_copy(b->arena, &value, 1);
    return o;
}

static void set_value(struct box *b, uint32_t operand, int32_t value) {
    b->m.main.operands[operand].data = nnv_arena_copy(b->arena, &value, sizeof value);
}

/* An operation on operands first .. first + nin - 1 that writes `out`. */
static struct nnv_operation *operate(struct box *b, int32_t code, uint32_t first, uint32_t nin, uint32_t out) {
    struct nnv_operation *op = &b->m.main.operations[b->m.main.noperations++];
    *op = (struct nnv_operation){.type = code, .nin = nin, .nout = 1};
    op->in = NNV_NEW(b->arena, uint32_t, nin);
    op->out = nnv_arena_copy(b->arena, &out, sizeof out);
    for (uint32_t i = 0; i < nin; i++) op->in[i] = first + i;
    return op;
}

/* 0 a, 1 b, 2 activation, 3 output; operation 0 is ADD. */
static void make_add(struct box *b) {
    TENSOR(b, FLOAT32, NNV_SUBGRAPH_INPUT, 2, 3);
    TENSOR(b, FLOAT32, NNV_SUBGRAPH_INPUT, 1, 3);
    scalar(b, 0);
    TENSOR(b, FLOAT32, NNV_SUBGRAPH_OUTPUT, 2, 3);
    operate(b, ANEURALNETWORKS_ADD, 0, 3, 3);
}

/* 0 x [1,5,7,2], 1 filter [3,3,3,2], 2 bias [3], 3 scheme, 4 stride, 5 stride, 6 activation, 7 output [1,3,5,3]. */
static void make_conv(struct box *b) {
    TENSOR(b, QUANT8_ASYMM, NNV_SUBGRAPH_INPUT, 1, 5, 7, 2);
    TENSOR(b, QUANT8_ASYMM, NNV_CONSTANT_COPY, 3, 3, 3, 2);
    TENSOR(b, INT32, NNV_CONSTANT_COPY, 3)->scale = 0.25f;
    scalar(b, ANEURALNETWORKS_PADDING_VALID);
    scalar(b, 1);
    scalar(b, 1);
    scalar(b, 0);
    TENSOR(b, QUANT8_ASYMM, NNV_SUBGRAPH_OUTPUT, 1, 3, 5, 3);
    operate(b, ANEURALNETWORKS_CONV_2D, 0, 7, 7);
}

static void accept(struct box *b, int level) {
    struct nnv_err err = {0};
    int got = 0;
    if (nnv_validate(&b->m, b->arena, &got, &err)) fail_msg("refused: %s", err.text);
    assert_int_equal(got, level);
}

static void refuse_as(struct box *b, enum nnv_status want, const char *reason) {
    struct nnv_err err = {0};
    int level = 77;
    assert_int_equal(nnv_validate(&b->m, b->arena, &level, &err), want);
    assert_string_equal(err.text, reason);
    assert_int_equal(level, 77);
}
static void refuse(struct box *b, const char *reason) { refuse_as(b, NNV_INVALID, reason); }

/* ------------------------------------------------------------------------ levels */

static void test_levels(void **state) {
    struct box *b = *state;
    make_add(b);
    accept(b, 1);
    b->m.relaxed = true;
    accept(b, 2);
    b->m.main.operands[0].rank = 0; /* unknown rank */
    accept(b, 3);
    int level;
    assert_int_equal(nnv_operand_check(&b->m.main.operands[0], &level, NULL), NNV_OK);
    assert_int_equal(level, 3);
    b->m.main.operands[0].rank = 2;
    for (uint32_t i = 0; i < 4; i++)
        if (i != 2) b->m.main.operands[i].type = ANEURALNETWORKS_TENSOR_FLOAT16;
    accept(b, 3);
    for (uint32_t i = 0; i < 4; i++)
        if (i != 2) b->m.main.operands[i].type = ANEURALNETWORKS_TENSOR_INT32;
    accept(b, 4);
}

static void test_conv_levels(void **state) {
    struct box *b = *state;
    make_conv(b);
    accept(b, 1);
    b->m.main.operands[7].scale = 0.125f; /* not above the product of the scales */
    accept(b, 3);
}

static void test_conv_options(void **state) {
    struct box *b = *state;
    make_conv(b);
    flag(b, false); /* 8 */
    scalar(b, 1);
    scalar(b, 1); /* 10 */
    struct nnv_operation *op = b->m.main.operations;
    uint32_t in[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10};
    op->in = in;
    op->nin = 8;
    accept(b, 3);
    op->nin = 10;
    accept(b, 3);
    op->nin = 9;
    refuse(b, "operation 0 (CONV_2D): 9 inputs: expected 7, 8 or 10 (implicit) or 10, 11 or 13 (explicit)");
    /* Ten inputs with a number where the flag stood: the explicit form. */
    uint32_t paddings[] = {0, 1, 2, 6, 6, 6, 6, 4, 5, 6};
    op->in = paddings;
    op->nin = 10;
    accept(b, 3); /* for the flag's type, which no one reads now */
    uint32_t mixed[] = {0, 1, 2, 3, 4, 5, 6, 4, 5, 8};
    op->in = mixed;
    refuse(b, "operation 0 (CONV_2D): input 9 (activation): BOOL is not accepted here, expected INT32");
}

static void test_unknown_dimensions(void **state) {
    struct box *b = *state;
    make_conv(b);
    b->m.main.operands[7].dims[1] = b->m.main.operands[0].dims[0] = 0;
    accept(b, 1);
    struct nnv_shape shapes[8];
    char text[64];
    assert_int_equal(nnv_infer_shapes(&b->m, b->arena, shapes, NULL), NNV_OK);
    assert_string_equal(nnv_shape_text(&shapes[7], text, sizeof text), "[1,3,5,3]");
    b->m.main.operands[7].rank = 0;
    b->m.main.operands[7].dims = NULL;
    assert_int_equal(nnv_infer_shapes(&b->m, b->arena, shapes, NULL), NNV_OK);
    assert_string_equal(nnv_shape_text(&shapes[7], text, sizeof text), "[?,3,5,3]");
}

/* ------------------------------------------------------------------------- slots */

static void test_slot_refusals(void **state) {
    struct box *b = *state;
    make_conv(b);
    struct nnv_operand *o = b->m.main.operands;
    set_value(b, 6, 5);
    refuse(b, "operation 0 (CONV_2D): input 6 (activation): 5 is not a fuse code");
    set_value(b, 6, 3);
    set_value(b, 3, 0);
    refuse(b, "operation 0 (CONV_2D): input 3 (padding scheme): 0 is not a padding code");
    set_value(b, 3, 1);
    set_value(b, 4, 0);
    refuse(b, "operation 0 (CONV_2D): input 4 (stride width): 0 is not above 0");
    set_value(b, 4, 1);
    refuse(b, "operation 0 (CONV_2D): output 0 (output): declared shape [1,3,5,3] does not agree with [1,5,7,3], "
              "which the inputs give");
    set_value(b, 3, 2);
    o[2].scale = 0.2500003f;
    refuse(b, "operation 0 (CONV_2D): input 2 (bias): scale 0.250000298 is not the product 0.25 of the scales of "
              "inputs 0 and 1");
    o[2].scale = 0.2500002f;
    accept(b, 1);
    o[0].rank = 3;
    refuse(b, "operation 0 (CONV_2D): input 0 (input): rank 3 is below 4");
    o[0].rank = 5;
    o[0].dims = (uint32_t[]){1, 5, 7, 2, 1};
    refuse(b, "operation 0 (CONV_2D): input 0 (input): rank 5 is above 4");
}

static void test_type_refusals(void **state) {
    struct box *b = *state;
    make_conv(b);
    struct nnv_operand *o = b->m.main.operands;
    o[2].type = ANEURALNETWORKS_TENSOR_FLOAT32;
    o[2].scale = 0;
    refuse(b, "operation 0 (CONV_2D): input 2 (bias): TENSOR_FLOAT32 is not accepted here, expected TENSOR_INT32");
    o[2].type = ANEURALNETWORKS_TENSOR_INT32;
    o[2].scale = 0.25f;
    o[7].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    refuse(b, "operation 0 (CONV_2D): output 0 (output): TENSOR_QUANT8_ASYMM_SIGNED is not accepted here, expected "
              "TENSOR_QUANT8_ASYMM");
    o[7].type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    b->m.main.operations[0].nout = 0;
    refuse(b, "operation 0 (CONV_2D): 0 outputs: expected 1");
}

static void test_per_channel(void **state) {
    struct box *b = *state;
    make_conv(b);
    struct nnv_operand *w = &b->m.main.operands[1];
    float scales[] = {0.5f, 0.25f, 0.125f};
    w->type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    w->scale = 0;
    refuse(b, "operand 1: the scales of the channels are missing");
    w->channel = (struct nnv_channel_quant){.dim = 0, .count = 3, .scales = scales};
    refuse(b, "operation 0 (CONV_2D): input 2 (bias): scale 0.25, expected 0 beside a filter with a scale for each "
              "channel");
    b->m.main.operands[2].scale = 0;
    accept(b, 3);
    w->channel.count = 2;
    refuse(b, "operand 1: 2 channel scales for an extent of 3");
    w->channel = (struct nnv_channel_quant){.dim = 4, .count = 3, .scales = scales};
    refuse(b, "operand 1: channel dimension 4 is not below rank 4");
    w->channel.dim = 0;
    scales[1] = 0;
    refuse(b, "operand 1: scale 0 of channel 1 is not above 0 and finite");
    scales[1] = 1;
    w->scale = 1;
    refuse(b, "operand 1: scale 1, but a TENSOR_QUANT8_SYMM_PER_CHANNEL has none");
}

static void test_omitted_inputs(void **state) {
    struct box *b = *state;
    make_add(b);
    b->m.main.operands[1].lifetime = NNV_NO_VALUE;
    b->m.main.nin = 1;
    refuse(b, "operation 0 (ADD): input 1 (b): has no value, but may not be omitted");
}

static void test_quantisation_rules(void **state) {
    struct box *b = *state;
    struct nnv_operand *x = TENSOR(b, QUANT8_ASYMM, NNV_SUBGRAPH_INPUT, 4);
    struct nnv_operand *y = TENSOR(b, QUANT8_ASYMM, NNV_SUBGRAPH_OUTPUT, 4);
    struct nnv_operation *op = operate(b, ANEURALNETWORKS_RELU, 0, 1, 1);
    x->zero_point = y->zero_point = 7;
    accept(b, 1);
    y->zero_point = 8;
    refuse(b, "operation 0 (RELU): output 0 (output): zero point 8, expected 7 as input 0 has");
    op->type = ANEURALNETWORKS_LOGISTIC;
    y->scale = 1.0f / 256;
    refuse(b, "operation 0 (LOGISTIC): output 0 (output): zero point 8, expected 0");
    y->zero_point = 0;
    accept(b, 1);
    x->type = y->type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    refuse(b, "operation 0 (LOGISTIC): output 0 (output): zero point 0, expected -128");
    y->zero_point = -128;
    accept(b, 4);
    y->scale = 1.0f / 128;
    refuse(b, "operation 0 (LOGISTIC): output 0 (output): scale 0.0078125, expected 0.00390625");
}

static void test_repeated_inputs(void **state) {
    struct box *b = *state;
    for (int i = 0; i < 3; i++) TENSOR(b, FLOAT32, NNV_SUBGRAPH_INPUT, 2, 3);
    scalar(b, 1);
    TENSOR(b, FLOAT32, NNV_SUBGRAPH_OUTPUT, 2, 9);
    struct nnv_operation *op = operate(b, ANEURALNETWORKS_CONCATENATION, 0, 4, 4);
    accept(b, 1);
    op->in[0] = 3;
    op->nin = 1;
    refuse(b, "operation 0 (CONCATENATION): 1 input: expected at least 2");
    op->nin = 4;
    refuse(b, "operation 0 (CONCATENATION): input 0 (input): INT32 is not accepted here, expected TENSOR_FLOAT32, "
              "TENSOR_QUANT8_ASYMM, TENSOR_FLOAT16 or TENSOR_QUANT8_ASYMM_SIGNED");
}

static void test_unknown_operation(void **state) {
    struct box *b = *state;
    make_add(b);
    b->m.main.operations[0].type = 10000; /* OEM_OPERATION: legal, whatever it does */
    refuse_as(b, NNV_UNSUPPORTED, "operation 0: operation code 10000 is not known here");
    b->m.main.operations[0].type = 4711;
    refuse(b, "operation 0: 4711 is no operation code");
    b->m.main.operations[0].type = -1;
    refuse(b, "operation 0: -1 is no operation code");
    b->m.main.operations[0].type = ANEURALNETWORKS_REVERSE + 1;
    refuse(b, "operation 0: 106 is no operation code");
}

/* ---------------------------------------------------------------------- operands */

static void test_operand_refusals(void **state) {
    struct box *b = *state;
    make_add(b);
    struct nnv_operand *o = b->m.main.operands, good = o[0], number = o[2];
#define BREAK(i, reason, ...)                                                                                          \
    do {                                                                                                               \
        struct nnv_operand was = o[i];                                                                                 \
        __VA_ARGS__;                                                                                                   \
        refuse(b, "operand " #i ": " reason);                                                                          \
        o[i] = was;                                                                                                    \
        accept(b, 1);                                                                                                  \
    } while (0)
    BREAK(0, "type 99 is not an operand type", o[0].type = 99);
    BREAK(0, "rank 17 is above 16", o[0].rank = 17);
    BREAK(0, "its size does not fit into 32 bits", o[0].dims = ((uint32_t[]){65536, 16384}));
    BREAK(0, "extent 2147483648 of dimension 1 is too large", o[0].dims = ((uint32_t[]){1, 0x80000000}));
    BREAK(0, "scale 0.5, but a TENSOR_FLOAT32 has none", o[0].scale = 0.5f);
    BREAK(0, "zero point 3 of a TENSOR_FLOAT32 is not 0", o[0].zero_point = 3);
    BREAK(0, "a value, but lifetime SUBGRAPH_INPUT", o[0].data = &good);
    BREAK(0, "a MODEL with lifetime SUBGRAPH_INPUT", (o[0].type = ANEURALNETWORKS_MODEL, o[0].rank = 0));
    BREAK(0, "a TENSOR_FLOAT32 has no scales for channels", o[0].channel.count = 2);
    BREAK(2, "a INT32 has no dimensions, but rank 1 is given", (o[2].rank = 1, o[2].dims = (uint32_t[]){1}));
    BREAK(2, "a constant without a value", o[2].data = NULL);
    BREAK(2, "a constant of 4 bytes has a value of 8 bytes", o[2].bytes = 8);
#undef BREAK
    assert_int_equal(number.bytes, 4);
}

static void test_quantised_operands(void **state) {
    struct box *b = *state;
    int level;
    struct nnv_err err = {0};
    struct nnv_operand *o = TENSOR(b, QUANT8_ASYMM, NNV_SUBGRAPH_INPUT, 4);
    assert_int_equal(nnv_operand_check(o, &level, NULL), NNV_OK);
    o->zero_point = 256;
    assert_int_equal(nnv_operand_check(o, &level, &err), NNV_INVALID);
    assert_string_equal(err.text, "zero point 256 is not in [0, 255]");
    o->zero_point = -1;
    assert_int_equal(nnv_operand_check(o, &level, NULL), NNV_INVALID);
    o->type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    assert_int_equal(nnv_operand_check(o, &level, NULL), NNV_OK);
    assert_int_equal(level, 4);
    o->type = ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
    assert_int_equal(nnv_operand_check(o, &level, &err), NNV_INVALID);
    o->zero_point = 0;
    o->scale = 0;
    assert_int_equal(nnv_operand_check(o, &level, &err), NNV_INVALID);
    assert_string_equal(err.text, "scale 0 of a TENSOR_QUANT8_SYMM is not above 0 and finite");
    o->scale = (float)(1e300 * 1e300);
    assert_int_equal(nnv_operand_check(o, &level, NULL), NNV_INVALID);
    o->type = ANEURALNETWORKS_TENSOR_INT32;
    o->scale = -1;
    assert_int_equal(nnv_operand_check(o, &level, &err), NNV_INVALID);
    assert_string_equal(err.text, "scale -1 of a TENSOR_INT32 is negative or not finite");
}

static void test_unknown_constants(void **state) {
    struct box *b = *state;
    make_conv(b);
    struct nnv_operand *w = &b->m.main.operands[1];
    w->dims[0] = 0;
    refuse(b, "operand 1: a constant with unknown dimension 0");
    w->rank = 0;
    refuse(b, "operand 1: a constant of unknown rank");
}

/* ----------------------------------------------------------------- lists and order */

static void test_lists(void **state) {
    struct box *b = *state;
    make_add(b);
    struct nnv_subgraph *s = &b->m.main;
    s->in[1] = 0;
    refuse(b, "input 1 of the subgraph: operand 0 stands there twice");
    s->in[1] = 2;
    refuse(b, "input 1 of the subgraph: operand 2 has lifetime CONSTANT_COPY");
    s->in[1] = 4;
    refuse(b, "input 1 of the subgraph: there is no operand 4");
    s->in[1] = 1;
    s->nin = 1;
    refuse(b, "operand 1 has lifetime SUBGRAPH_INPUT, but is not among the inputs");
    s->nin = 2;
    s->nout = 0;
    refuse(b, "operand 3 has lifetime SUBGRAPH_OUTPUT, but is not among the outputs");
    s->nout = 1;
    s->noperations = 0;
    refuse(b, "no operations");
}

static void test_order(void **state) {
    struct box *b = *state;
    make_add(b);
    TENSOR(b, FLOAT32, NNV_TEMPORARY_VARIABLE, 2, 3); /* 4 */
    refuse(b, "operand 4 has lifetime TEMPORARY_VARIABLE, but nothing writes it");
    struct nnv_operation *first = b->m.main.operations;
    first->in[1] = 4;
    refuse(b, "operation 0 (ADD): input 1: operand 4 is read before it is written");
    first->in[1] = 1;
    struct nnv_operation *second = operate(b, ANEURALNETWORKS_RELU, 3, 1, 4);
    accept(b, 1);
    second->out[0] = 3;
    refuse(b, "operation 1 (RELU): output 0: operand 3 is written twice");
    second->out[0] = 2;
    refuse(b, "operation 1 (RELU): output 0: operand 2 has lifetime CONSTANT_COPY and can't be written");
    second->out[0] = 5;
    refuse(b, "operation 1 (RELU): output 0: there is no operand 5");
    second->in[0] = 4000000000u;
    refuse(b, "operation 1 (RELU): input 0: there is no operand 4000000000");
}

static void test_broadcast_is_checked(void **state) {
    struct box *b = *state;
    make_add(b);
    b->m.main.operands[1].dims[1] = 2;
    struct nnv_err err = {0};
    assert_int_equal(nnv_validate(&b->m, b->arena, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "operation 0 (ADD): "));
}

static void test_references(void **state) {
    struct box *b = *state;
    make_add(b);
    b->m.main.operands[4] = (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH};
    b->m.main.noperands = 5;
    refuse(b, "operand 4: there is no referenced subgraph 0");
    struct nnv_subgraph other = b->m.main;
    b->m.referenced = &other;
    b->m.nreferenced = 1;
    refuse(b, "operand 4: referenced subgraph 0: operand 4: referenced subgraph 0 refers to itself in the end, but "
              "recursion is not allowed");
    other.noperands = 4;
    accept(b, 4);
    other.noperations = 0;
    refuse(b, "referenced subgraph 0: no operations");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_box, close_box)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_levels),
        TEST(test_conv_levels),
        TEST(test_conv_options),
        TEST(test_unknown_dimensions),
        TEST(test_slot_refusals),
        TEST(test_type_refusals),
        TEST(test_per_channel),
        TEST(test_omitted_inputs),
        TEST(test_quantisation_rules),
        TEST(test_repeated_inputs),
        TEST(test_unknown_operation),
        TEST(test_operand_refusals),
        TEST(test_quantised_operands),
        TEST(test_unknown_constants),
        TEST(test_lists),
        TEST(test_order),
        TEST(test_broadcast_is_checked),
        TEST(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
