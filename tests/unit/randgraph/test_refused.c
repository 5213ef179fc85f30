/* SPDX-License-Identifier: Apache-2.0 */
/* Models with one mistake: what kinds there are, and that nothing else is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/single/single.h"
#include "reference/model/validate.h"

static struct nnv_spec *build(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_single_build(w, arena, &spec, &err) != NNV_OK) fail_msg("%s %d: %s", w->op->name, w->index, err.text);
    return spec;
}

/* Mistakes differ from index to index. */
static void test_refused_cases_differ(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    const char *seen[4];
    for (int k = 0; k < 4; k++) {
        struct nnv_single w = {
            .op = nnv_op_by_name("CONV_2D"), .mode = NNV_FILL_REFUSED, .index = NNV_REFUSED_GROUPS * k, .seed = 1};
        seen[k] = build(&w, arena)->source;
        for (int j = 0; j < k; j++) assert_string_not_equal(seen[j], seen[k]);
    }
    nnv_arena_free(arena);
}

/* A depthwise filter has a first extent of 1. */
static void test_refused_weights_are_twice_as_many(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    int found = 0;
    for (int k = 0; k < NNV_REFUSED_GROUPS * NNV_REFUSED_KINDS; k++) {
        struct nnv_single w = {
            .op = nnv_op_by_name("DEPTHWISE_CONV_2D"), .mode = NNV_FILL_REFUSED, .index = k, .seed = 1};
        const struct nnv_spec *s = build(&w, arena);
        if (strcmp(s->source, "weights twice") != 0) continue;
        const struct nnv_operand *f = &s->model.main.operands[s->model.main.operations[0].in[1]];
        assert_int_equal(f->dims[0], 2);
        assert_memory_equal(f->data, (const char *)f->data + f->bytes / 2, f->bytes / 2);
        found++;
    }
    assert_true(found > 0);
    nnv_arena_free(arena);
}

/* The extents that a shape states do not divide the elements; one is to be found out. */
static void test_refused_extents_do_not_divide(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    int found = 0;
    for (int k = NNV_REFUSED_GROUPS - 1; k < NNV_REFUSED_GROUPS * NNV_REFUSED_KINDS; k += NNV_REFUSED_GROUPS) {
        struct nnv_single w = {.op = nnv_op_by_name("RESHAPE"), .mode = NNV_FILL_REFUSED, .index = k, .seed = 1};
        const struct nnv_spec *s = build(&w, arena);
        if (strcmp(s->source, "an extent that does not divide") != 0) continue;
        const struct nnv_operation *op = s->model.main.operations;
        const struct nnv_operand *x = &s->model.main.operands[op->in[0]], *to = &s->model.main.operands[op->in[1]];
        const int32_t *extent = to->data;
        size_t elements = 1;
        int64_t stated = 1;
        int open = 0;
        for (uint32_t d = 0; d < x->rank; d++) elements *= x->dims[d];
        for (size_t i = 0; i < to->bytes / sizeof *extent; i++)
            if (extent[i] == -1)
                open++;
            else
                stated *= extent[i];
        assert_int_equal(open, 1);
        assert_true(stated > 0 && elements % (size_t)stated != 0);
        found++;
    }
    assert_true(found > 0);
    nnv_arena_free(arena);
}

/* What may be by itself, but not beside the rest, is a mistake of every third case. */
static void test_refused_combinations(void **state) {
    static const struct {
        const char *op;
        int sig;
        const char *what;
    } combinations[] = {
        {"RESIZE_BILINEAR", 0, "flags that exclude each other"},
        {"RESIZE_NEAREST_NEIGHBOR", 1, "flags that exclude each other"},
        {"CONV_2D", 1, "another scale of an input"},
        {"GROUPED_CONV_2D", 0, "an attribute that does not fit"},
        {"LSTM", 0, "an optional input less"},
    };
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        bool found = false;
        for (int k = 1; k < 24 && !found; k += NNV_REFUSED_GROUPS) {
            struct nnv_single w = {.op = nnv_op_by_name(combinations[i].op),
                                   .sig = combinations[i].sig,
                                   .mode = NNV_FILL_REFUSED,
                                   .index = k,
                                   .seed = 1};
            found = strcmp(build(&w, arena)->source, combinations[i].what) == 0;
        }
        if (!found) fail_msg("%s is not refused for %s", combinations[i].op, combinations[i].what);
    }
    nnv_arena_free(arena);
}

