/* SPDX-License-Identifier: Apache-2.0 */
/* Models of many: they have as many as their name says, and what stands a power of two before is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/suites/many/many.h"
#include "reference/eval/eval.h"

static struct nnv_spec *build(const char *kind, int32_t type, uint32_t n, struct nnv_arena *arena) {
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    for (size_t k = 0; k < nnv_many_kind_count; k++)
        if (strcmp(nnv_many_kinds[k].name, kind) == 0 &&
            nnv_many_build(&nnv_many_kinds[k], type, n, "t", 1, arena, &spec, &err) != NNV_OK)
            fail_msg("%s %u: %s", kind, n, err.text);
    assert_non_null(spec);
    return spec;
}

static uint32_t count_of(const struct nnv_subgraph *s, int32_t operation) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->noperations; i++) n += s->operations[i].type == operation;
    return n;
}

static uint32_t large_constants(const struct nnv_subgraph *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->noperands; i++) n += s->operands[i].lifetime == NNV_CONSTANT_REFERENCE;
    return n;
}

/* The IFs that lie one in the other, along the first branch. */
static uint32_t depth_of(const struct nnv_model *m, const struct nnv_subgraph *s) {
    for (uint32_t i = 0; i < s->noperations; i++)
        if (s->operations[i].type == ANEURALNETWORKS_IF)
            return 1 + depth_of(m, &m->referenced[s->operands[s->operations[i].in[1]].subgraph]);
    return 0;
}

static void test_there_are_so_many(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    for (int t = 0; t < NNV_MANY_TYPES; t++)
        for (uint32_t n = 2; n <= 33; n += n < 5 ? 1 : 28) {
            const int32_t type = nnv_many_types[t];
            const struct nnv_spec *s = build("operations", type, n, arena);
            assert_int_equal(s->model.main.noperations, n);
            s = build("alive", type, n, arena);
            assert_int_equal(count_of(&s->model.main, ANEURALNETWORKS_SUB), n - 1);
            assert_int_equal(count_of(&s->model.main, ANEURALNETWORKS_ADD), n + 1);
            assert_int_equal(build("inputs", type, n, arena)->model.main.nin, n);
            assert_int_equal(build("outputs", type, n, arena)->model.main.nout, n);
            s = build("readers", type, n, arena);
            assert_int_equal(count_of(&s->model.main, ANEURALNETWORKS_ADD), n + 1);
            s = build("concatenated", type, n, arena);
            assert_int_equal(s->model.main.operations[n].nin, n + 1);
            s = build("packed", type, n, arena);
            assert_int_equal(s->model.main.operations[n].nin, n + 1);
            assert_int_equal(s->outputs[0].dims[1], n);
            s = build("split", type, n, arena);
            assert_int_equal(s->model.main.operations[0].nout, n);
            assert_int_equal(large_constants(&build("constants", type, n, arena)->model.main), n);
            s = build("branches", type, n, arena);
            assert_int_equal(count_of(&s->model.main, ANEURALNETWORKS_IF), n);
            assert_int_equal(s->model.nreferenced, 2 * n);
            s = build("nested", type, n, arena);
            assert_int_equal(depth_of(&s->model, &s->model.main), n);
            nnv_arena_reset(arena);
        }
    nnv_arena_free(arena);
}

/* What is taken for what stands 16, 32, 64, ... before it gives other results. */
static void test_rows_are_told_apart(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    for (int t = 0; t < NNV_MANY_TYPES; t++)
        for (uint32_t apart = 16; apart <= 64; apart *= 2) {
            struct nnv_spec *s = build("operations", nnv_many_types[t], 100, arena);
            struct nnv_golden golden = {0};
            struct nnv_err err = {0};
            const struct nnv_eval_options options = {0};
            s->model.main.operations[90].in[1] = s->model.main.operations[90 - apart].in[1];
            assert_int_equal(nnv_eval(&s->model, s->inputs, &options, arena, &golden, &err), NNV_OK);
            assert_memory_not_equal(golden.value.data, s->outputs[0].data, s->outputs[0].bytes);
            nnv_arena_reset(arena);
        }
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_are_so_many),
        cmocka_unit_test(test_rows_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
