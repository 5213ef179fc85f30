/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime_api.c See runtime_api.h. */
#include "tests/kit/runtime_api.h"

ANeuralNetworksModel *new_model(void) {
    ANeuralNetworksModel *m = NULL;
    assert_int_equal(ANeuralNetworksModel_create(&m), ANEURALNETWORKS_NO_ERROR);
    assert_non_null(m);
    return m;
}

int try_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims, float scale,
                int32_t zero_point) {
    const ANeuralNetworksOperandType t = {
        .type = type, .dimensionCount = rank, .dimensions = dims, .scale = scale, .zeroPoint = zero_point};
    return ANeuralNetworksModel_addOperand(m, &t);
}

void add_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims) {
    assert_int_equal(try_operand(m, type, rank, dims, 0, 0), ANEURALNETWORKS_NO_ERROR);
}

void set_int(ANeuralNetworksModel *m, int32_t index, int32_t value) {
    assert_int_equal(ANeuralNetworksModel_setOperandValue(m, index, &value, sizeof value), ANEURALNETWORKS_NO_ERROR);
}
