/* SPDX-License-Identifier: Apache-2.0 */
/** The model editor and the catalogue of faults, on models and values worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference/faults/faults.h"
#include "reference/faults/generate.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"
#include "tests/kit/arena.h"

static struct nnv_spec spec;
static struct nnv_call **calls;
static struct nnv_edit edit;
static const struct nnv_encoding FLOATS = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};

/** Puts the finished model into the editor, its first operation in hand. */
static void take(struct nnv_builder *b, uint32_t in, uint32_t out) {
    struct nnv_err err = {0};
    spec = (struct nnv_spec){.name = "model"};
    if (nnv_builder_end(b, 1, &in, 1, &out, &spec.model, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_edit_calls(&spec, arena, &calls, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_edit_begin(&edit, &spec, arena);
    assert_false(edit.failed);
    edit.call = calls[0];
}

/** x - w, RELU, then twice + w: the constant w has two uses. */
static void take_sums(void) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t dims[] = {2, 3};
    const uint32_t x = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_weights(&b, FLOATS, 2, dims, 1);
    const uint32_t t = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_TEMPORARY_VARIABLE);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t relu = nnv_builder_int(&b, ANEURALNETWORKS_FUSED_RELU);
    nnv_builder_add(&b, ANEURALNETWORKS_SUB, 3, (uint32_t[]){x, w, relu}, t);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){t, w, relu}, y);
    take(&b, x, y);
}

/** The mean of 2x2 windows of a 1x3x3x1 image, SAME padding: an odd cell at the tails. */
static void take_pool(void) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t dims[] = {1, 3, 3, 1};
    const uint32_t x = nnv_builder_tensor(&b, FLOATS, 4, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t one = nnv_builder_int(&b, 1), two = nnv_builder_int(&b, 2), none = nnv_builder_int(&b, 0);
    nnv_builder_add(&b, ANEURALNETWORKS_AVERAGE_POOL_2D, 7, (uint32_t[]){x, one, one, one, two, two, none}, y);
    take(&b, x, y);
}

/** A 3x3 filter, stride 2, dilation so high and 2 wide, over a 1x7x7x1 image: SAME pads as many cells on each side. */
static void take_dilated_by(int32_t high) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t image[] = {1, 7, 7, 1}, filter[] = {1, 3, 3, 1}, made[] = {1, 4, 4, 1}, one[] = {1};
    const uint32_t x = nnv_builder_tensor(&b, FLOATS, 4, image, NNV_SUBGRAPH_INPUT);
    const uint32_t f = nnv_builder_weights(&b, FLOATS, 4, filter, 1), bias = nnv_builder_weights(&b, FLOATS, 1, one, 1);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, made, NNV_SUBGRAPH_OUTPUT);
    const uint32_t same = nnv_builder_int(&b, ANEURALNETWORKS_PADDING_SAME), two = nnv_builder_int(&b, 2);
    const uint32_t none = nnv_builder_int(&b, 0), nhwc = nnv_builder_bool(&b, false), rows = nnv_builder_int(&b, high);
    nnv_builder_add(&b, ANEURALNETWORKS_CONV_2D, 10, (uint32_t[]){x, f, bias, same, two, two, none, nhwc, two, rows},
                    y);
    take(&b, x, y);
}
static void take_dilated(void) { take_dilated_by(2); }

/** Two inputs of four bytes, of scales 1 and 0.5, joined into an output of scale 1; the zero points are 10, 10 and
 * `other`. */
static void take_joined(int32_t other) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding a = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 1, .zero_point = 10},
                              half = {.type = a.type, .scale = 0.5f, .zero_point = other};
    const uint32_t four[] = {4}, eight[] = {8};
    const uint32_t x = nnv_builder_tensor(&b, a, 1, four, NNV_SUBGRAPH_INPUT),
                   w = nnv_builder_weights(&b, half, 1, four, 1);
    const uint32_t y = nnv_builder_tensor(&b, a, 1, eight, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_CONCATENATION, 3, (uint32_t[]){x, w, nnv_builder_int(&b, 0)}, y);
    take(&b, x, y);
}

