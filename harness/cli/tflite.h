/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite.h .tflite files for the verbs that take specs: as a spec, and as a summary. */
#ifndef NNV_CLI_TFLITE_H
#define NNV_CLI_TFLITE_H

#include "base/text.h"
#include "reference/model/model.h"

/** What a model is called: "dir/net.tflite" is net, "net/model.tflite" too. arena's; NULL when out of memory. */
const char *nnv_cli_model_name(const char *path, struct nnv_arena *arena);
/**
 * The model with inputs drawn by seed and the outputs of the golden evaluation; it is called as the file, or as its
 * folder if that is "model.tflite". Memory is arena's.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_tflite_spec(const char *path, uint64_t seed, struct nnv_arena *arena,
                                                   struct nnv_spec **spec, struct nnv_err *err);
/** What the file holds, and what becomes of it in NNAPI; operators that are not supported are no error. */
NNV_USE_RESULT enum nnv_status nnv_cli_tflite_summary(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                                      struct nnv_err *err);

#endif
