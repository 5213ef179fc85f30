/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/validate.h"

#include <math.h>

struct nnv_shape nnv_operand_shape(const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    struct nnv_shape s = {.known_rank = o->rank > 0 || !t || !t->tensor, .rank = o->rank};
    for (uint32_t i = 0; i < o->rank; i++) s.dims[i] = o->dims[i] ? o->dims[i] : NNV_DIM_UNKNOWN;
    return s;
}

static enum nnv_status check_shape(const struct nnv_operand *o, const struct nnv_type *t, struct nnv_err *err) {
    if (!t->tensor && o->rank > 0)
        return nnv_fail(err, NNV_INVALID, "a %s has no dimensions, but rank %u is given", t->name, o->rank);
    if (o->rank > NNV_MAX_RANK) return nnv_fail(err, NNV_INVALID, "rank %u is above %d", o->rank, NNV_MAX_RANK);
    uint64_t bytes = t->size;
    for (uint32_t i = 0; i < o->rank; i++) {
        if (o->dims[i] > NNV_DIM_MAX)
            return nnv_fail(err, NNV_INVALID, "extent %u of dimension %u is too large", o->dims[i], i);
        if (o->dims[i]) bytes *= o->dims[i];
        if (bytes > UINT32_MAX) return nnv_fail(err, NNV_INVALID, "its size does not fit into 32 bits");
    }
    return NNV_OK;
}

static enum nnv_status check_channels(const struct nnv_operand *o, const struct nnv_type *t, struct nnv_err *err) {
    const struct nnv_channel_quant *q = &o->channel;
    if (!t->per_channel)
        return q->count == 0 ? NNV_OK : nnv_fail(err, NNV_INVALID, "a %s has no scales for channels", t->name);
    if (q->count == 0 || !q->scales) return nnv_fail(err, NNV_INVALID, "the scales of the channels are missing");
    if (q->dim >= o->rank)
        return nnv_fail(err, NNV_INVALID, "channel dimension %u is not below rank %u", q->dim, o->rank);
    if (o->dims[q->dim] != q->count)
        return nnv_fail(err, NNV_INVALID, "%u channel scales for an extent of %u", q->count, o->dims[q->dim]);
    for (uint32_t i = 0; i < q->count; i++)
        if (!(q->scales[i] > 0) || !isfinite(q->scales[i]))
            return nnv_fail(err, NNV_INVALID, "scale %.9g of channel %u is not above 0 and finite",
                            (double)q->scales[i], i);
    return NNV_OK;
}

static enum nnv_status check_quant(const struct nnv_operand *o, const struct nnv_type *t, struct nnv_err *err) {
    bool scaled = t->kind == NNV_KIND_QUANT && !t->per_channel;
    bool bias = o->type == ANEURALNETWORKS_TENSOR_INT32;
    if (scaled && (!(o->scale > 0) || !isfinite(o->scale)))
        return nnv_fail(err, NNV_INVALID, "scale %.9g of a %s is not above 0 and finite", (double)o->scale, t->name);
    if (bias && (!(o->scale >= 0) || !isfinite(o->scale)))
        return nnv_fail(err, NNV_INVALID, "scale %.9g of a %s is negative or not finite", (double)o->scale, t->name);
    if (!scaled && !bias && o->scale != 0)
        return nnv_fail(err, NNV_INVALID, "scale %.9g, but a %s has none", (double)o->scale, t->name);
    bool asymmetric = o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ||
                      o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
                      o->type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
    if (!asymmetric && o->zero_point != 0)
        return nnv_fail(err, NNV_INVALID, "zero point %d of a %s is not 0", o->zero_point, t->name);
    if (asymmetric && (o->zero_point < t->min || o->zero_point > t->max))
        return nnv_fail(err, NNV_INVALID, "zero point %d is not in [%.0f, %.0f]", o->zero_point, t->min, t->max);
    return NNV_OK;
}

static enum nnv_status check_constant(const struct nnv_operand *o, const struct nnv_type *t, struct nnv_err *err) {
    size_t elems, bytes;
    if (t->tensor && o->rank == 0) return nnv_fail(err, NNV_INVALID, "a constant of unknown rank");
    for (uint32_t i = 0; i < o->rank; i++)
        if (o->dims[i] == 0) return nnv_fail(err, NNV_INVALID, "a constant with unknown dimension %u", i);
    if (!nnv_size_bytes(o->type, o->rank, o->dims, &elems, &bytes))
        return nnv_fail(err, NNV_INVALID, "its size does not fit into 32 bits");
    if (!o->data) return nnv_fail(err, NNV_INVALID, "a constant without a value");
    if (o->bytes != bytes)
        return nnv_fail(err, NNV_INVALID, "a constant of %zu bytes has a value of %zu bytes", bytes, o->bytes);
    return NNV_OK;
}

enum nnv_status nnv_operand_declared(const struct nnv_operand *o, struct nnv_err *err) {
    const struct nnv_type *t = nnv_type(o->type);
    if (!t) return nnv_fail(err, NNV_INVALID, "type %d is not an operand type", o->type);
    enum nnv_status st = check_shape(o, t, err);
    return st ? st : check_quant(o, t, err);
}

enum nnv_status nnv_operand_check(const struct nnv_operand *o, int *level, struct nnv_err *err) {
    enum nnv_status st = nnv_operand_declared(o, err);
    if (st) return st;
    const struct nnv_type *t = nnv_type(o->type);
    if ((unsigned)o->lifetime >= NNV_LIFETIME_COUNT)
        return nnv_fail(err, NNV_INVALID, "lifetime %d is none", (int)o->lifetime);
    bool model = t->kind == NNV_KIND_MODEL;
    if (model != (o->lifetime == NNV_SUBGRAPH))
        return nnv_fail(err, NNV_INVALID, "a %s with lifetime %s", t->name, nnv_lifetime_name(o->lifetime));
    st = check_channels(o, t, err);
    if (st) return st;
    if (nnv_is_constant(o))
        st = check_constant(o, t, err);
    else if (o->data)
        st = nnv_fail(err, NNV_INVALID, "a value, but lifetime %s", nnv_lifetime_name(o->lifetime));
    if (st) return st;
    *level = t->level;
    if (t->tensor && o->rank == 0 && o->lifetime != NNV_NO_VALUE && *level < 3) *level = 3;
    return NNV_OK;
}