/** A 2x2 filter, stride 1, from a 1x3x3x1 image to one of its extents: SAME cuts a row and a column off the tails. */
static void take_transposed(void) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t image[] = {1, 3, 3, 1}, filter[] = {1, 2, 2, 1}, ones[] = {1};
    const uint32_t x = nnv_builder_tensor(&b, FLOATS, 4, image, NNV_SUBGRAPH_INPUT);
    const uint32_t f = nnv_builder_weights(&b, FLOATS, 4, filter, 1),
                   bias = nnv_builder_weights(&b, FLOATS, 1, ones, 1);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, image, NNV_SUBGRAPH_OUTPUT);
    const uint32_t same = nnv_builder_int(&b, ANEURALNETWORKS_PADDING_SAME), one = nnv_builder_int(&b, 1);
    const uint32_t none = nnv_builder_int(&b, 0), nhwc = nnv_builder_bool(&b, false);
    const uint32_t shape = nnv_builder_ints(&b, 4, (const int32_t[]){1, 3, 3, 1});
    nnv_builder_add(&b, ANEURALNETWORKS_TRANSPOSE_CONV_2D, 9,
                    (uint32_t[]){x, f, bias, shape, same, one, one, none, nhwc}, y);
    take(&b, x, y);
}

static bool apply(const char *name) {
    const struct nnv_fault *f = nnv_fault_by_name(name);
    if (!f) fail_msg("no fault %s", name);
    return nnv_fault_fits(f, nnv_edit_op(&edit)->type) && nnv_fault_apply(f, &edit);
}

