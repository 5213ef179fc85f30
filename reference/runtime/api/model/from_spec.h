/* SPDX-License-Identifier: Apache-2.0 */
/** @file from_spec.h The model of a spec, built as an application would: through the functions of the API. */
#ifndef NNV_RUNTIME_FROM_SPEC_H
#define NNV_RUNTIME_FROM_SPEC_H

#include "NeuralNetworks.h"
#include "reference/model/model.h"

/** A finished model with those that it refers to. Zero-initialise; nnv_rt_spec_model_free(). */
struct nnv_rt_spec_model {
    ANeuralNetworksModel *model;
    ANeuralNetworksModel **referenced; /**< one a referenced subgraph; NULL: nothing refers to it */
    uint32_t referenced_count;
};

/**
 * Builds and finishes the model; values are copied. A function of the API that refuses gives NNV_INVALID, its name,
 * where, and its result code, which is also written to *result (may be NULL); *out is empty then.
 */
NNV_USE_RESULT enum nnv_status nnv_rt_model_from_spec(const struct nnv_model *model, struct nnv_rt_spec_model *out,
                                                      int *result, struct nnv_err *err);
/** Frees the models; compilations of them have been freed. */
void nnv_rt_spec_model_free(struct nnv_rt_spec_model *models);

#endif
