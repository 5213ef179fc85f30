/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mobilenet.h MobileNet v1 and v2, built in code with seeded weights: what real image classifiers ask of a
 * driver, without a file.
 *
 * Sources: Howard et al., "MobileNets", 2017, table 1; Sandler et al., "MobileNetV2", 2018, table 2.
 */
#ifndef NNV_MLTS_MOBILENET_H
#define NNV_MLTS_MOBILENET_H

#include "mlts/networks/images.h"

struct nnv_mobilenet {
    int version;   /**< 1 or 2 */
    double width;  /**< of all layers: 1.0, 0.75, ... */
    uint32_t size; /**< of the square image: 96 to 224, a multiple of 32 */
    struct nnv_image_type type;
    uint32_t classes; /**< of the result: 1001 */
    uint64_t seed;    /**< of the weights */
};

/**
 * Input [1, size, size, 3] with values in [-1, 1], output [1, classes]: a softmax. Weights are drawn so that the values
 * of all layers stay around 1. All memory is the arena's. NNV_INVALID names the member that is out of range.
 */
NNV_USE_RESULT enum nnv_status nnv_mobilenet_build(const struct nnv_mobilenet *net, struct nnv_arena *arena,
                                                   struct nnv_model *model, struct nnv_err *err);

#endif