static void assert_valid(void) {
    struct nnv_err err = {0};
    assert_false(edit.failed);
    if (nnv_validate(&edit.spec.model, arena, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
}

static void the_original_stays(void **state) {
    (void)state;
    take_sums();
    const struct nnv_subgraph *was = &spec.model.main, *is = &edit.spec.model.main;
    assert_true(apply("operands-swapped"));
    assert_int_equal(is->operations[0].in[0], was->operations[0].in[1]);
    assert_int_equal(was->operations[0].in[0], was->in[0]);
    is->operands[0].dims[0] = 7;
    assert_int_equal(was->operands[0].dims[0], 2);
    assert_int_equal(was->noperands, 5);
}

/** Another use of a constant keeps its value: of w, and of the activation. */
static void one_use_alone(void **state) {
    (void)state;
    take_sums();
    const struct nnv_fault zero = {.change = nnv_change_zero, .slots = {"b"}};
    assert_true(apply("activation-ignored"));
    assert_true(nnv_fault_apply(&zero, &edit));
    assert_false(nnv_fault_apply(&zero, &edit)); /* it is */
    const struct nnv_subgraph *s = &edit.spec.model.main;
    assert_int_not_equal(s->operations[0].in[1], s->operations[1].in[1]);
    assert_int_not_equal(s->operations[0].in[2], s->operations[1].in[2]);
    assert_int_equal(*(const int32_t *)s->operands[s->operations[1].in[2]].data, ANEURALNETWORKS_FUSED_RELU);
    assert_valid();
}

static void faults_fit_some_operations(void **state) {
    (void)state;
    take_sums();
    assert_false(apply("align-corners-ignored"));
    assert_false(apply("minimum-for-maximum"));
    assert_false(apply("radius-plus-one"));
    assert_null(nnv_fault_by_name("no-such-fault"));
}

static void padding(void **state) {
    (void)state;
    take_pool();
    assert_true(apply("same-padding-odd-first"));
    assert_int_equal(nnv_edit_op(&edit)->nin, 10);
    assert_int_equal(*(const int32_t *)nnv_edit_operand(&edit, 1)->data, 1); /* left */
    assert_int_equal(*(const int32_t *)nnv_edit_operand(&edit, 2)->data, 0); /* right */
    assert_valid();
}

static int32_t number_at(int pos) { return *(const int32_t *)nnv_edit_operand(&edit, pos)->data; }

static void padding_of_dilated_filters(void **state) {
    (void)state;
    take_dilated();
    assert_true(apply("same-padding-undilated"));
    assert_int_equal(nnv_edit_op(&edit)->nin, 13);
    for (int side = 0; side < 4; side++) assert_int_equal(number_at(3 + side), side % 2 ? 3 : 1);
    assert_valid();
    take_pool(); /* nothing is dilated */
    assert_false(apply("same-padding-undilated"));
}

/* Height: 3 taps side by side, padded by 1 and 1; width: two apart, by 2 and 2. */
static void padding_of_another_dilation(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t pad[4];
    } made[] = {{"same-left-other-dilation", {1, 3, 1, 1}},
                {"same-top-other-dilation", {2, 2, 2, 0}},
                {"same-other-dilation", {1, 3, 2, 0}}};
    for (int i = 0; i < 3; i++) {
        take_dilated_by(1);
        assert_true(apply(made[i].name));
        for (int side = 0; side < 4; side++) assert_int_equal(number_at(3 + side), made[i].pad[side]);
        assert_valid();
        take_dilated_by(2);
        assert_false(apply(made[i].name));
    }
}

/* Rows side by side, columns two apart: these close up in a window of five. */
static void taps_of_another_dilation(void **state) {
    (void)state;
    take_dilated();
    assert_false(apply("rows-apart-like-columns"));
    struct nnv_fault f = *nnv_fault_by_name("rows-apart-like-columns");
    take_dilated_by(1);
    assert_false(nnv_fault_apply(&f, &edit)); /* rows are closer than columns */
    f = *nnv_fault_by_name("columns-apart-like-rows");
    float w[9];
    memcpy(w, nnv_edit_operand(&edit, 1)->data, sizeof w);
    assert_true(nnv_fault_apply(&f, &edit));
    const struct nnv_operand *o = nnv_edit_operand(&edit, 1);
    assert_int_equal(o->dims[1], 3);
    assert_int_equal(o->dims[2], 5);
    for (int h = 0; h < 3; h++) assert_memory_equal((const float *)o->data + 5 * h, w + 3 * h, 3 * sizeof *w);
    assert_valid();
}

/* Codes 200 and 3 of zero point 20: 180 is more than 127. */
static void narrow_weights(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding a = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 1, .zero_point = 20},
                              i32 = {.type = ANEURALNETWORKS_TENSOR_INT32, .scale = 1};
    const uint32_t two[] = {1, 2}, one[] = {1, 1};
    const uint32_t x = nnv_builder_tensor(&b, a, 2, two, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_constant(&b, a, 2, two, (const uint8_t[]){200, 3});
    const uint32_t bias = nnv_builder_constant(&b, i32, 1, one, (const int32_t[]){0});
    const uint32_t y = nnv_builder_tensor(&b, a, 2, one, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_FULLY_CONNECTED, 4, (uint32_t[]){x, w, bias, nnv_builder_int(&b, 0)}, y);
    take(&b, x, y);
    assert_true(apply("weights-narrow"));
    assert_memory_equal(nnv_edit_operand(&edit, 1)->data, ((const uint8_t[]){147, 3}), 2);
    assert_false(apply("weights-narrow"));
}

/** Two groups of one channel each become one product, which takes other weights for what is not a group's own. */
static void leaking_groups(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding a = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 1, .zero_point = 20},
                              i32 = {.type = ANEURALNETWORKS_TENSOR_INT32, .scale = 1};
    const uint32_t two[] = {1, 1, 1, 2}, filter[] = {2, 1, 1, 1}, channels[] = {2};
    const uint32_t x = nnv_builder_tensor(&b, a, 4, two, NNV_SUBGRAPH_INPUT);
    const uint32_t w = nnv_builder_constant(&b, a, 4, filter, (const uint8_t[]){7, 9});
    const uint32_t bias = nnv_builder_constant(&b, i32, 1, channels, (const int32_t[]){0, 0});
    const uint32_t one = nnv_builder_int(&b, 1), groups = nnv_builder_int(&b, 2), none = nnv_builder_int(&b, 0);
    const uint32_t y = nnv_builder_tensor(&b, a, 4, two, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(
        &b, ANEURALNETWORKS_GROUPED_CONV_2D, 9,
        (uint32_t[]){x, w, bias, nnv_builder_int(&b, 2), one, one, groups, none, nnv_builder_bool(&b, false)}, y);
    take(&b, x, y);
    assert_true(apply("groups-leak-128"));
    assert_int_equal(nnv_edit_op(&edit)->type, ANEURALNETWORKS_CONV_2D);
    assert_int_equal(nnv_edit_op(&edit)->nin, 8);
    assert_memory_equal(nnv_edit_operand(&edit, 1)->data, ((const uint8_t[]){7, 128, 128, 9}), 4);
    assert_valid();
}

static const struct nnv_fault *only(const struct nnv_fault_list *l, const char *words) {
    const struct nnv_fault *found = NULL;
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->item[i].words, words) != 0) continue;
        if (found) fail_msg("'%s' is there twice", words);
        found = &l->item[i];
    }
    return found;
}

