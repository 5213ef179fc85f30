/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime_api.h Models through the functions of the API. */
#ifndef KIT_RUNTIME_API_H
#define KIT_RUNTIME_API_H

#include "reference/runtime/api/model/model.h"
#include "reference/runtime/device.h"
#include "tests/kit/test.h"

/* ------------------------------------------------------------------- models */

#define DIMS(...)                                                                                                      \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) { __VA_ARGS__ }
#define SCALAR 0, NULL

ANeuralNetworksModel *new_model(void);

int try_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims, float scale,
                int32_t zero_point);

void add_operand(ANeuralNetworksModel *m, int32_t type, uint32_t rank, const uint32_t *dims);

void set_int(ANeuralNetworksModel *m, int32_t index, int32_t value);

#define LIST(...)                                                                                                      \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) { __VA_ARGS__ }
#define OPERATION(m, code, inputs, outputs)                                                                            \
    assert_int_equal(ANeuralNetworksModel_addOperation(m, code, inputs, outputs), ANEURALNETWORKS_NO_ERROR)
#define IN_OUT(m, inputs, outputs)                                                                                     \
    assert_int_equal(ANeuralNetworksModel_identifyInputsAndOutputs(m, inputs, outputs), ANEURALNETWORKS_NO_ERROR)
#define FINISH(m) assert_int_equal(ANeuralNetworksModel_finish(m), ANEURALNETWORKS_NO_ERROR)

#endif
