/* SPDX-License-Identifier: Apache-2.0 */
/** @file model_file.h .tflite and .onnx files for the verbs that take specs: as specs, and as a summary. */
#ifndef NNV_CLI_MODEL_FILE_H
#define NNV_CLI_MODEL_FILE_H

#include "base/text.h"
#include "reference/model/model.h"

/** Specs that a file becomes: of an ONNX model with test data beside it one for each set, else one. */
uint32_t nnv_cli_model_specs(const char *path);
/**
 * Number i of these: with the inputs of the test data and its outputs; or with inputs drawn by seed and the outputs of
 * the golden evaluation. It is called as the file, or as its folder if that is "model.tflite" or "model.onnx"; from the
 * second on the number follows. Memory is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_model_spec(const char *path, uint32_t i, uint64_t seed, struct nnv_arena *arena,
                                                  struct nnv_spec **spec, struct nnv_err *err);
/** A network, by its name or file, with inputs drawn by seed; outputs are not computed, but room for them is there. */
NNV_USE_RESULT enum nnv_status nnv_cli_network_spec(const char *model, uint64_t seed, struct nnv_arena *arena,
                                                    struct nnv_spec *spec, struct nnv_err *err);
/** What the file holds, and what becomes of it in NNAPI; operators that are not supported are no error. */
NNV_USE_RESULT enum nnv_status nnv_cli_model_summary(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                                     struct nnv_err *err);

#endif
