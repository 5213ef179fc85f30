/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file control.c IF, WHILE.
 *
 * Of the arguments of WHILE the first m are the outputs' initial values, k more are state that is not given out, and
 * the last n never change. m is the number of outputs, m + k that of the body's.
 */
#include <string.h>

#include "reference/eval/flow.h"
#include "reference/model/sample.h"
#include "reference/model/validate.h"

/* Slots of a MODEL, and of the arguments, which are the last. */
#define MODEL(ID, NAME)                                                                                                \
    { .id = (ID), .name = (NAME), .var = NNV_FIXED, .type = ANEURALNETWORKS_MODEL, .flags = NNV_SCALAR }
#define ARGUMENTS(ID, GROUP)                                                                                           \
    { .id = (ID), .name = "argument", .var = NNV_T, .flags = NNV_REPEAT | NNV_ANY_TYPE, .group = (GROUP) }

static const struct nnv_slot outputs[] = {{.name = "output", .var = NNV_T, .flags = NNV_REPEAT | NNV_ANY_TYPE}};

/* The types of the generated cases: those that an operation in a subgraph can give. */
static const struct nnv_sig sigs[] = {
    NNV_SIG(4, FLOAT32),       NNV_SIG(4, FLOAT16),      NNV_SIG(4, INT32),
    NNV_SIG(4, BOOL8),         NNV_SIG(4, QUANT8_ASYMM), NNV_SIG(4, QUANT8_ASYMM_SIGNED),
    NNV_SIG(4, QUANT16_ASYMM), NNV_SIG(4, QUANT16_SYMM), NNV_SIG(4, QUANT8_SYMM),
};

/* ------------------------------------------------------- what subgraphs take and give */

/* The subgraph of MODEL input pos; NULL if there is none, with the reason. */
static const struct nnv_subgraph *subgraph_at(const struct nnv_call *c, uint32_t pos, const struct nnv_model *model,
                                              struct nnv_err *err) {
    uint32_t index = c->in[pos].operand->subgraph;
    if (index < model->nreferenced) return &model->referenced[index];
    (void)nnv_fail(err, NNV_INVALID, "input %u: there is no referenced subgraph %u", pos, index);
    return NULL;
}

static enum nnv_status agree_channels(const struct nnv_channel_quant *a, const struct nnv_channel_quant *b,
                                      struct nnv_err *err) {
    if (a->count != b->count || (a->count && a->dim != b->dim))
        return nnv_fail(err, NNV_INVALID, "%u scales along %u, but %u along %u in the subgraph", a->count, a->dim,
                        b->count, b->dim);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->scales[i] != b->scales[i])
            return nnv_fail(err, NNV_INVALID, "scale %.9g of channel %u, but %.9g in the subgraph",
                            (double)a->scales[i], i, (double)b->scales[i]);
    return NNV_OK;
}

static enum nnv_status agree_shapes(const struct nnv_shape *a, const struct nnv_shape *b, struct nnv_err *err) {
    char is[256], should[256];
    bool same = !a->known_rank || !b->known_rank || a->rank == b->rank;
    for (uint32_t d = 0; same && a->known_rank && b->known_rank && d < a->rank; d++)
        same = nnv_dim_agree(a->dims[d], b->dims[d]);
    if (same) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "shape %s, but %s in the subgraph", nnv_shape_text(a, is, sizeof is),
                    nnv_shape_text(b, should, sizeof should));
}

/*
 * NNV_INVALID unless a value of operand a and shape may go where operand b takes it in or gives it out: type,
 * quantisation, rank and extents, as far as they are known.
 */
static enum nnv_status agree(const struct nnv_operand *a, const struct nnv_shape *shape, const struct nnv_operand *b,
                             struct nnv_err *err) {
    const struct nnv_type *is = nnv_type(a->type), *should = nnv_type(b->type);
    if (a->type != b->type)
        return nnv_fail(err, NNV_INVALID, "%s, but %s in the subgraph", is ? is->name : "an unknown type",
                        should ? should->name : "an unknown type");
    if (a->scale != b->scale)
        return nnv_fail(err, NNV_INVALID, "scale %.9g, but %.9g in the subgraph", (double)a->scale, (double)b->scale);
    if (a->zero_point != b->zero_point)
        return nnv_fail(err, NNV_INVALID, "zero point %d, but %d in the subgraph", a->zero_point, b->zero_point);
    enum nnv_status st = agree_channels(&a->channel, &b->channel, err);
    if (st) return st;
    struct nnv_shape declared = nnv_operand_shape(b);
    return agree_shapes(shape, &declared, err);
}

