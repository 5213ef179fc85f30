/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_model_clauses.c The clauses that follow from the records of operations, in their words. */
#include "reference/model/clause.h"

#include "reference/model/op_doc.h"
#include "tests/kit/arena.h"

static const char *const topk[][2] = {
    {"NN-TOPK_V2-VALUE", "values = the k largest of x along the last axis, falling; indices = where they stand (of "
                         "equals: any order). Rounding: none: values are moved or chosen, results are exact."},
    {"NN-TOPK_V2-COUNT", "2 inputs and 2 outputs."},
    {"NN-TOPK_V2-TYPE-float32", "T TENSOR_FLOAT32: since level 3."},
    {"NN-TOPK_V2-TYPE-float16", "T TENSOR_FLOAT16: since level 3."},
    {"NN-TOPK_V2-TYPE-int32", "T TENSOR_INT32: since level 3."},
    {"NN-TOPK_V2-TYPE-quant8_asymm", "T TENSOR_QUANT8_ASYMM: since level 3."},
    {"NN-TOPK_V2-TYPE-quant8_asymm_signed", "T TENSOR_QUANT8_ASYMM_SIGNED: since level 4."},
    {"NN-TOPK_V2-RANK", "input k: scalar."},
    {"NN-TOPK_V2-QUANT", "output values: quantised as input 0."},
    {"NN-TOPK_V2-ATTRIBUTE", "input k: above 0."},
    {"NN-TOPK_V2-SHAPE", "The extents of the outputs follow from the inputs, which fit each other."},
    {"NN-TOPK_V2-LEVEL", "The operation came with feature level 3."},
    {"NN-TOPK_V2-LIMITS", "The result is right at the limits of the types, and where the operation changes its ways."},
    {"NN-TOPK_V2-TIES", "Where numbers are equal, each choice among them is right."},
    {"NN-TOPK_V2-BY-rank", "The result is right for every rank, such as 4, 1, 2, 3, 5."},
    {"NN-TOPK_V2-BY-inner", "The result is right for every inner, such as 7, 1, 4, 16."},
    {"NN-TOPK_V2-BY-outer", "The result is right for every outer, such as unequal, equal, ones, long."},
    {"NN-TOPK_V2-BY-k", "The result is right for every k, such as some, one, all, most."},
};
static const char *const some[][2] = {
    {"NN-CONV_2D-COUNT", "implicit: 7 to 10 inputs and 1 output; explicit: 10 to 13 inputs and 1 output; input nchw: 0 "
                         "if absent; input dilation width: 1 if absent; input dilation height: 1 if absent."},
    {"NN-CONV_2D-TYPE-quant8_asymm",
     "T TENSOR_QUANT8_ASYMM, W TENSOR_QUANT8_ASYMM, B TENSOR_INT32: since level 1; T TENSOR_QUANT8_ASYMM, W "
     "TENSOR_QUANT8_SYMM_PER_CHANNEL, B TENSOR_INT32: since level 3."},
    {"NN-CONV_2D-QUANT",
     "input bias: INT32: scale of input 0 times scale of input 1, or 0 beside channel scales; zero point 0."},
    {"NN-CONV_2D-ZERO", "the batch may be 0 since level 3."},
    {"NN-CONV_2D-BY-window",
     "The result is right for every window, such as 3x3, 1x1, 2x2, 5x5, 7x7, 1x3, 3x1, 2x3, 4x4."},
    {"NN-CONCATENATION-COUNT", "2 inputs and 1 output; input input: one or more."},
    {"NN-DEQUANTIZE-TYPE-quant8_asymm",
     "T TENSOR_QUANT8_ASYMM, O TENSOR_FLOAT32: since level 1; T TENSOR_QUANT8_ASYMM, O TENSOR_FLOAT16: since level 3."},
    {"NN-RELU-COUNT", "1 input and 1 output."},
    {"NN-LSTM-COUNT",
     "23 to 27 inputs and 4 outputs; input input-to-input weights: may be omitted; input recurrent-to-input weights: "
     "may be omitted; input cell-to-input weights: may be omitted; input cell-to-forget weights: may be omitted; input "
     "cell-to-output weights: may be omitted; input input gate bias: may be omitted; input projection weights: may be "
     "omitted; input projection bias: may be omitted; input input layer normalisation weights: may be omitted; input "
     "forget layer normalisation weights: may be omitted; input cell layer normalisation weights: may be omitted; "
     "input output layer normalisation weights: may be omitted."},
    {"NN-MAX_POOL_2D-COUNT",
     "implicit: 7 to 8 inputs and 1 output; explicit: 10 to 11 inputs and 1 output; input nchw: 0 if absent."},
    {"NN-ADD-ZERO", "inputs may be zero-sized since level 3."},
    {"NN-ADD-BY-outer", "The result is right for every outer, such as unequal, equal, ones, long."},
    {"NN-RANDOM_MULTINOMIAL-TIES", "Where numbers are equal, each choice among them is right."},
};

