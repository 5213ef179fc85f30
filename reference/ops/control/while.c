/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file while.c WHILE.
 *
 * Of the arguments the first m are the outputs' initial values, k more are state that is not given out, and the last n
 * never change. m is the number of outputs, m + k that of the body's.
 */
#include "reference/ops/control/control.h"

#include "reference/model/validate.h"

enum { CONDITION, BODY, ARGUMENTS };

static const struct nnv_slot inputs[] = {
    NNV_CONTROL_MODEL(CONDITION, "condition"),
    NNV_CONTROL_MODEL(BODY, "body"),
    NNV_CONTROL_ARGUMENTS(ARGUMENTS, 0),
};
static const struct nnv_slot outputs[] = {NNV_CONTROL_OUTPUTS};
static const struct nnv_sig sigs[] = NNV_CONTROL_SIGS;

static enum nnv_status check_condition(const struct nnv_call *c, const struct nnv_subgraph *s, struct nnv_err *err) {
    if (s->nout != 1) return nnv_fail(err, NNV_INVALID, "the condition subgraph gives %u outputs, expected 1", s->nout);
    if (s->out[0] >= s->noperands)
        return nnv_fail(err, NNV_INVALID, "the condition subgraph has no operand %u", s->out[0]);
    struct nnv_shape shape = nnv_operand_shape(&s->operands[s->out[0]]);
    enum nnv_status st = nnv_control_condition(&s->operands[s->out[0]], &shape, err);
    if (st) return nnv_at(err, st, "output 0 of the condition subgraph");
    return nnv_control_inputs(c, ARGUMENTS, s, "condition subgraph", err);
}

/* What the body gives is what it, and the condition, take the next time. */
static enum nnv_status check_circle(const struct nnv_subgraph *body, const struct nnv_subgraph *next, const char *name,
                                    struct nnv_err *err) {
    for (uint32_t i = 0; i < body->nout; i++) {
        const struct nnv_operand *from = &body->operands[body->out[i]], *to = &next->operands[next->in[i]];
        struct nnv_shape shape = nnv_operand_shape(from);
        enum nnv_status st = nnv_control_agree(from, &shape, to, err);
        if (st) return nnv_at(err, st, "output %u of the body as input %u of the %s", i, i, name);
    }
    return NNV_OK;
}

static enum nnv_status check_body(const struct nnv_call *c, const struct nnv_subgraph *s, struct nnv_err *err) {
    if (s->nout < c->nout)
        return nnv_fail(err, NNV_INVALID, "%u outputs, but the body gives only %u", c->nout, s->nout);
    if (s->nout > s->nin)
        return nnv_fail(err, NNV_INVALID, "the body gives %u values, but takes only %u", s->nout, s->nin);
    for (uint32_t i = c->nout; i < s->nout; i++)
        if (s->out[i] >= s->noperands)
            return nnv_fail(err, NNV_INVALID, "output %u of the body: there is no operand %u", i, s->out[i]);
    enum nnv_status st = nnv_control_inputs(c, ARGUMENTS, s, "body", err);
    return st ? st : nnv_control_outputs(c, s, "body", err);
}

static enum nnv_status check_subgraphs(const struct nnv_call *c, const struct nnv_model *model, struct nnv_err *err) {
    const struct nnv_subgraph *condition = nnv_control_subgraph(c, CONDITION, model, err), *body = NULL;
    if (condition) body = nnv_control_subgraph(c, BODY, model, err);
    if (!body) return NNV_INVALID;
    enum nnv_status st = check_condition(c, condition, err);
    if (!st) st = check_body(c, body, err);
    if (!st) st = check_circle(body, body, "body", err);
    return st ? st : check_circle(body, condition, "condition subgraph", err);
}

/* A loop under way. */
struct loop {
    struct nnv_flow *flow;
    struct nnv_flow_value *state, *next; /* all arguments; what the body gives */
    uint32_t carried;                    /* how many the body gives */
};

static enum nnv_status iterate(struct loop *l, bool *more, struct nnv_err *err) {
    struct nnv_flow_value truth;
    enum nnv_status st = nnv_flow_run(l->flow, CONDITION, l->state, &truth, err);
    if (st) return st;
    st = nnv_flow_test(l->flow, &truth, more, err);
    nnv_flow_free(&truth);
    if (!st && *more) st = nnv_flow_tick(l->flow, err);
    if (st || !*more) return st;
    st = nnv_flow_run(l->flow, BODY, l->state, l->next, err);
    for (uint32_t i = 0; !st && i < l->carried; i++) {
        nnv_flow_free(&l->state[i]);
        l->state[i] = l->next[i];
    }
    return st;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    uint32_t n = k->call->nin - ARGUMENTS;
    struct loop l = {.flow = k->flow, .carried = nnv_flow_subgraph(k->flow, BODY)->nout};
    l.state = NNV_NEW(k->scratch, struct nnv_flow_value, n);
    l.next = NNV_NEW(k->scratch, struct nnv_flow_value, l.carried);
    if (!l.state || !l.next) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) l.state[i] = nnv_flow_input(k->flow, ARGUMENTS + i);
    enum nnv_status st = NNV_OK;
    unsigned long long iteration = 0;
    for (bool more = true; !st && more; iteration++) st = iterate(&l, &more, err);
    if (st) st = nnv_at(err, st, "iteration %llu", iteration);
    for (uint32_t i = 0; !st && i < k->call->nout; i++) st = nnv_flow_give(k->flow, i, &l.state[i], err);
    for (uint32_t i = 0; i < n; i++) nnv_flow_free(&l.state[i]);
    return st;
}

/* "several": state that is not given out, and arguments that never change. The state of "dynamic" grows. */
static const char *const variants[] = {"zero", "once", "many", "several", "dynamic", "nested", NULL};

static void sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = 1 + (uint32_t)s->index % 4;
    nnv_sample_dims(s, rank, 60, dims);
    if (s->empty) dims[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    int count = nnv_sample_is(s, "zero") ? 0 : nnv_sample_is(s, "once") ? 1 : nnv_sample_int(s, 2, 6);
    nnv_sample_scalar(s, CONDITION, count);
    nnv_sample_tensor(s, ARGUMENTS, rank, dims);
    if (nnv_sample_is(s, "dynamic")) dims[0]++;
    nnv_sample_tensor(s, ARGUMENTS, rank, dims);
}

const struct nnv_op nnv_op_WHILE = {
    NNV_OP_NAMED(WHILE),
    .level = 4,
    .formula = "while condition(state): state = body(state); y = the state's first values",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .zero = NNV_ZERO_ANY,
    .check_subgraphs = check_subgraphs,
    .infer = nnv_control_infer,
    .eval = eval,
    .variants = variants,
    .sample = sample,
};
