/* SPDX-License-Identifier: Apache-2.0 */
/** @file trained.h The trained models that are part of the program: .tflite files, as mlts/networks/models holds them.
 */
#ifndef NNV_MLTS_TRAINED_H
#define NNV_MLTS_TRAINED_H

#include <stddef.h>
#include <stdint.h>

#include "mlts/networks/network.h"

struct nnv_trained {
    const char *name; /**< "figures_int8" */
    enum nnv_task task;
    const char *what;           /**< one line */
    const uint8_t *begin, *end; /**< the file */
};

extern const struct nnv_trained nnv_trained_models[];
extern const size_t nnv_trained_count;

#endif