/** Dilation 2 wide and 1 high: the other way round. */
static void scalars_change_places(void **state) {
    (void)state;
    struct nnv_fault_list l = {.arena = arena};
    take_dilated_by(1);
    nnv_generate_attributes(&l, calls[0]);
    const struct nnv_fault *f = only(&l, "dilation width and dilation height swapped");
    assert_non_null(f);
    assert_null(only(&l, "dilation height and dilation width swapped"));
    assert_null(only(&l, "stride width and stride height swapped")); /* they are alike */
    assert_true(nnv_fault_apply(f, &edit));
    assert_int_equal(number_at(8), 1);
    assert_int_equal(number_at(9), 2);
    assert_valid();
}

/** Of two truth values each is taken for the other. */
static void truth_values_are_turned(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    struct nnv_fault_list l = {.arena = arena};
    const uint32_t dims[] = {1, 2, 2, 1};
    const uint32_t x = nnv_builder_tensor(&b, FLOATS, 4, dims, NNV_SUBGRAPH_INPUT);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t two = nnv_builder_int(&b, 2), no = nnv_builder_bool(&b, false), yes = nnv_builder_bool(&b, true);
    nnv_builder_add(&b, ANEURALNETWORKS_RESIZE_BILINEAR, 5, (uint32_t[]){x, two, two, no, yes}, y);
    take(&b, x, y);
    nnv_generate_attributes(&l, calls[0]);
    assert_non_null(only(&l, "nchw taken for 1"));
    assert_null(only(&l, "nchw taken for 0"));
    assert_non_null(only(&l, "align corners taken for 0"));
    assert_null(only(&l, "align corners taken for 1"));
    assert_true(nnv_fault_apply(only(&l, "align corners taken for 0"), &edit));
    assert_int_equal(*(const uint8_t *)nnv_edit_operand(&edit, 4)->data, 0);
    assert_valid();
}

/** Vector kernels run over columns and channels as if they were one axis: of the filter nine numbers. */
static void two_axes_as_one(void **state) {
    (void)state;
    struct nnv_fault_list l = {.arena = arena};
    const struct nnv_fault f = {.change = nnv_change_placed, .axis = NNV_FAULT_LAST_TWO, .slots = {"filter"}};
    float w[9];
    take_dilated();
    memcpy(w, nnv_edit_operand(&edit, 1)->data, sizeof w);
    nnv_generate_places(&l, f, 3, "filter, axes 2 and 3 as one");
    size_t k = 0;
    while (k < l.count && strcmp(l.item[k].words, "filter, axes 2 and 3 as one: the last lost") != 0) k++;
    assert_true(k < l.count);
    assert_true(nnv_fault_apply(&l.item[k], &edit));
    for (int i = 2; i < 9; i += 3) w[i] = 0;
    assert_memory_equal(nnv_edit_operand(&edit, 1)->data, w, sizeof w);
    assert_valid();
}

/** A scale may be half of what it should be, or twice as much. */
static void scales_by_two(void **state) {
    (void)state;
    static const struct {
        const char *words;
        float scale;
    } rows[] = {{"scale of input times 0.5", 0.125f}, {"scale of input times 2", 0.5f}};
    struct nnv_fault_list l = {.arena = arena};
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding quarter = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 0.25f, .zero_point = 10};
    const uint32_t four[] = {4};
    const uint32_t x = nnv_builder_tensor(&b, quarter, 1, four, NNV_SUBGRAPH_INPUT),
                   y = nnv_builder_tensor(&b, quarter, 1, four, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_RELU, 1, &x, y);
    take(&b, x, y);
    nnv_generate_tensors(&l, calls[0]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct nnv_fault *f = only(&l, rows[i].words);
        assert_non_null(f);
        nnv_edit_begin(&edit, &spec, arena);
        edit.call = calls[0];
        assert_true(nnv_fault_apply(f, &edit));
        assert_true(fabsf(nnv_edit_operand(&edit, 0)->scale - rows[i].scale) <= 0);
    }
}

