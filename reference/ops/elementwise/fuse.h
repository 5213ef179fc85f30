/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuse.h Fused activations in samples. */
#ifndef NNV_OPS_FUSE_H
#define NNV_OPS_FUSE_H

#include <string.h>

#include "reference/model/sample.h"

/** The fuse code that the sample is given, that of the row's factor "activation", or what the variant's name asks for:
 * relu, relu1, relu6; else none. */
static inline int nnv_fuse_drawn(const struct nnv_sample *s) {
    if (s->fused) return s->fused - 1;
    for (uint8_t f = 0; s->row && f < s->op->nfactors; f++)
        if (strcmp(s->op->factors[f].name, "activation") == 0) return s->row[f];
    if (nnv_sample_is(s, "relu")) return ANEURALNETWORKS_FUSED_RELU;
    if (nnv_sample_is(s, "relu1")) return ANEURALNETWORKS_FUSED_RELU1;
    if (nnv_sample_is(s, "relu6")) return ANEURALNETWORKS_FUSED_RELU6;
    return ANEURALNETWORKS_FUSED_NONE;
}

#endif
