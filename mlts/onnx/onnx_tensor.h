/* SPDX-License-Identifier: Apache-2.0 */
/** @file onnx_tensor.h Tensors of an ONNX model, wherever they stand in it. */
#ifndef NNV_MLTS_ONNX_TENSOR_H
#define NNV_MLTS_ONNX_TENSOR_H

#include "mlts/onnx/onnx_file.h"

/** Reads a TensorProto; errors are the span's. False: out of memory. */
bool nnv_onnx_tensor_parse(struct nnv_wire_span m, struct nnv_arena *arena, struct nnv_onnx_tensor *t);

#endif