/** Numbers are counted round and round where they are fewer than those of the result, and more than one. */
static void numbers_counted_round(void **state) {
    (void)state;
    static const struct {
        uint32_t rank, dims[2];
        bool counted;
    } rows[] = {{1, {3}, true}, {2, {2, 1}, true}, {2, {2, 3}, false}, {1, {1}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_fault_list l = {.arena = arena};
        struct nnv_builder b = {.arena = arena, .seed = 1};
        const uint32_t dims[] = {2, 3};
        const float numbers[] = {1, 2, 3, 4, 5, 6};
        const uint32_t x = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_SUBGRAPH_INPUT);
        const uint32_t w = nnv_builder_constant(&b, FLOATS, rows[i].rank, rows[i].dims, numbers);
        const uint32_t y = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_SUBGRAPH_OUTPUT);
        nnv_builder_add(&b, ANEURALNETWORKS_MUL, 3, (uint32_t[]){x, w, nnv_builder_int(&b, 0)}, y);
        take(&b, x, y);
        nnv_generate_tensors(&l, calls[0]);
        const struct nnv_fault *f = only(&l, "b broadcast by counting its numbers round and round");
        assert_non_null(f);
        assert_int_equal(nnv_fault_apply(f, &edit), rows[i].counted);
        const float *v = nnv_edit_operand(&edit, 1)->data;
        const int n = rows[i].rank == 1 ? 3 : 2;
        for (int k = 0; rows[i].counted && k < 6; k++) assert_int_equal((int)v[k], 1 + k % n);
        assert_valid();
    }
}

/** An operation can be left out only where its result has the extents of what is handed on. */
static void handed_on_as_it_is(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 2; n++) { /* of 1 x 2 and of 2 x 2 numbers */
        struct nnv_fault_list l = {.arena = arena};
        struct nnv_builder b = {.arena = arena, .seed = 1};
        const uint32_t of[] = {n, 2}, to[] = {2, n}, two[] = {2};
        const struct nnv_encoding i32 = {.type = ANEURALNETWORKS_TENSOR_INT32};
        const uint32_t x = nnv_builder_tensor(&b, FLOATS, 2, of, NNV_SUBGRAPH_INPUT),
                       order = nnv_builder_constant(&b, i32, 1, two, (const int32_t[]){1, 0}),
                       y = nnv_builder_tensor(&b, FLOATS, 2, to, NNV_SUBGRAPH_OUTPUT);
        nnv_builder_add(&b, ANEURALNETWORKS_TRANSPOSE, 2, (uint32_t[]){x, order}, y);
        take(&b, x, y);
        nnv_generate_tensors(&l, calls[0]);
        const struct nnv_fault *f = only(&l, "the operation left out: input handed on");
        assert_non_null(f);
        assert_int_equal(nnv_fault_apply(f, &edit), n == 2);
        assert_int_equal(nnv_edit_op(&edit)->type, n == 2 ? ANEURALNETWORKS_RESHAPE : ANEURALNETWORKS_TRANSPOSE);
        assert_valid();
    }
}

