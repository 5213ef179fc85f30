/* SPDX-License-Identifier: Apache-2.0 */
/* Values by their place: lines of one kind each, large means with small deviations, long sums of one sign. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/place.h"
#include "randgraph/single/single.h"

enum { LENGTH = 9, ROUNDS = 2, LINES = 10 * ROUNDS };

/* The kind of a line: which of its elements equal its first, and whether that is 0. */
static void test_lines(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    const struct nnv_fill f = {.mode = NNV_FILL_LINES, .line = LENGTH};
    int zeros = 0, one_hot = 0, equal = 0, large = 0, one_large = 0, last = 0, masked = 0;
    for (size_t r = 0; r < LINES; r++) {
        double v[LENGTH], sum = 0, least = INFINITY;
        int other = 0, zero = 0;
        for (size_t j = 0; j < LENGTH; j++) {
            v[j] = nnv_place_value(&f, -4, 6, 10000, r * LENGTH + j, LENGTH * LINES, &rng);
            sum += v[j];
            zero += v[j] == 0;
            other += v[j] != v[0];
            least = fmin(least, v[j]);
        }
        zeros += zero == LENGTH;
        one_hot += zero == LENGTH - 1 && sum == 6;
        equal += other == 0 && v[0] != 0;
        large += least >= 9999 && other > 0;
        const bool alone = least >= -4 && sum > 9000 && sum < 10100;
        one_large += alone;
        last += alone && v[LENGTH - 1] >= 9999;
        masked += least <= -9999 && (v[LENGTH - 1] <= -9999 || r >= LINES / ROUNDS);
    }
    assert_true(zeros == ROUNDS && one_hot == ROUNDS && equal == ROUNDS && large == ROUNDS);
    assert_true(one_large == 2 * ROUNDS && last > ROUNDS && masked >= 1);
}

static double number(const struct nnv_value *v, int32_t type, size_t e) {
    double x;
    nnv_load(type, (const char *)v->data + e * nnv_type(type)->size, 1, &x);
    return x;
}

/* The results fit into float16, the sums of what goes into one of them do not. */
static void test_sums_leave_float16(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("MEAN"), .mode = NNV_FILL_HIGH, .seed = 1};
    int beyond = 0;
    while (w.op->sigs[w.sig].type[NNV_T] != ANEURALNETWORKS_TENSOR_FLOAT16) w.sig++;
    for (; w.variant < nnv_single_variants(w.op); w.variant++) {
        struct nnv_spec *s = NULL;
        assert_int_equal(nnv_single_build(&w, arena, &s, NULL), NNV_OK);
        const double n = (double)s->inputs[0].bytes / (double)s->outputs[0].bytes;
        const double mean = number(&s->outputs[0], ANEURALNETWORKS_TENSOR_FLOAT16, 0);
        assert_true(isfinite(mean));
        beyond += n * mean > 65504;
        nnv_arena_reset(arena);
    }
    assert_true(beyond > 1);
    nnv_arena_free(arena);
}

/* One of three cases: a mean of 10,000 and a deviation of about 1, so that a variance in one pass cancels. */
static void test_large_means(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_single w = {.op = nnv_op_by_name("INSTANCE_NORMALIZATION"), .mode = NNV_FILL_LINES, .seed = 1};
    int large = 0;
    for (; w.index < 3; w.index++) {
        struct nnv_spec *s = NULL;
        assert_int_equal(nnv_single_build(&w, arena, &s, NULL), NNV_OK);
        bool all = true;
        for (size_t e = 0; e < s->inputs[0].bytes / sizeof(float); e++)
            all &= fabs(number(&s->inputs[0], ANEURALNETWORKS_TENSOR_FLOAT32, e) - 10000) <= 1;
        large += all;
        nnv_arena_reset(arena);
    }
    assert_int_equal(large, 1);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_sums_leave_float16),
        cmocka_unit_test(test_large_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
