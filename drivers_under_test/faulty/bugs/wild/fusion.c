/* SPDX-License-Identifier: Apache-2.0 */
/** @file fusion.c Bugs of graph optimisers as drivers in the field have had them: a pattern, fused too far. */
#include <float.h>
#include <string.h>

#include "rewire.h"

static struct nnv_subgraph *graph(struct nnv_edit *e) { return &e->spec.model.main; }
static struct nnv_operand *operand(struct nnv_edit *e, uint32_t i) { return &graph(e)->operands[i]; }

/** The operation that gives an operand, or NULL. */
static struct nnv_operation *producer(struct nnv_edit *e, uint32_t of) {
    for (uint32_t k = 0; k < e->at; k++)
        for (uint32_t i = 0; i < graph(e)->operations[k].nout; i++)
            if (graph(e)->operations[k].out[i] == of) return &graph(e)->operations[k];
    return NULL;
}

/** The one operation that reads an operand which is no output of the model, or NULL. */
static struct nnv_operation *reader(struct nnv_edit *e, uint32_t of) {
    struct nnv_operation *found = NULL;
    if (operand(e, of)->lifetime == NNV_SUBGRAPH_OUTPUT) return NULL;
    for (uint32_t k = 0; k < graph(e)->noperations; k++)
        for (uint32_t i = 0; i < graph(e)->operations[k].nin; i++) {
            if (graph(e)->operations[k].in[i] != of) continue;
            if (found) return NULL;
            found = &graph(e)->operations[k];
        }
    return found;
}

/** Position of the activation among the inputs of an operation; 0: it has none. */
static uint32_t activation_at(struct nnv_edit *e, const struct nnv_operation *op) {
    const uint32_t implicit = op->type == ANEURALNETWORKS_CONV_2D             ? 6
                              : op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D ? 7
                                                                              : 0;
    if (op->type == ANEURALNETWORKS_FULLY_CONNECTED) return 3;
    if (op->type == ANEURALNETWORKS_ADD || op->type == ANEURALNETWORKS_MUL) return 2;
    if (!implicit) return 0;
    const bool is_short = op->nin == implicit + 1 || operand(e, op->in[implicit + 1])->type == ANEURALNETWORKS_BOOL;
    return is_short ? implicit : implicit + 3;
}

/** A scalar of an operation; -1: none, or unknown. */
static int32_t scalar(struct nnv_edit *e, const struct nnv_operation *op, uint32_t at) {
    const struct nnv_operand *o = at < op->nin ? operand(e, op->in[at]) : NULL;
    int32_t v = -1;
    if (o && nnv_is_constant(o) && o->type == ANEURALNETWORKS_INT32 && o->bytes == sizeof v)
        memcpy(&v, o->data, sizeof v);
    return v;
}

static bool is_convolution(const struct nnv_operation *op) {
    return op->type == ANEURALNETWORKS_CONV_2D || op->type == ANEURALNETWORKS_DEPTHWISE_CONV_2D ||
           op->type == ANEURALNETWORKS_FULLY_CONNECTED;
}

static int32_t fused_code(int32_t type) {
    return type == ANEURALNETWORKS_RELU    ? ANEURALNETWORKS_FUSED_RELU
           : type == ANEURALNETWORKS_RELU1 ? ANEURALNETWORKS_FUSED_RELU1
           : type == ANEURALNETWORKS_RELU6 ? ANEURALNETWORKS_FUSED_RELU6
                                           : ANEURALNETWORKS_FUSED_NONE;
}

/* ------------------------------------------------------------------ activations */

/** An activation fused into the operation before, though that one's result is wanted too. */
CHANGE(shared_activation) {
    const uint32_t x = nnv_edit_op(e)->in[0];
    struct nnv_operation *p = producer(e, x);
    const uint32_t at = p ? activation_at(e, p) : 0;
    (void)f;
    if (!at || reader(e, x) || scalar(e, p, at) != ANEURALNETWORKS_FUSED_NONE) return false;
    p->in[at] = nnv_edit_add_int(e, fused_code(nnv_edit_op(e)->type));
    return true;
}