/** Places of the last two axes as one are mixed up where there are more, and both have more than one. */
static void last_axes_as_one(void **state) {
    (void)state;
    static const struct {
        uint32_t rank, dims[3];
        bool mixed;
    } rows[] = {{3, {2, 3, 4}, true}, {3, {2, 3, 1}, false}, {3, {2, 1, 4}, false}, {2, {3, 4}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_fault_list l = {.arena = arena};
        struct nnv_builder b = {.arena = arena, .seed = 1};
        const uint32_t x = nnv_builder_tensor(&b, FLOATS, rows[i].rank, rows[i].dims, NNV_SUBGRAPH_INPUT),
                       y = nnv_builder_tensor(&b, FLOATS, rows[i].rank, rows[i].dims, NNV_SUBGRAPH_OUTPUT);
        nnv_builder_add(&b, ANEURALNETWORKS_RELU, 1, &x, y);
        take(&b, x, y);
        nnv_generate_tensors(&l, calls[0]);
        bool mixed = false;
        for (size_t k = 0; k < l.count; k++) {
            mixed |= strncmp(l.item[k].words, "input, axes 1 and 2 as one: ", 28) == 0;
            assert_true(mixed || strstr(l.item[k].words, "as one") == NULL);
        }
        assert_int_equal(mixed, rows[i].mixed);
    }
}

static void not_rescaled(void **state) {
    (void)state;
    take_joined(10);
    assert_true(apply("equal-zero-point-not-rescaled"));
    assert_true(nnv_edit_operand(&edit, 1)->scale >= 1);
    take_joined(11);
    assert_false(apply("equal-zero-point-not-rescaled"));
    assert_true(apply("not-rescaled"));
}

/** Lookups of 7, 9, 3 and 8 among the keys 3, 7 and 9. */
static void take_table(void) {
    static const int32_t lookups[] = {7, 9, 3, 8}, keys[] = {3, 7, 9};
    struct nnv_builder b = {.arena = arena, .seed = 1};
    struct nnv_err err = {0};
    const struct nnv_encoding ints = {.type = ANEURALNETWORKS_TENSOR_INT32},
                              one = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 1};
    const uint32_t three[] = {3}, four[] = {4}, rows[] = {3, 2}, made[] = {4, 2};
    const uint32_t in[] = {nnv_builder_constant(&b, ints, 1, four, lookups),
                           nnv_builder_constant(&b, ints, 1, three, keys),
                           nnv_builder_tensor(&b, FLOATS, 2, rows, NNV_SUBGRAPH_INPUT)};
    const uint32_t out[] = {nnv_builder_tensor(&b, FLOATS, 2, made, NNV_SUBGRAPH_OUTPUT),
                            nnv_builder_tensor(&b, one, 1, four, NNV_SUBGRAPH_OUTPUT)};
    nnv_builder_operation(&b, ANEURALNETWORKS_HASHTABLE_LOOKUP, 3, in, 2, out);
    spec = (struct nnv_spec){.name = "model"};
    if (nnv_builder_end(&b, 1, &in[2], 2, out, &spec.model, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_edit_calls(&spec, arena, &calls, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_edit_begin(&edit, &spec, arena);
    edit.call = calls[0];
}

static void keys_of_a_table(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t lookups[4];
    } made[] = {
        {"greatest-key-lost", {7, 0, 3, 8}}, {"least-key-lost", {7, 9, 0, 8}}, {"next-key-for-none", {7, 9, 3, 9}}};
    for (int i = 0; i < 3; i++) {
        take_table();
        assert_true(apply(made[i].name));
        assert_memory_equal(nnv_edit_operand(&edit, 0)->data, made[i].lookups, sizeof made[i].lookups);
        assert_valid();
        assert_false(apply(made[i].name));
    }
}

/** What SAME cuts off is worked out from the results. */
static void padding_of_transposed_convolutions(void **state) {
    (void)state;
    take_transposed();
    assert_true(apply("same-padding-odd-first"));
    assert_int_equal(nnv_edit_op(&edit)->nin, 11);
    for (int side = 0; side < 4; side++) assert_int_equal(number_at(3 + side), side % 2 ? 0 : 1);
    assert_valid();
}

/** What is put before an operation has a shape, so that who compiles the copy finds all of them. */
static void an_operation_before(void **state) {
    (void)state;
    take_pool();
    assert_true(apply("padding-counted"));
    const struct nnv_subgraph *s = &edit.spec.model.main;
    assert_int_equal(s->noperations, 2);
    assert_int_equal(s->operations[0].type, ANEURALNETWORKS_PAD);
    assert_int_equal(nnv_edit_op(&edit)->type, ANEURALNETWORKS_AVERAGE_POOL_2D);
    const struct nnv_operand *padded = nnv_edit_operand(&edit, 0);
    assert_int_equal(padded->rank, 4);
    assert_int_equal(padded->dims[1], 4);
    assert_int_equal(padded->dims[2], 4);
    assert_valid();
    take_pool();
    nnv_edit_open_shapes(&edit);
    assert_true(apply("padding-counted"));
    assert_int_equal(nnv_edit_operand(&edit, 0)->rank, 0);
}

static void lists(void **state) {
    (void)state;
    take_sums();
    struct nnv_subgraph *s = &edit.spec.model.main;
    const struct nnv_operation *more = nnv_edit_add_operation(&edit, &s->operations[1]);
    assert_ptr_equal(more, &s->operations[2]);
    assert_ptr_not_equal(more->in, s->operations[1].in);
    uint32_t list[] = {4, 2, 4, 1};
    assert_int_equal(nnv_edit_drop(list, 4, 4), 2);
    assert_int_equal(list[0], 2);
    assert_int_equal(list[1], 1);
    for (int i = 0; i < 1000; i++) nnv_edit_add_int(&edit, i); /* there is no room for so many */
    assert_true(edit.failed);
}

/* ---------------------------------------------------------------------- values */

#define V(...) ((const double[]){__VA_ARGS__})

/** What the fault makes of n numbers of a [rows, columns] output; expected NULL: it can't happen. */
static void becomes(const char *name, int32_t type, uint32_t rows, uint32_t columns, const double *v,
                    const double *expected) {
    static const double poison[8] = {90, 91, 92, 93, 94, 95, 96, 97};
    const uint32_t dims[] = {rows, columns};
    const struct nnv_fault_output y = {
        .type = type, .scale = 1, .rank = 2, .dims = dims, .n = (size_t)rows * columns, .v = v, .poison = poison};
    double out[8];
    const bool any = nnv_fault_spoil(nnv_fault_by_name(name), &y, out);
    if (any != (expected != NULL)) fail_msg("%s: %d", name, any);
    for (size_t i = 0; expected && i < y.n; i++)
        if (out[i] < expected[i] || out[i] > expected[i])
            fail_msg("%s: [%zu] = %g, not %g", name, i, out[i], expected[i]);
}

/** Codes of real results out of range; of 8 bits, at scale 0.5 and zero point 10. */
static void results_wrap(void **state) {
    (void)state;
    static const double exact[] = {-6, 0, 122.5, 124}, right[] = {0, 10, 255, 255}, wrapped[] = {254, 10, 255, 2};
    double out[4];
    struct nnv_fault_output y = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                 .scale = 0.5f,
                                 .zero_point = 10,
                                 .n = 4,
                                 .v = right,
                                 .exact = exact};
    assert_true(nnv_fault_spoil(nnv_fault_by_name("results-wrap"), &y, out));
    for (int i = 0; i < 4; i++) assert_true(fabs(out[i] - wrapped[i]) < 1e-9);
    y.exact = NULL;
    assert_false(nnv_fault_spoil(nnv_fault_by_name("results-wrap"), &y, out));
}

/** y[2] = the mean of x[2, 2, 3] over axes 0 and 2: of six numbers, whose sums are divided by less. */
static void means_divided_by_fewer(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding floats = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};
    static const float reals[12] = {0};
    static const int32_t axes[] = {0, 2};
    const uint32_t dims[] = {2, 2, 3}, two[] = {2}, x = nnv_builder_constant(&b, floats, 3, dims, reals);
    uint32_t y = nnv_builder_tensor(&b, floats, 1, two, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {
        x, nnv_builder_constant(&b, (struct nnv_encoding){.type = ANEURALNETWORKS_TENSOR_INT32}, 1, two, axes),
        nnv_builder_int(&b, 0)};
    struct nnv_err err = {0};
    spec = (struct nnv_spec){.name = "model"};
    nnv_builder_add(&b, ANEURALNETWORKS_MEAN, 3, in, y);
    assert_int_equal(nnv_builder_end(&b, 0, NULL, 1, &y, &spec.model, &err), NNV_OK);
    assert_int_equal(nnv_edit_calls(&spec, arena, &calls, &err), NNV_OK);
    struct nnv_fault_list l = {.arena = arena};
    nnv_generate_accumulators(&l, calls[0]);
    const struct nnv_fault *by_three = NULL;
    for (size_t i = 0; i < l.count; i++)
        if (strstr(l.item[i].words, "divided by fewer") && fabs(l.item[i].value - 2) < 1e-9) by_three = &l.item[i];
    assert_non_null(by_three);
    const struct nnv_fault_output floating = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .n = 2, .v = (double[]){1.5, -2}};
    const struct nnv_fault_output codes = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                           .scale = 0.5f,
                                           .zero_point = 10,
                                           .n = 2,
                                           .v = (double[]){11, 200},
                                           .exact = (double[]){0.375, 95}};
    double out[2];
    assert_true(nnv_fault_spoil(by_three, &floating, out));
    assert_true(fabs(out[0] - 3) < 1e-9 && fabs(out[1] + 4) < 1e-9);
    assert_true(nnv_fault_spoil(by_three, &codes, out));
    assert_true(fabs(out[0] - 12) < 1e-9 && fabs(out[1] - 255) < 1e-9); /* 0.75 is nearer to 1 than to 0.5: 2 codes */
}