/* Operand i of the list of a subgraph's inputs or outputs; NULL if its index is beyond the operands. */
static const struct nnv_operand *listed(const struct nnv_subgraph *s, const uint32_t *list, uint32_t i,
                                        struct nnv_err *err) {
    if (list[i] < s->noperands) return &s->operands[list[i]];
    (void)nnv_fail(err, NNV_INVALID, "there is no operand %u in the subgraph", list[i]);
    return NULL;
}

/* Inputs `first` and on of the operation are what subgraph s, called name, takes. */
static enum nnv_status agree_inputs(const struct nnv_call *c, uint32_t first, const struct nnv_subgraph *s,
                                    const char *name, struct nnv_err *err) {
    if (s->nin != c->nin - first)
        return nnv_fail(err, NNV_INVALID, "%u argument%s, but the %s takes %u", c->nin - first,
                        c->nin - first == 1 ? "" : "s", name, s->nin);
    for (uint32_t i = 0; i < s->nin; i++) {
        const struct nnv_arg *a = &c->in[first + i];
        const struct nnv_operand *o = listed(s, s->in, i, err);
        enum nnv_status st = o ? agree(a->operand, &a->shape, o, err) : NNV_INVALID;
        if (st) return nnv_at(err, st, "input %u as input %u of the %s", first + i, i, name);
    }
    return NNV_OK;
}

/* The first outputs of subgraph s, called name, are what the operation gives. */
static enum nnv_status agree_outputs(const struct nnv_call *c, const struct nnv_subgraph *s, const char *name,
                                     struct nnv_err *err) {
    for (uint32_t i = 0; i < c->nout; i++) {
        const struct nnv_operand *o = listed(s, s->out, i, err);
        enum nnv_status st = o ? agree(c->out[i].operand, &c->out[i].shape, o, err) : NNV_INVALID;
        if (st) return nnv_at(err, st, "output %u as output %u of the %s", i, i, name);
    }
    return NNV_OK;
}

/* A condition: TENSOR_BOOL8 of shape [1]. */
static enum nnv_status is_condition(const struct nnv_operand *o, const struct nnv_shape *shape, struct nnv_err *err) {
    char text[256];
    const struct nnv_type *t = nnv_type(o->type);
    if (o->type != ANEURALNETWORKS_TENSOR_BOOL8)
        return nnv_fail(err, NNV_INVALID, "a condition of type %s, expected TENSOR_BOOL8", t ? t->name : "unknown");
    if (!shape->known_rank || shape->rank != 1 || shape->dims[0] != 1)
        return nnv_fail(err, NNV_INVALID, "a condition of shape %s, expected [1]",
                        nnv_shape_text(shape, text, sizeof text));
    /* it is looked at where the operation is added: what it is inferred to be is not enough */
    if (o->rank != 1 || o->dims[0] != 1)
        return nnv_fail(err, NNV_INVALID, "a condition whose shape is not declared, expected [1]");
    return NNV_OK;
}

/* The subgraphs decide, so nothing is known but what the outputs declare. */
static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    memset(out, 0, c->nout * sizeof *out);
    return NNV_OK;
}

/* ------------------------------------------------------------------------ IF */

enum { IF_CONDITION, THEN, ELSE, IF_ARGUMENTS };

static const struct nnv_slot if_inputs[] = {
    {.id = IF_CONDITION,
     .name = "condition",
     .var = NNV_FIXED,
     .type = ANEURALNETWORKS_TENSOR_BOOL8,
     .rank_min = 1,
     .rank_max = 1},
    MODEL(THEN, "then"),
    MODEL(ELSE, "else"),
    ARGUMENTS(IF_ARGUMENTS, 1),
};

static enum nnv_status if_check(const struct nnv_call *c, struct nnv_err *err) {
    enum nnv_status st = is_condition(c->in[IF_CONDITION].operand, &c->in[IF_CONDITION].shape, err);
    return st ? nnv_at(err, st, "input %d (condition)", IF_CONDITION) : NNV_OK;
}