/* Both flags of a resize are set, and the rest of the model is as it may be. */
static void test_refused_flags_are_both_set(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    int found = 0;
    for (int k = 1; k < 24; k += NNV_REFUSED_GROUPS) {
        struct nnv_single w = {
            .op = nnv_op_by_name("RESIZE_BILINEAR"), .mode = NNV_FILL_REFUSED, .index = k, .seed = 1};
        const struct nnv_spec *s = build(&w, arena);
        const struct nnv_operation *op = &s->model.main.operations[0];
        struct nnv_model m = s->model;
        static const uint8_t no = 0;
        if (strcmp(s->source, "flags that exclude each other") != 0) continue;
        assert_int_equal(op->nin, 6);
        for (uint32_t i = 4; i < 6; i++) {
            assert_int_equal(*(const uint8_t *)m.main.operands[op->in[i]].data, 1);
            const void *was = m.main.operands[op->in[i]].data;
            m.main.operands[op->in[i]].data = &no;
            assert_int_equal(nnv_validate(&m, arena, NULL, NULL), NNV_OK);
            m.main.operands[op->in[i]].data = was;
        }
        found++;
    }
    assert_true(found > 0);
    nnv_arena_free(arena);
}

/* The operand with a number that differs from the valid model's, which is one step back in *copy; false: none does. */
static bool step_back(const struct nnv_spec *s, struct nnv_operand *copy, uint32_t *operand, struct nnv_arena *arena) {
    for (uint32_t i = 0; i < s->model.main.noperands; i++) {
        const struct nnv_operand *now = &s->model.main.operands[i], *was = &s->valid->main.operands[i];
        if (!now->data || memcmp(now->data, was->data, now->bytes) == 0) continue;
        int32_t *numbers = nnv_arena_copy(arena, now->data, now->bytes);
        const int32_t *before = was->data;
        size_t at = 0;
        while (numbers[at] == before[at]) at++;
        numbers[at] += numbers[at] > before[at] ? -1 : 1;
        *copy = *now;
        copy->data = numbers;
        *operand = i;
        return true;
    }
    return false;
}

/* Numbers are just beyond a limit: refused, and allowed one step before; there is room for what would be computed. */
static void test_refused_numbers_are_just_beyond(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops, found = 0, reflected = 0;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int k = 2; k < 24; k += NNV_REFUSED_GROUPS) {
            struct nnv_single w = {
                .op = ops[i], .sig = k % ops[i]->nsigs, .mode = NNV_FILL_REFUSED, .index = k, .seed = 1};
            struct nnv_spec *s = build(&w, arena);
            if (strcmp(s->source, "a number just beyond its limit") != 0) continue;
            uint32_t operand = 0;
            struct nnv_operand allowed;
            assert_int_equal(nnv_validate(&s->model, arena, NULL, NULL), NNV_INVALID);
            if (!step_back(s, &allowed, &operand, arena)) fail_msg("%s %d: no number differs", ops[i]->name, k);
            struct nnv_operand *o = &s->model.main.operands[operand];
            const int32_t *numbers = o->data;
            const struct nnv_operand *x = &s->model.main.operands[0];
            for (uint32_t e = 0; ops[i]->code == ANEURALNETWORKS_MIRROR_PAD && o->rank == 2 && e < 2 * x->rank; e++)
                reflected += numbers[e] == (int32_t)x->dims[e / 2];
            *o = allowed;
            assert_int_equal(nnv_validate(&s->model, arena, NULL, NULL), NNV_OK);
            assert_true(s->outputs[0].rank == 0 || s->outputs[0].dims[0] == 0 || s->outputs[0].dims[0] >= 16);
            found++;
            nnv_arena_reset(arena);
        }
    assert_true(found > nops);
    assert_true(reflected > 0); /* REFLECT pads by less than there is */
    nnv_arena_free(arena);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_cases_differ),          cmocka_unit_test(test_refused_weights_are_twice_as_many),
        cmocka_unit_test(test_refused_extents_do_not_divide), cmocka_unit_test(test_refused_combinations),
        cmocka_unit_test(test_refused_flags_are_both_set),    cmocka_unit_test(test_refused_numbers_are_just_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
