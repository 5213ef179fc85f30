/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels.h The cases of the suite "levels" that are about extensions. */
#ifndef NNV_SUITES_LEVELS_H
#define NNV_SUITES_LEVELS_H

#include "harness/suites/kit/context.h"

struct mixture;

/** A model of an operation that every driver may know and one of a vendor; edit (may be NULL) changes it. */
struct nnv_extension_case {
    const char *name;
    void (*edit)(struct mixture *m);
    const char *unsupported, *invalid;  /**< what it is then: one of them */
    void (*run)(struct nnv_context *s); /**< instead of all that */
};
void nnv_extension_run(struct nnv_context *s, const struct nnv_extension_case *c);
extern const struct nnv_extension_case nnv_extension_cases[];
extern const size_t nnv_extension_case_count;

/** What a driver makes of a model: both calls, and whether they agree. */
struct nnv_reception {
    enum nnvts_status supported_status, prepare_status;
    bool *supported; /**< one an operation; false where the driver said nothing */
    uint32_t count;
    struct nnvts_prepared_model *prepared; /**< to be released, or NULL */
};

/**
 * Asks for the supported operations, then prepares. Verified: answers are filled in, a prepared model is given exactly
 * where the status is NONE, and prepare_model answers as the claims ask for: NONE if all operations are supported,
 * GENERAL_FAILURE if one is not, INVALID_ARGUMENT if the model was called invalid. False: the case is over.
 */
bool nnv_receive(struct nnv_context *s, const struct nnvts_model *model, struct nnv_reception *r);

#endif
