/* SPDX-License-Identifier: Apache-2.0 */
/** Faults that several operations stand for, by what they compute. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "reference/eval/eval.h"
#include "reference/faults/generate.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"
#include "tests/kit/arena.h"

static struct nnv_spec spec;
static struct nnv_call **calls;
static struct nnv_edit edit;
static const struct nnv_encoding FLOATS = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};

/** Puts a model without inputs into the editor, its last operation in hand. */
static void take(struct nnv_builder *b, uint32_t nout, const uint32_t *out) {
    struct nnv_err err = {0};
    spec = (struct nnv_spec){.name = "model"};
    if (nnv_builder_end(b, 0, NULL, nout, out, &spec.model, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_edit_calls(&spec, arena, &calls, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_edit_begin(&edit, &spec, arena);
    edit.at = spec.model.main.noperations - 1;
    edit.call = calls[edit.at];
}

static bool apply(const char *name) {
    const struct nnv_fault *f = nnv_fault_by_name(name);
    if (!f) fail_msg("no fault %s", name);
    return nnv_fault_fits(f, nnv_edit_op(&edit)->type) && nnv_fault_apply(f, &edit);
}

/** The stored numbers of output 0 of the edited model. */
static const double *made(size_t n) {
    struct nnv_err err = {0};
    struct nnv_golden golden[4];
    const struct nnv_eval_options options = {.k = 2};
    double *v = NNV_NEW(arena, double, n);
    assert_false(edit.failed);
    if (nnv_validate(&edit.spec.model, arena, NULL, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_eval(&edit.spec.model, NULL, &options, arena, golden, &err) != NNV_OK) fail_msg("%s", err.text);
    const int32_t type = edit.spec.model.main.operands[edit.spec.model.main.out[0]].type;
    assert_int_equal(golden[0].value.bytes, n * nnv_type(type)->size);
    nnv_load(type, golden[0].value.data, n, v);
    return v;
}

/* -------------------------------------------------------------------- deviations */

/** Two channels: 0 and 2, deviation 1; and twice 5, deviation 0. Gamma 2, beta 1, epsilon 3. */
static void take_planes(float *x) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t dims[] = {1, 1, 2, 2};
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {nnv_builder_constant(&b, FLOATS, 4, dims, x), nnv_builder_float(&b, 2),
                           nnv_builder_float(&b, 1), nnv_builder_float(&b, 3), nnv_builder_bool(&b, false)};
    nnv_builder_add(&b, ANEURALNETWORKS_INSTANCE_NORMALIZATION, 5, in, y);
    take(&b, 1, &y);
}

static void deviations(void **state) {
    (void)state;
    static float x[] = {0, 5, 2, 5};
    static const struct {
        const char *name;
        double deviation;
    } wrong[] = {{"epsilon-outside-root", 4}, {"epsilon-as-least", 1.7320508}, {"variance-of-sample", 2.2360680}};
    for (int i = 0; i < 3; i++) {
        take_planes(x);
        assert_true(apply(wrong[i].name));
        const double *v = made(4), off = 2 / wrong[i].deviation;
        assert_true(fabs(v[0] - (1 - off)) < 1e-5 && fabs(v[2] - (1 + off)) < 1e-5);
        assert_true(fabs(v[1] - 1) < 1e-5 && fabs(v[3] - 1) < 1e-5);
    }
    static float same[] = {5, 5, 5, 5};
    take_planes(same);
    assert_false(apply("variance-of-sample"));
}

/* ------------------------------------------------------------------ exponentials */

/** Of two numbers in float32, with beta 2. */
static void take_exponentials(int32_t code, float *x) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const uint32_t dims[] = {1, 2}, y = nnv_builder_tensor(&b, FLOATS, 2, dims, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {nnv_builder_constant(&b, FLOATS, 2, dims, x), nnv_builder_float(&b, 2),
                           nnv_builder_int(&b, 1)};
    nnv_builder_add(&b, code, 3, in, y);
    take(&b, 1, &y);
}

static void exponentials_overflow(void **state) {
    (void)state;
    static float large[] = {0, 100}, small[] = {0, 0.5f};
    take_exponentials(ANEURALNETWORKS_LOG_SOFTMAX, large);
    assert_true(apply("maximum-not-subtracted"));
    const double *v = made(2);
    assert_true(isinf(v[0]) && v[0] < 0 && isinf(v[1]) && v[1] < 0);
    take_exponentials(ANEURALNETWORKS_LOG_SOFTMAX, small);
    assert_true(apply("maximum-not-subtracted"));
    v = made(2); /* -log(1 + e) and 1 less */
    assert_true(fabs(v[0] + 1.3132617) < 1e-5 && fabs(v[1] + 0.3132617) < 1e-5);
    take_exponentials(ANEURALNETWORKS_SOFTMAX, large);
    assert_true(apply("maximum-not-subtracted"));
    v = made(2);
    assert_true(fabs(v[0]) < 1e-30 && isnan(v[1]));
}

/* ----------------------------------------------------------------------- biases */

/** A cell of two units, one input, without input gate; every bias is [0.5, -0.25]. norm: layer normalisation. */
static void take_cell(bool norm) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    static float two[] = {3, 4}, square[] = {1, 2, 3, 4}, bias[] = {0.5f, -0.25f}, one[] = {7};
    const uint32_t matrix[] = {2, 1}, units[] = {2}, states[] = {1, 2}, input[] = {1, 1}, full[] = {2, 2},
                   scratch[] = {1, 6};
    const uint32_t none = nnv_builder_operand(&b, (struct nnv_operand){.type = FLOATS.type, .lifetime = NNV_NO_VALUE});
    uint32_t in[27];
    for (int i = 0; i < 27; i++) in[i] = none;
    in[0] = nnv_builder_constant(&b, FLOATS, 2, input, one);
    for (int g = 1; g < 4; g++) {
        in[1 + g] = nnv_builder_constant(&b, FLOATS, 2, matrix, two);
        in[5 + g] = nnv_builder_constant(&b, FLOATS, 2, full, square);
        in[12 + g] = nnv_builder_constant(&b, FLOATS, 1, units, bias);
        if (norm) in[23 + g] = nnv_builder_constant(&b, FLOATS, 1, units, two);
    }
    for (int i = 18; i < 20; i++) in[i] = nnv_builder_constant(&b, FLOATS, 2, states, two);
    in[20] = nnv_builder_int(&b, 4);
    in[21] = nnv_builder_float(&b, 0);
    in[22] = nnv_builder_float(&b, 0);
    const uint32_t out[] = {nnv_builder_tensor(&b, FLOATS, 2, scratch, NNV_SUBGRAPH_OUTPUT),
                            nnv_builder_tensor(&b, FLOATS, 2, states, NNV_SUBGRAPH_OUTPUT),
                            nnv_builder_tensor(&b, FLOATS, 2, states, NNV_SUBGRAPH_OUTPUT),
                            nnv_builder_tensor(&b, FLOATS, 2, states, NNV_SUBGRAPH_OUTPUT)};
    nnv_builder_operation(&b, ANEURALNETWORKS_LSTM, 27, in, 4, out);
    take(&b, 4, out);
}

static void biases_before_normalisation(void **state) {
    (void)state;
    static const float wide[] = {7, 1}, weights[] = {3, 0.5f, 4, -0.25f}, zeros[] = {0, 0};
    take_cell(true);
    assert_true(apply("bias-normalised"));
    assert_memory_equal(nnv_edit_operand(&edit, 0)->data, wide, sizeof wide);
    for (int g = 1; g < 4; g++) {
        assert_memory_equal(nnv_edit_operand(&edit, 1 + g)->data, weights, sizeof weights);
        assert_memory_equal(nnv_edit_operand(&edit, 12 + g)->data, zeros, sizeof zeros);
    }
    (void)made(6);
    take_cell(false);
    assert_false(apply("bias-normalised"));
}

/* ---------------------------------------------------------------------- samples */

/** Boxes four pixels wide, two high, in cells of one, that begin there: the second of two as high as wide. */
static void take_boxes(int32_t width_samples, float from) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    static const float at[] = {0, 0, 4, 2, 1, 1, 5, 5};
    static float image[64], boxes[8];
    for (int i = 0; i < 8; i++) boxes[i] = at[i] + from;
    static const int32_t batch[] = {0, 0};
    for (int i = 0; i < 64; i++) image[i] = (float)(i % 8 * (i % 8));
    const uint32_t dims[] = {1, 8, 8, 1}, two[] = {2}, corners[] = {2, 4}, cells[] = {2, 1, 1, 1};
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 4, cells, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {nnv_builder_constant(&b, FLOATS, 4, dims, image),
                           nnv_builder_constant(&b, FLOATS, 2, corners, boxes),
                           nnv_builder_constant(&b, ints, 1, two, batch),
                           nnv_builder_int(&b, 1),
                           nnv_builder_int(&b, 1),
                           nnv_builder_float(&b, 1),
                           nnv_builder_float(&b, 1),
                           nnv_builder_int(&b, 0),
                           nnv_builder_int(&b, width_samples),
                           nnv_builder_bool(&b, false)};
    nnv_builder_add(&b, ANEURALNETWORKS_ROI_ALIGN, 10, in, y);
    take(&b, 1, &y);
}

static void samples_of_the_other_direction(void **state) {
    (void)state;
    take_boxes(0, 0);
    assert_true(apply("width-samples-of-height"));
    assert_int_equal(edit.spec.model.main.noperations, 3);
    /* squares at 1 and 3; those at 1.5, 2.5, 3.5 and 4.5, between whole pixels the mean of both */
    const double *v = made(2);
    assert_true(fabs(v[0] - 5) < 1e-5);
    assert_true(fabs(v[1] - (2.5 + 6.5 + 12.5 + 20.5) / 4) < 1e-5);
    take_boxes(0, 0);
    assert_true(apply("height-samples-of-width"));
    assert_int_equal(edit.spec.model.main.noperations, 2); /* all have four */
    (void)made(2);
    take_boxes(3, 0); /* nothing is worked out */
    assert_false(apply("width-samples-of-height"));
}

static void samples_at_the_beginning(void **state) {
    (void)state;
    take_boxes(0, 1);
    assert_true(apply("samples-at-begin"));
    const double *v = made(2); /* squares at 1 to 4, and at 2 to 5 */
    assert_true(fabs(v[0] - 30 / 4.0) < 1e-5);
    assert_true(fabs(v[1] - 54 / 4.0) < 1e-5);
    take_boxes(2, 1); /* in the width at 1 and 3, and at 2 and 4 */
    assert_true(apply("samples-at-begin"));
    v = made(2);
    assert_true(fabs(v[0] - 5) < 1e-5);
    assert_true(fabs(v[1] - 10) < 1e-5);
    take_boxes(2, 0); /* it would begin outside the image */
    assert_false(apply("samples-at-begin"));
}

/** A box from (1, 1) to (3, 5) of an image twice as large as the map, which has 2 rows and 3 columns. */
static void coordinates_are_rounded_down(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    static const float map[] = {10, 2, 3, 4, 5, 9}, boxes[] = {1, 1, 5, 3};
    static const int32_t image[] = {0};
    const uint32_t dims[] = {1, 2, 3, 1}, corners[] = {1, 4}, one[] = {1}, single[] = {1, 1, 1, 1},
                   y = nnv_builder_tensor(&b, FLOATS, 4, single, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {nnv_builder_constant(&b, FLOATS, 4, dims, map),
                           nnv_builder_constant(&b, FLOATS, 2, corners, boxes),
                           nnv_builder_constant(&b, ints, 1, one, image),
                           nnv_builder_int(&b, 1),
                           nnv_builder_int(&b, 1),
                           nnv_builder_float(&b, 2),
                           nnv_builder_float(&b, 2),
                           nnv_builder_bool(&b, false)};
    nnv_builder_add(&b, ANEURALNETWORKS_ROI_POOLING, 8, in, y);
    take(&b, 1, &y);
    assert_true(fabs(made(1)[0] - 9) < 1e-6); /* from 0.5 and 0.5, to the nearest: row 1 and column 1 */
    assert_true(apply("boxes-rounded-down"));
    assert_true(fabs(made(1)[0] - 10) < 1e-6);
}

/** A box that is moved beyond the right border of an image of 4 rows and 6 columns. */
static void boxes_end_at_the_last_pixel(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    static const float region[] = {1, 1, 5, 3}, delta[] = {1, 0, 0, 0}, size[] = {4, 6};
    static const int32_t image[] = {0};
    const uint32_t corners[] = {1, 4}, one[] = {1}, sizes[] = {1, 2},
                   y = nnv_builder_tensor(&b, FLOATS, 2, corners, NNV_SUBGRAPH_OUTPUT);
    const uint32_t in[] = {
        nnv_builder_constant(&b, FLOATS, 2, corners, region), nnv_builder_constant(&b, FLOATS, 2, corners, delta),
        nnv_builder_constant(&b, ints, 1, one, image), nnv_builder_constant(&b, FLOATS, 2, sizes, size)};
    nnv_builder_add(&b, ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM, 4, in, y);
    take(&b, 1, &y);
    assert_true(apply("boxes-to-last-pixel"));
    const double *v = made(4);
    assert_true(fabs(v[0] - 5) < 1e-5); /* where it begins, too, at 5 */
    assert_true(fabs(v[2] - 5) < 1e-5);
    assert_true(fabs(v[3] - 3) < 1e-5);
}

/* ------------------------------------------------------------------------ pairs */

static void pairs_left_out(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    const struct nnv_encoding from = {.type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, .scale = 0.5f, .zero_point = 10},
                              to = {.type = from.type, .scale = 0.75f, .zero_point = 3};
    static const uint8_t codes[] = {0, 9, 10, 255};
    const uint32_t four[] = {4};
    const uint32_t x = nnv_builder_constant(&b, from, 1, four, codes);
    uint32_t t = nnv_builder_tensor(&b, FLOATS, 1, four, NNV_TEMPORARY_VARIABLE);
    uint32_t y = nnv_builder_tensor(&b, to, 1, four, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_DEQUANTIZE, 1, &x, t);
    nnv_builder_add(&b, ANEURALNETWORKS_QUANTIZE, 1, &t, y);
    take(&b, 1, &y);
    assert_true(apply("requantised-dropped"));
    const double *v = made(4);
    for (int i = 0; i < 4; i++) assert_int_equal(v[i], codes[i]);

    b = (struct nnv_builder){.arena = arena, .seed = 1};
    static const float reals[] = {0.3f, 1.4f, -0.7f, 60};
    const uint32_t r = nnv_builder_constant(&b, FLOATS, 1, four, reals);
    t = nnv_builder_tensor(&b, to, 1, four, NNV_TEMPORARY_VARIABLE);
    y = nnv_builder_tensor(&b, FLOATS, 1, four, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_QUANTIZE, 1, &r, t);
    nnv_builder_add(&b, ANEURALNETWORKS_DEQUANTIZE, 1, &t, y);
    take(&b, 1, &y);
    assert_false(apply("requantised-dropped"));
    assert_false(apply("casts-dropped"));
    assert_true(apply("quantised-dropped"));
    v = made(4);
    for (int i = 0; i < 4; i++) assert_true(fabs(v[i] - (double)reals[i]) < 1e-6);
}

/* ------------------------------------------------------------ memory used again */

/** y = x + ABS(x), where x is what NEG makes; ABS is in hand. */
static void written_over_its_input(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    static const float reals[] = {3, -2};
    const uint32_t two[] = {2}, c = nnv_builder_constant(&b, FLOATS, 1, two, reals),
                   x = nnv_builder_tensor(&b, FLOATS, 1, two, NNV_TEMPORARY_VARIABLE),
                   a = nnv_builder_tensor(&b, FLOATS, 1, two, NNV_TEMPORARY_VARIABLE),
                   y = nnv_builder_tensor(&b, FLOATS, 1, two, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_NEG, 1, &c, x);
    nnv_builder_add(&b, ANEURALNETWORKS_ABS, 1, &x, a);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){x, a, nnv_builder_int(&b, ANEURALNETWORKS_FUSED_NONE)}, y);
    take(&b, 1, &y);
    assert_false(apply("in-place")); /* nobody reads behind the last */
    edit.at = 0;
    edit.call = calls[0];
    assert_false(apply("in-place")); /* a constant */
    edit.at = 1;
    edit.call = calls[1];
    assert_true(apply("in-place"));
    const double *v = made(2);
    assert_int_equal(v[0], 6);
    assert_int_equal(v[1], 4);
}

