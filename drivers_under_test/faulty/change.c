/* SPDX-License-Identifier: Apache-2.0 */
/** @file change.c Changes that a row of a table describes, carried out. */
#include <string.h>

#include "faulty.h"

static bool is_scalar(const struct nnvts_operand *o, int32_t type) { return o && o->type == type; }

static bool set_int(struct edit *e, struct nnvts_operation *op, uint32_t at, int32_t value) {
    const struct nnvts_operand *o = edit_input(e, op, at);
    if (!is_scalar(o, ANEURALNETWORKS_INT32) && !is_scalar(o, ANEURALNETWORKS_BOOL)) return false;
    if (!edit_value(e, o) || edit_int(e, op, at, value) == value) return false;
    edit_replace_int(e, op, at, value);
    return true;
}

/** Normal numbers and 0; what has no place in a half is cut off. */
static float half_to_float(uint16_t h) {
    uint32_t bits = h & 0x7fff ? (uint32_t)(h & 0x8000) << 16 | ((uint32_t)(h & 0x7fff) + (112 << 10)) << 13 : 0;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint16_t float_to_half(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    if (magnitude < 0x38800000) return (uint16_t)sign;
    if (magnitude > 0x477fe000) magnitude = 0x477fe000;
    return (uint16_t)(sign | ((magnitude - 0x38000000) >> 13));
}

/** Float scalar `at` becomes `real`, or that times what it was. */
static bool set_float(struct edit *e, struct nnvts_operation *op, uint32_t at, float real, bool times) {
    const struct nnvts_operand *o = edit_input(e, op, at);
    const uint8_t *old = o ? edit_value(e, o) : NULL;
    bool half = is_scalar(o, ANEURALNETWORKS_FLOAT16);
    uint16_t narrow = 0;
    float was = 0;
    if (!old || (!half && !is_scalar(o, ANEURALNETWORKS_FLOAT32))) return false;
    if (half)
        memcpy(&narrow, old, sizeof narrow);
    else
        memcpy(&was, old, sizeof was);
    if (half) was = half_to_float(narrow);
    float now = times ? was * real : real;
    if (now == was) return false;
    narrow = float_to_half(now);
    if (half)
        edit_replace(e, op, at, &narrow, sizeof narrow);
    else
        edit_replace(e, op, at, &now, sizeof now);
    return true;
}

static bool alike(const struct nnvts_operand *a, const struct nnvts_operand *b) {
    return a && b && a != b && a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point &&
           a->dimension_count == b->dimension_count && operand_elems(a) > 0 &&
           (a->dimension_count == 0 ||
            memcmp(a->dimensions, b->dimensions, a->dimension_count * sizeof *a->dimensions) == 0);
}

/** Two entries of a list of operands change places. */
static bool swap(struct edit *e, const uint32_t **list, uint32_t count, uint32_t a, uint32_t b) {
    uint32_t *copy = a < count && b < count ? edit_alloc(e, count * sizeof *copy) : NULL;
    if (!copy) return false;
    memcpy(copy, *list, count * sizeof *copy);
    copy[a] = (*list)[b];
    copy[b] = (*list)[a];
    *list = copy;
    return true;
}

/* ------------------------------------------------------------ constant tensors */

/** A constant tensor's value and what it becomes. */
struct tensor {
    const uint8_t *from;
    uint8_t *to;
    uint32_t bytes, elem, count, rows;
};

static bool take_tensor(struct edit *e, const struct nnvts_operation *op, uint32_t at, struct tensor *t) {
    const struct nnvts_operand *o = edit_input(e, op, at);
    if (!o || o->dimension_count == 0) return false;
    *t = (struct tensor){.elem = type_bytes(o->type), .count = operand_elems(o), .rows = o->dimensions[0]};
    t->bytes = t->elem * t->count;
    t->from = t->bytes && o->location.length == t->bytes ? edit_value(e, o) : NULL;
    t->to = t->from ? edit_alloc(e, t->bytes) : NULL;
    return t->to != NULL;
}

static void fill_tensor(struct tensor *t, const struct change *c, const struct nnvts_operand *o) {
    uint32_t row = t->bytes / t->rows;
    bool ints = o->type == ANEURALNETWORKS_TENSOR_INT32;
    memcpy(t->to, t->from, t->bytes);
    for (uint32_t i = 0; i < t->count; i++) {
        uint8_t *to = t->to + i * t->elem;
        if (c->kind == CHANGE_REVERSE) memcpy(to, t->from + (t->count - 1 - i) * t->elem, t->elem);
        if (c->kind == CHANGE_ROTATE) memcpy(to, t->from + (i * t->elem + row) % t->bytes, t->elem);
        if (c->kind == CHANGE_PAIRS && ints && (i ^ 1) < t->count) memcpy(to, t->from + (i ^ 1) * t->elem, t->elem);
        if (c->kind == CHANGE_ELEMENTS && ints) memcpy(to, &c->value, t->elem);
    }
    if (c->kind == CHANGE_ZERO) memset(t->to, type_is_quant8(o->type) ? (uint8_t)o->zero_point : 0, t->bytes);
}

static bool change_tensor(struct edit *e, struct nnvts_operation *op, const struct change *c) {
    struct tensor t;
    if (!take_tensor(e, op, c->at, &t)) return false;
    fill_tensor(&t, c, edit_input(e, op, c->at));
    if (memcmp(t.from, t.to, t.bytes) == 0) return false;
    edit_replace(e, op, c->at, t.to, t.bytes);
    return true;
}

/* ---------------------------------------------------------------- quantisation */

/** Only what the caller holds may be read or written otherwise: between operations both sides would change. */
static bool outer(const struct nnvts_operand *o) {
    return o && type_is_quant8(o->type) && o->lifetime != NNVTS_TEMPORARY_VARIABLE;
}

static bool move_point(struct nnvts_operand *o, int32_t by) {
    if (!outer(o)) return false;
    bool is_signed = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    int32_t top = is_signed ? INT8_MAX : UINT8_MAX, bottom = is_signed ? INT8_MIN : 0, to = o->zero_point + by;
    o->zero_point = to > top || to < bottom ? o->zero_point - by : to;
    return true;
}

static bool take_scale(struct edit *e, const struct nnvts_operation *op, const struct change *c) {
    struct nnvts_operand *o = edit_input(e, op, c->at);
    const struct nnvts_operand *like = edit_input(e, op, (uint32_t)c->value);
    if (!outer(o) || !like || o == like || o->lifetime == NNVTS_SUBGRAPH_OUTPUT ||
        (o->scale == like->scale && o->zero_point == like->zero_point))
        return false;
    o->scale = like->scale;
    o->zero_point = like->zero_point;
    return true;
}

/** PAD as a PAD_V2 that fills with 0. */
static bool pad_zero(struct edit *e, struct nnvts_operation *op) {
    const struct nnvts_operand *x = edit_input(e, op, 0);
    if (op->type != ANEURALNETWORKS_PAD || op->input_count != 2 || !x || !type_is_quant8(x->type) || !x->zero_point)
        return false;
    const uint32_t inputs[] = {op->inputs[0], op->inputs[1], edit_add_int(e, 0)};
    edit_set_inputs(e, op, inputs, 3);
    op->type = ANEURALNETWORKS_PAD_V2;
    return true;
}

/* ------------------------------------------------------------------- the rest */

static bool drop_activation(struct edit *e, struct nnvts_operation *op, const struct change *c) {
    int at = c->at ? (int)c->at : activation_at(e, op);
    int32_t old = at < 0 ? 0 : edit_int(e, op, (uint32_t)at, 0);
    return old != 0 && (c->value < 0 || old == c->value) && set_int(e, op, (uint32_t)at, 0);
}

static bool swap_groups(struct edit *e, struct nnvts_operation *op) {
    const struct nnvts_operand *x = edit_input(e, op, 0);
    int32_t groups = edit_int(e, op, 1, 0), axis = edit_int(e, op, 2, 0);
    if (!x || groups < 1) return false;
    if (axis < 0) axis += (int32_t)x->dimension_count;
    if (axis < 0 || (uint32_t)axis >= x->dimension_count) return false;
    return set_int(e, op, 1, (int32_t)x->dimensions[axis] / groups);
}

static bool change_code(struct nnvts_operation *op, const struct change *c) {
    op->type = c->value;
    if (c->at && c->at < op->input_count) op->input_count = c->at;
    return true;
}

bool apply_change(struct edit *e, struct nnvts_operation *op, const struct change *c) {
    uint32_t other = (uint32_t)c->value;
    switch (c->kind) {
    case CHANGE_NOTHING:
        return false;
    case CHANGE_INT:
        return set_int(e, op, c->at, c->value);
    case CHANGE_INT_BY:
        return set_int(e, op, c->at, edit_int(e, op, c->at, 0) + c->value);
    case CHANGE_FLOAT:
    case CHANGE_FLOAT_BY:
        return set_float(e, op, c->at, c->real, c->kind == CHANGE_FLOAT_BY);
    case CHANGE_CODE:
        return change_code(op, c);
    case CHANGE_SWAP:
        return alike(edit_input(e, op, c->at), edit_input(e, op, other)) &&
               swap(e, &op->inputs, op->input_count, c->at, other);
    case CHANGE_SWAP_OUT:
        return alike(edit_output(e, op, c->at), edit_output(e, op, other)) &&
               swap(e, &op->outputs, op->output_count, c->at, other);
    case CHANGE_ZERO:
    case CHANGE_REVERSE:
    case CHANGE_ROTATE:
    case CHANGE_PAIRS:
    case CHANGE_ELEMENTS:
        return change_tensor(e, op, c);
    case CHANGE_ZERO_POINT:
        return move_point(edit_input(e, op, c->at), c->value);
    case CHANGE_OUT_POINT:
        return move_point(edit_output(e, op, c->at), c->value);
    case CHANGE_TAKE_SCALE:
        return take_scale(e, op, c);
    case CHANGE_ACTIVATION:
        return drop_activation(e, op, c);
    case CHANGE_GROUPS:
        return swap_groups(e, op);
    case CHANGE_PAD_ZERO:
        return pad_zero(e, op);
    }
    return false;
}
