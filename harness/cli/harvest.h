/* SPDX-License-Identifier: Apache-2.0 */
/** @file harvest.h Models for the verbs that take them apart: files of specs, one a network. */
#ifndef NNV_CLI_HARVEST_H
#define NNV_CLI_HARVEST_H

#include "base/opts.h"
#include "harness/debug/harvest.h"

/**
 * In the folder of the specs, where each stands in the networks: {network: {"operations": their number, "cases": {case
 * of the suite spec: [[operation, ...], ...]}}}.
 */
#define NNV_HARVEST_NETWORKS "harvest.networks"

/** What became of the models. */
struct nnv_cli_harvest {
    struct nnv_harvest found;
    bool clear;    /**< the folder is nnvts's own: .jsonl files of an earlier harvest are removed */
    size_t models; /**< harvested */
    size_t bad;    /**< left out, each with an error on stderr */
};

/**
 * Takes models apart: .tflite and .onnx files, folders of them, spec files, and the names of the program's own
 * networks. The folder gets a NETWORK.jsonl for each network that has something new, and NNV_HARVEST_NETWORKS. The
 * caller sets found.group and clear, the rest of h is zero at first, and its memory is arena's. A model that cannot be
 * read is left out.
 */
NNV_USE_RESULT enum nnv_status nnv_cli_harvest(const struct nnv_opt_list *models, const char *folder, uint64_t seed,
                                               struct nnv_arena *arena, struct nnv_cli_harvest *h, struct nnv_err *err);
/** What NNV_HARVEST_NETWORKS in the folder of the specs holds, as one line of JSON, arena's; NULL: there is none.
 * NNV_INVALID: it is no JSON. */
NNV_USE_RESULT enum nnv_status nnv_cli_networks(const char *specs, struct nnv_arena *arena, const char **out,
                                                struct nnv_err *err);

#endif
