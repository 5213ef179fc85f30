/* SPDX-License-Identifier: Apache-2.0 */
/** @file validate.c Bugs of validation: classes of mistakes that are not noticed, and what is refused without
 * need. */
#include <math.h>
#include <string.h>

#include "faulty.h"

/* ------------------------------------------------- mistakes that are overlooked */

/** Makes operands right that are wrong in the bug's way, so that the other driver does not notice. */
static void repair(struct call *c,
                   void (*operand)(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o)) {
    const struct nnvts_model *model = c->model;
    const uint32_t n = model->main.operand_count;
    struct nnvts_operand *operands = model->main.operands ? call_alloc(c, ((size_t)n + 1) * sizeof *operands) : NULL;
    if (!operands) return; /* too broken to be looked at */
    memcpy(operands, model->main.operands, n * sizeof *operands);
    for (uint32_t i = 0; i < n; i++) operand(model, i, &operands[i]);
    c->own.model = *model;
    c->own.model.main.operands = operands;
    c->model = &c->own.model;
}

static bool is_asymmetric(int32_t type) {
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
}

static void repair_quantisation(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)model, (void)index;
    if (!isfinite(o->scale) || o->scale < 0) o->scale = 0;
    if (is_asymmetric(o->type) && o->scale == 0) o->scale = 0.5f;
    if (!is_asymmetric(o->type) || o->zero_point < -128 || o->zero_point > 0xffff) o->zero_point = 0;
}

static void repair_rank(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)model, (void)index;
    const bool scalar = o->type == ANEURALNETWORKS_INT32 || o->type == ANEURALNETWORKS_FLOAT32 ||
                        o->type == ANEURALNETWORKS_FLOAT16 || o->type == ANEURALNETWORKS_BOOL;
    if (scalar) o->dimension_count = 0;
}

static void repair_location(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    (void)index;
    struct nnvts_location *l = &o->location;
    if (o->lifetime != NNVTS_CONSTANT_COPY && o->lifetime != NNVTS_CONSTANT_REFERENCE) return;
    if (o->lifetime == NNVTS_CONSTANT_REFERENCE && l->pool >= model->pool_count) l->pool = 0;
    const uint64_t size = o->lifetime == NNVTS_CONSTANT_COPY            ? model->operand_values_bytes
                          : l->pool < model->pool_count && model->pools ? model->pools[l->pool].size
                                                                        : 0;
    if ((uint64_t)l->offset + l->length > size) l->offset = 0;
    l->padding = 0;
}

static bool is_used(const struct nnvts_model *model, uint32_t index) {
    for (uint32_t i = 0; i < model->main.operation_count && model->main.operations; i++) {
        const struct nnvts_operation *op = &model->main.operations[i];
        for (uint32_t k = 0; k < op->input_count && op->inputs; k++)
            if (op->inputs[k] == index) return true;
        for (uint32_t k = 0; k < op->output_count && op->outputs; k++)
            if (op->outputs[k] == index) return true;
    }
    return false;
}

static void repair_dead(const struct nnvts_model *model, uint32_t index, struct nnvts_operand *o) {
    if (o->lifetime == NNVTS_TEMPORARY_VARIABLE && !is_used(model, index)) o->lifetime = NNVTS_NO_VALUE;
}

#define OVERLOOKS(name)                                                                                                \
    static void overlook_##name(struct call *c) { repair(c, repair_##name); }
OVERLOOKS(quantisation)
OVERLOOKS(rank)
OVERLOOKS(location)
OVERLOOKS(dead)

static bool is_true(const struct nnvts_model *model, uint32_t index) {
    const struct nnvts_operand *o = index < model->main.operand_count ? &model->main.operands[index] : NULL;
    return o && o->type == ANEURALNETWORKS_BOOL && o->lifetime == NNVTS_CONSTANT_COPY &&
           o->location.offset < model->operand_values_bytes &&
           ((const uint8_t *)model->operand_values)[o->location.offset];
}

