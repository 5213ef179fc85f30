/* SPDX-License-Identifier: Apache-2.0 */
/** @file images.h What networks that classify pictures are built of: layers with seeded weights, one after the other.
 */
#ifndef NNV_MLTS_IMAGES_H
#define NNV_MLTS_IMAGES_H

#include "reference/model/builder.h"

enum { NNV_IMAGE_CHANNELS = 3 };

/** In what numbers a network computes. */
struct nnv_image_type {
    int32_t code;     /**< of all tensors: TENSOR_FLOAT32, _FLOAT16, _QUANT8_ASYMM or _QUANT8_ASYMM_SIGNED */
    bool per_channel; /**< signed bytes: filters have a scale a channel */
};

/** A network in progress. Begin it with builder and type, and nnv_images_begin(). */
struct nnv_images {
    struct nnv_builder b;
    struct nnv_image_type type;
    uint32_t last;            /**< operand: the result so far */
    uint32_t side, channels;  /**< its extents: [1, side, side, channels] */
    struct nnv_encoding code; /**< its encoding */
    bool halved;              /**< it comes from a RELU of any kind */
};

/** True for the tags float32, float16, quant8, signed (signed bytes) and int8 (signed bytes, filters per channel). */
bool nnv_images_type(const char *tag, struct nnv_image_type *type);
/** A number type that these networks know; NNV_INVALID: not, said of `what`. */
NNV_USE_RESULT enum nnv_status nnv_images_check(const char *what, const struct nnv_image_type *type, uint32_t size,
                                                uint32_t classes, struct nnv_err *err);
/** The input [1, size, size, 3] of values in [-1, 1]: its operand. */
uint32_t nnv_images_begin(struct nnv_images *n, uint32_t size);
/** CONV_2D with SAME padding. Weights are drawn so that the values of all layers stay around 1. */
void nnv_images_convolve(struct nnv_images *n, uint32_t channels, uint32_t size, uint32_t stride, int32_t activation);
/** DEPTHWISE_CONV_2D 3x3 with SAME padding, and RELU6. */
void nnv_images_convolve_depthwise(struct nnv_images *n, uint32_t stride);
/** MAX_POOL_2D with SAME padding. */
void nnv_images_pool(struct nnv_images *n, uint32_t size, uint32_t stride);
/** ADD of an operand of the same extents; values in [-most, most]. */
void nnv_images_add(struct nnv_images *n, uint32_t operand, int32_t activation, double most);
/** Mean over the image, scores of classes, softmax: the operand of the result, the model's output. */
uint32_t nnv_images_end(struct nnv_images *n, uint32_t classes);

#endif
