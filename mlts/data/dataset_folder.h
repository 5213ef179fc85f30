/* SPDX-License-Identifier: Apache-2.0 */
/** @file dataset_folder.h Datasets that are folders. */
#ifndef NNV_MLTS_DATASET_FOLDER_H
#define NNV_MLTS_DATASET_FOLDER_H

#include "mlts/data/dataset.h"

/** Finds out what the folder holds; fills kind, count, classes, files and labels. */
NNV_USE_RESULT enum nnv_status nnv_dataset_folder(const char *path, const struct nnv_network *net,
                                                  struct nnv_arena *arena, struct nnv_dataset *d, struct nnv_err *err);
/** Reads item i of raw tensors over the zeroed inputs; inputs without a file stay zero only where they are states. */
NNV_USE_RESULT enum nnv_status nnv_dataset_tensors(const struct nnv_dataset *d, uint32_t i,
                                                   const struct nnv_network *net, struct nnv_arena *arena,
                                                   struct nnv_value *inputs, struct nnv_truth *truth,
                                                   struct nnv_err *err);

#endif
