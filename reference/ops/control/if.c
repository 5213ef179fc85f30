/* SPDX-License-Identifier: Apache-2.0 */
/** @file if.c IF. */
#include "reference/ops/control/control.h"

enum { CONDITION, THEN, ELSE, ARGUMENTS };

static const struct nnv_slot inputs[] = {
    {.id = CONDITION,
     .name = "condition",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_BOOL8,
     .rank_min = 1,
     .rank_max = 1},
    NNV_CONTROL_MODEL(THEN, "then"),
    NNV_CONTROL_MODEL(ELSE, "else"),
    NNV_CONTROL_ARGUMENTS(ARGUMENTS, 1),
};
static const struct nnv_slot outputs[] = {NNV_CONTROL_OUTPUTS};
static const struct nnv_sig sigs[] = NNV_CONTROL_SIGS;

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = nnv_control_condition(c->in[CONDITION].operand, &c->in[CONDITION].shape, err);
    return st ? nnv_at(err, st, "input %d (condition)", CONDITION) : NNV_OK;
}

static enum nnv_status check_branch(const struct nnv_call *c, const struct nnv_model *model, uint32_t pos,
                                    const char *name, struct nnv_err *err) {
    const struct nnv_subgraph *s = nnv_control_subgraph(c, pos, model, err);
    if (!s) return NNV_INVALID;
    if (s->nout != c->nout)
        return nnv_fail(err, NNV_INVALID, "%u output%s, but the %s gives %u", c->nout, c->nout == 1 ? "" : "s", name,
                        s->nout);
    enum nnv_status st = nnv_control_inputs(c, ARGUMENTS, s, name, err);
    return st ? st : nnv_control_outputs(c, s, name, err);
}

static enum nnv_status check_subgraphs(const struct nnv_call *c, const struct nnv_model *model, struct nnv_err *err) {
    enum nnv_status st = check_branch(c, model, THEN, "then subgraph", err);
    return st ? st : check_branch(c, model, ELSE, "else subgraph", err);
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    uint32_t n = k->call->nin - ARGUMENTS, nout = k->call->nout;
    struct nnv_flow_value *values = NNV_NEW(k->scratch, struct nnv_flow_value, n);
    struct nnv_flow_value *results = NNV_NEW(k->scratch, struct nnv_flow_value, nout);
    if (!values || !results) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) values[i] = nnv_flow_input(k->flow, ARGUMENTS + i);
    struct nnv_flow_value condition = nnv_flow_input(k->flow, CONDITION);
    bool taken = false;
    enum nnv_status st = nnv_flow_test(k->flow, &condition, &taken, err);
    if (!st) st = nnv_flow_run(k->flow, taken ? THEN : ELSE, values, results, err);
    for (uint32_t i = 0; !st && i < nout; i++) st = nnv_flow_give(k->flow, i, &results[i], err);
    for (uint32_t i = 0; i < nout; i++) nnv_flow_free(&results[i]);
    return st;
}

/* "constant": the condition is one, and the branches have large ones. The branches of "dynamic" differ in shape. */
static const char *const variants[] = {"taken", "not_taken", "several", "dynamic", "nested", "constant", NULL};

static void sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = 1 + (uint32_t)s->index % 4;
    nnv_sample_dims(s, rank, 60, dims);
    if (s->empty) dims[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    bool other = (s->index + s->variant) % 2 == 0;
    nnv_sample_scalar(s, CONDITION, nnv_sample_is(s, "taken") ? !nnv_sample_is(s, "not") : other);
    nnv_sample_tensor(s, ARGUMENTS, rank, dims);
    if (nnv_sample_is(s, "dynamic")) dims[0]++;
    if (nnv_sample_is(s, "dynamic") && s->index % 2 && rank < 4 && !s->empty) dims[rank++] = 2;
    nnv_sample_tensor(s, ARGUMENTS, rank, dims);
}

const struct nnv_op nnv_op_IF = {
    NNV_OP_NAMED(IF),
    .level = 4,
    .formula = "y = then(arguments) where the condition is true, else(arguments) where it is false",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .zero = NNV_ZERO_ANY,
    .check = check,
    .check_subgraphs = check_subgraphs,
    .infer = nnv_control_infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
