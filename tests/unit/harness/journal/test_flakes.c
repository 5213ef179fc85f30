/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of failures that are tried again, with drivers that exist only here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "harness/runner/determinism.h"
#include "harness/journal/flakes.h"
#include "harness/runner/worker/worker.h"

enum { HISTORY = 1000 };

/** A driver: how it fails. */
struct fake {
    struct nnv_rng rng;
    double alone, load;    /**< chances */
    const uint32_t *needs; /**< cases of which all must have run before */
    size_t need_count;
    double after;           /**< the chance then */
    size_t runs, most_runs; /**< no time is left after most_runs */
};

static bool has(const uint32_t *list, size_t n, uint32_t x) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == x) return true;
    return false;
}

static enum nnv_status run(void *context, const uint32_t *before, size_t n, bool load, bool *bad, struct nnv_err *err) {
    struct fake *f = context;
    double chance = load ? f->load : f->alone;
    bool all = f->need_count > 0;
    if (f->most_runs > 0 && f->runs == f->most_runs) return nnv_fail(err, NNV_TIMEOUT, "late");
    f->runs++;
    for (size_t i = 0; i < f->need_count; i++) all = all && has(before, n, f->needs[i]);
    for (size_t i = 1; i < n; i++) assert_true(before[i] > before[i - 1]); /* in their order */
    if (all) chance = f->after;
    *bad = nnv_rng_unit(&f->rng) < chance;
    return NNV_OK;
}

/** The failure of a case behind `count` others. */
static struct nnv_flake study_after(struct fake *f, uint32_t count) {
    static uint32_t before[HISTORY];
    struct nnv_flake flake;
    struct nnv_err err = {0};
    for (uint32_t i = 0; i < HISTORY; i++) before[i] = i;
    f->rng = nnv_rng_make(11, 22, 33);
    const struct nnv_flake_subject s = {.before = before,
                                        .before_count = count,
                                        .runs = NNV_FLAKE_RUNS,
                                        .until_ns = UINT64_MAX,
                                        .context = f,
                                        .run = run};
    assert_int_equal(nnv_flake_study(&s, &flake, &err), NNV_OK);
    return flake;
}

static struct nnv_flake study(struct fake *f) { return study_after(f, HISTORY); }

static void deterministic(void **state) {
    (void)state;
    struct fake f = {.alone = 1, .load = 1};
    struct nnv_flake flake = study(&f);
    assert_int_equal(flake.class, NNV_FLAKE_DETERMINISTIC);
    assert_int_equal(f.runs, 5);
    nnv_flake_free(&flake);
}

static void flaky(void **state) {
    (void)state;
    struct fake f = {.alone = 0.3, .load = 0.3};
    struct nnv_flake flake = study(&f);
    struct nnv_text t = {0};
    assert_int_equal(flake.class, NNV_FLAKE_FLAKY);
    assert_int_equal(flake.alone.runs, NNV_FLAKE_RUNS);
    assert_in_range(flake.alone.bad, 8, 30);
    flake.alone.bad = 3; /* of 60: Clopper and Pearson give 0.0104 to 0.1392 */
    flake.order = (struct nnv_flake_runs){0};
    nnv_flake_words(&flake, NULL, &t);
    assert_string_equal(t.data, "flaky: failed in 3 of 60 runs alone (1.0 % to 13.9 % at 95 % confidence)");
    nnv_text_free(&t);
    nnv_flake_free(&flake);
}

static void load_dependent(void **state) {
    (void)state;
    struct fake f = {.alone = 0, .load = 0.8};
    struct nnv_flake flake = study(&f);
    assert_int_equal(flake.class, NNV_FLAKE_LOAD);
    assert_int_equal(flake.alone.bad, 0);
    nnv_flake_free(&flake);
}

static void not_reproduced(void **state) {
    (void)state;
    struct fake f = {0};
    struct nnv_flake flake = study(&f);
    assert_int_equal(flake.class, NNV_FLAKE_LOST);
    assert_int_equal(flake.alone.runs, NNV_FLAKE_RUNS);
    nnv_flake_free(&flake);
}

