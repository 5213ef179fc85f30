/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file resnet.h ResNet-18, built in code with seeded weights: large convolutions beside MobileNet's small ones.
 *
 * Source: He et al., "Deep residual learning for image recognition", 2015, table 1.
 */
#ifndef NNV_MLTS_RESNET_H
#define NNV_MLTS_RESNET_H

#include "mlts/networks/images.h"

struct nnv_resnet {
    uint32_t size; /**< of the square image: 224, a multiple of 32 */
    struct nnv_image_type type;
    uint32_t classes; /**< of the result: 1000 */
    uint64_t seed;    /**< of the weights */
};

/**
 * Input [1, size, size, 3] with values in [-1, 1], output [1, classes]: a softmax. Batch normalisation is part of the
 * filters. All memory is the arena's. NNV_INVALID names the member that is out of range.
 */
NNV_USE_RESULT enum nnv_status nnv_resnet_build(const struct nnv_resnet *net, struct nnv_arena *arena,
                                                struct nnv_model *model, struct nnv_err *err);

#endif