/** An activation in the middle of what becomes one operation. */
CHANGE(middle_activation) {
    struct nnv_operation *op = nnv_edit_op(e);
    const uint32_t at = activation_at(e, op);
    (void)f;
    if (!at || scalar(e, op, at) <= 0 || !reader(e, op->out[0])) return false;
    op->in[at] = nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE);
    return true;
}

/** A constant folded into weights or bias, though an activation stands between. */
CHANGE(fold_before_activation) {
    struct nnv_operation *op = nnv_edit_op(e), *p = producer(e, op->in[0]);
    (void)f;
    if (!p || !is_convolution(p) || !reader(e, op->in[0]) || !nnv_is_constant(nnv_edit_operand(e, 1))) return false;
    const uint32_t at = activation_at(e, p);
    const int32_t code = scalar(e, p, at);
    if (code <= 0 || scalar(e, op, 2) != 0 || !nnv_is_float(type_of(e))) return false;
    p->in[at] = nnv_edit_add_int(e, 0);
    nnv_edit_op(e)->in[2] = nnv_edit_add_int(e, code);
    return true;
}

/** The activation of one operand of a sum is done behind it. */
CHANGE(residual_activation) {
    (void)f;
    for (uint32_t i = 0; i < 2; i++) {
        struct nnv_operation *op = nnv_edit_op(e);
        const struct nnv_operation *p = producer(e, op->in[i]);
        const int32_t code = p ? fused_code(p->type) : 0;
        if (!code || !reader(e, op->in[i]) || scalar(e, op, 2) != 0 || !nnv_is_float(type_of(e))) continue;
        op->in[i] = p->in[0];
        op->in[2] = nnv_edit_add_int(e, code);
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------------- padding */

/** Padding taken over by a convolution: behind what stood in front, and the other way round. */
CHANGE(merged_padding) {
    const struct nnv_operation *next = reader(e, nnv_edit_op(e)->out[0]);
    int pos;
    size_t n;
    double *v = constants(e, "paddings", &pos, &n);
    (void)f;
    if (!next || !v || n != 8 || !is_convolution(next) || (v[2] == v[3] && v[4] == v[5])) return false;
    const double turned[] = {v[0], v[1], v[3], v[2], v[5], v[4], v[6], v[7]};
    nnv_edit_set_numbers(e, pos, turned, n);
    return true;
}

/** Padding taken over by a pool, which leaves out what is padded. */
CHANGE(pooled_padding) {
    struct nnv_operation *op = nnv_edit_op(e);
    const struct nnv_operation *next = reader(e, op->out[0]);
    const int32_t type = type_of(e);
    (void)f;
    if (!next || next->type != ANEURALNETWORKS_MAX_POOL_2D || op->nin != 2) return false;
    const float least = -FLT_MAX;
    const bool real = type == ANEURALNETWORKS_TENSOR_FLOAT32;
    if (!real && !nnv_is_quant(type)) return false;
    uint32_t in[] = {op->in[0], op->in[1], 0};
    in[2] = real ? nnv_edit_add(e, (struct nnv_operand){.type = ANEURALNETWORKS_FLOAT32,
                                                        .lifetime = NNV_CONSTANT_COPY,
                                                        .data = nnv_edit_copy(e, &least, 1, 0, sizeof least),
                                                        .bytes = sizeof least})
                 : nnv_edit_add_int(e, (int32_t)nnv_type(type)->min);
    set_inputs(e, ANEURALNETWORKS_PAD_V2, 3, in);
    return true;
}

/* ----------------------------------------------------------------------- layout */

/** Two transposes in a row of one permutation are taken for nothing. */
CHANGE(cancelled_transposes) {
    const struct nnv_operation *p = producer(e, nnv_edit_op(e)->in[0]);
    const struct nnv_shape *y = output_shape(e);
    int pos;
    size_t n;
    const double *perm = constants(e, "permutation", &pos, &n);
    (void)f;
    if (!p || !perm || p->type != ANEURALNETWORKS_TRANSPOSE || !nnv_shape_known(y) || y->rank != n) return false;
    const struct nnv_operand *before = operand(e, p->in[1]), *here = nnv_edit_operand(e, pos);
    bool nothing = true;
    for (size_t i = 0; i < n; i++) nothing &= perm[(size_t)perm[i]] == (double)i;
    if (nothing || !nnv_is_constant(before) || before->bytes != here->bytes ||
        memcmp(before->data, here->data, here->bytes) != 0)
        return false;
    int32_t shape[NNV_MAX_RANK];
    for (size_t i = 0; i < n; i++) shape[i] = (int32_t)y->dims[i];
    struct wire w = wire_before(e, 0);
    const uint32_t elems = (uint32_t)nnv_shape_elems(y), one[] = {1}, rank = (uint32_t)n, x = p->in[0];
    w.shape = nnv_shape_make(1, &elems);
    WIRE(&w, RESHAPE, x, wire_ints(&w, 1, one, &(int32_t){(int32_t)elems}));
    if (!wire_end(&w)) return false;
    const uint32_t in[] = {w.value, wire_ints(&w, 1, &rank, shape)};
    set_inputs(e, ANEURALNETWORKS_RESHAPE, 2, in);
    return true;
}

/** The number of an element in memory where channels stand first. */
static uint32_t channels_first(const struct spot *s) {
    const uint32_t *d = s->shape->dims, c = s->i / (d[1] * d[2]) % d[3], pixel = s->i % (d[1] * d[2]);
    return (s->at[0] * d[1] * d[2] + pixel) * d[3] + c;
}

/** An image is flattened in the layout that the device has it in. */
CHANGE(device_layout) {
    const struct nnv_shape *x = shape_of(e, 0), *y = output_shape(e);
    const struct nnv_operation *p = producer(e, nnv_edit_op(e)->in[0]);
    const bool image = p && (is_convolution(p) || p->type == ANEURALNETWORKS_MAX_POOL_2D ||
                             p->type == ANEURALNETWORKS_AVERAGE_POOL_2D);
    (void)f;
    if (!image || !nnv_shape_known(x) || !nnv_shape_known(y) || x->rank != 4 || y->rank > 2) return false;
    return move_input(e, 0, channels_first, NULL);
}

/* ----------------------------------------------------------------- joins elided */

/** Elements of a join from p[1] on, as long as below p[2], are not written. */
static uint32_t unwritten(const struct spot *s) {
    const int32_t at = (int32_t)s->at[s->p[0]];
    return at >= s->p[1] && at < s->p[2] ? (uint32_t)A_ZERO : s->i;
}

/** Inputs are computed where they are joined; for `is_lost` nobody does it. */
static bool elide(struct nnv_edit *e, bool (*is_lost)(struct nnv_edit *e, uint32_t i)) {
    const struct nnv_operation *op = nnv_edit_op(e);
    int32_t p[] = {attribute(e, "axis", 0), 0, 0};
    for (uint32_t i = 0; i + 1 < op->nin; i++) {
        if (!nnv_shape_known(shape_of(e, (int)i))) return false;
        p[1] = p[2];
        p[2] += (int32_t)shape_of(e, (int)i)->dims[p[0]];
        if (is_lost(e, i)) return move_output(e, unwritten, p);
    }
    return false;
}

static bool is_there_already(struct nnv_edit *e, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (nnv_edit_op(e)->in[k] == nnv_edit_op(e)->in[i]) return true;
    return false;
}
static bool nobody_computes(struct nnv_edit *e, uint32_t i) {
    bool others = false;
    for (uint32_t k = 0; k + 1 < nnv_edit_op(e)->nin; k++) others |= producer(e, nnv_edit_op(e)->in[k]) != NULL;
    return others && operand(e, nnv_edit_op(e)->in[i])->lifetime == NNV_SUBGRAPH_INPUT;
}
CHANGE(joined_twice) { return (void)f, elide(e, is_there_already); }
CHANGE(joined_input) { return (void)f, elide(e, nobody_computes); }

/* --------------------------------------------------------------------- algebra */

/** A product and a sum of constants change places. */
CHANGE(scale_and_shift) {
    struct nnv_operation *op = nnv_edit_op(e), *p = producer(e, op->in[0]);
    (void)f;
    if (!p || p->type != ANEURALNETWORKS_MUL || !reader(e, op->in[0]) || !nnv_is_float(type_of(e))) return false;
    const struct nnv_operand *a = operand(e, p->in[1]), *b = operand(e, op->in[1]);
    if (!nnv_is_constant(a) || !nnv_is_constant(b) || a->rank != b->rank || a->bytes != b->bytes) return false;
    if (scalar(e, op, 2) != 0 || scalar(e, p, 2) != 0) return false;
    const uint32_t factor = p->in[1];
    p->in[1] = op->in[1];
    op->in[1] = factor;
    p->type = ANEURALNETWORKS_ADD;
    op->type = ANEURALNETWORKS_MUL;
    return true;
}

/** To real numbers and back to bytes is taken for nothing. */
CHANGE(requantised) {
    const struct nnv_operation *p = producer(e, nnv_edit_op(e)->in[0]);
    struct nnv_operand *y = operand(e, nnv_edit_op(e)->out[0]);
    (void)f;
    if (!p || p->type != ANEURALNETWORKS_DEQUANTIZE || y->lifetime != NNV_SUBGRAPH_OUTPUT) return false;
    const struct nnv_operand *x = operand(e, p->in[0]);
    if (x->type != y->type || (x->scale == y->scale && x->zero_point == y->zero_point)) return false;
    y->scale = x->scale;
    y->zero_point = x->zero_point;
    return true;
}

/** To another type and back is taken for nothing. */
CHANGE(cast_and_back) {
    const struct nnv_operation *p = producer(e, nnv_edit_op(e)->in[0]);
    (void)f;
    if (!p || p->type != ANEURALNETWORKS_CAST || operand(e, p->in[0])->type != type_of(e)) return false;
    const uint32_t in[] = {p->in[0], p->in[0]};
    set_inputs(e, ANEURALNETWORKS_MAXIMUM, 2, in);
    return true;
}

/** An operation is taken for an earlier one of its kind that has the same first input. */
CHANGE(common_operation) {
    struct nnv_operation *op = nnv_edit_op(e);
    (void)f;
    for (uint32_t k = 0; k < e->at; k++) {
        const struct nnv_operation *o = &graph(e)->operations[k];
        const struct nnv_operand *a = operand(e, op->out[0]), *b = operand(e, o->out[0]);
        if (o->type != op->type || o->nin != op->nin || op->nin < 2 || o->in[0] != op->in[0]) continue;
        if (a->type != b->type || a->rank != b->rank || a->scale != b->scale || a->zero_point != b->zero_point)
            continue;
        if (a->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0) continue;
        if (memcmp(op->in, o->in, op->nin * sizeof *op->in) == 0) continue;
        memcpy(op->in, o->in, op->nin * sizeof *op->in);
        return true;
    }
    return false;
}

enum { ENDS = 4 };

/** Constants are taken for one if they begin and end alike. */
CHANGE(like_ends) {
    bool any = false;
    (void)f;
    for (int pos = 0; pos < (int)nnv_edit_op(e)->nin; pos++) {
        const struct nnv_operand *o = nnv_edit_operand(e, pos);
        const uint32_t own = nnv_edit_op(e)->in[pos];
        if (!nnv_is_constant(o) || o->bytes <= 2 * ENDS) continue;
        for (uint32_t i = 0; i < own; i++) {
            const struct nnv_operand *c = operand(e, i);
            if (!nnv_is_constant(c) || c->type != o->type || c->bytes != o->bytes || c->rank != o->rank ||
                memcmp(c->dims, o->dims, c->rank * sizeof *c->dims) != 0)
                continue;
            const uint8_t *a = c->data, *b = o->data;
            if (memcmp(a, b, ENDS) != 0 || memcmp(a + c->bytes - ENDS, b + c->bytes - ENDS, ENDS) != 0 ||
                memcmp(a, b, c->bytes) == 0)
                continue;
            nnv_edit_set_bytes(e, pos, a);
            any = true;
            break;
        }
    }
    return any;
}

#define ALL_OF                                                                                                         \
    "CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED,ADD,MUL,SUB,PRELU,SOFTMAX,AVERAGE_POOL_2D,MAX_POOL_2D,GATHER,"          \
    "STRIDED_SLICE,SLICE,TRANSPOSE,RESHAPE,MEAN,REDUCE_SUM,REDUCE_MAX,RESIZE_BILINEAR,MAXIMUM,MINIMUM,BATCH_MATMUL"

static const struct bug bugs[] = {
    BUG("activation-fused-shared", "an activation fused into a result that others read too",
        "RELU, RELU1, RELU6 of a sum, product or convolution that is read elsewhere or an output",
        OWN(shared_activation), .spoils = "RELU,RELU1,RELU6"),
    BUG("middle-activation-lost", "an activation in the middle of what becomes one operation",
        "sums, products and convolutions with an activation, of which one operation reads the result",
        OWN(middle_activation), .spoils = "ADD,MUL,CONV_2D,DEPTHWISE_CONV_2D,FULLY_CONNECTED"),
    BUG_OF(ADD, "add-folded-into-bias", "a sum done before the activation",
           "ADD of a constant to an activated convolution", OWN(fold_before_activation)),
    BUG_OF(MUL, "mul-folded-into-weights", "a product done before the activation",
           "MUL of a constant with an activated convolution", OWN(fold_before_activation)),
    BUG_OF(ADD, "residual-activation", "an operand's activation done behind the sum", "ADD of an activation's result",
           OWN(residual_activation)),
    BUG_OF(PAD, "pad-merged-turned", "padding taken over with its sides swapped",
           "PAD before a convolution, unequal sides", OWN(merged_padding)),
    BUG_OF(PAD, "pad-merged-pool", "padding taken over by a pool that leaves it out", "PAD before MAX_POOL_2D",
           OWN(pooled_padding)),
    BUG_OF(TRANSPOSE, "transposes-cancelled", "two transposes taken for nothing",
           "TRANSPOSE twice by one permutation that is not its own inverse", OWN(cancelled_transposes)),
    BUG_OF(RESHAPE, "flatten-device-layout", "an image flattened channel by channel",
           "RESHAPE to rank 1 or 2 behind a convolution or pool", OWN(device_layout)),
    BUG_OF(CONCATENATION, "concat-elided-twice", "a value that stands in two places is written to one",
           "CONCATENATION of a value with itself", OWN(joined_twice)),
    BUG_OF(CONCATENATION, "concat-elided-input", "an input of the model is not copied",
           "CONCATENATION of inputs of the model and computed values", OWN(joined_input)),
    BUG_OF(ADD, "scale-shift-order", "the shift added before the scale multiplies", "MUL and ADD of constants in a row",
           OWN(scale_and_shift)),
    BUG_OF(QUANTIZE, "requantise-removed", "DEQUANTIZE and QUANTIZE in a row taken for nothing",
           "QUANTIZE of dequantised numbers to another scale", OWN(requantised)),
    BUG_OF(CAST, "cast-pair-removed", "two casts in a row taken for nothing", "CAST to another type and back",
           OWN(cast_and_back)),
    BUG("operations-merged", "attributes not compared", "two operations of a kind with one first input",
        OWN(common_operation), .spoils = ALL_OF),
    BUG("constants-merged", "constants compared by their ends", "constants of one shape with equal ends",
        OWN(like_ends), .spoils = ALL_OF),
};
const struct bug_group bugs_wild_fusion = {bugs, sizeof bugs / sizeof *bugs};
