/* SPDX-License-Identifier: Apache-2.0 */
/* Generated cases go past the numbers at which a narrow type, a counter or a table would end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/type.h"
#include "randgraph/single/single.h"

static struct nnv_spec *build(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_single_build(w, arena, &spec, &err)) fail_msg("%s: %s", w->op->name, err.text);
    return spec;
}

static int variant(const struct nnv_op *op, const char *name) {
    for (int v = 0; op->variants[v]; v++)
        if (strcmp(op->variants[v], name) == 0) return v;
    fail_msg("%s has no variant %s", op->name, name);
    return -1;
}

/* Its first result has an integer that a float32 would round. */
static bool is_beyond_float(const struct nnv_spec *s) {
    const struct nnv_value *v = &s->outputs[0];
    for (size_t at = 0; at < v->bytes; at += sizeof(int32_t)) {
        int32_t x;
        memcpy(&x, (const char *)v->data + at, sizeof x);
        if ((double)(float)x != x) return true;
    }
    return false;
}

static void test_integers_that_move_are_beyond_float(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t n, moved = 0;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++)
        for (int sig = 0; ops[i]->moves && sig < ops[i]->nsigs; sig++) {
            if (!nnv_single_has(ops[i], sig, NNV_FILL_LIMITS)) continue;
            const struct nnv_single w = {
                .op = ops[i], .sig = sig, .mode = NNV_FILL_LIMITS, .seed = 1, .name = "limits"};
            const struct nnv_spec *s = build(&w, arena);
            if (s->model.main.operands[s->model.main.out[0]].type != ANEURALNETWORKS_TENSOR_INT32) continue;
            if (!is_beyond_float(s)) fail_msg("%s moves no integer beyond 2^24", ops[i]->name);
            moved++;
            nnv_arena_reset(arena);
        }
    assert_true(moved >= 11);
    nnv_arena_free(arena);
}

static void test_positions_are_beyond_16_bits(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    static const char *const names[] = {"ARGMAX", "ARGMIN"};
    for (size_t i = 0; i < 2; i++) {
        const struct nnv_op *op = nnv_op_by_name(names[i]);
        int32_t most = 0;
        for (int index = 0; index < 6; index++) {
            const struct nnv_single w = {
                .op = op, .variant = variant(op, "long"), .index = index, .seed = 1, .name = "long"};
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_operand *x = &s->model.main.operands[s->model.main.in[0]];
            for (uint32_t d = 0; d < x->rank; d++)
                if ((int32_t)x->dims[d] > most) most = (int32_t)x->dims[d];
            nnv_arena_reset(arena);
        }
        assert_true(most > INT16_MAX);
    }
    nnv_arena_free(arena);
}

static void test_lines_are_more_than_16_bits_count(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_op *op = nnv_op_by_name("SOFTMAX");
    uint32_t most = 0;
    for (int index = 0; index < 6; index++) {
        const struct nnv_single w = {
            .op = op, .variant = variant(op, "large"), .index = index, .seed = 1, .name = "large"};
        const struct nnv_spec *s = build(&w, arena);
        const struct nnv_operand *x = &s->model.main.operands[s->model.main.in[0]];
        if (x->dims[0] > most) most = x->dims[0];
        nnv_arena_reset(arena);
    }
    assert_true(most > UINT16_MAX);
    nnv_arena_free(arena);
}

/* More copies than a loop unrolled by eight makes at once; the other axes are copied less often. */
static void test_tiles_are_many(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_op *op = nnv_op_by_name("TILE");
    size_t many = 0;
    for (int k = 0; k < nnv_single_planned(op, 0, NNV_PLAN_COVER); k++) {
        const struct nnv_single w = {.op = op, .plan = NNV_PLAN_COVER, .index = k, .seed = 1, .name = "cover"};
        const struct nnv_spec *s = build(&w, arena);
        const struct nnv_operand *x = &s->model.main.operands[s->model.main.in[0]];
        for (uint32_t d = 0; d < x->rank; d++) many += s->outputs[0].dims[d] == 9 * x->dims[d];
        nnv_arena_reset(arena);
    }
    assert_true(many >= 4);
    nnv_arena_free(arena);
}

/* An implementation that copies bytes where scales are equal shows by the zero points. */
static void test_equal_scales_have_other_zero_points(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const struct nnv_op *op = nnv_op_by_name("CONCATENATION");
    size_t shown = 0;
    for (int sig = 0; sig < op->nsigs; sig++)
        for (int k = 0; k < nnv_single_planned(op, sig, NNV_PLAN_COVER); k++) {
            const struct nnv_single w = {
                .op = op, .sig = sig, .plan = NNV_PLAN_COVER, .index = k, .seed = 1, .name = "cover"};
            const struct nnv_spec *s = build(&w, arena);
            const struct nnv_operand *o = s->model.main.operands, *y = &o[s->model.main.out[0]];
            const struct nnv_operand *x = &o[s->model.main.nin ? s->model.main.in[0] : 0];
            shown += y->type == x->type && y->scale > 0 && y->scale == x->scale && y->zero_point != x->zero_point;
            nnv_arena_reset(arena);
        }
    assert_true(shown >= 8);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_that_move_are_beyond_float), cmocka_unit_test(test_positions_are_beyond_16_bits),
        cmocka_unit_test(test_lines_are_more_than_16_bits_count),   cmocka_unit_test(test_tiles_are_many),
        cmocka_unit_test(test_equal_scales_have_other_zero_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
