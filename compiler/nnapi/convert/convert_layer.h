/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert_layer.h What convolutions and dense layers share: weights, biases, and what follows them. */
#ifndef NNV_COMPILER_CONVERT_LAYER_H
#define NNV_COMPILER_CONVERT_LAYER_H

#include "compiler/nnapi/convert/convert_in.h"

/** A layer and the operations that it absorbs. */
struct nnv_rc_layer {
    const struct nnv_rc_node *bias, *norm, *requantize, *clip; /**< or NULL */
    uint32_t channels;                                         /**< of the result */
    uint32_t data; /**< value: operand 0, or what the absorbed nn.pad reads */
    /* Operands: */
    uint32_t in, weights, bias_operand;
    uint32_t out; /**< what the layer writes */
    uint32_t act; /**< scalar */
};

/** How the weights of the program become those of the operation. */
struct nnv_rc_weights {
    const uint32_t *perm;      /**< axes, first */
    struct nnv_rc_shape shape; /**< then this shape */
    uint32_t channel_dim;      /**< in which the output channels are along this dimension */
};

/** Finds the parts of the current chain and makes the operands of a layer. */
struct nnv_rc_layer nnv_rc_layer(struct nnv_rc *c, uint32_t channels, const struct nnv_rc_weights *w);
/** What follows and was not fused: a clip of other bounds. Takes the operand that holds the layer's result. */
void nnv_rc_layer_end(struct nnv_rc *c, const struct nnv_rc_layer *l);

#endif
