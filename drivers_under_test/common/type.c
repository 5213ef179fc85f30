/* SPDX-License-Identifier: Apache-2.0 */
#include "type.h"

#include <stddef.h>

uint32_t common_element_bytes(int32_t type) {
    static const uint8_t bytes[] = {
        [ANEURALNETWORKS_FLOAT32] = 4,
        [ANEURALNETWORKS_INT32] = 4,
        [ANEURALNETWORKS_UINT32] = 4,
        [ANEURALNETWORKS_TENSOR_FLOAT32] = 4,
        [ANEURALNETWORKS_TENSOR_INT32] = 4,
        [ANEURALNETWORKS_TENSOR_QUANT8_ASYMM] = 1,
        [ANEURALNETWORKS_BOOL] = 1,
        [ANEURALNETWORKS_TENSOR_QUANT16_SYMM] = 2,
        [ANEURALNETWORKS_TENSOR_FLOAT16] = 2,
        [ANEURALNETWORKS_TENSOR_BOOL8] = 1,
        [ANEURALNETWORKS_FLOAT16] = 2,
        [ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL] = 1,
        [ANEURALNETWORKS_TENSOR_QUANT16_ASYMM] = 2,
        [ANEURALNETWORKS_TENSOR_QUANT8_SYMM] = 1,
        [ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED] = 1,
    };
    return type >= 0 && (size_t)type < sizeof bytes ? bytes[type] : 0;
}

bool common_is_scalar(int32_t type) {
    return type == ANEURALNETWORKS_FLOAT32 || type == ANEURALNETWORKS_INT32 || type == ANEURALNETWORKS_UINT32 ||
           type == ANEURALNETWORKS_BOOL || type == ANEURALNETWORKS_FLOAT16;
}
