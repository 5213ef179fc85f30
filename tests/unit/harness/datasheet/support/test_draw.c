/* SPDX-License-Identifier: Apache-2.0 */
/** The models that a datasheet asks about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/datasheet/support/draw.h"
#include "reference/model/sample.h"

/** Lines of more than 2^16 elements, one and several of them: each ends with the number that wins. Returns how many. */
static size_t check_lines(struct nnv_arena *arena, const struct nnv_op *op, int turn) {
    struct nnv_probe p = {.what = {.op = op, .plan = NNV_PLAN_ROW, .seed = 1, .index = 1 << 16}, .has_row = true};
    for (uint8_t f = 0; f < op->nfactors; f++) {
        const struct nnv_factor *factor = &op->factors[f];
        p.row[f] = strcmp(factor->name, "inner") == 0   ? NNV_LONG_LINE
                   : strcmp(factor->name, "outer") == 0 ? factor->values[turn % factor->n]
                                                        : factor->values[0];
    }
    nnv_arena_reset(arena);
    const struct nnv_spec *spec = nnv_probe_make(&p, arena);
    assert_non_null(spec);
    const struct nnv_value *x = &spec->inputs[0];
    const float *v = x->data;
    const size_t lines = x->bytes / sizeof *v / NNV_LONG_LINE;
    assert_int_equal(spec->model.main.operands[spec->model.main.in[0]].type, ANEURALNETWORKS_TENSOR_FLOAT32);
    if (x->dims[x->rank - 1] != NNV_LONG_LINE) return 0;
    for (size_t k = 0; k < lines; k++)
        assert_true(v[(k + 1) * NNV_LONG_LINE - 1] == (op->code == ANEURALNETWORKS_ARGMIN ? -100 : 100));
    return lines;
}

static void test_long_lines(void **state) {
    static const int32_t codes[] = {ANEURALNETWORKS_SOFTMAX, ANEURALNETWORKS_LOG_SOFTMAX,
                                    ANEURALNETWORKS_ARGMAX,  ANEURALNETWORKS_ARGMIN,
                                    ANEURALNETWORKS_TOPK_V2, ANEURALNETWORKS_L2_NORMALIZATION};
    struct nnv_arena *arena = nnv_arena_new();
    (void)state;
    size_t most = 0;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        for (int turn = 0; turn < 4; turn++) {
            const size_t lines = check_lines(arena, nnv_op(codes[i]), turn);
            if (lines > most) most = lines;
        }
    }
    assert_true(most > 1);
    nnv_arena_free(arena);
}

/** Many a fresh model is one that is known, with one or two factors changed. */
static void test_fresh_rows(void **state) {
    enum { FIRST = 64, FRESH = 200 };
    static struct nnv_probe first[FIRST];
    const struct nnv_op *op = nnv_op(ANEURALNETWORKS_CONV_2D);
    size_t near = 0;
    (void)state;
    assert_true(nnv_probes_first(op, 0, 1, first, FIRST) > 0);
    assert_true(first[0].has_row);
    for (uint32_t k = 0; k < FRESH; k++) {
        const struct nnv_probe p = nnv_probe_fresh(op, 0, 1, 1, k, &first[0]);
        int changes = 0;
        for (uint8_t f = 0; p.has_row && f < op->nfactors; f++) changes += p.row[f] != first[0].row[f];
        near += changes == 1 || changes == 2;
    }
    assert_true(near > FRESH / 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_lines), cmocka_unit_test(test_fresh_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
