/* SPDX-License-Identifier: Apache-2.0 */
/** @file runtime_api.h Models through the functions of the API, and drivers that answer as they are told. */
#ifndef KIT_RUNTIME_API_H
#define KIT_RUNTIME_API_H

#include "reference/runtime/api/model.h"
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

/* ------------------------------------------------------------------ drivers */

/** Supports what can() says; keeps a note of the last model it was asked about. */
struct answering {
    struct nnvts_device base;
    bool (*can)(int32_t operation);
    enum nnvts_status answer;
    enum nnvts_device_status status;
    unsigned asked;
    uint32_t operations, inputs, outputs, operands, referenced; /**< of that model */
    bool relaxed;
};

struct answering answering(const char *name, int32_t level);

#endif
