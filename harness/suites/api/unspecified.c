/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unspecified.c Operands of a model in each role, whose shape the model states, leaves an extent open of, or
 * leaves open altogether; with each type that an execution may give.
 */
#include <string.h>

#include "harness/suites/api/api.h"

/** How much a type tells. */
enum detail { NO_TYPE, FULL, OPEN_EXTENT, NO_RANK, OTHER_EXTENT, OTHER_RANK };

enum role { INPUT, OPTIONAL_INPUT, OUTPUT, CONSTANT, OPTIONAL_CONSTANT };

struct row {
    enum role role;
    enum detail model, execution;
    unsigned set;     /**< what setting it must answer */
    unsigned compute; /**< what computing must answer, where it is set */
};

enum { YES = NNV_API_NO_ERROR, NO = NNV_API_BAD_DATA, FAILS = NNV_API_ERROR };

/** The shape is [2, 2]; other ones have as many elements, but for what contradicts the extent that is open. */
static const ANeuralNetworksOperandType *typed(struct nnv_api *a, enum detail detail) {
    switch (detail) {
    case NO_TYPE:
        return NULL;
    case FULL:
        return OF(FLOAT32, 2, 2);
    case OPEN_EXTENT:
        return OF(FLOAT32, 0, 2);
    case NO_RANK:
        return UNRANKED(FLOAT32);
    case OTHER_EXTENT:
        return OF(FLOAT32, 4, 1);
    case OTHER_RANK:
        return OF(FLOAT32, 4);
    }
    return NULL;
}

/** x + y where the operand of the row's role is x, z or the constant y. */
static void mandatory(struct nnv_api *a) {
    static const float in0[] = {1, 2, 3, 4}, in1[] = {10, 20, 30, 40}, sum[] = {11, 22, 33, 44};
    const struct row *row = a->c->data;
    struct nnv_api_net net = nnv_api_net(a);
    float out[4] = {0};
    uint32_t x = nnv_api_add(&net, typed(a, row->role == INPUT ? row->model : FULL));
    uint32_t y = nnv_api_add(&net, typed(a, row->role == CONSTANT ? row->model : FULL));
    uint32_t z = nnv_api_add(&net, typed(a, row->role == OUTPUT ? row->model : FULL)), none = nnv_api_int(&net, 0);
    if (!net.ok) return;
    int code = a->nn->Model_setOperandValue(net.model, (int32_t)y, in1, sizeof in1);
    if (!nnv_api_check(a, "Model_setOperandValue", code, row->role == CONSTANT ? row->set : YES) || code) return;
    nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(z));
    if (!nnv_api_net_end(&net, LIST(x), LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e) return;
    code = a->nn->Execution_setInput(e, 0, row->role == INPUT ? typed(a, row->execution) : NULL, in0, sizeof in0);
    if (!nnv_api_check(a, "Execution_setInput", code, row->role == INPUT ? row->set : YES) || code) return;
    code = a->nn->Execution_setOutput(e, 0, row->role == OUTPUT ? typed(a, row->execution) : NULL, out, sizeof out);
    if (!nnv_api_check(a, "Execution_setOutput", code, row->role == OUTPUT ? row->set : YES) || code) return;
    code = nnv_api_computed(a, e);
    if (!nnv_api_check(a, "computing", code, row->compute) || code) return;
    nnv_api_check_floats(a, "the sum", out, sum, 4);
}

static const ANeuralNetworksOperandType *permutation(struct nnv_api *a, enum detail detail) {
    return detail == NO_TYPE   ? NULL
           : detail == FULL    ? OF(INT32, 2)
           : detail == NO_RANK ? UNRANKED(INT32)
                               : OF(INT32, 0);
}

/** TRANSPOSE whose permutation is omitted: by the model, or by the execution. */
static void optional(struct nnv_api *a) {
    static const float in[] = {1, 2, 3, 4}, want[] = {1, 3, 2, 4};
    const struct row *row = a->c->data;
    struct nnv_api_net net = nnv_api_net(a);
    float out[4] = {0};
    uint32_t x = nnv_api_add(&net, OF(FLOAT32, 2, 2)), perm = nnv_api_add(&net, permutation(a, row->model));
    uint32_t z = nnv_api_add(&net, OF(FLOAT32, 2, 2));
    const bool is_input = row->role == OPTIONAL_INPUT;
    const uint32_t inputs[] = {x, perm};
    if (!net.ok || (!is_input && !OK(Model_setOperandValue, net.model, (int32_t)perm, NULL, 0))) return;
    nnv_api_operate(&net, ANEURALNETWORKS_TRANSPOSE, LIST(x, perm), LIST(z));
    if (!nnv_api_net_end(&net, is_input ? 2 : 1, inputs, LIST(z))) return;
    ANeuralNetworksExecution *e = nnv_api_execution(a, nnv_api_compiled(&net));
    if (!e || !OK(Execution_setInput, e, 0, NULL, in, sizeof in) ||
        !OK(Execution_setOutput, e, 0, NULL, out, sizeof out))
        return;
    if (is_input) {
        int code = a->nn->Execution_setInput(e, 1, permutation(a, row->execution), NULL, 0);
        if (!nnv_api_check(a, "Execution_setInput without a value", code, row->set) || code) return;
    }
    if (nnv_api_compute(a, e)) nnv_api_check_floats(a, "the transposed", out, want, 4);
}

