/* SPDX-License-Identifier: Apache-2.0 */
/* What a series of draws has not come to yet. */
#include <math.h>

#include "base/rng.h"
#include "base/unseen.h"
#include "tests/kit/test.h"

static bool see(struct nnv_unseen *u, uint64_t draw, uint64_t feature) {
    bool fresh;
    assert_true(nnv_unseen_see(u, draw, feature, &fresh));
    if (draw >= u->draws) u->draws = draw + 1;
    return fresh;
}

/* A draw that alone shows something stands for those that would show something new. */
static void counts_draws_that_are_alone(void **state) {
    (void)state;
    struct nnv_unseen u = {0};
    assert_true(nnv_unseen_chance(&u) == 1);
    assert_true(see(&u, 0, 10));
    assert_true(see(&u, 0, 11));
    assert_false(see(&u, 0, 10)); /* itself again */
    assert_int_equal(u.singles, 1);
    assert_false(see(&u, 1, 10));
    assert_int_equal(u.singles, 1); /* draw 0 has 11 */
    assert_true(nnv_unseen_chance(&u) == 0.5);
    assert_true(see(&u, 2, 12));
    assert_int_equal(u.singles, 2);
    assert_false(see(&u, 3, 11));
    assert_false(see(&u, 3, 12));
    assert_false(see(&u, 3, 12));
    assert_int_equal(u.singles, 0);
    assert_true(nnv_unseen_chance(&u) == 0);
    assert_int_equal(u.features.count, 3);
    assert_false(nnv_unseen_below(&u, 0.1)); /* four draws cannot tell */
    u.draws = 10;
    assert_true(nnv_unseen_below(&u, 0.1));
    nnv_unseen_free(&u);
}

/* Draws from many features with very different chances: the estimate is what is really left. */
static void estimates_what_is_left(void **state) {
    (void)state;
    enum { FEATURES = 2000, DRAWS = 3000, SERIES = 20 };
    double estimated = 0, real = 0, all = 0;
    for (int k = 1; k <= FEATURES; k++) all += 1.0 / k;
    for (uint64_t series = 0; series < SERIES; series++) {
        struct nnv_rng rng = nnv_rng_make(1, series, 0);
        struct nnv_unseen u = {0};
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            double at = nnv_rng_unit(&rng) * all;
            int k = 1;
            while (k < FEATURES && (at -= 1.0 / k) > 0) k++;
            see(&u, draw, (uint64_t)k);
        }
        double left = all;
        for (int k = 1; k <= FEATURES; k++)
            if (nnv_id_find(&u.features, (uint64_t)k) != NNV_MAP_NONE) left -= 1.0 / k;
        estimated += nnv_unseen_chance(&u) / SERIES;
        real += left / all / SERIES;
        nnv_unseen_free(&u);
    }
    assert_true(real > 0.05 && fabs(estimated - real) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_draws_that_are_alone),
                                       cmocka_unit_test(estimates_what_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