/**
 * x = -{3, -2, 5}; t = |{..}| of n elements, in hand; y = FLOOR(x), which is then made of what t leaves of x.
 */
static const double *overwritten_by(uint32_t n, bool read_later) {
    struct nnv_builder b = {.arena = arena, .seed = 1};
    static const float reals[] = {3, -2, 5}, others[] = {-10, -20, -30, -40};
    const uint32_t three[] = {3}, dims[] = {n}, c = nnv_builder_constant(&b, FLOATS, 1, three, reals),
                   d = nnv_builder_constant(&b, FLOATS, 1, dims, others),
                   x = nnv_builder_tensor(&b, FLOATS, 1, three, NNV_TEMPORARY_VARIABLE),
                   t = nnv_builder_tensor(&b, FLOATS, 1, dims, NNV_SUBGRAPH_OUTPUT),
                   y = nnv_builder_tensor(&b, FLOATS, 1, three, NNV_SUBGRAPH_OUTPUT);
    struct nnv_fault_list l = {.arena = arena};
    nnv_builder_add(&b, ANEURALNETWORKS_NEG, 1, &c, x);
    if (!read_later) nnv_builder_add(&b, ANEURALNETWORKS_FLOOR, 1, &x, y);
    nnv_builder_add(&b, ANEURALNETWORKS_ABS, 1, &d, t);
    if (read_later) nnv_builder_add(&b, ANEURALNETWORKS_FLOOR, 1, &x, y);
    take(&b, 2, (uint32_t[]){y, t});
    edit.at = read_later ? 1 : 2;
    edit.call = calls[edit.at];
    nnv_generate_overwritten(&l, &spec.model.main, calls, edit.at);
    for (size_t i = 0; i < l.count; i++) /* y is an output, which may be written over, too; x only while it is needed */
        if ((uint32_t)l.item[i].value == x) return nnv_fault_apply(&l.item[i], &edit) ? made(3) : NULL;
    return NULL;
}

