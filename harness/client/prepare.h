/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepare.h Asking a driver whether it supports a model, and compiling it, with all that the ABI promises. */
#ifndef NNV_CLIENT_PREPARE_H
#define NNV_CLIENT_PREPARE_H

#include "base/text.h"
#include "harness/client/verify.h"

/** PREFER_FAST_SINGLE_ANSWER, priority medium, neither deadline nor cache. */
extern const struct nnvts_prepare_config nnv_prepare_config;

/** A model on its way to a prepared model. The functions below may be called one after the other on one of these. */
struct nnv_preparation {
    struct nnvts_device *device;
    const struct nnvts_model *abi;
    const struct nnv_model *model; /**< what abi renders: its constants must stay whole; NULL: not looked at */
    const uint8_t *constants;      /**< where the pool of its constants is mapped */
    const struct nnvts_prepare_config *config; /**< NULL: nnv_prepare_config */
    volatile uint32_t *phase;                  /**< told where it is; NULL: not told */
    /* what came of the last call */
    const char *call; /**< "prepare_model" */
    enum nnvts_status status;
    struct nnv_breach breach;
    const uint8_t *supported; /**< one an operation of the main subgraph, 0 or 1 */
    uint32_t refused;         /**< operations that are not supported */
    uint64_t supported_ns, prepare_ns;
    struct nnvts_prepared_model *prepared; /**< whole, or NULL */
};

/** get_supported_operations. True: it answered NONE, and an answer for each operation. What it needs is arena's. */
bool nnv_ask_supported(struct nnv_preparation *p, struct nnv_arena *arena);
/**
 * The device can't tell of a valid model that it is not supported, and has refused this one, which is valid. If so,
 * *out becomes "not implemented: ", and the driver's own words; the caller frees it.
 */
bool nnv_not_implemented(const struct nnv_preparation *p, struct nnv_text *out);
/** Adds the driver's own words behind a status, as ": " and a line; nothing where it has none. */
void nnv_add_last_error(struct nnvts_device *device, enum nnvts_status status, struct nnv_text *out);
/** Adds "the driver does not support operation 0 (CONV_2D), operation 3 (ADD)", at most so many operations. */
void nnv_add_unsupported(const struct nnv_preparation *p, uint32_t most, struct nnv_text *out);
/** prepare_model. True: it answered NONE and gave a whole prepared model, which the caller releases. */
bool nnv_prepare(struct nnv_preparation *p);
/** The same by prepare_from_cache, which the device must have. */
bool nnv_prepare_from_cache(struct nnv_preparation *p, const struct nnvts_cache *cache, uint64_t deadline_ns);

#endif
