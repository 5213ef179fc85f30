/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_roof.c What work takes at least under a roof, and what of it is achieved. */
#include "harness/bench/roof.h"
#include "tests/kit/test.h"

static const int32_t FLOAT = ANEURALNETWORKS_TENSOR_FLOAT32, BYTE = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;

/** 100 and 400 Gop/s; 50 GB/s up to 1000 bytes, 10 GB/s beyond. */
static const struct nnv_roof roof = {.known = true, .peak = {100, 400}, .levels = 2, .level = {{1000, 50}, {4000, 10}}};

static void the_larger_of_two_times(void **state) {
    (void)state;
    /* arithmetic: 1e6 / 100 against 1000 / 50 */
    assert_float_equal(nnv_roof_ns(&roof, &(struct nnv_op_work){1e6, 1000, FLOAT}), 1e4, 1e-9);
    assert_float_equal(nnv_roof_ns(&roof, &(struct nnv_op_work){1e6, 1000, BYTE}), 2500, 1e-9);
    /* memory: 2000 / 10; beyond the last level, too */
    assert_float_equal(nnv_roof_ns(&roof, &(struct nnv_op_work){100, 2000, FLOAT}), 200, 1e-9);
    assert_float_equal(nnv_roof_ns(&roof, &(struct nnv_op_work){100, 1e6, FLOAT}), 1e5, 1e-9);
    assert_float_equal(nnv_roof_ns(&roof, &(struct nnv_op_work){0, 500, BYTE}), 10, 1e-9);
    /* what is not known makes the time unknown, but for a peak that is not needed */
    struct nnv_roof lame = roof;
    lame.peak.int8 = (double)NAN;
    assert_true(isnan(nnv_roof_ns(&lame, &(struct nnv_op_work){100, 500, BYTE})));
    assert_float_equal(nnv_roof_ns(&lame, &(struct nnv_op_work){0, 500, BYTE}), 10, 1e-9);
    assert_true(isnan(nnv_roof_ns(&roof, &(struct nnv_op_work){(double)NAN, 500, FLOAT})));
    lame.known = false;
    assert_true(isnan(nnv_roof_ns(&lame, &(struct nnv_op_work){100, 500, FLOAT})));
}

static void rates_and_their_intervals(void **state) {
    (void)state;
    const struct nnv_op_work work = {1e6, 1000, FLOAT}; /* 1e4 ns at least */
    struct nnv_roofline l = nnv_roofline_of(&roof, &work, 4e4, (struct nnv_interval){2e4, 5e4});
    assert_float_equal(l.gops, 25, 1e-9);
    assert_float_equal(l.gops_in.low, 20, 1e-9);
    assert_float_equal(l.gops_in.high, 50, 1e-9);
    assert_float_equal(l.gbytes, 0.025, 1e-12);
    assert_float_equal(l.percent, 25, 1e-9);
    assert_float_equal(l.percent_in.low, 20, 1e-9);
    assert_float_equal(l.percent_in.high, 50, 1e-9);
    l = nnv_roofline_of(&roof, &work, 4e4, (struct nnv_interval){-INFINITY, INFINITY});
    assert_true(isnan(l.gops_in.low) && isnan(l.gops_in.high));
    l = nnv_roofline_of(&roof, &work, (double)NAN, (struct nnv_interval){(double)NAN, (double)NAN});
    assert_true(isnan(l.gops) && isnan(l.percent));
}

static void a_stated_roof(void **state) {
    (void)state;
    static const char *const bad[] = {"", "100", "100,", "100,0", "-1,10", "100,10,1", "100,10x", "inf,10", "nan,1"};
    struct nnv_roof r;
    struct nnv_err err = {0};
    assert_int_equal(nnv_roof_state("4000,68.5", &r, &err), NNV_OK);
    assert_true(r.known && r.stated);
    assert_float_equal(nnv_roof_peak(&r, FLOAT), 4000, 0);
    assert_float_equal(nnv_roof_peak(&r, BYTE), 4000, 0);
    assert_float_equal(nnv_roof_bandwidth(&r, 1), 68.5, 0);
    assert_float_equal(nnv_roof_bandwidth(&r, 1e12), 68.5, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(nnv_roof_state(bad[i], &r, &err), NNV_INVALID);
}

/** Times are not judged: there is some peak, and a bandwidth at each size. */
static void a_measured_roof(void **state) {
    (void)state;
    struct nnv_roof r;
    nnv_roof_measure(&r);
    assert_true(r.known && !r.stated && r.peak.float32 > 0 && !(r.peak.int8 <= 0));
    for (int i = 0; i < r.levels; i++) assert_true(r.level[i].rate > 0);
    assert_float_equal(nnv_roof_bandwidth(&r, 1), r.level[0].rate, 0);
    assert_float_equal(nnv_roof_bandwidth(&r, 1e15), r.level[r.levels - 1].rate, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_larger_of_two_times),
                                       cmocka_unit_test(rates_and_their_intervals), cmocka_unit_test(a_stated_roof),
                                       cmocka_unit_test(a_measured_roof)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
