/* SPDX-License-Identifier: Apache-2.0 */
/* Pairwise covers: complete, small, the same each time, and what a row asks for is what the case has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/single/cover.h"
#include "randgraph/single/layers.h"
#include "randgraph/single/single.h"

static const struct nnv_factor three[] = {
    {.name = "window", .pair = true, NNV_VALUES(NNV_PAIR(3, 3), NNV_PAIR(1, 5))},
    {.name = "padding", NNV_WORDS("same", "valid")},
    {.name = "channels", NNV_VALUES(3, 1, 4, 8), NNV_SIZES(16, 17)},
};

static bool has_pair(const struct nnv_cover *c, size_t n, size_t f, int32_t v, size_t g, int32_t w) {
    for (size_t r = 0; r < c->nrows; r++)
        if (c->values[r * n + f] == v && c->values[r * n + g] == w) return true;
    return false;
}

static void test_each_pair_of_values_has_a_row(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_cover c;
    assert_int_equal(nnv_cover_make(three, 3, arena, &c, NULL), NNV_OK);
    assert_int_equal(c.pairs, 2 * 2 + 2 * 4 + 2 * 4);
    for (size_t f = 0; f < 3; f++)
        for (size_t g = f + 1; g < 3; g++)
            for (size_t i = 0; i < three[f].n; i++)
                for (size_t k = 0; k < three[g].n; k++)
                    assert_true(has_pair(&c, 3, f, three[f].values[i], g, three[g].values[k]));
    assert_in_range(c.nrows, 8, 10); /* 8 is the least */
    nnv_arena_free(arena);
}

static void test_every_operation_is_covered(void **state) {
    (void)state;
    size_t nops, pairs, covered;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) {
        const struct nnv_cover *c = nnv_cover_of(ops[i]);
        assert_true((c->nrows > 0) == (ops[i]->nfactors > 0));
        nnv_cover_count(ops[i]->factors, ops[i]->nfactors, c->values, c->nrows, &pairs, &covered);
        assert_int_equal(pairs, covered);
        if (c->nrows > 1) {
            nnv_cover_count(ops[i]->factors, ops[i]->nfactors, c->values, 1, &pairs, &covered);
            assert_true(covered < pairs);
        }
    }
}

static void test_a_row_is_written_and_read(void **state) {
    (void)state;
    int32_t row[NNV_MAX_FACTORS] = {NNV_PAIR(1, 5), 1, 17}, again[NNV_MAX_FACTORS];
    struct nnv_text t = {0};
    struct nnv_err err = {0};
    nnv_cover_add_text(three, 3, row, &t);
    assert_string_equal(t.data, "window=1x5 padding=valid channels=17");
    assert_int_equal(nnv_cover_parse(three, 3, t.data, again, &err), NNV_OK);
    assert_memory_equal(row, again, 3 * sizeof *row);
    assert_int_equal(nnv_cover_parse(three, 3, "channels=9", again, &err), NNV_OK);
    assert_int_equal(again[0], NNV_PAIR(3, 3));
    static const char *const wrong[] = {"chanels=9", "padding=3", "window=3", "channels", "channels=", "window=3x3x3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(nnv_cover_parse(three, 3, wrong[i], again, &err), NNV_INVALID);
        assert_non_null(strstr(err.text, wrong[i]));
    }
    nnv_text_free(&t);
}

static void test_layers_are_rows(void **state) {
    (void)state;
    size_t nops, layers = 0;
    int32_t row[NNV_MAX_FACTORS];
    struct nnv_err err = {0};
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (size_t k = 0; k < nnv_layer_count(ops[i]); k++, layers++) {
            if (nnv_layer_row(ops[i], k, false, row, &err) != NNV_OK) fail_msg("%s", err.text);
            for (size_t m = 0; m < k; m++)
                assert_string_not_equal(nnv_layer_name(ops[i], k), nnv_layer_name(ops[i], m));
        }
    assert_true(layers >= 3);
    assert_int_equal(nnv_layer_row(nnv_op_by_name("CONV_2D"), 0, true, row, &err), NNV_OK);
    assert_int_equal(row[0], NNV_PAIR(3, 3));
    assert_int_equal(row[1], NNV_PAIR(2, 2));
    assert_int_equal(row[3], NNV_PAIR(8, 8));
    assert_int_equal(nnv_layer_row(nnv_op_by_name("CONV_2D"), 0, false, row, &err), NNV_OK);
    assert_int_equal(row[3], NNV_PAIR(224, 224));
    const struct nnv_op *fc = nnv_op_by_name("FULLY_CONNECTED"); /* a heavy one stays as it is */
    int32_t whole[NNV_MAX_FACTORS];
    for (size_t k = 0; k < nnv_layer_count(fc); k++) {
        if (strcmp(nnv_layer_name(fc, k), "wide_projection") != 0) continue;
        assert_int_equal(nnv_layer_row(fc, k, true, row, &err), NNV_OK);
        assert_int_equal(nnv_layer_row(fc, k, false, whole, &err), NNV_OK);
        assert_memory_equal(row, whole, fc->nfactors * sizeof *row);
        return;
    }
    fail();
}

