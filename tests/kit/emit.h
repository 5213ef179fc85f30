/* SPDX-License-Identifier: Apache-2.0 */
/** @file emit.h Models for the emitters, built in code, and whether two models are equal. */
#ifndef KIT_EMIT_H
#define KIT_EMIT_H

#include "compiler/nnapi/emit/emit.h"
#include "reference/model/builder.h"
#include "reference/model/validate.h"
#include "tests/kit/test.h"

#define FLOAT32 ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0})
#define SIGNED ((struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 0.5f, 3})

/** relu(%x + [0.5, -0]), with names. */
struct nnv_converted *emit_small(struct nnv_arena *arena);

/**
 * A convolution with large weights, whose bias is small, and two outputs: the convolution's and its tanh. seed: of the
 * weights.
 */
struct nnv_converted *emit_conv(struct nnv_arena *arena, uint64_t seed);

/** A convolution of int8 with a scale for each channel: feature level 4. */
struct nnv_converted *emit_quantised(struct nnv_arena *arena);

/** %x + n weights: a large constant from 33 on. */
struct nnv_converted *emit_sum(struct nnv_arena *arena, uint32_t n);

/** Equal in all that a driver sees. Constants of either kind are alike. */
bool equal_models(const struct nnv_model *a, const struct nnv_model *b);

#endif