#define ROW(run_, what, ...)                                                                                           \
    { .name = "unspecified/" what, .run = run_, .data = &(const struct row){__VA_ARGS__}, .level = 3 }
#define MANDATORY(...) ROW(mandatory, __VA_ARGS__)
#define OPTIONAL(...) ROW(optional, __VA_ARGS__)

static const struct nnv_api_case cases[] = {
    MANDATORY("input/full/no_type", INPUT, FULL, NO_TYPE, YES, YES),
    MANDATORY("input/full/full", INPUT, FULL, FULL, YES, YES),
    MANDATORY("input/full/other_extent", INPUT, FULL, OTHER_EXTENT, NO, 0),
    MANDATORY("input/full/other_rank", INPUT, FULL, OTHER_RANK, NO, 0),
    MANDATORY("input/open_extent/no_type", INPUT, OPEN_EXTENT, NO_TYPE, NO, 0),
    MANDATORY("input/open_extent/full", INPUT, OPEN_EXTENT, FULL, YES, YES),
    MANDATORY("input/open_extent/open_extent", INPUT, OPEN_EXTENT, OPEN_EXTENT, NO, 0),
    MANDATORY("input/open_extent/other_extent", INPUT, OPEN_EXTENT, OTHER_EXTENT, NO, 0),
    MANDATORY("input/open_extent/other_rank", INPUT, OPEN_EXTENT, OTHER_RANK, NO, 0),
    MANDATORY("input/no_rank/no_type", INPUT, NO_RANK, NO_TYPE, NO, 0),
    MANDATORY("input/no_rank/full", INPUT, NO_RANK, FULL, YES, YES),
    MANDATORY("input/no_rank/open_extent", INPUT, NO_RANK, OPEN_EXTENT, NO, 0),
    MANDATORY("input/no_rank/no_rank", INPUT, NO_RANK, NO_RANK, NO, 0),
    MANDATORY("input/no_rank/other_rank", INPUT, NO_RANK, OTHER_RANK, YES, FAILS),
    OPTIONAL("omitted_input/full/no_type", OPTIONAL_INPUT, FULL, NO_TYPE, YES, YES),
    OPTIONAL("omitted_input/open_extent/no_type", OPTIONAL_INPUT, OPEN_EXTENT, NO_TYPE, YES, YES),
    OPTIONAL("omitted_input/no_rank/no_type", OPTIONAL_INPUT, NO_RANK, NO_TYPE, YES, YES),
    OPTIONAL("omitted_input/full/full", OPTIONAL_INPUT, FULL, FULL, YES, YES),
    OPTIONAL("omitted_input/open_extent/full", OPTIONAL_INPUT, OPEN_EXTENT, FULL, YES, YES),
    MANDATORY("output/full/no_type", OUTPUT, FULL, NO_TYPE, YES, YES),
    MANDATORY("output/full/full", OUTPUT, FULL, FULL, YES, YES),
    MANDATORY("output/full/other_extent", OUTPUT, FULL, OTHER_EXTENT, NO, 0),
    MANDATORY("output/full/other_rank", OUTPUT, FULL, OTHER_RANK, NO, 0),
    MANDATORY("output/open_extent/no_type", OUTPUT, OPEN_EXTENT, NO_TYPE, YES, YES),
    MANDATORY("output/open_extent/full", OUTPUT, OPEN_EXTENT, FULL, YES, YES),
    MANDATORY("output/open_extent/open_extent", OUTPUT, OPEN_EXTENT, OPEN_EXTENT, YES, YES),
    MANDATORY("output/open_extent/other_extent", OUTPUT, OPEN_EXTENT, OTHER_EXTENT, NO, 0),
    MANDATORY("output/open_extent/other_rank", OUTPUT, OPEN_EXTENT, OTHER_RANK, NO, 0),
    MANDATORY("output/no_rank/no_type", OUTPUT, NO_RANK, NO_TYPE, YES, YES),
    MANDATORY("output/no_rank/full", OUTPUT, NO_RANK, FULL, YES, YES),
    MANDATORY("output/no_rank/open_extent", OUTPUT, NO_RANK, OPEN_EXTENT, YES, YES),
    MANDATORY("output/no_rank/no_rank", OUTPUT, NO_RANK, NO_RANK, YES, YES),
    MANDATORY("output/no_rank/other_rank", OUTPUT, NO_RANK, OTHER_RANK, YES, FAILS),
    MANDATORY("constant/full", CONSTANT, FULL, NO_TYPE, YES, YES),
    MANDATORY("constant/open_extent", CONSTANT, OPEN_EXTENT, NO_TYPE, NO, 0),
    MANDATORY("constant/no_rank", CONSTANT, NO_RANK, NO_TYPE, NO, 0),
    OPTIONAL("omitted_constant/full", OPTIONAL_CONSTANT, FULL, NO_TYPE, YES, YES),
    OPTIONAL("omitted_constant/open_extent", OPTIONAL_CONSTANT, OPEN_EXTENT, NO_TYPE, YES, YES),
    OPTIONAL("omitted_constant/no_rank", OPTIONAL_CONSTANT, NO_RANK, NO_TYPE, YES, YES),
};
NNV_API_GROUP(unspecified);
