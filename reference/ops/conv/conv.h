/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.h What the convolutions share: ids and slots of their inputs. */
#ifndef NNV_OPS_CONV_H
#define NNV_OPS_CONV_H

#include "reference/model/sample.h"
#include "reference/ops/conv/linear.h"
#include "reference/ops/conv/window.h"

/** Input ids of the convolutions. */
enum {
    NNV_CONV_X,
    NNV_CONV_FILTER,
    NNV_CONV_BIAS,
    NNV_CONV_PAD_LEFT,
    NNV_CONV_PAD_RIGHT,
    NNV_CONV_PAD_TOP,
    NNV_CONV_PAD_BOTTOM,
    NNV_CONV_SCHEME,
    NNV_CONV_STRIDE_W,
    NNV_CONV_STRIDE_H,
    NNV_CONV_ACT,
    NNV_CONV_NCHW,
    NNV_CONV_DILATION_W,
    NNV_CONV_DILATION_H,
    NNV_CONV_MULTIPLIER, /**< of DEPTHWISE_CONV_2D */
    NNV_CONV_GROUPS,
    NNV_CONV_OUT_SHAPE,
};

#define NNV_CONV_TENSORS                                                                                               \
    {.id = NNV_CONV_X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},                                   \
        {.id = NNV_CONV_FILTER,                                                                                        \
         .name = "filter",                                                                                             \
         .var = NNV_W,                                                                                                 \
         .rank_min = 4,                                                                                                \
         .rank_max = 4,                                                                                                \
         .flags = NNV_PARAM,                                                                                           \
         .lo = -1,                                                                                                     \
         .hi = 1},                                                                                                     \
    {                                                                                                                  \
        .id = NNV_CONV_BIAS, .name = "bias", .var = NNV_B, .rank_min = 1, .rank_max = 1, .flags = NNV_PARAM,           \
        .quant = NNV_Q_BIAS                                                                                            \
    }

/** Explicit padding, where the cells behind may be any number or must not be negative (RULE); strides. */
#define NNV_CONV_PADDING(RULE)                                                                                         \
    NNV_SLOT_INT(NNV_CONV_PAD_LEFT, "padding left", NNV_NOT_NEGATIVE),                                                 \
        NNV_SLOT_INT(NNV_CONV_PAD_RIGHT, "padding right", RULE),                                                       \
        NNV_SLOT_INT(NNV_CONV_PAD_TOP, "padding top", NNV_NOT_NEGATIVE),                                               \
        NNV_SLOT_INT(NNV_CONV_PAD_BOTTOM, "padding bottom", RULE)
#define NNV_CONV_PADDING_SCHEME NNV_SLOT_INT(NNV_CONV_SCHEME, "padding scheme", NNV_PADDING_CODE)
#define NNV_CONV_STRIDES                                                                                               \
    NNV_SLOT_INT(NNV_CONV_STRIDE_W, "stride width", NNV_POSITIVE),                                                     \
        NNV_SLOT_INT(NNV_CONV_STRIDE_H, "stride height", NNV_POSITIVE)
#define NNV_CONV_ACTIVATION NNV_SLOT_INT(NNV_CONV_ACT, "activation", NNV_FUSE)

/** A signature of input, filter and bias. */
#define NNV_CONV_SIG(LEVEL, T, W, B)                                                                                   \
    {                                                                                                                  \
        LEVEL, {                                                                                                       \
            [NNV_T] = ANEURALNETWORKS_TENSOR_##T, [NNV_W] = ANEURALNETWORKS_TENSOR_##W,                                \
            [NNV_B] = ANEURALNETWORKS_TENSOR_##B                                                                       \
        }                                                                                                              \
    }

/** The output of all of them, and the scalars of height and width. */
extern const struct nnv_slot nnv_conv_output[1];
extern const struct nnv_window_ids nnv_conv_rows, nnv_conv_cols;

/** Per-channel scales must run along the filter's output channels. */
enum nnv_status nnv_conv_check(const struct nnv_call *c, struct nnv_err *err);
/** [N,H',W',Cout], or in the order of NCHW; channels finds Cout from the input channels, as far as known. */
enum nnv_status nnv_conv_infer(const struct nnv_call *c,
                               enum nnv_status (*channels)(const struct nnv_call *c, uint32_t in, uint32_t *out,
                                                           struct nnv_err *err),
                               struct nnv_shape *out, struct nnv_err *err);

#endif