/** Of two flags that exclude each other the last is dropped. */
static void overlook_flags(struct call *c) {
    enum { ALIGN = 4, HALF };
    const struct nnvts_model *model = c->model;
    const uint32_t n = model->main.operation_count;
    struct nnvts_operation *ops = model->main.operations ? call_alloc(c, ((size_t)n + 1) * sizeof *ops) : NULL;
    if (!ops || !model->main.operands || !model->operand_values) return;
    memcpy(ops, model->main.operations, n * sizeof *ops);
    for (uint32_t i = 0; i < n; i++) {
        const bool resizes =
            ops[i].type == ANEURALNETWORKS_RESIZE_BILINEAR || ops[i].type == ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR;
        if (resizes && ops[i].input_count == HALF + 1 && ops[i].inputs && is_true(model, ops[i].inputs[ALIGN]) &&
            is_true(model, ops[i].inputs[HALF]))
            ops[i].input_count = HALF;
    }
    c->own.model = *model;
    c->own.model.main.operations = ops;
    c->model = &c->own.model;
}

/* ------------------------------------------------------------- wrong refusals */

/* Asked for support, it says yes to what it would not prepare. */
static void claim_all(struct call *c) {
    if (c->status != NNVTS_STATUS_INVALID_ARGUMENT) return;
    for (uint32_t i = 0; i < c->model->main.operation_count; i++) c->supported[i] = true;
    c->status = NNVTS_STATUS_NONE;
}

/* An index is used before it is looked at. */
static bool has_bad_index(const struct call *c) {
    const struct nnvts_subgraph *s = &c->model->main;
    for (uint32_t i = 0; i < s->operation_count && s->operations; i++)
        for (uint32_t k = 0; k < s->operations[i].input_count && s->operations[i].inputs; k++)
            if (s->operations[i].inputs[k] >= s->operand_count) return true;
    return false;
}

/* What is refused leaves something behind that spoils the next execution. */
static bool spoiled;

static void note_refusal(struct call *c) { spoiled = spoiled || c->status == NNVTS_STATUS_INVALID_ARGUMENT; }
static void spoil_once(struct call *c) {
    const struct value *v = c->outputs;
    for (uint32_t i = 0; spoiled && v->data && i < v->bytes; i++) v->data[i] ^= 0x40;
    spoiled = false;
}

/* ---------------------------------------------------------------- overcautious */

static bool has_unused_operand(const struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operand_count; i++)
        if (!is_used(c->model, i)) return true;
    return false;
}

static void refuse_unmapped(struct call *c) {
    c->result->shape_count = 0;
    for (uint32_t i = 0; i < c->request->pool_count && c->request->pools; i++)
        if (!c->request->pools[i].data) answer(c, NNVTS_STATUS_INVALID_ARGUMENT);
}

/* -------------------------------------------------------------------- requests */

static void forget_padding(struct call *c) {
    const uint32_t n = c->request->input_count;
    struct nnvts_argument *inputs = c->request->inputs ? call_alloc(c, ((size_t)n + 1) * sizeof *inputs) : NULL;
    if (!inputs) return;
    memcpy(inputs, c->request->inputs, n * sizeof *inputs);
    for (uint32_t i = 0; i < n; i++) inputs[i].location.padding = 0;
    own_request(c)->inputs = inputs;
}

