/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the suite `ops`: sizes of the tiers, stable unique names, tiers within each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/suites/suites.h"

static struct nnv_case_list list_tier(int tier) {
    struct nnv_run_config config = {.seed = 1, .tier = tier};
    struct nnv_case_list list = {.arena = nnv_arena_new()};
    struct nnv_err err = {0};
    if (nnv_suite_ops.list(&config, &list, &err)) fail_msg("%s", err.text);
    return list;
}

static void free_list(struct nnv_case_list *list) {
    free(list->item);
    nnv_arena_free(list->arena);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct nnv_case *)a)->name, ((const struct nnv_case *)b)->name);
}

static void sort(struct nnv_case_list *list) { qsort(list->item, list->count, sizeof *list->item, by_name); }

static void test_sizes(void **state) {
    (void)state;
    static const size_t least[] = {20, 200, 1000}, most[] = {60, 760, 2200}; /* an operation */
    size_t ops;
    nnv_ops(&ops);
    for (int tier = 0; tier < 3; tier++) {
        struct nnv_case_list list = list_tier(tier);
        assert_true(list.count >= least[tier] * ops && list.count <= most[tier] * ops);
        free_list(&list);
    }
}

static void test_names_are_unique_and_tiers_nested(void **state) {
    (void)state;
    struct nnv_case_list lists[3];
    for (int tier = 0; tier < 3; tier++) {
        lists[tier] = list_tier(tier);
        sort(&lists[tier]);
        for (size_t i = 1; i < lists[tier].count; i++)
            assert_string_not_equal(lists[tier].item[i - 1].name, lists[tier].item[i].name);
    }
    for (int tier = 0; tier < 2; tier++)
        for (size_t i = 0; i < lists[tier].count; i++) {
            const struct nnv_case *c = &lists[tier].item[i];
            const struct nnv_case *same = bsearch(c, lists[tier + 1].item, lists[tier + 1].count, sizeof *c, by_name);
            assert_non_null(same);
            assert_true(c->a == same->a && c->b == same->b && c->data == same->data);
        }
    for (int tier = 0; tier < 3; tier++) free_list(&lists[tier]);
}

/* Each operation has cases with any values, exact or analytic ones, and models to be refused; with each of its types.
 */
static void test_every_operation_has_every_kind(void **state) {
    (void)state;
    struct nnv_case_list list = list_tier(1);
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        size_t numeric = 0, analytic = 0, refused = 0;
        uint64_t types = 0, wanted = 0;
        for (int s = 0; s < ops[i]->nsigs; s++) wanted |= UINT64_C(1) << ops[i]->sigs[s].type[NNV_T];
        for (size_t k = 0; k < list.count; k++) {
            const struct nnv_case *c = &list.item[k];
            if (strcmp(c->op, ops[i]->name) != 0) continue;
            numeric += *c->tags == '\0';
            analytic +=
                strcmp(c->tags, "exact") == 0 || strcmp(c->tags, "ramp") == 0 || strcmp(c->tags, "impulse") == 0;
            refused += strcmp(c->tags, "refused") == 0;
            for (int s = 0; s < ops[i]->nsigs; s++)
                if (strcmp(c->type, nnv_type(ops[i]->sigs[s].type[NNV_T])->tag) == 0)
                    types |= UINT64_C(1) << ops[i]->sigs[s].type[NNV_T];
        }
        if (!numeric || !analytic || !refused) fail_msg("%s lacks a kind of cases", ops[i]->name);
        assert_true(types == wanted);
    }
    free_list(&list);
}

static bool has(const struct nnv_case_list *list, const char *name, const char *type, const char *tags) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].name, name) == 0)
            return strcmp(list->item[i].type, type) == 0 && strcmp(list->item[i].tags, tags) == 0 &&
                   strcmp(list->item[i].suite, "ops") == 0;
    return false;
}

static void test_names(void **state) {
    (void)state;
    struct nnv_case_list list = list_tier(2);
    assert_true(has(&list, "ops/CONV_2D/quant8_asymm/dilation_valid/2", "quant8_asymm", ""));
    assert_true(has(&list, "ops/CONV_2D/quant8_asymm_per_channel/same_exact/1", "quant8_asymm", "exact"));
    assert_true(has(&list, "ops/ADD/float32_relaxed/rank2/0", "float32", "relaxed"));
    assert_true(has(&list, "ops/TANH/float16/sweep/7", "float16", "sweep"));
    assert_true(has(&list, "ops/MUL/int32/row_zero/0", "int32", "zero"));
    assert_false(has(&list, "ops/RNN/float32/relu_exact/0", "float32", "exact"));
    free_list(&list);
}

static void test_build_follows_the_list(void **state) {
    (void)state;
    struct nnv_case_list list = list_tier(0);
    struct nnv_run_config config = {.seed = 1};
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < list.count; i += 7) {
        struct nnv_spec *spec = NULL;
        struct nnv_err err = {0};
        if (nnv_suite_ops.build(&config, &list.item[i], arena, &spec, &err)) fail_msg("%s", err.text);
        assert_string_equal(spec->name, list.item[i].name);
        assert_int_equal(spec->exact, strcmp(list.item[i].tags, "exact") == 0);
        assert_int_equal(spec->model.relaxed, strcmp(list.item[i].tags, "relaxed") == 0);
        assert_int_equal(spec->expect_failure, strcmp(list.item[i].tags, "refused") == 0);
        assert_string_equal(nnv_op(spec->model.main.operations[0].type)->name, list.item[i].op);
        nnv_arena_reset(arena);
    }
    nnv_arena_free(arena);
    free_list(&list);
}

/* All signatures together: whatever mistake an operation's rules notice has a case. */
static void test_each_mistake_has_a_case(void **state) {
    (void)state;
    static const char *const some[] = {"ADD", "SOFTMAX", "CONV_2D", "LSTM", "WHILE", "ELU"};
    struct nnv_case_list list = list_tier(1);
    struct nnv_run_config config = {.seed = 1, .tier = 1};
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t o = 0; o < sizeof some / sizeof *some; o++) {
        bool input = false, output = false, rank = false;
        for (size_t i = 0; i < list.count; i++) {
            struct nnv_spec *spec = NULL;
            struct nnv_err err = {0};
            if (strcmp(list.item[i].op, some[o]) != 0 || strcmp(list.item[i].tags, "refused") != 0) continue;
            if (nnv_suite_ops.build(&config, &list.item[i], arena, &spec, &err)) fail_msg("%s", err.text);
            input = input || strcmp(spec->source, "one input more") == 0;
            output = output || strcmp(spec->source, "another type of output") == 0;
            rank = rank || strcmp(spec->source, "a rank above of output") == 0;
            nnv_arena_reset(arena);
        }
        if (!input || !output || !rank) fail_msg("%s: %d %d %d", some[o], input, output, rank);
    }
    nnv_arena_free(arena);
    free_list(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names_are_unique_and_tiers_nested),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_every_operation_has_every_kind),
        cmocka_unit_test(test_build_follows_the_list),
        cmocka_unit_test(test_each_mistake_has_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
