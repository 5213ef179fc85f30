/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/type.h"

static void rows_are_complete(void **state) {
    (void)state;
    for (int32_t c = 0; c < NNV_TYPE_COUNT; c++) {
        const struct nnv_type *t = nnv_type(c);
        assert_non_null(t);
        assert_int_equal(t->code, c);
        assert_non_null(t->name);
        assert_non_null(t->tag);
        assert_true(t->level >= 1 && t->level <= 4);
        assert_true(t->kind == NNV_KIND_MODEL ? t->size == 0 : t->size > 0 && t->min < t->max);
        assert_ptr_equal(nnv_type_by_name(t->name), t);
        assert_int_equal(t->tensor, strncmp(t->name, "TENSOR_", 7) == 0);
        assert_int_equal(nnv_is_quant(c), strncmp(t->name, "TENSOR_QUANT", 12) == 0);
        assert_int_equal(nnv_is_float(c), strstr(t->name, "FLOAT") != NULL);
        assert_int_equal(t->per_channel, c == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL);
        for (int32_t d = 0; d < c; d++) assert_string_not_equal(t->tag, nnv_type(d)->tag);
    }
    assert_null(nnv_type(-1));
    assert_null(nnv_type(NNV_TYPE_COUNT));
    assert_null(nnv_type_by_name("TENSOR"));
    assert_null(nnv_type_by_name("tensor_float32"));
    assert_ptr_equal(nnv_type_by_name("SUBGRAPH"), nnv_type(ANEURALNETWORKS_MODEL));
    assert_false(nnv_is_quant(99));
}

/* The value of a binary16 code by its definition. */
static double half_by_definition(unsigned h) {
    int exponent = (int)(h >> 10 & 31), fraction = (int)(h & 1023);
    double v = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -v : v;
}

static void every_half_reads_and_writes(void **state) {
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        double want = half_by_definition(h), got = nnv_half_to_double((uint16_t)h);
        if (isnan(want)) {
            assert_true(isnan(got));
            assert_true(isnan(nnv_half_to_double(nnv_double_to_half(got))));
            continue;
        }
        assert_true(want == got && !signbit(want) == !signbit(got));
        assert_int_equal(nnv_double_to_half(got), h);
    }
}

/* Between all neighbours: the middle goes to the even code, a hair beside it to the nearer one. */
static void halves_round_once_to_even(void **state) {
    (void)state;
    for (unsigned h = 0; h < 0x7c00; h++) {
        double lo = half_by_definition(h), hi = h + 1 == 0x7c00 ? 65536 : half_by_definition(h + 1);
        double middle = lo + (hi - lo) / 2;
        unsigned even = h % 2 ? h + 1 : h;
        for (unsigned sign = 0; sign < 2; sign++) {
            double s = sign ? -1 : 1;
            unsigned bit = sign << 15;
            assert_int_equal(nnv_double_to_half(s * middle), even | bit);
            assert_int_equal(nnv_double_to_half(s * nextafter(middle, 0)), h | bit);
            assert_int_equal(nnv_double_to_half(s * nextafter(middle, INFINITY)), (h + 1) | bit);
        }
    }
    assert_int_equal(nnv_double_to_half(1e300), 0x7c00);
    assert_int_equal(nnv_double_to_half(-INFINITY), 0xfc00);
    assert_int_equal(nnv_double_to_half(5e-324), 0);
    assert_int_equal(nnv_double_to_half(-5e-324), 0x8000);
    assert_int_equal(nnv_double_to_half(-0.0), 0x8000);
}

static void rounding_is_half_away(void **state) {
    (void)state;
    static const double in[] = {0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 4503599627370497.0, -0.2};
    static const double want[] = {1, -1, 2, 3, -3, 0, 4503599627370497.0, 0};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) assert_true(nnv_round_half_away(in[i]) == want[i]);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (int i = 0; i < 200000; i++) { /* of all sizes, halves and their neighbours among them */
        const double any = ldexp(nnv_rng_uniform(&rng, -1, 1), i % 60 - 3), half = trunc(any) + 0.5;
        const double v[] = {any, half, nextafter(half, -INFINITY), nextafter(half, INFINITY)};
        for (int k = 0; k < 4; k++) assert_true(nnv_round_half_away(v[k]) == round(v[k]));
    }
    assert_true(isnan(nnv_round_half_away(NAN)) && isinf(nnv_round_half_away(-INFINITY)));
}

static void stores_clamp_and_round(void **state) {
    (void)state;
    static const double in[] = {-1e30, 1e30, -INFINITY, INFINITY, NAN, 0.5, -0.5, 2.5, 0.49999999999999994, -3.49};
    for (int32_t c = 0; c < NNV_TYPE_COUNT; c++) {
        const struct nnv_type *t = nnv_type(c);
        if (t->kind != NNV_KIND_INT && t->kind != NNV_KIND_QUANT) continue;
        double lo = t->min, hi = t->max;
        double want[] = {lo, hi, lo, hi, hi, 1, lo < -1 ? -1 : lo, 3, 0, lo < -3 ? -3 : lo};
        for (size_t i = 0; i < sizeof in / sizeof *in; i++) assert_true(nnv_round_to(c, in[i]) == want[i]);
        assert_true(nnv_round_to(c, hi + 0.4) == hi && nnv_round_to(c, hi - 0.4) == hi);
        assert_true(nnv_round_to(c, lo - 0.4) == lo && nnv_round_to(c, lo + 0.4) == lo);
        assert_true(nnv_ulp(c, 100) == 1);
    }
    assert_true(nnv_round_to(ANEURALNETWORKS_TENSOR_BOOL8, -0.25) == 1);
    assert_true(nnv_round_to(ANEURALNETWORKS_BOOL, -0.0) == 0);
    uint8_t odd = 7;
    double b = 0;
    nnv_load(ANEURALNETWORKS_TENSOR_BOOL8, &odd, 1, &b);
    assert_true(b == 1);
}

