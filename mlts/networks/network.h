/* SPDX-License-Identifier: Apache-2.0 */
/** @file network.h A model to be measured and judged, wherever it comes from: built in code, trained, or a file. */
#ifndef NNV_MLTS_NETWORK_H
#define NNV_MLTS_NETWORK_H

#include "reference/model/model.h"

/** What its answers mean: which metrics of accuracy there are. */
enum nnv_task {
    NNV_TASK_NONE,     /**< values only: compared with the golden ones */
    NNV_TASK_CLASSIFY, /**< output 0 holds a score a class: top-1, top-5 */
    NNV_TASK_SPELL,    /**< output 0 holds, for each frame, a score a phone: error rate by edit distance */
    NNV_TASK_RESTORE,  /**< output 0 has the shape of input 0: mean square error, PSNR, and AUC of an anomaly score */
};

/** A value that is kept from one execution to the next: the output becomes the input; at first it is zeros. */
struct nnv_network_state {
    uint32_t input, output;
};

/** Outputs that hold what a detector found; boxes are [.., 4]: two corners. */
struct nnv_network_boxes {
    bool present;
    uint32_t boxes, scores, classes; /**< outputs; UINT32_MAX: the network does not give it */
};

struct nnv_network {
    const char *name;   /**< "mobilenet_v2_1.0_224_float32", "figures_int8", or that of the file */
    const char *origin; /**< "built in code, seed 1", "trained on the project's pictures", a path */
    struct nnv_model model;
    const char *const *input_names; /**< one an input, entries may be NULL; or NULL */
    const char *const *output_names;
    uint32_t state_count;
    const struct nnv_network_state *states;
    enum nnv_task task;
    struct nnv_network_boxes boxes;
};

/** The input is a state: it comes from the execution before. */
bool nnv_network_is_state(const struct nnv_network *net, uint32_t input);

#endif
