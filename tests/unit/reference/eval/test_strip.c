/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks on strips, in two rows at once, do what the hooks of kernel.h do one after the other. */
#include <stdlib.h>

#include "tests/kit/op.h"
#include "reference/eval/rows.h"
#include "reference/eval/strip.h"

enum { ROWS = 8, HOOKS = 700, KINDS = 4 };

static struct nnv_arithmetic promise;

static struct nnv_noise noise_of(void) { return (struct nnv_noise){.rows = ROWS, .seed = 3, .op = 7}; }

static void free_noise(struct nnv_noise *n) {
    free(n->tape);
    free(n->strip);
}

/* Numbers of all kinds: zeros of both signs, infinities, NaN, subnormals, others. */
static double number(size_t i) {
    static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1060, -1e300};
    return i % 11 < NNV_COUNT_OF(odd) ? odd[i % 11] : (double)i - 311.25;
}

static double call(struct nnv_kernel *k, size_t i) {
    switch (i % KINDS) {
    case 0:
        return nnv_round(k, number(i));
    case 1:
        return nnv_sum(k, number(i), 9, fabs(number(i)), 1);
    case 2:
        return nnv_quotient(k, number(i));
    default:
        return nnv_function(k, number(i), 3);
    }
}

static nnv_two call_on(struct nnv_strip *s, size_t i) {
    const nnv_two v = nnv_two_of(number(i));
    switch (i % KINDS) {
    case 0:
        return nnv_two_round(s, v);
    case 1:
        return nnv_two_sum(s, v, 9, fabs(number(i)));
    case 2:
        return nnv_two_quotient(s, v);
    default:
        return nnv_two_function(s, v, 3);
    }
}

static bool same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

/* All hooks by strips of 1, 2, 3 ... of them: in the row, and in the next. */
static void call_all(struct nnv_kernel *k, double row[HOOKS], double next[HOOKS]) {
    size_t at = 0;
    for (size_t n = 1; at < HOOKS; n++) {
        const size_t end = HOOKS - at < n ? HOOKS : at + n;
        struct nnv_strip s = nnv_strip_of(k, end - at, 0);
        for (; at < end; at++) {
            const nnv_two v = call_on(&s, at);
            row[at] = v[0];
            next[at] = v[1];
        }
    }
}

static void test_strips_give_what_hooks_give(void **state) {
    (void)state;
    static double row[HOOKS], next[HOOKS];
    struct nnv_noise one = noise_of(), two = noise_of();
    struct nnv_kernel k = row_kernel(&one, 0, 0, &promise), t = row_kernel(&two, 0, 0, &promise);
    call_all(&t, row, next);
    for (size_t i = 0; i < HOOKS; i++) {
        assert_true(same(call(&k, i), row[i]) && same(row[i], next[i]));
        assert_true(same(one.tape[i].value, two.tape[i].value));
        assert_true(same(one.tape[i].magnitude, two.tape[i].magnitude));
    }
    for (int r = 1; r <= ROWS; r++) { /* the last one alone, as is each in turn */
        t = row_kernel(&two, r, r < ROWS, &promise);
        call_all(&t, row, next);
        assert_int_equal(two.at, two.count);
        k = row_kernel(&one, r, 0, &promise);
        for (size_t i = 0; i < HOOKS; i++) assert_true(same(call(&k, i), row[i]));
        if (r < ROWS) k = row_kernel(&one, r + 1, 0, &promise);
        if (r == ROWS) k = row_kernel(&one, r, 0, &promise);
        for (size_t i = 0; i < HOOKS; i++) assert_true(same(call(&k, i), next[i]));
    }
    assert_false(two.broken);
    free_noise(&one);
    free_noise(&two);
}

static void test_replay_and_notes(void **state) {
    (void)state;
    struct nnv_noise n = noise_of();
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    struct nnv_strip s = nnv_strip_of(&k, 2, 1);
    (void)nnv_two_round(&s, nnv_two_of(3));
    (void)nnv_two_round(&s, nnv_two_of(5));
    s.note[0] = (struct nnv_hook){7, 9};
    bool apart = false;
    for (int r = 1; r < ROWS; r += 2) {
        k = row_kernel(&n, r, 1, &promise);
        s = nnv_strip_of(&k, 2, 1);
        const nnv_two first = nnv_two_replay(&s), second = nnv_two_round(&s, nnv_two_of(6));
        assert_true(s.note[0].value == 7 && s.note[0].magnitude == 9);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(first[i] - 3) == n.tape[0].magnitude);
            assert_true(fabs(second[i] - 6) == n.tape[1].magnitude);
        }
        apart = apart || first[0] != first[1];
    }
    assert_true(apart);
    k = row_kernel(&n, 1, 1, &promise);
    (void)nnv_strip_of(&k, 3, 1); /* one hook more than row 0 had */
    assert_true(n.broken);
    free_noise(&n);
}

static void test_a_row_is_replayed(void **state) {
    (void)state;
    static double y[HOOKS];
    struct nnv_noise n = noise_of();
    struct nnv_kernel k = row_kernel(&n, 0, 0, &promise);
    assert_false(nnv_noise_replay_all(&k, HOOKS, y));
    for (size_t i = 0; i < HOOKS; i++) (void)call(&k, i);
    for (int r = 1; r <= ROWS; r++) {
        k = row_kernel(&n, r, 0, &promise);
        assert_false(nnv_noise_replay_all(&k, HOOKS - 1, y)); /* not all of them */
        assert_true(nnv_noise_replay_all(&k, HOOKS, y));
        assert_int_equal(n.at, n.count);
        k = row_kernel(&n, r, 0, &promise);
        for (size_t i = 0; i < HOOKS; i++) assert_true(same(nnv_noise_replay(&k), y[i]));
    }
    k = row_kernel(&n, 1, 0, &promise);
    n.hazard = true;
    assert_false(nnv_noise_replay_all(&k, HOOKS, y));
    k = row_kernel(&n, 1, 0, &promise);
    n.hazard = k.same_inputs = false;
    assert_false(nnv_noise_replay_all(&k, HOOKS, y));
    free_noise(&n);
}

static void test_strips_do_nothing_without_noise(void **state) {
    (void)state;
    struct nnv_kernel k = {.u_i = 1, .u_a = 1, .eta = 1, .arithmetic = &promise};
    struct nnv_strip s = nnv_strip_of(&k, KINDS, 0);
    for (size_t i = 7; i < 7 + KINDS; i++) assert_true(call_on(&s, i)[0] == number(i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strips_give_what_hooks_give),
        cmocka_unit_test(test_replay_and_notes),
        cmocka_unit_test(test_a_row_is_replayed),
        cmocka_unit_test(test_strips_do_nothing_without_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