static void floats_round_to_nearest_even(void **state) {
    (void)state;
    int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32;
    assert_true(nnv_round_to(f, 1 + 0x1p-24) == 1);
    assert_true(nnv_round_to(f, 1 + 3 * 0x1p-24) == 1 + 0x1p-22);
    assert_true(nnv_round_to(f, 1e300) == (double)INFINITY && nnv_round_to(f, -1e300) == -(double)INFINITY);
    assert_true(isnan(nnv_round_to(f, NAN)));
    assert_true(signbit(nnv_round_to(f, -0.0)));
    assert_true(nnv_round_to(ANEURALNETWORKS_FLOAT16, 1 + 0x1p-11) == 1);
}

static void bulk_and_single_agree_unaligned(void **state) {
    (void)state;
    enum { N = 100 };
    double in[N], out[N];
    unsigned char raw[N * 4 + 1];
    struct nnv_rng r = nnv_rng_make(1, 2, 3);
    for (int32_t c = 0; c < ANEURALNETWORKS_MODEL; c++) {
        for (int i = 0; i < N; i++) in[i] = nnv_rng_uniform(&r, -300, 300);
        nnv_store(c, in, N, raw + 1);
        nnv_load(c, raw + 1, N, out);
        for (int i = 0; i < N; i++) assert_true(out[i] == nnv_round_to(c, in[i]));
    }
}

static void ulps(void **state) {
    (void)state;
    int32_t f = ANEURALNETWORKS_TENSOR_FLOAT32, h = ANEURALNETWORKS_TENSOR_FLOAT16;
    static const float values[] = {1.0f, 1.5f, 2.0f, 3e38f, 1e-38f, 1e-44f, 123.25f};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double v = (double)values[i];
        assert_true(nnv_ulp(f, v) == (double)nextafterf(values[i], INFINITY) - v);
        assert_true(nnv_ulp(f, -v) == nnv_ulp(f, v));
    }
    assert_true(nnv_ulp(f, 0) == 0x1p-149 && nnv_ulp(h, 0) == 0x1p-24);
    assert_true(nnv_ulp(h, 1) == 0x1p-10 && nnv_ulp(h, 65504) == 32);
    assert_true(nnv_ulp(f, INFINITY) == 0x1p104);
    assert_true(isnan(nnv_ulp(f, NAN)));
}

static void bits_are_compared(void **state) {
    (void)state;
    assert_true(nnv_same_bits(1, 1) && nnv_same_bits(NAN, NAN) && nnv_same_bits(-0.0, -0.0));
    assert_false(nnv_same_bits(0.0, -0.0));
    assert_false(nnv_same_bits(1, 1 + 0x1p-52));
    assert_false(nnv_same_bits(NAN, -NAN));
}

static void sizes_are_checked(void **state) {
    (void)state;
    size_t elems = 77, bytes = 77;
    assert_true(nnv_size_bytes(ANEURALNETWORKS_TENSOR_FLOAT32, 3, (uint32_t[]){2, 3, 4}, &elems, &bytes));
    assert_int_equal(elems, 24);
    assert_int_equal(bytes, 96);
    assert_true(nnv_size_bytes(ANEURALNETWORKS_INT32, 0, NULL, &elems, &bytes));
    assert_int_equal(elems, 1);
    assert_true(
        nnv_size_bytes(ANEURALNETWORKS_TENSOR_INT32, 3, (uint32_t[]){0xffffffff, 0xffffffff, 0}, &elems, &bytes));
    assert_int_equal(bytes, 0);
    elems = bytes = 77;
    assert_false(nnv_size_bytes(ANEURALNETWORKS_TENSOR_FLOAT32, 1, (uint32_t[]){0x40000000}, &elems, &bytes));
    assert_false(nnv_size_bytes(ANEURALNETWORKS_TENSOR_BOOL8, 2, (uint32_t[]){0x10000, 0x10000}, &elems, &bytes));
    assert_false(nnv_size_bytes(99, 0, NULL, &elems, &bytes));
    assert_true(elems == 77 && bytes == 77);
    assert_true(nnv_size_bytes(ANEURALNETWORKS_TENSOR_BOOL8, 1, (uint32_t[]){0xffffffff}, &elems, &bytes));
    assert_int_equal(bytes, 0xffffffff);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(every_half_reads_and_writes),
        cmocka_unit_test(halves_round_once_to_even),
        cmocka_unit_test(rounding_is_half_away),
        cmocka_unit_test(stores_clamp_and_round),
        cmocka_unit_test(floats_round_to_nearest_even),
        cmocka_unit_test(bulk_and_single_agree_unaligned),
        cmocka_unit_test(ulps),
        cmocka_unit_test(bits_are_compared),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
