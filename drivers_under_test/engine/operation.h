/* SPDX-License-Identifier: Apache-2.0 */
/** @file operation.h An operation that an engine is asked for: its operands, and parameters that are constants. */
#ifndef ENGINE_OPERATION_H
#define ENGINE_OPERATION_H

#include "engine.h"

/** The operation that is being compiled. */
struct engine_operation {
    const struct engine_node *node;
    const struct engine_tensor *tensors;
    bool not_constant; /**< a parameter was asked for that only executions know */
};

/** A graph of one operation. */
struct engine_single {
    struct engine_graph graph;
    uint32_t *in; /**< to be freed */
};
/** False: out of memory. */
bool engine_single(const struct engine_tensor *tensors, uint32_t tensor_count, const struct engine_node *node,
                   struct engine_single *out);

/** Input i; NULL where it is absent. */
const struct engine_tensor *engine_in(const struct engine_operation *op, uint32_t i);
const struct engine_tensor *engine_out(const struct engine_operation *op, uint32_t i);
/** A constant INT32 or BOOL input, or FLOAT32 input; fallback where it is absent, or (not_constant is set) none. */
int32_t engine_int(struct engine_operation *op, uint32_t i, int32_t fallback);
float engine_float(struct engine_operation *op, uint32_t i, float fallback);
/** The values of a constant TENSOR_INT32; NULL (and not_constant) if it is none. */
const int32_t *engine_list(struct engine_operation *op, uint32_t i);
/** Inputs [first, last] are constants, as far as there are any. */
bool engine_constant(const struct engine_operation *op, uint32_t first, uint32_t last);

/** TENSOR_QUANT8_ASYMM, signed or not. */
bool engine_is_quant(const struct engine_tensor *t);
/** Same type, scale and zero point. */
bool engine_same_quant(const struct engine_tensor *a, const struct engine_tensor *b);
/** Product of the extents [from, to). */
size_t engine_extent(const struct engine_tensor *t, uint32_t from, uint32_t to);
/** axis in [-rank, rank) as [0, rank). */
uint32_t engine_axis(int32_t axis, uint32_t rank);

/** Input 1 of LOCAL_RESPONSE_NORMALIZATION along the last axis: no more than there are channels, which means the same.
 */
int32_t engine_radius(struct engine_operation *op);

/** Padding, strides, dilation of a window that slides over an image. */
struct engine_window {
    int32_t scheme; /**< PADDING_SAME, PADDING_VALID, or 0: explicit */
    int32_t left, right, top, bottom, stride_w, stride_h, dilation_w, dilation_h;
    int32_t more[2]; /**< groups, or depth multiplier; width and height of a pool's window */
    int32_t activation;
    bool nchw;
};
/**
 * Reads the inputs from number `first` on, with `more` values of the operation behind the strides; before them may
 * stand the output shape of a transposed convolution. False: one is no constant.
 */
bool engine_window_read(struct engine_operation *op, uint32_t first, uint32_t more, struct engine_window *w);
/** Settles implicit padding of one dimension. */
void engine_window_pad(int32_t scheme, int64_t in, int64_t out, int64_t filter, int32_t stride, int32_t dilation,
                       int32_t *head, int32_t *tail);

#endif
