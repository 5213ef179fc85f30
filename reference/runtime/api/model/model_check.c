/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_check.c Is what the application adds to a model legal, as far as can be told at that time? */
#include <string.h>

#include "NeuralNetworksOEM.h"
#include "base/type.h"
#include "reference/model/validate.h"
#include "reference/runtime/api/model/building.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"

enum { OK = ANEURALNETWORKS_NO_ERROR, BAD = ANEURALNETWORKS_BAD_DATA };

bool nnv_rt_is_oem(int32_t type) {
    return type == ANEURALNETWORKS_OEM_SCALAR || type == ANEURALNETWORKS_TENSOR_OEM_BYTE;
}

bool nnv_rt_is_foreign(int32_t operation) {
    return operation == ANEURALNETWORKS_OEM_OPERATION || nnv_rt_is_extension(operation);
}

int nnv_rt_refuse(const char *function, const struct nnv_err *err) {
    if (err->status == NNV_NO_MEMORY) return ANEURALNETWORKS_OUT_OF_MEMORY;
    return nnv_rt_error(BAD, function, "%s", err->text);
}

/* ------------------------------------------------------------------- operands */

/* Of types that are not the core's. */
static int check_foreign_type(const ANeuralNetworksOperandType *type, const char *function) {
    bool is_tensor;
    uint64_t bytes = nnv_rt_type_bytes(type->type, &is_tensor);
    if (bytes == 0) return nnv_rt_error(BAD, function, "type %d belongs to no extension that a device has", type->type);
    if (!is_tensor && type->dimensionCount)
        return nnv_rt_error(BAD, function, "type %d is a scalar, but rank %u is given", type->type,
                            type->dimensionCount);
    for (uint32_t i = 0; i < type->dimensionCount; i++) {
        if (type->dimensions[i]) bytes *= type->dimensions[i];
        if (bytes > UINT32_MAX) return nnv_rt_error(BAD, function, "its size does not fit into 32 bits");
    }
    if (!nnv_rt_is_oem(type->type) && (type->scale != 0 || type->zeroPoint != 0))
        return nnv_rt_error(BAD, function, "a type of an extension has no scale and no zero point");
    return OK;
}

int nnv_rt_check_type(const ANeuralNetworksOperandType *type, const char *function) {
    if (type->dimensionCount && !type->dimensions)
        return nnv_rt_error(BAD, function, "dimensionCount is %u, but dimensions is NULL", type->dimensionCount);
    if (!type->dimensionCount && type->dimensions)
        return nnv_rt_error(BAD, function, "dimensionCount is 0, but dimensions is not NULL");
    if (type->dimensionCount > NNV_MAX_RANK)
        return nnv_rt_error(BAD, function, "rank %u is above %d", type->dimensionCount, NNV_MAX_RANK);
    if (nnv_rt_is_extension(type->type) || nnv_rt_is_oem(type->type)) return check_foreign_type(type, function);
    uint32_t dims[NNV_MAX_RANK];
    if (type->dimensionCount) memcpy(dims, type->dimensions, type->dimensionCount * sizeof *dims);
    /* A bias's scale is looked at when the model is finished. */
    const bool bias = type->type == ANEURALNETWORKS_TENSOR_INT32;
    const struct nnv_operand o = {.type = type->type,
                                  .rank = type->dimensionCount,
                                  .dims = dims,
                                  .scale = bias ? 0 : type->scale,
                                  .zero_point = bias ? 0 : type->zeroPoint};
    struct nnv_err err = {0};
    return nnv_operand_declared(&o, &err) ? nnv_rt_refuse(function, &err) : OK;
}

/* ----------------------------------------------------------------- operations */

static int check_indices(const struct nnv_subgraph *g, uint32_t count, const uint32_t *list, const char *what,
                         const char *function) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] >= g->noperands)
            return nnv_rt_error(BAD, function, "%s %u: there is no operand %u, the model has %u", what, i, list[i],
                                g->noperands);
    return OK;
}

/* The models that an IF or WHILE refers to have been set, and fit it. */
static enum nnv_status check_models(struct nnv_rt_building *b, const struct nnv_operation *op,
                                    const struct nnv_call *call, struct nnv_err *err) {
    if (!call->op->check_subgraphs) return NNV_OK;
    struct nnv_subgraph *list = NNV_NEW(b->scratch, struct nnv_subgraph, op->nin);
    const struct nnv_model model = {.main = b->graph, .referenced = list, .nreferenced = op->nin};
    if (!list) return nnv_no_memory(err);
    for (uint32_t i = 0; i < op->nin; i++) {
        struct nnv_operand *o = &b->graph.operands[op->in[i]];
        const struct ANeuralNetworksModel *value = b->extra[op->in[i]].value;
        if (o->type != ANEURALNETWORKS_MODEL) continue;
        if (!value) return nnv_fail(err, NNV_INVALID, "input %u: no model has been set", i);
        o->subgraph = i; /* finish numbers them all anew */
        list[i] = value->building->graph;
    }
    return call->op->check_subgraphs(call, &model, err);
}

int nnv_rt_check_operation(const struct ANeuralNetworksModel *m, const struct nnv_operation *op, const char *function) {
    struct nnv_rt_building *b = m->building;
    int result = check_indices(&b->graph, op->nin, op->in, "input", function);
    if (!result) result = check_indices(&b->graph, op->nout, op->out, "output", function);
    if (result) return result;
    if (nnv_rt_is_extension(op->type) && !nnv_rt_extension_name((uint16_t)(op->type >> 16)))
        return nnv_rt_error(BAD, function, "operation type %d belongs to no extension", op->type);
    if (nnv_rt_is_foreign(op->type)) return OK;
    struct nnv_err err = {0};
    struct nnv_call *call;
    enum nnv_status st = nnv_bind_signature(&b->graph, op, b->shapes, b->scratch, &call, NULL, &err);
    if (!st) st = check_models(b, op, call, &err);
    const struct nnv_op *record = nnv_op(op->type);
    if (st && record) st = nnv_at(&err, st, "%s", record->name);
    nnv_arena_reset(b->scratch);
    return st ? nnv_rt_refuse(function, &err) : OK;
}
