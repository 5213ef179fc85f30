/* SPDX-License-Identifier: Apache-2.0 */
/** @file run.h One model with one set of inputs on a driver that may break any rule. */
#ifndef NNV_CLIENT_RUN_H
#define NNV_CLIENT_RUN_H

#include "harness/client/driver.h"
#include "base/text.h"
#include "nnvts/result.h"
#include "reference/model/model.h"

/** How it went. */
enum nnv_outcome_kind {
    NNV_OUTCOME_DONE,        /**< executed; outputs are valid */
    NNV_OUTCOME_COMPILED,    /**< compiled, and not executed: the client's compile_only is set */
    NNV_OUTCOME_UNSUPPORTED, /**< the driver says that it does not support an operation */
    NNV_OUTCOME_REFUSED,     /**< a status other than NONE; phase tells where, status what */
    NNV_OUTCOME_BROKEN,      /**< the driver broke a rule of the ABI; reason says which */
    NNV_OUTCOME_HARNESS,     /**< nnvts could not do it; reason says why */
};

struct nnv_outcome {
    enum nnv_outcome_kind kind;
    enum nnv_phase phase;
    enum nnvts_status status;
    enum nnvts_reason why;      /**< NONE for DONE */
    char reason[512];           /**< empty for DONE */
    struct nnv_value *outputs;  /**< actual shapes and values, arena's; main.nout entries, where DONE */
    struct nnv_value *again;    /**< the outputs of the second execution, where there was one; else NULL */
    struct nnv_value *reported; /**< REFUSED or BROKEN for output shapes that are not the expected ones: what they were,
                                     rank and dims alone; arena's, main.nout entries; else NULL */
    uint64_t supported_ns, prepare_ns, execute_ns; /**< wall clock */
    bool memory_damaged; /**< the driver wrote outside its buffers, or changed inputs: the process is not to be trusted
                          */
};

/**
 * Runs the spec's model and inputs once: supported operations, prepare, execute (synchronous). Output buffers
 * have the expected size (spec outputs' bytes) in guarded, poisoned memory; inputs and constants are checked
 * to be unmodified. Constants are overwritten once the model is prepared: a driver must have copied what it needs.
 * phase (may be NULL) is updated before each step.
 */
void nnv_client_run(struct nnv_client *client, const struct nnv_spec *spec, struct nnv_arena *arena,
                    volatile uint32_t *phase, struct nnv_outcome *out);

/** Asks whether the driver supports the valid model. False: it does not, and *what says so; the caller frees it.
 * *status: what it answered. */
bool nnv_client_supports(struct nnv_client *client, const struct nnv_model *model, struct nnv_arena *arena,
                         volatile uint32_t *phase, enum nnvts_status *status, struct nnv_text *what);

#endif