static enum nnv_status check_branch(const struct nnv_call *c, const struct nnv_model *model, uint32_t pos,
                                    const char *name, struct nnv_err *err) {
    const struct nnv_subgraph *s = subgraph_at(c, pos, model, err);
    if (!s) return NNV_INVALID;
    if (s->nout != c->nout)
        return nnv_fail(err, NNV_INVALID, "%u output%s, but the %s gives %u", c->nout, c->nout == 1 ? "" : "s", name,
                        s->nout);
    enum nnv_status st = agree_inputs(c, IF_ARGUMENTS, s, name, err);
    return st ? st : agree_outputs(c, s, name, err);
}

static enum nnv_status if_check_subgraphs(const struct nnv_call *c, const struct nnv_model *model,
                                          struct nnv_err *err) {
    enum nnv_status st = check_branch(c, model, THEN, "then subgraph", err);
    return st ? st : check_branch(c, model, ELSE, "else subgraph", err);
}

static enum nnv_status if_eval(struct nnv_kernel *k, struct nnv_err *err) {
    uint32_t n = k->call->nin - IF_ARGUMENTS, nout = k->call->nout;
    struct nnv_flow_value *values = NNV_NEW(k->scratch, struct nnv_flow_value, n);
    struct nnv_flow_value *results = NNV_NEW(k->scratch, struct nnv_flow_value, nout);
    if (!values || !results) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) values[i] = nnv_flow_input(k->flow, IF_ARGUMENTS + i);
    struct nnv_flow_value condition = nnv_flow_input(k->flow, IF_CONDITION);
    bool taken = false;
    enum nnv_status st = nnv_flow_test(k->flow, &condition, &taken, err);
    if (!st) st = nnv_flow_run(k->flow, taken ? THEN : ELSE, values, results, err);
    for (uint32_t i = 0; !st && i < nout; i++) st = nnv_flow_give(k->flow, i, &results[i], err);
    for (uint32_t i = 0; i < nout; i++) nnv_flow_free(&results[i]);
    return st;
}

/* "constant": the condition is one, and the branches have large ones. The branches of "dynamic" differ in shape. */
static const char *const if_variants[] = {"taken", "not_taken", "several", "dynamic", "nested", "constant", NULL};

static void if_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = 1 + (uint32_t)s->index % 4;
    nnv_sample_dims(s, rank, 60, dims);
    if (s->empty) dims[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    bool other = (s->index + s->variant) % 2 == 0;
    nnv_sample_scalar(s, IF_CONDITION, nnv_sample_is(s, "taken") ? !nnv_sample_is(s, "not") : other);
    nnv_sample_tensor(s, IF_ARGUMENTS, rank, dims);
    if (nnv_sample_is(s, "dynamic")) dims[0]++;
    if (nnv_sample_is(s, "dynamic") && s->index % 2 && rank < 4 && !s->empty) dims[rank++] = 2;
    nnv_sample_tensor(s, IF_ARGUMENTS, rank, dims);
}

/* --------------------------------------------------------------------- WHILE */

enum { WHILE_CONDITION, BODY, WHILE_ARGUMENTS };

static const struct nnv_slot while_inputs[] = {
    MODEL(WHILE_CONDITION, "condition"),
    MODEL(BODY, "body"),
    ARGUMENTS(WHILE_ARGUMENTS, 0),
};

static enum nnv_status check_condition(const struct nnv_call *c, const struct nnv_subgraph *s, struct nnv_err *err) {
    if (s->nout != 1) return nnv_fail(err, NNV_INVALID, "the condition subgraph gives %u outputs, expected 1", s->nout);
    if (s->out[0] >= s->noperands)
        return nnv_fail(err, NNV_INVALID, "the condition subgraph has no operand %u", s->out[0]);
    struct nnv_shape shape = nnv_operand_shape(&s->operands[s->out[0]]);
    enum nnv_status st = is_condition(&s->operands[s->out[0]], &shape, err);
    if (st) return nnv_at(err, st, "output 0 of the condition subgraph");
    return agree_inputs(c, WHILE_ARGUMENTS, s, "condition subgraph", err);
}

