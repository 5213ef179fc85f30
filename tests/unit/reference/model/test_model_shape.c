/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes with unknown parts, broadcasting, axes, windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reference/model/op.h"

#define SHAPE(...) nnv_shape_make(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})
#define U NNV_DIM_UNKNOWN

static void test_text(void **state) {
    (void)state;
    char buf[64], tiny[5];
    struct nnv_shape s = SHAPE(1, 224, U, 0), unknown = {0}, scalar = nnv_shape_of_rank(0);
    assert_string_equal(nnv_shape_text(&s, buf, sizeof buf), "[1,224,?,0]");
    assert_string_equal(nnv_shape_text(&unknown, buf, sizeof buf), "[?...]");
    assert_string_equal(nnv_shape_text(&scalar, buf, sizeof buf), "[]");
    assert_string_equal(nnv_shape_text(&s, tiny, sizeof tiny), "[1,2");
}

static void test_known(void **state) {
    (void)state;
    struct nnv_shape s = SHAPE(2, 3, 5), part = SHAPE(2, U), unknown = {0}, zero = SHAPE(4, 0);
    assert_true(nnv_shape_known(&s));
    assert_false(nnv_shape_known(&part));
    assert_false(nnv_shape_known(&unknown));
    assert_int_equal(nnv_shape_elems(&s), 30);
    assert_int_equal(nnv_shape_elems(&zero), 0);
    assert_int_equal(nnv_dim(&s, 2), 5);
    assert_int_equal(nnv_dim(&s, 3), U);
    assert_int_equal(nnv_dim(&unknown, 0), U);
    assert_true(nnv_dim_agree(3, U) && nnv_dim_agree(U, 3) && nnv_dim_agree(3, 3));
    assert_false(nnv_dim_agree(3, 4));
    assert_int_equal(nnv_dim_merge(U, 3), 3);
    assert_int_equal(nnv_dim_merge(3, U), 3);
}

static void test_broadcast(void **state) {
    (void)state;
    struct nnv_shape a = SHAPE(2, 1, 5), b = SHAPE(3, 1), out;
    struct nnv_err err = {0};
    char buf[64];
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, &err), NNV_OK);
    assert_string_equal(nnv_shape_text(&out, buf, sizeof buf), "[2,3,5]");
    a = SHAPE(1, 0);
    b = SHAPE(4, 1);
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, &err), NNV_OK);
    assert_string_equal(nnv_shape_text(&out, buf, sizeof buf), "[4,0]");
    a = SHAPE(U, U, 7);
    b = SHAPE(1, 3, U);
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, &err), NNV_OK);
    assert_string_equal(nnv_shape_text(&out, buf, sizeof buf), "[?,3,7]");
    b = (struct nnv_shape){0};
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, &err), NNV_OK);
    assert_false(out.known_rank);
    a = SHAPE(2, 3);
    b = SHAPE(2, 4);
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, &err), NNV_INVALID);
    assert_string_equal(err.text, "[2,3] and [2,4] cannot be broadcast: extents 3 and 4 differ and none is 1");
    b = SHAPE(2, 0);
    assert_int_equal(nnv_shape_broadcast(&a, &b, &out, NULL), NNV_INVALID);
}

static void test_axis(void **state) {
    (void)state;
    assert_int_equal(nnv_axis(0, 3), 0);
    assert_int_equal(nnv_axis(2, 3), 2);
    assert_int_equal(nnv_axis(-1, 3), 2);
    assert_int_equal(nnv_axis(-3, 3), 0);
    assert_int_equal(nnv_axis(3, 3), -1);
    assert_int_equal(nnv_axis(-4, 3), -1);
    assert_int_equal(nnv_axis(INT32_MIN, 3), -1);
    assert_int_equal(nnv_axis(0, 0), -1);
}

static void check_window(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, int32_t scheme, int32_t head,
                         int32_t tail, struct nnv_window want) {
    struct nnv_window w = {.out = 99, .head = head, .tail = tail};
    assert_int_equal(nnv_window(in, filter, stride, dilation, scheme, &w, NULL), NNV_OK);
    assert_int_equal(w.out, want.out);
    assert_int_equal(w.head, want.head);
    assert_int_equal(w.tail, want.tail);
}

static void test_window(void **state) {
    (void)state;
    check_window(5, 3, 1, 1, ANEURALNETWORKS_PADDING_SAME, 7, 7, (struct nnv_window){5, 1, 1});
    check_window(6, 3, 2, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){3, 0, 1}); /* odd cell behind */
    check_window(5, 2, 1, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){5, 0, 1});
    check_window(9, 1, 4, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){3, 0, 0}); /* never negative */
    check_window(9, 3, 2, 3, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){5, 3, 3}); /* effective 7 */
    check_window(9, 3, 2, 2, ANEURALNETWORKS_PADDING_VALID, 5, 5, (struct nnv_window){3, 0, 0});
    check_window(7, 3, 2, 1, 0, 2, 1, (struct nnv_window){4, 2, 1});
    check_window(U, 3, 2, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){U, 0, 0});
    check_window(7, U, 2, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){4, 0, 0});
    check_window(7, U, 2, 1, ANEURALNETWORKS_PADDING_VALID, 0, 0, (struct nnv_window){U, 0, 0});
    check_window(0, 3, 2, 1, ANEURALNETWORKS_PADDING_VALID, 0, 0, (struct nnv_window){0, 0, 0});
    check_window(0, 3, 2, 1, ANEURALNETWORKS_PADDING_SAME, 0, 0, (struct nnv_window){0, 0, 0});
}

static void refuse_window(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, int32_t scheme, int32_t head,
                          int32_t tail, const char *reason) {
    struct nnv_window w = {.out = 99, .head = head, .tail = tail};
    struct nnv_err err = {0};
    assert_int_equal(nnv_window(in, filter, stride, dilation, scheme, &w, &err), NNV_INVALID);
    assert_string_equal(err.text, reason);
    assert_int_equal(w.out, 99); /* written only on success */
}

static void test_window_refusals(void **state) {
    (void)state;
    refuse_window(5, 3, 0, 1, 1, 0, 0, "stride 0 is below 1");
    refuse_window(5, 3, 1, -1, 1, 0, 0, "dilation -1 is below 1");
    refuse_window(5, 3, 1, 1, 3, 0, 0, "3 is not a padding code");
    refuse_window(5, 3, 1, 1, 0, -1, 0, "padding -1 is negative");
    refuse_window(5, 3, 1, 1, 0, 0, -2, "padding -2 is negative");
    refuse_window(5, 3, 1, 1, 0, 3, 0, "padding 3 reaches the effective filter of 3");
    refuse_window(5, 3, 1, 2, 0, 4, 5, "padding 5 reaches the effective filter of 5");
    refuse_window(2, 3, 1, 1, 2, 0, 0, "the output would be empty: effective filter 3 is above input 2");
    refuse_window(2, 0, 1, 1, 2, 0, 0, "the filter is empty");
    refuse_window(2, 0x7ffffffe, 1, INT32_MAX, 1, 0, 0, "effective filter 4611686009837453316 is too large");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_known),  cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_axis), cmocka_unit_test(test_window), cmocka_unit_test(test_window_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