/* Each value that is not the usual one has cases with several widths, of which the seed and the signature choose. */
static void test_widths_stand_beside_each_value(void **state) {
    (void)state;
    const struct nnv_op *op = nnv_op_by_name("DEPTHWISE_CONV_2D");
    enum { PADDING = 2, CHANNELS = 4, UNEQUAL = 4, SEVERAL = 2 };
    assert_string_equal(op->factors[PADDING].name, "padding");
    assert_string_equal(op->factors[PADDING].words[UNEQUAL], "unequal");
    assert_string_equal(op->factors[CHANNELS].name, "channels");
    size_t wide = 0;
    int32_t row[NNV_MAX_FACTORS], other[NNV_MAX_FACTORS];
    for (size_t i = 0; i < nnv_cover_widths(op); i++) {
        size_t unusual = 0;
        nnv_cover_width_row(op, i, 1, row);
        nnv_cover_width_row(op, i, 2, other);
        for (uint8_t f = 0; f < op->nfactors; f++)
            unusual += row[f] != op->factors[f].values[op->factors[f].with_sizes];
        assert_int_equal(unusual, 2);
        assert_memory_not_equal(row, other, op->nfactors * sizeof *row);
        wide += row[PADDING] == UNEQUAL && row[CHANNELS] >= 15 && row[CHANNELS] <= 129;
    }
    assert_true(wide >= SEVERAL);
    /* what has no extent of many has none */
    size_t nops, none = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++) none += nnv_cover_widths(ops[i]) == 0;
    assert_in_range(none, 1, nops / 4);
}

/* Most operations have a case of more than 2^16 rows; of pairs the rows stay apart, since the other tensor has one. */
static void test_many_rows(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const some[] = {"ADD", "SOFTMAX", "TANH", "MAXIMUM"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const struct nnv_op *op = nnv_op_by_name(some[i]);
        const int last = nnv_single_planned(op, 0, NNV_PLAN_LARGE) - 1;
        assert_true(nnv_cover_has_large(op, NNV_LARGE_ROWS));
        assert_int_equal(nnv_cover_large_kind(op, (size_t)last), NNV_LARGE_ROWS);
        const struct nnv_single w = {.op = op, .plan = NNV_PLAN_LARGE, .index = last, .seed = 1, .name = "many"};
        struct nnv_spec *spec;
        struct nnv_err err = {0};
        if (nnv_single_build(&w, arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
        const struct nnv_operand *o = spec->model.main.operands;
        assert_int_equal(spec->outputs[0].dims[0], 65537);
        assert_int_equal(spec->outputs[0].dims[spec->outputs[0].rank - 1], 2);
        if (op->pairs) assert_int_equal(o[0].dims[0] == 1 ? o[1].dims[0] : o[0].dims[0], 65537);
        if (op->pairs) assert_int_equal(o[0].dims[0] == 1 ? o[0].dims[0] : o[1].dims[0], 1);
        assert_non_null(strstr(spec->source, "outer=many"));
        nnv_arena_reset(arena);
    }
    nnv_arena_free(arena);
}

/* The first row of MobileNet: a filter of 3x3 at stride 2x2 on a square image. */
static void test_a_case_has_what_its_row_says(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_single w = {.op = nnv_op_by_name("CONV_2D"), .plan = NNV_PLAN_LAYER, .seed = 5, .name = "layer"};
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (nnv_single_build(&w, arena, &spec, &err) != NNV_OK) fail_msg("%s", err.text);
    const struct nnv_operand *o = spec->model.main.operands;
    assert_int_equal(o[0].dims[1], 8);
    assert_int_equal(o[0].dims[2], 8);
    assert_int_equal(o[0].dims[3], 3);
    assert_int_equal(o[1].dims[0], 32);
    assert_int_equal(o[1].dims[1], 3);
    assert_int_equal(spec->outputs[0].dims[1], 4);
    assert_non_null(strstr(spec->source, "stride=2x2"));
    nnv_arena_free(arena);
}

/* Of every signature each seventh case: with other remainders, all rows are built. */
static void test_planned_cases_are_valid(void **state) {
    (void)state;
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < nops; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++)
            for (enum nnv_plan plan = NNV_PLAN_COVER; plan < NNV_PLAN_HUGE; plan += plan == NNV_PLAN_LAYER ? 2 : 1)
                for (int k = sig % 7; k < nnv_single_planned(ops[i], sig, plan); k += 7) {
                    const struct nnv_single w = {
                        .op = ops[i], .sig = sig, .plan = plan, .index = k, .seed = 1, .name = ops[i]->name};
                    struct nnv_spec *spec;
                    struct nnv_err err = {0};
                    if (nnv_single_build(&w, arena, &spec, &err) != NNV_OK)
                        fail_msg("%s signature %d plan %d case %d: %s", ops[i]->name, sig, (int)plan, k, err.text);
                    nnv_arena_reset(arena);
                }
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair_of_values_has_a_row),  cmocka_unit_test(test_every_operation_is_covered),
        cmocka_unit_test(test_a_row_is_written_and_read),      cmocka_unit_test(test_layers_are_rows),
        cmocka_unit_test(test_a_case_has_what_its_row_says),   cmocka_unit_test(test_planned_cases_are_valid),
        cmocka_unit_test(test_widths_stand_beside_each_value), cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