static void call_back_anyway(struct call *c) {
    static const struct nnvts_execution_result nothing = {.timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    if (c->status != NNVTS_STATUS_INVALID_ARGUMENT) return;
    c->callback(c->context, NNVTS_STATUS_NONE, &nothing);
    c->status = NNVTS_STATUS_NONE;
}

/** A list of numbers, usually a constant, is an input of the model. */
static bool has_axes_outside(const struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count; i++) {
        const struct nnvts_operation *op = &c->model->main.operations[i];
        if (op->type == ANEURALNETWORKS_MEAN && op->input_count > 1 &&
            c->model->main.operands[op->inputs[1]].lifetime == NNVTS_SUBGRAPH_INPUT)
            return true;
    }
    return false;
}
/** An index that no tensor of the tests has. */
static bool has_index_outside(const struct call *c) {
    if (c->request->input_count != 2) return false;
    const struct nnvts_argument *indices = &c->request->inputs[1];
    const uint8_t *data = data_of(c->request, indices);
    for (uint32_t at = 0; data && at + sizeof(int32_t) <= indices->location.length; at += sizeof(int32_t)) {
        int32_t index;
        memcpy(&index, data + at, sizeof index);
        if (index < 0 || index > UINT16_MAX) return true;
    }
    return false;
}

#define MODELS ON(SUPPORTED) | ON(PREPARE)

static const struct bug bugs[] = {
    BUG("quantisation-unchecked", "scales and zero points that nobody looks at", "all models", .on = MODELS,
        .before = overlook_quantisation),
    BUG("rank-unchecked", "a scalar's dimensions are ignored", "all models", .on = MODELS, .before = overlook_rank),
    BUG("location-unchecked", "a constant may lie outside of its pool", "all models", .on = MODELS,
        .before = overlook_location),
    BUG("dead-values-unchecked", "a value that nobody writes goes unnoticed", "all models", .on = MODELS,
        .before = overlook_dead),
    BUG("exclusive-flags-unchecked", "two flags of which one may be set", "RESIZE_*: both flags", .on = MODELS,
        .before = overlook_flags),
    BUG("supported-unchecked", "get_supported_operations says yes to broken models", "all models", .on = ON(SUPPORTED),
        .after = claim_all),
    BUG("vague-refusal", "GENERAL_FAILURE where the model is wrong", "all models", .on = ON(PREPARE),
        .from = WAS(INVALID_ARGUMENT), .to = NNVTS_STATUS_GENERAL_FAILURE),
    BUG("bad-index-aborts", "an operand index that is used unchecked", "all models", .on = ON(SUPPORTED),
        .when = has_bad_index, .strike = strike_abort),
    BUG_OF(EMBEDDING_LOOKUP, "lookup-never-fails", "an index out of range that is not told", "EMBEDDING_LOOKUP",
           .on = ON(EXECUTE), .from = WAS(GENERAL_FAILURE) | WAS(INVALID_ARGUMENT), .to = NNVTS_STATUS_NONE),
    BUG("spoiled-by-refusal", "a refused model leaves state behind", "the first execution after a refusal",
        .on = ON(PREPARE), .after = note_refusal, .tamper = spoil_once),
    BUG("unused-operand-refused", "a legal model is refused: an operand without readers", "models with such an operand",
        .on = ON(PREPARE), .when = has_unused_operand, .to = NNVTS_STATUS_INVALID_ARGUMENT),
    BUG("unmapped-pool-refused", "a legal request is refused: pools without a pointer", "all executions",
        .on = ON(EXECUTE), .before = refuse_unmapped),
    BUG("padding-unchecked", "padding of an input may exceed the pool", "all executions", .on = ON(EXECUTE),
        .before = forget_padding),
    BUG_OF(MEAN, "axes-outside-crash", "numbers sought among the model's constants alone",
           "MEAN: the axes are an input of the model", .on = ON(PREPARE), .when = has_axes_outside,
           .strike = strike_crash),
    BUG_OF(GATHER, "gather-unchecked", "rows copied from wherever an index says", "GATHER: an index out of range",
           .on = ON(EXECUTE), .when = has_index_outside, .strike = strike_crash),
    BUG("async-unchecked", "an asynchronous execution that is wrong reports success", "asynchronous executions",
        .on = ON(ASYNC), .after = call_back_anyway),
};
const struct bug_group bugs_validate = {bugs, sizeof bugs / sizeof *bugs};