/** One case of a thousand: the pair is found, wherever it stands, in a few dozen runs. */
static void order_dependent(void **state) {
    (void)state;
    static const uint32_t where[] = {0, 1, 499, 500, 777, 998, 999};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        struct fake f = {.needs = &where[i], .need_count = 1, .after = 1};
        struct nnv_flake flake = study(&f);
        assert_int_equal(flake.class, NNV_FLAKE_ORDER);
        assert_int_equal(flake.after_count, 1);
        assert_int_equal(flake.after[0], where[i]);
        assert_true(flake.minimal);
        assert_true(f.runs < 80);
        if (where[i] == 999) assert_int_equal(f.runs, 16); /* 5 and 6 alone, 3 in order, after 32 cases, after one */
        nnv_flake_free(&flake);
    }
}

static void several_are_needed(void **state) {
    (void)state;
    static const uint32_t needs[] = {3, 640, 980};
    struct fake f = {.needs = needs, .need_count = 3, .after = 1};
    struct nnv_flake flake = study(&f);
    assert_int_equal(flake.class, NNV_FLAKE_ORDER);
    assert_int_equal(flake.after_count, 3);
    assert_memory_equal(flake.after, needs, sizeof needs);
    assert_true(flake.minimal);
    nnv_flake_free(&flake);
}

/** That it fails after all cases is known: they are not run once more to find the last ones that do. */
static void all_are_needed(void **state) {
    (void)state;
    static const uint32_t needs[] = {0, 1};
    struct fake f = {.needs = needs, .need_count = 2, .after = 1};
    struct nnv_flake flake = study_after(&f, 2);
    assert_int_equal(flake.class, NNV_FLAKE_ORDER);
    assert_int_equal(flake.after_count, 2);
    assert_true(flake.minimal);
    assert_int_equal(f.runs, 17); /* 5 and 6 alone, 3 in order, after the last, without the first, without the last */
    nnv_flake_free(&flake);
}

/** Without time for all of it what is known so far is told, and that it is not all. */
static void out_of_time(void **state) {
    (void)state;
    const uint32_t needs = 100;
    for (size_t most = 0; most < 60; most++) {
        struct fake f = {.needs = &needs, .need_count = 1, .after = 1, .most_runs = most};
        struct nnv_flake flake = study(&f);
        if (flake.class == NNV_FLAKE_ORDER && most > 0) {
            assert_true(has(flake.after, flake.after_count, needs));
            assert_true(flake.minimal == (flake.after_count == 1));
        } else if (most > 0) {
            assert_int_equal(flake.class, NNV_FLAKE_UNKNOWN);
        }
        nnv_flake_free(&flake);
    }
}

static enum nnv_status broken(void *context, const uint32_t *before, size_t n, bool load, bool *bad,
                              struct nnv_err *err) {
    (void)context, (void)before, (void)n, (void)load, (void)bad;
    return nnv_fail(err, NNV_INVALID, "busy");
}

static enum nnv_status broken_under_load(void *context, const uint32_t *before, size_t n, bool load, bool *bad,
                                         struct nnv_err *err) {
    *bad = false;
    return load ? broken(context, before, n, load, bad, err) : NNV_OK;
}

static void what_cannot_be_tried(void **state) {
    (void)state;
    const struct nnv_flake_subject s = {.runs = 9, .until_ns = UINT64_MAX, .run = broken};
    struct nnv_flake flake;
    struct nnv_err err = {0};
    assert_int_equal(nnv_flake_study(&s, &flake, &err), NNV_INVALID);
    assert_string_equal(err.text, "busy");
    const struct nnv_flake_subject loaded = {.runs = 9, .until_ns = UINT64_MAX, .run = broken_under_load};
    err = (struct nnv_err){0};
    assert_int_equal(nnv_flake_study(&loaded, &flake, &err), NNV_INVALID);
    assert_string_equal(err.text, "busy");
}

/* -------------------------------------------------------------- determinism */

/** The answers of executions with one output each. */
static struct nnv_bytes answers(struct nnv_answers *a, uint32_t rows, const float *v, size_t executions) {
    const struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};
    nnv_answers_clear(a);
    for (size_t i = 0; i < executions; i++) {
        const struct nnv_value value = {
            .rank = 2, .dims = {rows, 2}, .bytes = rows * 8, .data = (void *)(v + i * rows * 2)};
        nnv_answers_add(a, 3, &o, &value);
    }
    return (struct nnv_bytes){a->blob.data, a->blob.len};
}

static void compare(const float *x, const float *y, uint32_t rows, size_t executions, const char *expected) {
    struct nnv_answers a = {0}, b = {0};
    struct nnv_text t = {0};
    const bool differ = nnv_answers_differ(answers(&a, 2, x, executions), answers(&b, rows, y, executions), &t);
    assert_true(differ == (expected != NULL));
    if (expected != NULL) assert_string_equal(t.data, expected);
    nnv_text_free(&t);
    nnv_text_free(&a.blob);
    nnv_text_free(&b.blob);
}

