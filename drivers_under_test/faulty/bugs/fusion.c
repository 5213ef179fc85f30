/* SPDX-License-Identifier: Apache-2.0 */
/** @file fusion.c Bugs of backends that make one operation of several: where they must not, or not rightly. */
#include "rewire.h"

/* ---------------------------------------------------------------- what stands where */

static const struct nnv_subgraph *graph(const struct nnv_edit *e) { return &e->spec.model.main; }

/** The operation that writes the operand; NULL: none. */
static const struct nnv_operation *writer_of(const struct nnv_edit *e, uint32_t operand) {
    for (uint32_t i = 0; i < graph(e)->noperations; i++)
        for (uint32_t k = 0; k < graph(e)->operations[i].nout; k++)
            if (graph(e)->operations[i].out[k] == operand) return &graph(e)->operations[i];
    return NULL;
}

static bool is_output(const struct nnv_edit *e, uint32_t operand) {
    for (uint32_t i = 0; i < graph(e)->nout; i++)
        if (graph(e)->out[i] == operand) return true;
    return false;
}

/** Operations that read the operand; *some is one of them, of that code if there is such a one. */
static uint32_t readers(const struct nnv_edit *e, uint32_t operand, int32_t code, const struct nnv_operation **some) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph(e)->noperations; i++) {
        const struct nnv_operation *op = &graph(e)->operations[i];
        for (uint32_t k = 0; k < op->nin; k++) {
            if (op->in[k] != operand) continue;
            n++;
            if (n == 1 || op->type == code) *some = op;
            break;
        }
    }
    return n;
}

/** The only reader of the operand, which is no output, if it is of that code; else NULL. */
static const struct nnv_operation *only_reader(const struct nnv_edit *e, uint32_t operand, int32_t code) {
    const struct nnv_operation *op = NULL;
    const uint32_t n = is_output(e, operand) ? 0 : readers(e, operand, code, &op);
    return n == 1 && op->type == code ? op : NULL;
}

static uint32_t result(struct nnv_edit *e) { return nnv_edit_op(e)->out[0]; }
static bool is_constant(const struct nnv_edit *e, uint32_t operand) {
    return nnv_is_constant(&graph(e)->operands[operand]);
}
static bool is_float(const struct nnv_edit *e, uint32_t operand) {
    return graph(e)->operands[operand].type == ANEURALNETWORKS_TENSOR_FLOAT32;
}

/* --------------------------------------------------------------------------- bugs */

/** The activation goes into what a pool reads: averages are of what it left. */
CHANGE(activation_before_pool) {
    const struct nnv_operation *pool = only_reader(e, result(e), ANEURALNETWORKS_AVERAGE_POOL_2D);
    (void)f;
    return pool && only_reader(e, pool->out[0], ANEURALNETWORKS_RELU) &&
           set_attribute(e, "activation", ANEURALNETWORKS_FUSED_RELU);
}

/** A factor goes into the filter alone: the bias is divided, so that the factor undoes it. */
CHANGE(factor_without_bias) {
    const struct nnv_operation *mul = only_reader(e, result(e), ANEURALNETWORKS_MUL);
    int pos;
    size_t n, count;
    double *bias = constants(e, "bias", &pos, &n);
    (void)f;
    if (!mul || !bias || !is_float(e, result(e))) return false;
    const uint32_t other = mul->in[0] == result(e) ? mul->in[1] : mul->in[0];
    const struct nnv_operand *o = &graph(e)->operands[other];
    double *is = nnv_edit_copy(e, bias, n, 0, sizeof *is);
    count = o->bytes / sizeof(float);
    if (!is || !is_constant(e, other) || (count != 1 && count != n)) return false;
    for (size_t i = 0; i < n; i++) is[i] = bias[i] / (double)((const float *)o->data)[count == 1 ? 0 : i];
    return set_constants(e, pos, bias, is, n);
}

/** c - y becomes y - c, which can go into a bias. */
CHANGE(difference_folded_reversed) {
    const struct nnv_operation *op = nnv_edit_op(e);
    const struct nnv_operation *product = writer_of(e, op->in[1]);
    (void)f;
    if (!product || !is_constant(e, op->in[0]) || !is_float(e, result(e))) return false;
    if (product->type != ANEURALNETWORKS_CONV_2D && product->type != ANEURALNETWORKS_FULLY_CONNECTED) return false;
    struct wire w = wire_behind(e, 0);
    const uint32_t minus = wire_number(&w, -1);
    WIRE(&w, MUL, w.value, minus, nnv_edit_add_int(e, ANEURALNETWORKS_FUSED_NONE));
    return wire_end(&w);
}

/** Images are normalised by the first channel's number. */
CHANGE(normalised_by_first) {
    const struct nnv_operation *conv = only_reader(e, result(e), ANEURALNETWORKS_CONV_2D);
    const uint32_t other = nnv_edit_op(e)->in[1];
    int pos;
    size_t n;
    double *v = constants(e, "b", &pos, &n), is[16];
    (void)f;
    if (!conv || !is_constant(e, other) || !v || n < 2 || n > 16) return false;
    for (size_t i = 0; i < n; i++) is[i] = v[0];
    return set_constants(e, pos, v, is, n);
}

/** A sum goes into a bias in place: the next product that has the same bias gets it, too. */
CHANGE(shared_bias_folded) {
    int pos;
    size_t n;
    double *bias = constants(e, "bias", &pos, &n);
    (void)f;
    if (!bias || !is_float(e, result(e))) return false;
    const uint32_t operand = nnv_edit_op(e)->in[pos];
    for (uint32_t i = 0; i < e->at; i++) {
        const struct nnv_operation *op = &graph(e)->operations[i];
        const struct nnv_operation *sum = NULL;
        if (op->type == nnv_edit_op(e)->type && op->nin > 2 && op->in[2] == operand)
            sum = only_reader(e, op->out[0], ANEURALNETWORKS_ADD);
        if (!sum) continue;
        const uint32_t other = sum->in[0] == op->out[0] ? sum->in[1] : sum->in[0];
        const struct nnv_operand *o = &graph(e)->operands[other];
        const size_t count = o->bytes / sizeof(float);
        double *is = nnv_edit_copy(e, bias, n, 0, sizeof *is);
        if (!is || !is_constant(e, other) || (count != 1 && count != n)) continue;
        for (size_t k = 0; k < n; k++) is[k] += (double)((const float *)o->data)[count == 1 ? 0 : k];
        return set_constants(e, pos, bias, is, n);
    }
    return false;
}

static const struct bug bugs[] = {
    BUG_OF(CONV_2D, "fused-relu-before-pool", "an activation moved over an average",
           "CONV_2D, AVERAGE_POOL_2D, RELU in a chain", OWN(activation_before_pool)),
    BUG_OF(CONV_2D, "fused-factor-without-bias", "a factor folded into the filter alone",
           "CONV_2D: float32, its only reader is MUL by a constant", OWN(factor_without_bias)),
    BUG_OF(SUB, "fused-difference-reversed", "a difference folded into a bias with the wrong sign",
           "SUB: float32, a constant less a product", OWN(difference_folded_reversed)),
    BUG_OF(DIV, "fused-normalisation-first-channel", "one divisor for all channels",
           "DIV: by a constant per channel, its only reader is CONV_2D", OWN(normalised_by_first)),
    BUG_OF(CONV_2D, "fused-shared-bias", "a sum folded into a bias that others have, too",
           "CONV_2D: float32, with the bias of one before that an ADD of a constant follows", OWN(shared_bias_folded)),
};
const struct bug_group bugs_fusion = {bugs, sizeof bugs / sizeof *bugs};
