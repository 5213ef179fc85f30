/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file decompile.h NNAPI models as Relay programs: how a .tflite file enters the compiler, once it is an NNAPI model.
 *
 * Constants become constants of the program. Quantised tensors are int8 or uint8; layers become qnn operators with a
 * requantisation, what only moves elements stays as it is, and all else stands between qnn.dequantize and
 * qnn.quantize.
 */
#ifndef NNV_COMPILER_DECOMPILE_H
#define NNV_COMPILER_DECOMPILE_H

#include "compiler/relay/relay.h"
#include "reference/model/model.h"

/**
 * A checked module whose @main computes what the model does; parameters and results in the model's order. names: of the
 * inputs, or NULL, as may be its entries. All is of arena, but for the values of constants, which stay the model's.
 * NNV_UNSUPPORTED names all operations that have no Relay form, with how often they stand in the model.
 */
NNV_USE_RESULT enum nnv_status nnv_decompile(const struct nnv_model *model, const char *const *names,
                                             struct nnv_arena *arena, struct nnv_relay_module **m, struct nnv_err *err);

#endif