static struct nnv_clause_list list;

static int make(void **state) {
    struct nnv_err err = {0};
    if (set_up(state) != 0) return -1;
    return nnv_clauses(arena, &list, &err) == NNV_OK ? 0 : -1;
}

/** The text of a clause; NULL: there is none. */
static const char *text_of(const char *id) {
    const uint32_t i = nnv_map_find(&list.ids, id);
    return i == NNV_MAP_NONE ? NULL : list.item[i].text;
}

static const char *of(const char *op, const char *kind) {
    char id[128];
    snprintf(id, sizeof id, "NN-%s-%s", op, kind);
    return text_of(id);
}

/* All of an operation, in their order. */
static void of_one_operation(void **state) {
    (void)state;
    size_t n = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        if (strcmp(list.item[i].subject, "TOPK_V2") != 0) continue;
        assert_true(n < sizeof topk / sizeof *topk);
        assert_string_equal(list.item[i].id, topk[n][0]);
        assert_string_equal(list.item[i].text, topk[n++][1]);
    }
    assert_int_equal(n, sizeof topk / sizeof *topk);
}

static void in_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_non_null(text_of(some[i][0]));
        assert_string_equal(text_of(some[i][0]), some[i][1]);
    }
}

/* Which operations have a clause that not all have. */
static void where_they_apply(void **state) {
    (void)state;
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t k = 0; k < n; k++) {
        bool ties = false;
        for (uint8_t i = 0; i < ops[k]->forms->nout; i++)
            if (ops[k]->forms->out[i].judged != NNV_JUDGED_VALUE) ties = true;
        const char *op = ops[k]->name;
        assert_int_equal(of(op, "TIES") != NULL, ties);
        assert_int_equal(of(op, "LIMITS") != NULL, nnv_op_has_limits(ops[k]));
        assert_int_equal(of(op, "ZERO") != NULL, ops[k]->zero != NNV_ZERO_REFUSED);
        assert_int_equal(strstr(of(op, "SHAPE"), "from values") != NULL, ops[k]->sizes);
        assert_non_null(of(op, "VALUE"));
        assert_non_null(of(op, "COUNT"));
        assert_non_null(of(op, "LEVEL"));
        for (uint8_t i = 0; i < ops[k]->nfactors; i++) {
            char kind[64];
            snprintf(kind, sizeof kind, "BY-%s", ops[k]->factors[i].name);
            assert_non_null(of(op, kind));
        }
    }
}

/* Numbers and ids are of one another, also of those that were there before the list grew. */
static void numbers(void **state) {
    (void)state;
    static const struct nnv_clause written[] = {
#define X(ID, SUBJECT, TEXT) {ID, SUBJECT, TEXT},
#include "reference/model/clauses.def"
#undef X
    };
    const uint32_t n = sizeof written / sizeof *written;
    assert_true(list.count > 1024);
    assert_int_equal(list.ids.count, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        assert_int_equal(nnv_map_find(&list.ids, list.item[i].id), i);
        if (i < n) {
            assert_string_equal(list.item[i].id, written[i].id);
            assert_string_equal(list.item[i].subject, written[i].subject);
            assert_string_equal(list.item[i].text, written[i].text);
        } else {
            assert_non_null(nnv_op_by_name(list.item[i].subject));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_one_operation), cmocka_unit_test(in_words),
                                       cmocka_unit_test(where_they_apply), cmocka_unit_test(numbers)};
    return cmocka_run_group_tests(tests, make, tear_down);
}