/* What the body gives is what it, and the condition, take the next time. */
static enum nnv_status check_circle(const struct nnv_subgraph *body, const struct nnv_subgraph *next, const char *name,
                                    struct nnv_err *err) {
    for (uint32_t i = 0; i < body->nout; i++) {
        const struct nnv_operand *from = &body->operands[body->out[i]], *to = &next->operands[next->in[i]];
        struct nnv_shape shape = nnv_operand_shape(from);
        enum nnv_status st = agree(from, &shape, to, err);
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
    enum nnv_status st = agree_inputs(c, WHILE_ARGUMENTS, s, "body", err);
    return st ? st : agree_outputs(c, s, "body", err);
}

static enum nnv_status while_check_subgraphs(const struct nnv_call *c, const struct nnv_model *model,
                                             struct nnv_err *err) {
    const struct nnv_subgraph *condition = subgraph_at(c, WHILE_CONDITION, model, err), *body = NULL;
    if (condition) body = subgraph_at(c, BODY, model, err);
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
    enum nnv_status st = nnv_flow_run(l->flow, WHILE_CONDITION, l->state, &truth, err);
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

static enum nnv_status while_eval(struct nnv_kernel *k, struct nnv_err *err) {
    uint32_t n = k->call->nin - WHILE_ARGUMENTS;
    struct loop l = {.flow = k->flow, .carried = nnv_flow_subgraph(k->flow, BODY)->nout};
    l.state = NNV_NEW(k->scratch, struct nnv_flow_value, n);
    l.next = NNV_NEW(k->scratch, struct nnv_flow_value, l.carried);
    if (!l.state || !l.next) return nnv_no_memory(err);
    for (uint32_t i = 0; i < n; i++) l.state[i] = nnv_flow_input(k->flow, WHILE_ARGUMENTS + i);
    enum nnv_status st = NNV_OK;
    unsigned long long iteration = 0;
    for (bool more = true; !st && more; iteration++) st = iterate(&l, &more, err);
    if (st) st = nnv_at(err, st, "iteration %llu", iteration);
    for (uint32_t i = 0; !st && i < k->call->nout; i++) st = nnv_flow_give(k->flow, i, &l.state[i], err);
    for (uint32_t i = 0; i < n; i++) nnv_flow_free(&l.state[i]);
    return st;
}

/* "several": state that is not given out, and arguments that never change. The state of "dynamic" grows. */
static const char *const while_variants[] = {"zero", "once", "many", "several", "dynamic", "nested", NULL};

static void while_sample(struct nnv_sample *s) {
    uint32_t dims[4], rank = 1 + (uint32_t)s->index % 4;
    nnv_sample_dims(s, rank, 60, dims);
    if (s->empty) dims[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    int count = nnv_sample_is(s, "zero") ? 0 : nnv_sample_is(s, "once") ? 1 : nnv_sample_int(s, 2, 6);
    nnv_sample_scalar(s, WHILE_CONDITION, count);
    nnv_sample_tensor(s, WHILE_ARGUMENTS, rank, dims);
    if (nnv_sample_is(s, "dynamic")) dims[0]++;
    nnv_sample_tensor(s, WHILE_ARGUMENTS, rank, dims);
}

#define RECORD(NAME, KIND, CHECK, FORMULA)                                                                             \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),                                                                                            \
        .level = 4,                                                                                                    \
        .formula = FORMULA,                                                                                            \
        NNV_OP_FORM(KIND##_inputs, outputs),                                                                           \
        NNV_OP_SIGS(sigs),                                                                                             \
        .rounding = NNV_ROUND_NONE,                                                                                    \
        .zero = NNV_ZERO_ANY,                                                                                          \
        .check = CHECK,                                                                                                \
        .early = NNV_EARLY_CHECK,                                                                                      \
        .infer = infer,                                                                                                \
        .check_subgraphs = KIND##_check_subgraphs,                                                                     \
        NNV_EVAL(KIND##_eval),                                                                                         \
        .variants = KIND##_variants,                                                                                   \
        NNV_SAMPLE(KIND##_sample),                                                                                     \
    }

RECORD(IF, if, if_check, "y = then(arguments) where the condition is true, else(arguments) where it is false");
RECORD(WHILE, while, NULL, "while condition(state): state = body(state); y = the state's first values");
