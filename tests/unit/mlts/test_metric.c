/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "mlts/metrics/metric.h"

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-12)) fail_msg("%.17g is not %.17g", got, want);
}

static void ranks(void **state) {
    (void)state;
    const double s[] = {0.1, 0.5, 0.2, 0.5, NAN};
    assert_int_equal(nnv_metric_rank(s, 5, 1), 0);
    assert_int_equal(nnv_metric_rank(s, 5, 3), 1); /* equal: the earlier first */
    assert_int_equal(nnv_metric_rank(s, 5, 2), 2);
    assert_int_equal(nnv_metric_rank(s, 5, 0), 3);
    assert_true(nnv_metric_top(s, 5, 3, 2));
    assert_false(nnv_metric_top(s, 5, 3, 1));
    assert_false(nnv_metric_top(s, 5, 4, 5)); /* NaN is never right */
}

static void boxes(void **state) {
    (void)state;
    const double a[] = {0, 0, 2, 2}, b[] = {1, 1, 3, 3}, c[] = {2, 0, 4, 2}, none[] = {1, 1, 1, 3},
                 turned[] = {2, 2, 0, 0};
    near(nnv_metric_iou(a, a), 1);
    near(nnv_metric_iou(a, b), 1.0 / 7);
    near(nnv_metric_iou(b, a), 1.0 / 7);
    near(nnv_metric_iou(a, c), 0); /* they touch */
    near(nnv_metric_iou(a, none), 0);
    near(nnv_metric_iou(turned, turned), 0);
}

static void edits(void **state) {
    (void)state;
    const int32_t kitten[] = {'k', 'i', 't', 't', 'e', 'n'}, sitting[] = {'s', 'i', 't', 't', 'i', 'n', 'g'};
    assert_int_equal(nnv_metric_edits(kitten, 6, sitting, 7), 3);
    assert_int_equal(nnv_metric_edits(sitting, 7, kitten, 6), 3);
    assert_int_equal(nnv_metric_edits(kitten, 6, kitten, 6), 0);
    assert_int_equal(nnv_metric_edits(kitten, 0, sitting, 7), 7);
    assert_int_equal(nnv_metric_edits(kitten, 6, sitting, 0), 6);
}

static void signals(void **state) {
    (void)state;
    const double a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, 2};
    near(nnv_metric_mse(a, b, 4), 1);
    near(nnv_metric_psnr(1, 10), 20);
    assert_true(isinf(nnv_metric_psnr(0, 10)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),
        cmocka_unit_test(boxes),
        cmocka_unit_test(edits),
        cmocka_unit_test(signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