static void written_over_by_another_result(void **state) {
    (void)state;
    static const double expected[][3] = {{10, 2, -5}, {10, 20, -5}, {10, 20, 30}, {10, 20, 30}};
    for (uint32_t n = 1; n <= 4; n++) {
        const double *v = overwritten_by(n, true);
        assert_non_null(v);
        for (int i = 0; i < 3; i++) assert_true(fabs(v[i] - expected[n - 1][i]) < 1e-6);
    }
    assert_null(overwritten_by(3, false));
}

static void casts_by_scale(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    static const uint8_t codes[] = {12, 8};
    const struct nnv_encoding from = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 0.5f, 10};
    const uint32_t two[] = {2}, x = nnv_builder_constant(&b, from, 1, two, codes);
    const uint32_t y = nnv_builder_tensor(&b, FLOATS, 1, two, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_CAST, 1, &x, y);
    take(&b, 1, &y);
    assert_true(apply("cast-by-scale"));
    const double *v = made(2);
    assert_true(fabs(v[0] - 1) < 1e-6 && fabs(v[1] + 1) < 1e-6);
}

static void casts_to_the_nearest(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena, .seed = 1};
    static const float reals[] = {1.6f, -1.6f, 1.4f, -1.4f};
    const struct nnv_encoding ints = {.type = ANEURALNETWORKS_TENSOR_INT32};
    const uint32_t four[] = {4}, x = nnv_builder_constant(&b, FLOATS, 1, four, reals);
    uint32_t y = nnv_builder_tensor(&b, ints, 1, four, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_CAST, 1, &x, y);
    take(&b, 1, &y);
    assert_true(apply("cast-to-nearest"));
    const double *v = made(4);
    assert_int_equal(v[0], 2);
    assert_int_equal(v[1], -2);
    assert_int_equal(v[2], 1);
    assert_int_equal(v[3], -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_over_its_input),
        cmocka_unit_test(written_over_by_another_result),
        cmocka_unit_test(casts_by_scale),
        cmocka_unit_test(casts_to_the_nearest),
        cmocka_unit_test(deviations),
        cmocka_unit_test(exponentials_overflow),
        cmocka_unit_test(biases_before_normalisation),
        cmocka_unit_test(samples_of_the_other_direction),
        cmocka_unit_test(samples_at_the_beginning),
        cmocka_unit_test(coordinates_are_rounded_down),
        cmocka_unit_test(boxes_end_at_the_last_pixel),
        cmocka_unit_test(pairs_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