static void values(void **state) {
    (void)state;
    const int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32, q = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    const double *v = V(1, 2, 3, 4, 5, 6);
    becomes("batches-swapped", f, 3, 2, v, V(5, 6, 3, 4, 1, 2));
    becomes("batches-swapped", f, 1, 6, v, NULL);
    becomes("index-8-bits", ANEURALNETWORKS_TENSOR_INT32, 1, 3, V(-1, 255, 513), V(-1, 255, 1));
    becomes("index-16-bits", ANEURALNETWORKS_TENSOR_INT32, 1, 3, V(65535, 65537, 0), V(65535, 1, 0));
    becomes("index-8-bits", f, 1, 3, V(1, 256, 300), NULL);
    becomes("first-batch-repeated", f, 3, 2, v, V(1, 2, 1, 2, 5, 6));
    becomes("first-batch-for-all", f, 3, 2, v, V(1, 2, 1, 2, 1, 2));
    becomes("first-batch-for-all", f, 2, 3, v, NULL); /* it would be the one before */
    becomes("vector-overlap", f, 1, 6, v, V(1, 2, 2, 3, 4, 5));
    becomes("shifted-right", f, 1, 6, v, V(1, 1, 2, 3, 4, 5));
    becomes("shifted-left", f, 1, 6, v, V(2, 3, 4, 5, 6, 6));
    becomes("reversed", f, 2, 3, v, V(3, 2, 1, 6, 5, 4));
    becomes("all-reversed", f, 2, 3, v, V(6, 5, 4, 3, 2, 1));
    becomes("transposed", f, 2, 3, v, V(1, 4, 2, 5, 3, 6));
    becomes("first-channel-for-all", f, 2, 3, v, V(1, 1, 1, 4, 4, 4));
    becomes("last-two-unwritten", f, 2, 3, v, V(1, 2, 3, 4, 94, 95));
    becomes("last-element-unwritten", f, 1, 1, v, NULL); /* that is output-unwritten */
    becomes("output-unwritten", f, 1, 2, v, V(90, 91));
    becomes("low-bit-dropped", q, 1, 3, v, V(0, 2, 2));
    becomes("low-bit-dropped", f, 1, 3, v, NULL);
    becomes("stored-plus-one", q, 1, 3, V(0, 254, 255), V(1, 255, 255));
    becomes("wraps-at-the-top", q, 1, 3, V(0, 254, 255), V(0, 254, 0));
    becomes("signedness", q, 1, 3, V(0, 127, 128), V(128, 255, 0));
    becomes("never-negative", f, 1, 3, V(-1, 0, 2), V(0, 0, 2));
    becomes("float16-inside", f, 1, 2, V(1.000244140625, 2), V(1, 2));
    becomes("bfloat16-truncated", f, 1, 1, V(1.9999), V(1.9921875));
    becomes("sign-flipped", q, 1, 2, V(3, 0), V(0, 0)); /* saturated */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_original_stays),
        cmocka_unit_test(one_use_alone),
        cmocka_unit_test(faults_fit_some_operations),
        cmocka_unit_test(padding),
        cmocka_unit_test(padding_of_dilated_filters),
        cmocka_unit_test(padding_of_another_dilation),
        cmocka_unit_test(scales_by_two),
        cmocka_unit_test(numbers_counted_round),
        cmocka_unit_test(handed_on_as_it_is),
        cmocka_unit_test(last_axes_as_one),
        cmocka_unit_test(not_rescaled),
        cmocka_unit_test(scalars_change_places),
        cmocka_unit_test(truth_values_are_turned),
        cmocka_unit_test(two_axes_as_one),
        cmocka_unit_test(narrow_weights),
        cmocka_unit_test(leaking_groups),
        cmocka_unit_test(keys_of_a_table),
        cmocka_unit_test(taps_of_another_dilation),
        cmocka_unit_test(padding_of_transposed_convolutions),
        cmocka_unit_test(an_operation_before),
        cmocka_unit_test(lists),
        cmocka_unit_test(results_wrap),
        cmocka_unit_test(means_divided_by_fewer),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
