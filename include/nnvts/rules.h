/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rules.h NNAPI's rules for models, for a driver that does not want to write them by hand: the records that nnvts
 * judges by, without their kernels. Link with libnnvts-rules.a and -lm; it needs nothing else and keeps nothing.
 */
#ifndef NNVTS_RULES_H
#define NNVTS_RULES_H

#include "nnvts/driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Checks a model as get_supported_operations and prepare_model must.
 *   INVALID_ARGUMENT              it breaks a rule: answer this
 *   NONE                          it is legal, and all of it is NNAPI's up to feature level `level`
 *   GENERAL_FAILURE               it is legal as far as known, but holds operations of extensions or of a later level:
 *                                 a driver answers "false" for these, and GENERAL_FAILURE to prepare_model
 *   RESOURCE_EXHAUSTED_TRANSIENT  out of memory
 * known: NULL, or one bool an operation of the main subgraph: true where the operation, with all that it refers to, is
 * NNAPI's up to that level; written where the status is NONE or GENERAL_FAILURE. why: NULL, or room for why_bytes,
 * which get the reason, cut to them; "" for NONE. Nothing of the model is kept.
 */
enum nnvts_status nnvts_rules_check_model(const struct nnvts_model *model, int32_t level, bool *known, char *why,
                                          size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
