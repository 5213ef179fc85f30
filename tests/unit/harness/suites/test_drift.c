/* SPDX-License-Identifier: Apache-2.0 */
/* What grows over hours: a leak and a slowdown are told, whatever noise lies over them; pools that fill up, steps and
 * warming up are not. */
#include "base/rng.h"
#include "harness/suites/exec/drift.h"
#include "tests/kit/test.h"

enum { NOTES = 3200, HOUR = 3600 };

/** What a driver holds and takes, at a part of the time from 0 to 1. */
struct course {
    double (*heap)(double at);
    double (*us)(double at);
    double noise; /* that is added to both, relative */
};

static double none(double at) { return (void)at, 1000; }
static double leaks(double at) { return 1e6 + 64 * 1000 * at; }
static double fills_up(double at) { return 1e6 * (at < 0.45 ? at : 0.45); }
static double two_steps(double at) { return 1e6 + 4096 * ((at > 0.6) + (at > 0.8)); }
static double warms_up(double at) { return at < 0.4 ? 100 - at : 60; }
static double slows_down(double at) { return 20 + 40 * at; }
static double hardly(double at) { return 100 + 10 * at; }

/** The reason, and its words in *said. */
static enum nnvts_reason judged(const struct course *c, double seconds, struct nnv_text *said) {
    struct nnv_drift d = {.length_ns = (uint64_t)(seconds * 1e9)};
    struct nnv_rng rng = nnv_rng_make(3, 0, 0);
    for (int i = 0; i < NOTES; i++) {
        const double at = (double)i / NOTES;
        const double up = nnv_rng_unit(&rng) * c->noise, away = nnv_rng_unit(&rng) < 0.1 ? 10 : 0;
        const uint64_t held[NNV_HELD_KINDS] = {
            [NNV_HELD_DESCRIPTORS] = 5 + (uint64_t)(i % 3), [NNV_HELD_HEAP] = (uint64_t)(c->heap(at) * (1 + up))};
        nnv_drift_note(&d, (uint64_t)(at * seconds * 1e9), held, (uint64_t)(1000 * c->us(at) * (1 + up + away)), 16);
    }
    return nnv_drift_judge(&d, said);
}

static void test_growth_is_told(void **state) {
    (void)state;
    struct nnv_text said = {0};
    assert_int_equal(judged(&(struct course){leaks, none, 0}, HOUR, &said), NNVTS_WHY_LEAK);
    assert_string_equal(said.data,
                        "the driver keeps bytes of heap: 17.78 of them more each second (99.9 % sure: 17.78 "
                        "to 17.78), in the last 30 min 0 s of 60 min 0 s, 1.25 an execution; a driver must free "
                        "what it allocates");
    nnv_text_clear(&said);
    assert_int_equal(judged(&(struct course){none, slows_down, 0.3}, HOUR, &said), NNVTS_WHY_EXPECTATION);
    assert_non_null(strstr(said.data, "executions take ever longer: 0.01"));
    nnv_text_free(&said);
}

static void test_what_ends_is_not(void **state) {
    (void)state;
    static const struct course legal[] = {
        {none, none, 0.5}, {fills_up, none, 0}, {two_steps, none, 0}, {none, warms_up, 0.1}, {none, hardly, 0.01}};
    struct nnv_text said = {0};
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        if (judged(&legal[i], HOUR, &said) != NNVTS_WHY_NONE) fail_msg("course %zu: %s", i, said.data);
    }
}

static void test_too_short_to_tell(void **state) {
    (void)state;
    struct nnv_text said = {0};
    assert_int_equal(judged(&(struct course){leaks, none, 0}, 0.9, &said), NNVTS_WHY_NONE);
    struct nnv_drift d = {.length_ns = UINT64_C(3600000000000)};
    const uint64_t held[NNV_HELD_KINDS] = {0};
    nnv_drift_note(&d, d.length_ns + 5, held, 1, 1); /* the last may end behind the time */
    assert_int_equal(d.block[NNV_DRIFT_BLOCKS - 1].executions, 1);
    assert_int_equal(nnv_drift_judge(&d, &said), NNVTS_WHY_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_is_told),
        cmocka_unit_test(test_what_ends_is_not),
        cmocka_unit_test(test_too_short_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
