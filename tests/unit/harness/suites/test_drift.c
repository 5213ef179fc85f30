/* SPDX-License-Identifier: Apache-2.0 */
/* What grows over hours: a leak and a slowdown are told, whatever noise lies over them; pools that fill up, steps and
 * warming up are not. */
#include <jansson.h>

#include "base/rng.h"
#include "harness/suites/exec/drift.h"
#include "tests/kit/test.h"

enum { NOTES = 3200, HOUR = 3600 };

/** What a driver holds and takes, at a part of the time from 0 to 1. */
struct course {
    double (*heap)(double at);
    double (*us)(double at);
    double noise;                /* that is added to both, relative */
    double (*others)(double at); /* resident, of a process of the driver's own, looked at now and then; or NULL */
};

static double none(double at) { return (void)at, 1000; }
static double leaks(double at) { return 1e6 + 64 * 1000 * at; }
static double fills_up(double at) { return 1e6 * (at < 0.45 ? at : 0.45); }
static double two_steps(double at) { return 1e6 + 4096 * ((at > 0.6) + (at > 0.8)); }
static double warms_up(double at) { return at < 0.4 ? 100 - at : 60; }
static double slows_down(double at) { return 20 + 40 * at; }
static double hardly(double at) { return 100 + 10 * at; }

static void note(const struct course *c, double seconds, struct nnv_drift *d) {
    *d = (struct nnv_drift){.length_ns = (uint64_t)(seconds * 1e9)};
    struct nnv_rng rng = nnv_rng_make(3, 0, 0);
    for (int i = 0; i < NOTES; i++) {
        const double at = (double)i / NOTES;
        const double up = nnv_rng_unit(&rng) * c->noise, away = nnv_rng_unit(&rng) < 0.1 ? 10 : 0;
        const uint64_t now[NNV_DRIFT_KINDS] = {
            [NNV_HELD_DESCRIPTORS] = 5 + (uint64_t)(i % 3),
            [NNV_HELD_HEAP] = (uint64_t)(c->heap(at) * (1 + up)),
            [NNV_DRIFT_OTHERS_DESCRIPTORS] = i % 50 == 0 ? 7 : NNV_DRIFT_UNSEEN,
            [NNV_DRIFT_OTHERS_THREADS] = NNV_DRIFT_UNSEEN,
            [NNV_DRIFT_OTHERS_MEMORY] = i % 50 == 0 && c->others ? (uint64_t)c->others(at) : NNV_DRIFT_UNSEEN,
            [NNV_DRIFT_TIME] = (uint64_t)(1000 * c->us(at) * (1 + up + away))};
        nnv_drift_note(d, (uint64_t)(at * seconds * 1e9), now, 16);
    }
}

/** The reason, and its words in *said. */
static enum nnvts_reason judged(const struct course *c, double seconds, struct nnv_text *said) {
    struct nnv_drift d;
    note(c, seconds, &d);
    return nnv_drift_judge(&d, said);
}

static void test_growth_is_told(void **state) {
    (void)state;
    struct nnv_text said = {0};
    assert_int_equal(judged(&(struct course){leaks, none, 0, NULL}, HOUR, &said), NNVTS_WHY_LEAK);
    assert_string_equal(said.data,
                        "the driver keeps bytes of heap: 17.78 of them more each second (99.9 % sure: 17.78 "
                        "to 17.78), in the last 30 min 0 s of 60 min 0 s, 1.25 an execution; a driver must free "
                        "what it allocates");
    nnv_text_clear(&said);
    assert_int_equal(judged(&(struct course){none, slows_down, 0.3, NULL}, HOUR, &said), NNVTS_WHY_EXPECTATION);
    assert_non_null(strstr(said.data, "executions take ever longer: 0.01"));
    nnv_text_clear(&said);
    assert_int_equal(judged(&(struct course){none, none, 0, leaks}, HOUR, &said), NNVTS_WHY_LEAK);
    assert_non_null(strstr(said.data, "the driver keeps bytes of resident memory in a process of its own: 17.78 of"));
    nnv_text_free(&said);
}

/** The member of the kind in the record. */
static const json_t *kind_of(const json_t *drift, const char *of) {
    const json_t *kind;
    size_t i;
    json_array_foreach(drift, i, kind) if (strcmp(json_string_value(json_object_get(kind, "of")), of) == 0) return kind;
    return NULL;
}

static void test_the_record_has_it_all(void **state) {
    (void)state;
    struct nnv_drift d;
    struct nnv_text t = {0};
    note(&(struct course){leaks, warms_up, 0, NULL}, HOUR, &d);
    nnv_drift_json(&d, &t);
    json_t *drift = json_loads(t.data, 0, NULL);
    assert_int_equal(json_array_size(drift), 4); /* what there was none of, or not seen, is left out */
    const json_t *heap = kind_of(drift, "bytes of heap"), *us = kind_of(drift, "us of the quickest execution");
    assert_non_null(kind_of(drift, "file descriptors"));
    assert_int_equal(json_integer_value(json_array_get(
                         json_object_get(kind_of(drift, "file descriptors in a process of its own"), "least"), 31)),
                     7);
    assert_true(json_is_true(json_object_get(heap, "grows")) && json_is_false(json_object_get(us, "grows")));
    assert_int_equal(json_array_size(json_object_get(heap, "least")), NNV_DRIFT_BLOCKS);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(heap, "least"), 16)), 1032000);
    assert_float_equal(json_number_value(json_object_get(heap, "slope")), 64000.0 / HOUR, 1e-3);
    assert_float_equal(json_number_value(json_object_get(heap, "low")), 64000.0 / HOUR, 1e-3);
    assert_float_equal(json_number_value(json_array_get(json_object_get(us, "least"), 31)), 60, 1e-9);
    json_decref(drift);
    nnv_text_clear(&t);
    d.length_ns = 900000000;
    nnv_drift_json(&d, &t);
    assert_int_equal(t.len, 0);
    nnv_text_free(&t);
}

static void test_what_ends_is_not(void **state) {
    (void)state;
    static const struct course legal[] = {{none, none, 0.5, none},
                                          {fills_up, none, 0, fills_up},
                                          {two_steps, none, 0, two_steps},
                                          {none, warms_up, 0.1, NULL},
                                          {none, hardly, 0.01, NULL}};
    struct nnv_text said = {0};
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        if (judged(&legal[i], HOUR, &said) != NNVTS_WHY_NONE) fail_msg("course %zu: %s", i, said.data);
    }
}

static void test_too_short_to_tell(void **state) {
    (void)state;
    struct nnv_text said = {0};
    assert_int_equal(judged(&(struct course){leaks, none, 0, NULL}, 0.9, &said), NNVTS_WHY_NONE);
    struct nnv_drift d = {.length_ns = UINT64_C(3600000000000)};
    const uint64_t now[NNV_DRIFT_KINDS] = {0};
    nnv_drift_note(&d, d.length_ns + 5, now, 1); /* the last may end behind the time */
    assert_int_equal(d.block[NNV_DRIFT_BLOCKS - 1].executions, 1);
    assert_int_equal(nnv_drift_judge(&d, &said), NNVTS_WHY_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_is_told),
        cmocka_unit_test(test_what_ends_is_not),
        cmocka_unit_test(test_too_short_to_tell),
        cmocka_unit_test(test_the_record_has_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
