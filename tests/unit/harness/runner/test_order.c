/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a run: each case once, and early a sample of all there is; and of which cases the answers are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/runner/dumps/keep.h"
#include "harness/runner/order.h"

/** Cases of a list, as suites write them. */
static void add(struct nnv_case_list *list, size_t count, const char *suite, const char *op, const char *tags) {
    for (size_t i = 0; i < count; i++) {
        const struct nnv_case c = {.name = "x", .suite = suite, .op = op, .type = "", .tags = tags};
        assert_int_equal(nnv_case_add(list, &c, NULL), NNV_OK);
    }
}

static uint32_t *order_of(const struct nnv_case_list *list) {
    uint32_t *order = test_calloc(list->count + 1, sizeof *order);
    assert_int_equal(nnv_order(list->item, list->count, order, NULL), NNV_OK);
    return order;
}

static void end(struct nnv_case_list *list, uint32_t *order) {
    test_free(order);
    free(list->item);
    nnv_arena_free(list->arena);
}

/** How many of the first n have this suite, operation and tags; NULL: any. */
static size_t among(const struct nnv_case_list *list, const uint32_t *order, size_t n, const char *suite,
                    const char *op, const char *tags) {
    size_t found = 0;
    for (size_t k = 0; k < n; k++) {
        const struct nnv_case *c = &list->item[order[k]];
        found += (!suite || strcmp(c->suite, suite) == 0) && (!op || strcmp(c->op, op) == 0) &&
                 (!tags || strcmp(c->tags, tags) == 0);
    }
    return found;
}

static void test_each_once(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 8, 13, 100, 1597, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct nnv_case_list list = {.arena = nnv_arena_new()};
        add(&list, counts[i], "ops", "ADD", "");
        add(&list, counts[i] / 2, "ops", "MUL", "edge");
        add(&list, 1, "exec", "", "");
        uint32_t *order = order_of(&list), *again = order_of(&list);
        bool *seen = test_calloc(list.count, sizeof *seen);
        for (size_t k = 0; k < list.count; k++) {
            assert_in_range(order[k], 0, list.count - 1);
            assert_false(seen[order[k]]);
            seen[order[k]] = true;
        }
        assert_memory_equal(order, again, list.count * sizeof *order);
        test_free(seen);
        test_free(again);
        end(&list, order);
    }
    assert_int_equal(nnv_order(NULL, 0, NULL, NULL), NNV_OK);
}

/* Whatever comes last in the list is met as soon as what comes first. */
static void test_nothing_waits(void **state) {
    (void)state;
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    char op[50][8];
    add(&list, 16, "device", "", "");
    for (int i = 0; i < 50; i++) {
        snprintf(op[i], sizeof op[i], "OP%d", i);
        add(&list, 300, "ops", op[i], "");
        add(&list, 100, "ops", op[i], "edge");
    }
    add(&list, 1600, "validate", "ADD", "");
    add(&list, 400, "exec", "", "");
    uint32_t *order = order_of(&list);
    for (int i = 0; i < 50; i++) {
        assert_in_range(among(&list, order, 80, "ops", op[i], NULL), 1, 2);
        assert_in_range(among(&list, order, 700, "ops", op[i], "edge"), 4, 8);
        assert_in_range(among(&list, order, 700, "ops", op[i], ""), 4, 8);
    }
    assert_in_range(among(&list, order, 700, "validate", NULL, NULL), 40, 60);
    assert_in_range(among(&list, order, 700, "exec", NULL, NULL), 20, 30);
    assert_in_range(among(&list, order, 700, "device", NULL, NULL), 4, 6);
    end(&list, order);
}

/* Cases that go through many numbers at once come first, those that compute nothing last. */
static void test_weights(void **state) {
    (void)state;
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    add(&list, 100, "ops", "EXP", "");
    add(&list, 100, "ops", "EXP", "refused");
    add(&list, 100, "ops", "EXP", "size high");
    add(&list, 100, "ops", "EXP", "size zero");
    add(&list, 100, "ops", "EXP", "limits");
    uint32_t *order = order_of(&list);
    assert_in_range(among(&list, order, 100, NULL, NULL, "limits"), 60, 70);
    assert_in_range(among(&list, order, 100, NULL, NULL, ""), 14, 18);
    assert_in_range(among(&list, order, 100, NULL, NULL, "size high"), 14, 18);
    assert_in_range(among(&list, order, 100, NULL, NULL, "refused"), 1, 3);
    assert_in_range(among(&list, order, 100, NULL, NULL, "size zero"), 1, 3);
    assert_int_equal(
        among(&list, order, 320, NULL, NULL, "refused") + among(&list, order, 320, NULL, NULL, "size zero"), 20);
    end(&list, order);
}

/* Of one kind, too: its types and variants stand one behind the other. */
static void test_steps(void **state) {
    (void)state;
    enum { COUNT = 800, PARTS = 8 };
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    add(&list, COUNT, "ops", "ADD", "");
    uint32_t *order = order_of(&list);
    for (size_t from = 0; from + 2 * PARTS <= COUNT; from += PARTS) {
        bool met[PARTS] = {false};
        for (size_t k = from; k < from + 2 * PARTS; k++) met[order[k] / (COUNT / PARTS)] = true;
        for (int i = 0; i < PARTS; i++) assert_true(met[i]);
    }
    end(&list, order);
}

/** Of so many cases, as many are kept as are wanted, or all; the bound of none is 0. */
static void test_kept(void **state) {
    (void)state;
    static const struct nnv_case cases[] = {{.name = "ops/ADD/0", .suite = "ops"},
                                            {.name = "ops/ADD/1", .suite = "ops"},
                                            {.name = "ops/ADD/2", .suite = "ops"}};
    enum { N = sizeof cases / sizeof *cases };
    for (uint64_t wanted = 0; wanted < N + 2; wanted++) {
        struct nnv_run_config config = {.seed = 5};
        size_t kept = 0;
        assert_int_equal(nnv_keep_bound(config.seed, cases, N, wanted, &config.keep_below, NULL), NNV_OK);
        for (size_t i = 0; i < N; i++) kept += nnv_keeps(&config, &cases[i]);
        assert_int_equal(kept, wanted < N ? wanted : N);
        assert_int_equal(config.keep_below == 0, wanted == 0);
        assert_int_equal(nnv_keep_bound(config.seed, cases, 0, wanted, &config.keep_below, NULL), NNV_OK);
        assert_int_equal(config.keep_below, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once), cmocka_unit_test(test_nothing_waits), cmocka_unit_test(test_weights),
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
