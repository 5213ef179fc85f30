/* SPDX-License-Identifier: Apache-2.0 */
/** @file conv.h What CONV_2D and DEPTHWISE_CONV_2D share. */
#ifndef NNV_OPS_CONV_H
#define NNV_OPS_CONV_H

#include "reference/model/sample.h"
#include "reference/ops/conv/linear.h"
#include "reference/ops/conv/window.h"

/** Input ids. */
enum {
    X,
    FILTER,
    BIAS,
    PAD_LEFT,
    PAD_RIGHT,
    PAD_TOP,
    PAD_BOTTOM,
    SCHEME,
    STRIDE_W,
    STRIDE_H,
    ACT,
    NCHW,
    DILATION_W,
    DILATION_H,
    MULTIPLIER,
};

#define NNV_CONV_INT(ID, NAME, RULE)                                                                                   \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32, .flags = NNV_SCALAR, .rule = RULE }

#define NNV_CONV_TENSORS                                                                                               \
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},                                            \
        {.id = FILTER,                                                                                                 \
         .name = "filter",                                                                                             \
         .var = NNV_W,                                                                                                 \
         .rank_min = 4,                                                                                                \
         .rank_max = 4,                                                                                                \
         .flags = NNV_PARAM,                                                                                           \
         .lo = -1,                                                                                                     \
         .hi = 1},                                                                                                     \
    {                                                                                                                  \
        .id = BIAS, .name = "bias", .var = NNV_B, .rank_min = 1, .rank_max = 1, .flags = NNV_PARAM,                    \
        .quant = NNV_Q_BIAS                                                                                            \
    }

#define NNV_CONV_OPTIONS                                                                                               \
    {.id = NCHW,                                                                                                       \
     .name = "nchw",                                                                                                   \
     .var = NNV_FIXED,                                                                                                 \
     .type = ANEURALNETWORKS_BOOL,                                                                                     \
     .flags = NNV_SCALAR,                                                                                              \
     .group = 1,                                                                                                       \
     .level = 3},                                                                                                      \
        {.id = DILATION_W,                                                                                             \
         .name = "dilation width",                                                                                     \
         .var = NNV_FIXED,                                                                                             \
         .type = ANEURALNETWORKS_INT32,                                                                                \
         .flags = NNV_SCALAR,                                                                                          \
         .group = 2,                                                                                                   \
         .level = 3,                                                                                                   \
         .rule = NNV_POSITIVE,                                                                                         \
         .dflt = 1},                                                                                                   \
    {                                                                                                                  \
        .id = DILATION_H, .name = "dilation height", .var = NNV_FIXED, .type = ANEURALNETWORKS_INT32,                  \
        .flags = NNV_SCALAR, .group = 2, .level = 3, .rule = NNV_POSITIVE, .dflt = 1                                   \
    }

enum { NNV_CONV_SIGS = 6 };
extern const struct nnv_sig nnv_conv_sigs[NNV_CONV_SIGS];

/** Per-channel scales must run along the filter's output channels. */
enum nnv_status nnv_conv_check(const struct nnv_call *c, struct nnv_err *err);
/** [N,H',W',Cout], or in the order of NCHW. */
enum nnv_status nnv_conv_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);
/** The kernel of both. */
enum nnv_status nnv_conv_eval(struct nnv_kernel *k, struct nnv_err *err);

/** Sampling; the variants of both but for winograd (CONV_2D) and multiplier (DEPTHWISE_CONV_2D). */
extern const char *const nnv_conv_variants[];
extern const char *const nnv_depthwise_variants[];
void nnv_conv_sample(struct nnv_sample *s);

#endif