static void answers_are_compared(void **state) {
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 0.5f}, y[] = {1, 2, 3, 4, 5, 6.5f, 7, -0.0f},
                z[] = {1, 2, 3, 4, 5, 6, 0, 0};
    compare(x, x, 2, 2, NULL);
    compare(x, y, 2, 1, NULL);
    compare(x, y, 2, 2, "output 3 [2,2]: 2 of 4 values differ, first at [0,1]: 6 and 6.5");
    compare(y, z, 2, 2, "output 3 [2,2]: 3 of 4 values differ, first at [0,1]: 6.5 and 6");
    compare(x, x, 1, 1, "output 3 [2,2]: has shape [1,2] then");
}

/** What a worker hands over may be anything. */
static void damaged_answers(void **state) {
    (void)state;
    const float x[] = {1, 2, 3, 4};
    struct nnv_answers a = {0}, b = {0};
    struct nnv_text t = {0};
    const struct nnv_bytes whole = answers(&a, 2, x, 1), other = answers(&b, 2, x, 1);
    assert_false(nnv_answers_differ(whole, (struct nnv_bytes){NULL, 0}, &t));
    for (size_t i = 0; i < whole.len; i++) {
        nnv_answers_differ(whole, (struct nnv_bytes){other.data, i}, &t);
        b.blob.data[i] = (char)~b.blob.data[i];
        nnv_answers_differ(whole, other, &t);
        nnv_answers_differ(other, other, &t);
        b.blob.data[i] = (char)~b.blob.data[i];
    }
    nnv_text_free(&t);
    nnv_text_free(&a.blob);
    nnv_text_free(&b.blob);
}

/** Beyond the bytes that are kept a difference is still found. */
static void large_answers(void **state) {
    (void)state;
    const size_t n = NNV_ANSWERS_BYTES / 4 + 2;
    float *x = calloc(n, sizeof *x);
    struct nnv_answers a = {0}, b = {0};
    struct nnv_text t = {0};
    const struct nnv_operand o = {.type = ANEURALNETWORKS_TENSOR_FLOAT32};
    const struct nnv_value value = {.rank = 1, .dims = {(uint32_t)n}, .bytes = n * 4, .data = (void *)x};
    nnv_answers_clear(&a);
    nnv_answers_add(&a, 0, &o, &value);
    x[n - 1] = 1;
    nnv_answers_clear(&b);
    nnv_answers_add(&b, 0, &o, &value);
    assert_true(a.blob.len < 1000);
    assert_true(nnv_answers_differ((struct nnv_bytes){a.blob.data, a.blob.len},
                                   (struct nnv_bytes){b.blob.data, b.blob.len}, &t));
    assert_non_null(strstr(t.data, ": the bytes differ"));
    nnv_text_free(&t);
    nnv_text_free(&a.blob);
    nnv_text_free(&b.blob);
    free(x);
}

/** What failed in each run there was time for is not said to be unsteady. */
static void test_unsteady(void **state) {
    (void)state;
    static const struct {
        const char *class;
        int runs, bad;
        bool unsteady;
    } rows[] = {{"deterministic", 5, 5, false}, {"flaky", 9, 4, true},           {"unknown", 1, 1, false},
                {"unknown", 2, 2, false},       {"unknown", 2, 1, true},         {"unknown", 1, 0, true},
                {"unknown", 0, 0, true},        {"not reproduced", 30, 0, true}, {"load-dependent", 9, 9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *item =
            json_pack("{s:s,s:{s:i,s:i}}", "class", rows[i].class, "alone", "runs", rows[i].runs, "bad", rows[i].bad);
        assert_non_null(item);
        assert_int_equal(nnv_flake_is_unsteady(item), rows[i].unsteady);
        json_decref(item);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsteady),
        cmocka_unit_test(deterministic),
        cmocka_unit_test(flaky),
        cmocka_unit_test(load_dependent),
        cmocka_unit_test(not_reproduced),
        cmocka_unit_test(order_dependent),
        cmocka_unit_test(several_are_needed),
        cmocka_unit_test(all_are_needed),
        cmocka_unit_test(out_of_time),
        cmocka_unit_test(what_cannot_be_tried),
        cmocka_unit_test(answers_are_compared),
        cmocka_unit_test(damaged_answers),
        cmocka_unit_test(large_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
