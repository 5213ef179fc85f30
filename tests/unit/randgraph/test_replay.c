/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of an evaluation take from row 0 is what they would compute themselves: in every operation, the same
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "randgraph/single/single.h"
#include "reference/eval/eval.h"

enum { MOST_OUTPUTS = 8 };

static bool evaluate(const struct nnv_spec *s, int rows, bool recompute, struct nnv_arena *arena,
                     struct nnv_golden *out) {
    const struct nnv_eval_options options = {.rows = rows, .k = 2, .seed = 5, .recompute = recompute};
    struct nnv_err err = {0};
    return nnv_eval(&s->model, s->inputs, &options, arena, out, &err) == NNV_OK;
}

static void check(const struct nnv_single *w, struct nnv_arena *arena) {
    struct nnv_golden fast[MOST_OUTPUTS], full[MOST_OUTPUTS];
    struct nnv_spec *s = NULL;
    struct nnv_err err = {0};
    assert_int_equal(nnv_single_build(w, arena, &s, &err), NNV_OK);
    assert_true(s->model.main.nout <= MOST_OUTPUTS);
    const int rows = (int[]){8, 3, 13}[w->variant % 3]; /* many, and fewer than two signs have ways */
    const bool ok = evaluate(s, rows, false, arena, fast);
    assert_int_equal(ok, evaluate(s, rows, true, arena, full));
    for (uint32_t i = 0; ok && i < s->model.main.nout; i++) {
        const struct nnv_golden *a = &fast[i], *b = &full[i];
        assert_int_equal(a->value.bytes, b->value.bytes);
        assert_memory_equal(a->value.data, b->value.data, a->value.bytes);
        assert_int_equal(a->value.bytes, s->outputs[i].bytes); /* what the case expects, however it was found */
        assert_memory_equal(a->value.data, s->outputs[i].data, a->value.bytes);
        assert_int_equal(a->spread != NULL, b->spread != NULL);
        const size_t n = a->value.bytes / nnv_type(s->model.main.operands[s->model.main.out[i]].type)->size;
        if (a->spread && memcmp(a->spread, b->spread, n * sizeof *a->spread) != 0)
            fail_msg("%s, signature %d, variant %d: budgets differ", w->op->name, w->sig, w->variant);
    }
    nnv_arena_reset(arena);
}

static void test_rows_compute_the_same(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    size_t nops;
    const struct nnv_op *const *ops = nnv_ops(&nops);
    for (size_t i = 0; i < nops; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++)
            for (int v = 0; v < nnv_single_variants(ops[i]); v++)
                check(&(struct nnv_single){.op = ops[i], .sig = sig, .variant = v, .seed = 11}, arena);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_compute_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
