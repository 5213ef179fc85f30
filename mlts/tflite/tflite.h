/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite.h TensorFlow Lite models as NNAPI models. */
#ifndef NNV_MLTS_TFLITE_H
#define NNV_MLTS_TFLITE_H

#include "mlts/networks/network.h"

/** True if the path is called .tflite. */
bool nnv_is_tflite(const char *path);
/**
 * Converts a .tflite file. where names it in errors; name, origin and task are left to the caller. All memory is
 * arena's and data need not outlive the call. The model passes nnv_validate(). Its inputs are those of the file, then
 * the states that the file's variable tensors hold; its outputs likewise. What is known when the file is read is
 * computed then: shapes, weights of float16.
 * NNV_INVALID: the file is damaged, one error with its place; NNV_UNSUPPORTED: names all operators that have no equal
 * in NNAPI, with how often they stand in the file.
 */
NNV_USE_RESULT enum nnv_status nnv_tflite_import(const void *data, size_t size, const char *where,
                                                 struct nnv_arena *arena, struct nnv_network *net, struct nnv_err *err);

#endif
