/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_refine.c What an execution may say of an operand's type. */
#include <string.h>

#include "base/type.h"
#include "reference/model/op.h"
#include "reference/runtime/api/model/model.h"

enum { OK = ANEURALNETWORKS_NO_ERROR, BAD = ANEURALNETWORKS_BAD_DATA };

/* The size of all that is known fits into 32 bits. */
static bool fits(int32_t type, uint32_t rank, const uint32_t *dims) {
    uint64_t bytes = nnv_rt_type_bytes(type, NULL);
    for (uint32_t d = 0; d < rank; d++) {
        if (dims[d]) bytes *= dims[d];
        if (bytes > UINT32_MAX) return false;
    }
    return true;
}

int nnv_rt_operand_refine(const struct nnvts_operand *o, const ANeuralNetworksOperandType *type, uint32_t *rank,
                          uint32_t *dims) {
    if (o->dimension_count) memcpy(dims, o->dimensions, o->dimension_count * sizeof *dims);
    *rank = o->dimension_count;
    if (!type) return OK;
    bool is_tensor;
    nnv_rt_type_bytes(o->type, &is_tensor);
    if (type->type != o->type || type->scale != o->scale || type->zeroPoint != o->zero_point) return BAD;
    if (type->dimensionCount > NNV_MAX_RANK || (type->dimensionCount && !type->dimensions)) return BAD;
    if (!is_tensor && type->dimensionCount) return BAD;
    if (o->dimension_count && type->dimensionCount != o->dimension_count) return BAD;
    for (uint32_t d = 0; d < type->dimensionCount; d++) {
        if (o->dimension_count && o->dimensions[d] && type->dimensions[d] != o->dimensions[d]) return BAD;
        dims[d] = type->dimensions[d];
    }
    *rank = type->dimensionCount;
    return fits(o->type, *rank, dims) ? OK : BAD;
}
