/* SPDX-License-Identifier: Apache-2.0 */
/** @file networks.h The networks that can be measured: those in the program, by name, and files. */
#ifndef NNV_MLTS_NETWORKS_H
#define NNV_MLTS_NETWORKS_H

#include "mlts/networks/network.h"

/** A row of the list of networks. */
struct nnv_network_entry {
    const char *name, *what;
    const char *data; /**< the dataset that it is judged by unless another is given: "pictures", "random" */
    enum nnv_task task;
    bool by_default; /**< part of a bench without --model */
};

/** The networks of the program; names of other widths and sizes of MobileNet are understood as well. */
extern const struct nnv_network_entry nnv_networks[];
extern const size_t nnv_network_count;

/** True if the path is called as a model of another form: .tflite or .onnx. */
bool nnv_network_is_file(const char *path);
/** Converts such a file, .onnx by its name and else .tflite: nnv_onnx_import(), nnv_tflite_import(). */
NNV_USE_RESULT enum nnv_status nnv_network_import(const void *data, size_t size, const char *path,
                                                  struct nnv_arena *arena, struct nnv_network *net,
                                                  struct nnv_err *err);
/**
 * A network by its name, or that of a file: .tflite, .onnx, or a spec (.json, .jsonl: its first). All memory is
 * arena's. *data: the dataset that it is judged by unless another is given. NNV_INVALID: there is none, or the file is
 * damaged; NNV_UNSUPPORTED: the file holds operators that NNAPI does not have, all named.
 */
NNV_USE_RESULT enum nnv_status nnv_network_open(const char *name, struct nnv_arena *arena, struct nnv_network *net,
                                                const char **data, struct nnv_err *err);

#endif
